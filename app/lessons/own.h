// A lecturer's own lessons: JSON files (model.h) and the recordings that they name, in one folder, which can
// be handed to a class as it is.
//
//   my-course/            what `tilescope open my-course` takes
//     tiles.json          a lesson
//     mine.tsc            that its stops name: "file": "mine.tsc"
//     my-lesson/
//       lesson.json       another one, as Ctrl+N makes them
//
// Such a file may come from anybody: its size, its stops and its texts are bounded (model.h), and nothing
// outside its folder is read, by whatever name or link.
#pragma once

#include <string>

#include "app/lessons/state.h"

namespace tilescope::lessons {

inline constexpr size_t kMostOwn = 100;  // lessons

// Lists the lessons of a file or a folder behind those that ship, in place of the same ones read before, and
// leads to the first of them. Of a folder what cannot be read is left out; the sentence says so. Error: there
// is none that can be used.
Result<std::string> open_own(State& state, session::Session& session, const std::string& path);

// Begins the listed lesson of that file; does nothing where there is none.
void begin_own(State& state, session::Session& session, const std::string& path);

// The lesson that a stop is added to: the one that is chosen, where it was made so; "" for a new one.
std::string added_to(const State& state);

// Adds the step that is shown, with a sentence, to that lesson, or to a new one in a folder of its own beside
// the recording's file. A recording that neither ships nor can be made again is kept there too. The lesson is
// there whole or as it was; no file that was not made so is written over. The sentence says where it is.
Result<std::string> add_stop(State& state, session::Session& session, const std::string& say);

}  // namespace tilescope::lessons

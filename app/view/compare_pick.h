// The same thing in another recording: what is selected in one is lit up in both.
#pragma once

#include "app/state.h"

namespace tilescope::view {

// A thread by its place (x,y) in the block, an element or shared cell by array name, row and column, a warp
// by its number. Nothing (Pick::Kind::None) where `to` has no such thing; sites are never the same.
app::Pick same_pick(const trace::Trace& from, const trace::Trace& to, const app::Pick& pick);

}  // namespace tilescope::view

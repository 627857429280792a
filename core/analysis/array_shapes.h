// What a recording tells of its arrays where nobody has said it: their roles, their types, and the extents of
// an array that a program handles as one long row, in[row * width + col].
//
// The width shows in the distances between accesses, in elements:
//
//     threads   from thread[y,x] to thread[y+1,x], or [y,x+1] where threads lie along a column
//     trips     from one access of a thread to its next one of the array
//     blocks    from block to block
//
//     in[row * width + col]                  thread[y+1,x] - thread[y,x] = width
//     N[i * n + col], i = 0, 1, …            next trip - trip = n
//     N[(phase * T + y) * n + col]           thread[y+1,x] - thread[y,x] = n, next trip - trip = T n
//
// A distance that only goes on where the threads before it ended (a block's first element behind the last of
// the block before, a loop that strides over the whole grid) says nothing. A width is believed where
//
//   - it divides the array into whole rows, two or more; and a distance is a multiple of it; and
//   - no run of neighbouring threads on neighbouring elements goes past the end of a row; and
//   - it is one of the distances and a number that the kernel is given, or both extents are such numbers, or the
//     elements that a row of threads (or a thread) comes to over the whole recording are a row from end to end.
//
// The second distance of three dimensions is looked for the same way. Where two widths are as good, or none
// is, the array stays one row (ExtentSource::Flat).
#pragma once

#include "core/trace/trace.h"

namespace tilescope::analysis {

// Changes trace.launch.arrays alone, and of those the global ones:
//   role    of what the recorded steps load and store; that of an array that none of them touches stays
//   type    of arrays of bits, and of arrays that are never accessed in units of their elements
//   extents of arrays whose extents are Flat; they become Inferred where they are found
// The recording stays the same: steps hold offsets in bytes.
void infer_arrays(trace::Trace& trace);

}  // namespace tilescope::analysis

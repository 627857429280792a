// A recording as CSV (RFC 4180): a heading, then a line a request or barrier, in the recording's order.
//
//   block_x,block_y,block_z   the block
//   step                      of the recording, from 1, as on the screen
//   clock                     only for GPU recordings: the SM's clock since the block's first step
//   warp                      of the block
//   site,line                 the memory instruction or barrier, and its line of the kernel's source
//   kind,space,array          load, store or barrier; global or shared; empty where there is none
//   mask                      active lanes, lane 0 in the lowest bit: 0x0000ffff
//   address,row,col           of the first active lane: virtual address, or offset in shared memory; its
//                             element, empty where the address is not that of one. Where an array of the
//                             launch has three extents, a column `slice` stands before `row`
//   lanes                     active lanes
//   sectors,least_sectors     of a global request, 32 bytes each, and the fewest that its bytes fill
//   wavefronts,least_wavefronts    of a shared request, and those that it would need without bank conflicts
//   phase                     from 0, "after" behind the loop
//
// With lanes, a line an access instead: `lane` (0 to 31) and `thread` (its linear number in the block) follow
// the mask, address and element are that lane's, and no columns of the whole request follow but the phase.
#pragma once

#include "core/export/requests.h"

namespace tilescope::report {

// False where `take` ended it.
bool write_csv(const analysis::Recording& recording, const Selected& selected, bool lanes, const Take& take,
               ExportProgress progress = {});

}  // namespace tilescope::report

// A recording as CSV (RFC 4180): a heading, then a line a request, barrier or exchange, in the recording's order.
//
//   block_x,block_y,block_z   the block
//   step                      of the recording, from 1, as on the screen
//   clock                     only for GPU recordings: the SM's clock since the block's first step
//   warp                      of the block
//   site,line                 the instruction, and its line of the kernel's source
//   kind,space,array          load, store, atomic, barrier or exchange; of memory its space and array, else empty
//   mask                      active lanes, lane 0 in the lowest bit: 0x0000ffff
//   address,row,col           of the first active lane: virtual address, or offset in shared memory; its
//                             element, empty where the address is not that of one. Where an array of the
//                             launch has three extents, a column `slice` stands before `row`
//   lanes                     active lanes
//   sectors,least_sectors     of a global request, 32 bytes each, and the fewest that its bytes fill
//   wavefronts,least_wavefronts    of a shared request, and those that it would need without bank conflicts
//   phase                     from 0, "after" behind the loop
//   member                    only where an array of the launch is of structs: "[1].x"
//   exchange,from             only where the kernel has exchanges: what is exchanged, "shuffle_down", and what each
//                             active lane reads (requests.h), "16 17 own own"
//
// With lanes, a line an access instead: `lane` (0 to 31) and `thread` (its linear number in the block) follow
// the mask; address, element, member, exchange and from are that lane's; of the whole request the phase follows.
#include <algorithm>
#include <bit>

#include "core/base/text.h"
#include "core/export/requests.h"

namespace tilescope::report {
namespace {

class CsvWriter {
public:
    CsvWriter(const trace::Trace& trace, bool lanes, const Take& take)
        : trace_(trace),
          lanes_(lanes),
          timed_(timed(trace)),
          slices_(std::any_of(trace.launch.arrays.begin(), trace.launch.arrays.end(),
                              [](const Array& array) { return array.rank > 2; })),
          structs_(std::ranges::any_of(trace.launch.arrays, has_structs)),
          exchanges_(ptx::has_exchanges(trace.sites)),
          out_(take) {
        const bool addresses = std::ranges::any_of(trace.sites, [](const ptx::Site& site) {
            return analysis::has_addresses(site.space, site.kind);
        });
        costs_ = lanes ? 0 : addresses ? std::size(kCostNames) : 4;
        for (const Array& array : trace.launch.arrays)
            names_.push_back(csv_cell(shortened(array.name, kLongestCell)));
    }

    void heading() {
        out_.add("block_x,block_y,block_z,step,{}warp,site,line,kind,space,array,mask,",
                 timed_ ? "clock," : "");
        out_.add("{}address,{}row,col,", lanes_ ? "lane,thread," : "", slices_ ? "slice," : "");
        if (!lanes_) out_.add_text("lanes,");
        for (size_t i = 0; i < costs_; ++i) out_.add("{},", kCostNames[i]);
        out_.add("phase{}{}\r\n", structs_ ? ",member" : "", exchanges_ ? ",exchange,from" : "");
    }

    bool row(const StepRow& row) {
        if (lanes_ && row.exchange())
            exchange(row);
        else if (lanes_ && row.memory())
            accesses(row);
        else
            request(row);
        return out_.good();
    }

    bool flush() { return out_.flush(); }

private:
    void start(const StepRow& row) {
        const trace::Block& block = trace_.blocks[row.block];
        out_.add("{},{},{},{},", block.x, block.y, block.z, row.step + 1);
        if (timed_) out_.add("{},", trace_.time[row.step]);
        out_.add("{},{},{},{},{},{},{:#010x},", trace_.warp_of(row.step), row.site->id, row.site->line,
                 name_of(row.site->kind), row.memory() ? name_of(row.form->space) : "",
                 trace_.array_of(*row.form) ? names_[row.form->array] : "", row.form->mask);
    }

    void place(uint8_t array, uint64_t offset, uint64_t address) {
        out_.add("{:#x},", address);
        const auto element = element_at(trace_, array, offset);
        if (!element) return out_.add_text(slices_ ? ",,," : ",,");
        const Position at = position_of(trace_.launch.arrays[array], static_cast<int64_t>(*element));
        if (slices_) out_.add("{},", at.slice);
        out_.add("{},{},", at.row, at.col);
    }

    void request(const StepRow& row) {
        start(row);
        if (lanes_) {  // a barrier among accesses
            out_.add(",,,,,{}{}{}{}\r\n", slices_ ? "," : "", phase_text(row.phase), structs_ ? "," : "",
                     exchanges_ ? ",," : "");
            return;
        }
        if (row.memory())
            place(row.form->array, first_offset(trace_, row), first_address(trace_, row));
        else
            out_.add_text(slices_ ? ",,,," : ",,,");
        out_.add("{},", std::popcount(row.form->mask));
        const CostsByName costs = row.memory() ? costs_by_name(trace_, *row.form, *row.cost) : CostsByName{};
        for (size_t i = 0; i < costs_; ++i) out_.add("{},", costs[i] ? fmt::to_string(*costs[i]) : "");
        out_.add("{}", phase_text(row.phase));
        std::string from;
        if (row.exchange())
            from = fmt::format("{},{}", name_of(row.site->exchange),
                               exchanged(trace_, trace::decode(trace_, row.step)));
        end(row.memory() ? row.form->array : trace::kNoArray, row.memory() ? first_offset(trace_, row) : 0,
            from);
    }

    void exchange(const StepRow& row) {
        const trace::Access access = trace::decode(trace_, row.step);
        for_lanes(access.mask, [&](uint32_t lane) {
            start(row);
            out_.add("{},{},,,,{}{}", lane, access.warp * kWarpSize + lane, slices_ ? "," : "",
                     phase_text(row.phase));
            end(trace::kNoArray, 0,
                fmt::format("{},{}", name_of(row.site->exchange), exchanged_by(trace_, access, lane)));
        });
    }

    // from: what stands in the columns of exchanges, "" for none.
    void end(uint8_t array, uint64_t offset, const std::string& from = "") {
        const auto element = structs_ ? element_at(trace_, array, offset) : std::nullopt;
        if (structs_) out_.add_text(",");
        if (element && has_structs(trace_.launch.arrays[array]))
            out_.add_text(csv_cell(index_text(trace_.launch.arrays[array], static_cast<int64_t>(*element))));
        if (exchanges_) out_.add(",{}", from.empty() ? "," : from);
        out_.add_text("\r\n");
    }

    void accesses(const StepRow& row) {
        const trace::Access access = trace::decode(trace_, row.step);
        const Array* array = trace_.array_of(*row.form);
        for_lanes(access.mask, [&](uint32_t lane) {
            start(row);
            out_.add("{},{},", lane, access.warp * kWarpSize + lane);
            place(access.array, access.offset[lane], (array ? array->base : 0) + access.offset[lane]);
            out_.add("{}", phase_text(row.phase));
            end(access.array, access.offset[lane]);
        });
    }

    const trace::Trace& trace_;
    bool lanes_, timed_, slices_, structs_, exchanges_;
    size_t costs_;                    // columns: more where there are atomics, or constant memory
    std::vector<std::string> names_;  // of arrays, as cells
    Pieces out_;
};

}  // namespace

bool write_csv(const analysis::Recording& recording, const Selected& selected, bool lanes, const Take& take,
               ExportProgress progress) {
    CsvWriter writer(*recording.trace, lanes, take);
    writer.heading();
    const bool whole =
        each_step(recording, selected, progress, [&](const StepRow& row) { return writer.row(row); });
    return whole && writer.flush();
}

}  // namespace tilescope::report

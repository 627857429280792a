#include "core/export/csv.h"

#include <algorithm>
#include <bit>

#include "core/base/text.h"
#include "core/export/pieces.h"

namespace tilescope::report {
namespace {

class CsvWriter {
public:
    CsvWriter(const trace::Trace& trace, bool lanes, const Take& take)
        : trace_(trace),
          lanes_(lanes),
          timed_(trace.time.size() == trace.steps() && !trace.time.empty()),
          slices_(std::any_of(trace.launch.arrays.begin(), trace.launch.arrays.end(),
                              [](const Array& array) { return array.rank > 2; })),
          addresses_(std::ranges::any_of(
              trace.sites,
              [](const ptx::Site& site) { return analysis::has_addresses(site.space, site.kind); })),
          out_(take) {
        for (const Array& array : trace.launch.arrays)
            names_.push_back(csv_cell(shortened(array.name, kLongestCell)));
    }

    void heading() {
        out_.add("block_x,block_y,block_z,step,{}warp,site,line,kind,space,array,mask,",
                 timed_ ? "clock," : "");
        out_.add("{}address,{}row,col,{}phase\r\n", lanes_ ? "lane,thread," : "", slices_ ? "slice," : "",
                 lanes_       ? ""
                 : addresses_ ? "lanes,sectors,least_sectors,wavefronts,least_wavefronts,addresses,turns,"
                              : "lanes,sectors,least_sectors,wavefronts,least_wavefronts,");
    }

    bool row(const StepRow& row) {
        if (lanes_ && !row.barrier())
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
                 name_of(row.site->kind), row.barrier() ? "" : name_of(row.form->space),
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
            out_.add(",,,,,{}{}\r\n", slices_ ? "," : "", phase_text(row.phase));
            return;
        }
        if (row.barrier())
            out_.add_text(slices_ ? ",,,," : ",,,");
        else
            place(row.form->array, first_offset(trace_, row), first_address(trace_, row));
        out_.add("{},", std::popcount(row.form->mask));
        if (row.barrier())
            out_.add_text(",,,,");
        else if (analysis::has_sectors(row.form->space))
            out_.add("{},{},,,", row.cost->global.sectors, row.cost->global.ideal_sectors);
        else if (analysis::has_wavefronts(row.form->space))
            out_.add(",,{},{},", row.cost->shared.wavefronts, row.cost->shared.ideal_wavefronts);
        else
            out_.add_text(",,,,");
        if (addresses_ && !row.barrier() && analysis::has_addresses(row.form->space, row.site->kind))
            out_.add("{},{},", row.cost->addresses.addresses, row.cost->addresses.most_lanes);
        else if (addresses_)
            out_.add_text(",,");
        out_.add("{}\r\n", phase_text(row.phase));
    }

    void accesses(const StepRow& row) {
        const trace::Access access = trace::decode(trace_, row.step);
        const Array* array = trace_.array_of(*row.form);
        for_lanes(access.mask, [&](uint32_t lane) {
            start(row);
            out_.add("{},{},", lane, access.warp * kWarpSize + lane);
            place(access.array, access.offset[lane], (array ? array->base : 0) + access.offset[lane]);
            out_.add("{}\r\n", phase_text(row.phase));
        });
    }

    const trace::Trace& trace_;
    bool lanes_, timed_, slices_;
    bool addresses_;                  // there are atomics, or constant memory
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

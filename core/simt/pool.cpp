// The constants of a launch: immediates, parameters, sizes.
#include <algorithm>
#include <cstring>

#include "core/base/cluster.h"
#include "core/simt/program.h"

namespace tilescope::simt {

void fill_column(std::byte* column, int bytes, uint64_t value) {
    for (int lane = 0; lane < (bytes == 0 ? 1 : kWarpSize); ++lane)
        if (bytes == 8)
            reinterpret_cast<uint64_t*>(column)[lane] = value;
        else
            reinterpret_cast<uint32_t*>(column)[lane] = static_cast<uint32_t>(value);
}

namespace {

// The kernel's parameters as they lie in memory.
std::vector<std::byte> parameter_block(const Program& program, const Launch& launch) {
    std::vector<std::byte> block(program.parameter_bytes);
    for (size_t i = 0; i < program.parameters.size(); ++i) {
        const auto& place = program.parameters[i];
        const Argument& argument = launch.arguments[i];
        const uint64_t bits = launch.bits_of(argument);
        if (!argument.object.empty())
            std::memcpy(block.data() + place.offset, argument.object.data(),
                        std::min<size_t>(argument.object.size(), place.bytes));
        else
            std::memcpy(block.data() + place.offset, &bits, std::min<size_t>(sizeof bits, place.bytes));
    }
    return block;
}

uint64_t parameter_bits(const PoolColumn& column, const std::vector<std::byte>& block) {
    uint64_t bits = 0;
    const int size = size_of(column.type), register_size = column.index;
    std::memcpy(&bits, block.data() + column.bits, static_cast<size_t>(size));
    if (size < 8) {
        bits &= (uint64_t{1} << (8 * size)) - 1;
        if (is_signed(column.type) && (bits >> (8 * size - 1) & 1)) bits |= ~uint64_t{0} << (8 * size);
    }
    return register_size == 8 ? bits : bits & ((uint64_t{1} << (8 * register_size)) - 1);
}

}  // namespace

std::vector<std::byte> constants_of(const Program& program, const Launch& launch) {
    std::vector<std::byte> constants = program.constants;
    if (program.parameters_addressed) {
        const std::vector<std::byte> parameters = parameter_block(program, launch);
        constants.resize(program.parameter_base);
        constants.insert(constants.end(), parameters.begin(), parameters.end());
    }
    return constants;
}

void fill_pool(const Program& program, const Launch& launch, std::byte* pool) {
    using K = PoolColumn::Kind;
    const uint64_t warps = (launch.block.count() + kWarpSize - 1) / kWarpSize;
    const std::vector<std::byte> parameters = parameter_block(program, launch);
    for (const PoolColumn& column : program.pool) {
        std::byte* at = pool + column.offset;
        const uint32_t sizes[3][3] = {{launch.block.x, launch.block.y, launch.block.z},
                                      {launch.grid.x, launch.grid.y, launch.grid.z},
                                      {launch.cluster.x, launch.cluster.y, launch.cluster.z}};
        const auto fill = [&](uint64_t value) { fill_column(at, column.bytes, value); };
        switch (column.kind) {
            case K::Immediate: fill(column.bits); continue;
            case K::Parameter: fill(parameter_bits(column, parameters)); continue;
            case K::Ntid: fill(sizes[0][column.index]); continue;
            case K::Nctaid: fill(sizes[1][column.index]); continue;
            case K::WarpCount: fill(warps); continue;
            case K::DynamicShared: fill(launch.dynamic_shared); continue;
            case K::TotalShared: fill(program.shared_bytes + launch.dynamic_shared); continue;
            case K::Nclusterid: fill(sizes[1][column.index] / sizes[2][column.index]); continue;
            case K::ClusterNctaid: fill(sizes[2][column.index]); continue;
            case K::ClusterBlocks: fill(launch.cluster.count()); continue;
            case K::ExplicitCluster:
                fill(has_clusters(launch) || program.required_cluster ? ~0u : 0);
                continue;
            case K::Ctaid:
            case K::Clusterid:
            case K::ClusterCtaid:
            case K::ClusterRank: continue;
            default: break;
        }
        for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
            const uint32_t bit = 1u << lane, below = bit - 1;
            const uint32_t value = column.kind == K::LaneId       ? lane
                                   : column.kind == K::LanemaskEq ? bit
                                   : column.kind == K::LanemaskLe ? below | bit
                                   : column.kind == K::LanemaskLt ? below
                                   : column.kind == K::LanemaskGe ? ~below
                                                                  : ~(below | bit);
            if (column.bytes == 8)
                reinterpret_cast<uint64_t*>(at)[lane] = value;
            else
                reinterpret_cast<uint32_t*>(at)[lane] = value;
        }
    }
}

void fill_pool_of_block(const Program& program, const Launch& launch, const Dim3& block, std::byte* pool) {
    using K = PoolColumn::Kind;
    const Dim3& cluster = launch.cluster;
    const uint32_t ids[3][3] = {{block.x, block.y, block.z},
                                {block.x / cluster.x, block.y / cluster.y, block.z / cluster.z},
                                {block.x % cluster.x, block.y % cluster.y, block.z % cluster.z}};
    for (const PoolColumn& column : program.pool) {
        const auto fill = [&](uint64_t value) { fill_column(pool + column.offset, column.bytes, value); };
        switch (column.kind) {
            case K::Ctaid: fill(ids[0][column.index]); break;
            case K::Clusterid: fill(ids[1][column.index]); break;
            case K::ClusterCtaid: fill(ids[2][column.index]); break;
            case K::ClusterRank: fill(rank_in_cluster(cluster, block)); break;
            default: break;
        }
    }
}

}  // namespace tilescope::simt

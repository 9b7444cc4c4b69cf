#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tensor/partition.hpp"

namespace eindb {

/// viable(v, p) of EinDecomp, section 8.1: all partition vectors over labels of the given extents that make p kernel
/// calls, with d[n] <= extents[n] (an empty dimension is not cut). The paper's p are powers of two; here p is any
/// number from 1, and every prime factor of it goes to one of the labels. If the extents allow no such vector, those
/// that make the largest divisor of p that they allow. Never empty.
///
/// Vectors that cut the first labels come first. The planner takes the first of equally good vectors, and tiles of
/// whole rows are contiguous. For three labels of extent 8 and p = 2: [2,1,1], [1,2,1], [1,1,2]; for two and p = 6:
/// [6,1], [3,2], [2,3], [1,6].
///
/// With D labels there are C(N+D-1, D-1) vectors for each prime factor that p has N times, multiplied, and fewer if
/// extents are small. If that is more than `limit`, only the labels with the largest extents are cut, as many of them
/// as stay within the limit.
std::vector<Partition> viable(const std::vector<std::int64_t>& extents, std::int64_t p,
                              std::size_t limit = std::numeric_limits<std::size_t>::max());

/// The kernel calls that these vectors make: the largest divisor of p that parts within the extents multiply to.
std::int64_t viable_calls(const std::vector<std::int64_t>& extents, std::int64_t p);

/// The same for a vertex computed in slices, where `slices[n]` slices cut label n. Every slice makes p kernel calls, so
/// the vectors are multiples of `slices`.
std::vector<Partition> viable_in_slices(std::vector<std::int64_t> extents, const std::vector<std::int64_t>& slices,
                                        std::int64_t p, std::size_t limit);

}  // namespace eindb

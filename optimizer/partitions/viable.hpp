#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tensor/partition.hpp"

namespace eindb {

/// The largest power of two that is at most `value`, the most parts a dimension of that extent is cut into. 1 if
/// `value` is 0.
std::int64_t floor_power_of_two(std::int64_t value);

/// viable(v, p) of EinDecomp, section 8.1: all partition vectors of powers of two over labels of the given extents that
/// make p kernel calls, with d[n] <= extents[n] (an empty dimension is not cut). If the extents allow no such vector,
/// the vectors with the most calls. p is a power of two. Never empty.
///
/// Vectors that cut the first labels come first. The planner takes the first of equally good vectors, and tiles of
/// whole rows are contiguous. For three labels of extent 8 and p = 2: [2,1,1], [1,2,1], [1,1,2].
///
/// With D labels and p = 2^N there are C(N+D-1, D-1) vectors, fewer if extents are small. If that is more than `limit`,
/// only the labels with the largest extents are cut, as many of them as stay within the limit.
std::vector<Partition> viable(const std::vector<std::int64_t>& extents, std::int64_t p,
                              std::size_t limit = std::numeric_limits<std::size_t>::max());

/// The same for a vertex computed in slices, where `slices[n]` slices cut label n. Every slice makes p kernel calls, so
/// the vectors are multiples of `slices`.
std::vector<Partition> viable_in_slices(std::vector<std::int64_t> extents, const std::vector<std::int64_t>& slices,
                                        std::int64_t p, std::size_t limit);

}  // namespace eindb

#pragma once

#include <cstdint>

namespace eindb {

/// Counter-based random numbers (Philox 4x32, 10 rounds; Salmon et al., SC 2011): a pure function of seed and counter,
/// so a cell gets the same value for any tiling, order or number of threads.

/// Uniform in [0, 1), 53 random bits.
double random_uniform(std::uint64_t seed, std::uint64_t counter);
/// Standard normal, by the Box-Muller transform of the two uniforms of one counter.
double random_normal(std::uint64_t seed, std::uint64_t counter);

}  // namespace eindb

#pragma once

#include <random>

namespace eindb {

/// A random number in [0, 1), the same on every platform, which std::uniform_real_distribution does not promise.
inline double random_share(std::mt19937_64& random) { return static_cast<double>(random() >> 11U) * 0x1p-53; }

}  // namespace eindb

#pragma once

#include <cstdint>
#include <vector>

namespace eindb {

/// The prime factors in ascending order, none for 1. `number` is at least 1.
std::vector<std::int64_t> prime_factors(std::int64_t number);

/// All divisors in ascending order. `number` is at least 1. Takes the time of its square root, and of sorting them.
std::vector<std::int64_t> divisors(std::int64_t number);

/// The largest divisor of `number` that is at most `most`; 1 if `most` is less. `number` is at least 1. Of a power of
/// two it is a power of two. Example: of 12 at most 5 it is 4.
std::int64_t largest_divisor(std::int64_t number, std::int64_t most);

}  // namespace eindb

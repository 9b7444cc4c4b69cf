#include "tensor/random.hpp"

#include <array>
#include <cmath>
#include <numbers>

namespace eindb {
namespace {

using Block = std::array<std::uint32_t, 4>;

Block philox(std::uint64_t seed, std::uint64_t counter) {
  Block c{static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32U), 0, 0};
  auto k0 = static_cast<std::uint32_t>(seed);
  auto k1 = static_cast<std::uint32_t>(seed >> 32U);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53U} * c[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57U} * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32U) ^ c[1] ^ k0, static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32U) ^ c[3] ^ k1, static_cast<std::uint32_t>(p0)};
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  return c;
}

double to_unit(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t bits = (std::uint64_t{high} << 32U | low) >> 11U;
  return static_cast<double>(bits) * 0x1.0p-53;
}

}  // namespace

double random_uniform(std::uint64_t seed, std::uint64_t counter) {
  const auto block = philox(seed, counter);
  return to_unit(block[0], block[1]);
}

double random_normal(std::uint64_t seed, std::uint64_t counter) {
  const auto block = philox(seed, counter);
  const double radius = std::sqrt(-2.0 * std::log1p(-to_unit(block[0], block[1])));
  return radius * std::cos(2.0 * std::numbers::pi * to_unit(block[2], block[3]));
}

}  // namespace eindb

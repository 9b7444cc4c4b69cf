#include "common/checked_math.hpp"

#include <algorithm>

#include "common/error.hpp"

namespace eindb {
namespace {

[[noreturn]] void overflow() {
  throw Error(ErrorKind::Shape, "a size overflows 64 bits", std::nullopt, "use smaller extents");
}

}  // namespace

std::int64_t checked_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) overflow();
  return result;
}

std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) overflow();
  return result;
}

std::optional<std::int64_t> try_product(std::span<const std::int64_t> values) {
  if (std::find(values.begin(), values.end(), 0) != values.end()) return 0;
  std::int64_t product = 1;
  for (const auto value : values)
    if (__builtin_mul_overflow(product, value, &product)) return std::nullopt;
  return product;
}

std::int64_t checked_product(std::span<const std::int64_t> values) {
  const auto product = try_product(values);
  if (!product) overflow();
  return *product;
}

}  // namespace eindb

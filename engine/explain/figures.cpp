#include "engine/explain/figures.hpp"

#include <cmath>
#include <cstdint>
#include <cstdio>

namespace eindb {

std::string grouped(double value) {
  auto digits = std::to_string(static_cast<std::int64_t>(std::llround(value)));
  for (auto n = static_cast<std::int64_t>(digits.size()) - 3; n > 0; n -= 3)
    digits.insert(static_cast<std::size_t>(n), ",");
  return digits;
}

std::string magnitude(double value) {
  if (std::abs(value) < 1e15) return grouped(value);
  char text[32];
  std::snprintf(text, sizeof text, "%.2e", value);
  return text;
}

std::string milliseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f ms", seconds * 1e3);
  return text;
}

double cost_ratio(double cost, double best) { return cost == best ? 1 : cost / best; }

}  // namespace eindb

#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "engine/results/result.hpp"

namespace eindb {

/// The memory that a row takes, about.
inline std::size_t row_bytes(const Row& row) {
  auto bytes = sizeof(Row) + row.capacity() * sizeof(Cell);
  for (const auto& cell : row) {
    if (const auto* text = std::get_if<std::string>(&cell)) bytes += text->capacity();
    else if (const auto* blob = std::get_if<std::vector<std::byte>>(&cell)) bytes += blob->capacity();
  }
  return bytes;
}

}  // namespace eindb

#include "engine/results/cell_text.hpp"

#include <cstddef>
#include <type_traits>
#include <vector>

#include "common/hexadecimal.hpp"
#include "tensor/number_text.hpp"

namespace eindb {

void append_cell_text(std::string& out, const Cell& cell, std::string_view null) {
  std::visit(
      [&](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::monostate>) out += null;
        else if constexpr (std::is_same_v<T, std::string>) out += value;
        else if constexpr (std::is_same_v<T, std::vector<std::byte>>) append_bytea(out, text_of_bytes(value));
        else append_number(out, value);
      },
      cell);
}

std::string cell_text(const Cell& cell, std::string_view null) {
  std::string out;
  append_cell_text(out, cell, null);
  return out;
}

bool is_number(const Cell& cell) {
  return !std::holds_alternative<std::monostate>(cell) && !std::holds_alternative<std::string>(cell) &&
         !std::holds_alternative<std::vector<std::byte>>(cell);
}

}  // namespace eindb

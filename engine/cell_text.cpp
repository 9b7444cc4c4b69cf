#include "engine/cell_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <type_traits>

namespace eindb {
namespace {

void append(std::string& out, std::int64_t value) { out += std::to_string(value); }

template <class Float>
requires std::is_floating_point_v<Float>
void append(std::string& out, Float value) {
  if (std::isnan(value)) {
    out += "nan";
    return;
  }
  std::array<char, 32> digits{};  // a shortest double takes at most 24
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  const std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
  out += text;
  if (std::isfinite(value) && text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

template <class Float>
void append(std::string& out, const std::complex<Float>& value) {
  append(out, value.real());
  if (!std::signbit(value.imag()) || std::isnan(value.imag())) out += '+';
  append(out, value.imag());
  out += 'j';
}

}  // namespace

void append_cell_text(std::string& out, const Cell& cell, std::string_view null) {
  std::visit(
      [&](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::monostate>) out += null;
        else if constexpr (std::is_same_v<T, std::string>) out += value;
        else append(out, value);
      },
      cell);
}

std::string cell_text(const Cell& cell, std::string_view null) {
  std::string out;
  append_cell_text(out, cell, null);
  return out;
}

bool is_number(const Cell& cell) {
  return !std::holds_alternative<std::monostate>(cell) && !std::holds_alternative<std::string>(cell);
}

}  // namespace eindb

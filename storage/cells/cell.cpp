#include "storage/cells/cell.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <type_traits>

#include "tensor/number_text.hpp"

namespace eindb {
namespace {

template <class T>
inline constexpr bool is_complex_element = !std::is_arithmetic_v<T>;

/// A real as T; a finite real never becomes infinite.
template <class T>
std::optional<T> from_real(double value) {
  if constexpr (std::is_same_v<T, std::int64_t>) {
    constexpr double kLimit = 9223372036854775808.0;  // 2^63
    if (!(value >= -kLimit && value < kLimit) || std::trunc(value) != value) return std::nullopt;
    return static_cast<std::int64_t>(value);
  } else if constexpr (is_complex_element<T>) {
    const auto real = from_real<typename T::value_type>(value);
    return real ? std::optional<T>(*real) : std::nullopt;
  } else {
    if (std::isfinite(value) && std::abs(value) > std::numeric_limits<T>::max()) return std::nullopt;
    return static_cast<T>(value);
  }
}

template <class T>
struct ToElement {
  std::optional<T> operator()(std::int64_t value) const {
    if constexpr (std::is_same_v<T, std::int64_t>) return value;
    else return from_real<T>(static_cast<double>(value));
  }
  std::optional<T> operator()(double value) const { return from_real<T>(value); }
  std::optional<T> operator()(const std::complex<double>& value) const {
    if constexpr (is_complex_element<T>) {
      using Part = typename T::value_type;
      const auto real = from_real<Part>(value.real());
      const auto imaginary = from_real<Part>(value.imag());
      if (real && imaginary) return T(*real, *imaginary);
    }
    return std::nullopt;
  }
};

/// Removes a plus sign, which std::from_chars does not accept.
std::string_view without_plus(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+') text.remove_prefix(1);
  return text;
}

/// Parses a real at the front of `text` and removes it from there.
std::optional<double> take_real(std::string_view& text) {
  const auto digits = without_plus(text);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::invalid_argument) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    // from_chars does not distinguish too small from too large.
    value = std::strtod(std::string(digits.data(), end).c_str(), nullptr);
    if (std::isinf(value)) return std::nullopt;
  }
  text = {end, static_cast<std::size_t>(text.data() + text.size() - end)};
  return value;
}

bool is_imaginary_unit(std::string_view text) { return text == "j" || text == "J"; }

}  // namespace

template <class T>
std::optional<T> to_element(const CellValue& value) {
  return std::visit(ToElement<T>{}, value);
}
template std::optional<float> to_element(const CellValue&);
template std::optional<double> to_element(const CellValue&);
template std::optional<std::complex<float>> to_element(const CellValue&);
template std::optional<std::complex<double>> to_element(const CellValue&);
template std::optional<std::int64_t> to_element(const CellValue&);

std::string to_string(const CellValue& value) {
  std::string out;
  std::visit([&](const auto& number) { append_number(out, number); }, value);
  return out;
}

std::optional<CellValue> parse_real_value(std::string_view text) {
  const auto digits = without_plus(text);
  std::int64_t integer = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), integer);
  if (error == std::errc{} && end == digits.data() + digits.size()) return CellValue(integer);
  const auto real = take_real(text);
  if (!real || !text.empty()) return std::nullopt;
  return CellValue(*real);
}

std::optional<CellValue> parse_cell_value(std::string_view text) {
  if (auto real = parse_real_value(text)) return real;
  const auto first = take_real(text);
  if (!first) return std::nullopt;
  if (is_imaginary_unit(text)) return CellValue(std::complex<double>(0, *first));
  if (text.empty() || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  const auto second = take_real(text);
  if (!second || !is_imaginary_unit(text)) return std::nullopt;
  return CellValue(std::complex<double>(*first, *second));
}

DType wider(DType type, const CellValue& value) {
  if (std::holds_alternative<std::complex<double>>(value)) return DType::Complex128;
  return std::holds_alternative<double>(value) && type == DType::Int64 ? DType::Float64 : type;
}

std::string key_text(const std::vector<std::int64_t>& key, std::int64_t base) {
  std::string out = "(";
  for (std::size_t d = 0; d < key.size(); ++d) out += (d == 0 ? "" : ", ") + std::to_string(key[d] + base);
  return out + ")";
}

}  // namespace eindb

#include "storage/formats/csv_number.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

namespace eindb {
namespace {

std::string_view number_text(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  text = text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
  // std::from_chars accepts no plus sign.
  if (text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+') text.remove_prefix(1);
  return text;
}

/// from_chars only reports "out of range"; strtod distinguishes too small from too large. Such fields are rare.
std::optional<double> at_the_range_limit(std::string_view text) {
  const double value = std::strtod(std::string(text).c_str(), nullptr);
  if (std::isinf(value)) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::int64_t> parse_csv_integer(std::string_view text) {
  text = number_text(text);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_csv_real(std::string_view text) {
  text = number_text(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) return std::nullopt;
  return error == std::errc::result_out_of_range ? at_the_range_limit(text) : value;
}

}  // namespace eindb

#include "tests/runner/value_comparison.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>

#include "tests/runner/pattern.hpp"

namespace eindb::runner {
namespace {

constexpr std::string_view kMatch = "<REGEX>:";
constexpr std::string_view kNoMatch = "<!REGEX>:";

bool close(double a, double b, Tolerance tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <= tolerance.absolute + tolerance.relative * std::max(std::abs(a), std::abs(b));
}

}  // namespace

std::optional<std::complex<double>> parse_number(const std::string& text) {
  const char* begin = text.c_str();
  const char* text_end = begin + text.size();
  char* end = nullptr;
  if (text.empty() || std::isspace(static_cast<unsigned char>(*begin)) != 0) return std::nullopt;
  const double real = std::strtod(begin, &end);
  if (end == begin) return std::nullopt;
  if (end == text_end) return real;
  if (*end == 'j' && end + 1 == text_end) return std::complex<double>(0, real);
  if (*end != '+' && *end != '-') return std::nullopt;
  const double imaginary = std::strtod(end, &end);
  if (end + 1 != text_end || *end != 'j') return std::nullopt;
  return std::complex<double>(real, imaginary);
}

bool value_fits(const std::string& actual, const std::string& expected, bool numeric, Tolerance tolerance) {
  if (expected.starts_with(kMatch)) return Pattern(expected.substr(kMatch.size())).matches_in(actual);
  if (expected.starts_with(kNoMatch)) return !Pattern(expected.substr(kNoMatch.size())).matches_in(actual);
  if (!numeric) return actual == expected;
  const auto a = parse_number(actual);
  const auto b = parse_number(expected);
  if (!a || !b) return actual == expected;
  // A complex number with one tiny part is compared by its magnitude.
  if (std::isfinite(std::abs(*a)) && std::isfinite(std::abs(*b))) {
    const double scale = std::max(std::abs(*a), std::abs(*b));
    return std::abs(*a - *b) <= tolerance.absolute + tolerance.relative * scale;
  }
  return close(a->real(), b->real(), tolerance) && close(a->imag(), b->imag(), tolerance);
}

bool value_less(const std::string& a, const std::string& b) {
  const auto key = [](const std::string& text) {
    const auto number = parse_number(text);
    if (!number) return std::tuple(2, 0.0, 0.0);
    if (std::isnan(number->real()) || std::isnan(number->imag())) return std::tuple(1, 0.0, 0.0);
    return std::tuple(0, number->real(), number->imag());
  };
  const auto key_a = key(a);
  const auto key_b = key(b);
  return key_a != key_b ? key_a < key_b : std::get<0>(key_a) == 2 && a < b;
}

}  // namespace eindb::runner

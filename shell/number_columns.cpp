#include "shell/number_columns.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "engine/results/cell_text.hpp"

namespace eindb {
namespace {

constexpr int kPrecision = 8;

template <class... Format>
std::string to_text(auto value, Format... format) {
  std::array<char, 400> digits{};  // a double has at most 309 digits before the point
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, format...).ptr;
  return {digits.data(), end};
}

void pad_left(std::vector<std::string>& texts) {
  std::size_t width = 0;
  for (const auto& text : texts) width = std::max(width, text.size());
  for (auto& text : texts) text.insert(0, width - text.size(), ' ');
}

template <class Float>
bool needs_exponent(const std::vector<Float>& values) {
  Float largest = 0;
  Float smallest = std::numeric_limits<Float>::infinity();
  for (const Float value : values) {
    if (!std::isfinite(value) || value == 0) continue;
    largest = std::max(largest, std::abs(value));
    smallest = std::min(smallest, std::abs(value));
  }
  if (largest == 0) return false;
  return largest >= Float(1e8) || smallest < Float(1e-4) || largest / smallest > 1000;
}

/// The shortest digits that give the value, with a point and at most 8 digits after it: 0.1 -> "0.1", 2 -> "2.".
template <class Float>
std::string positional(Float value) {
  auto text = to_text(value, std::chars_format::fixed);
  const auto point = text.find('.');
  if (point == std::string::npos) return text + ".";
  if (text.size() - point - 1 > kPrecision) {
    text = to_text(value, std::chars_format::fixed, kPrecision);
    text.erase(text.find_last_not_of('0') + 1);
  }
  return text;
}

/// The digits after the point that the value needs in exponent notation, at most 8.
template <class Float>
int exponent_digits(Float value) {
  const auto text = to_text(value, std::chars_format::scientific);
  const auto point = text.find('.');
  return point == std::string::npos ? 0 : std::min(kPrecision, static_cast<int>(text.find('e') - point) - 1);
}

template <class Float>
std::vector<std::string> with_exponent(const std::vector<Float>& values) {
  int digits = 0;
  for (const Float value : values) {
    if (std::isfinite(value)) digits = std::max(digits, exponent_digits(value));
  }
  std::vector<std::string> texts;
  for (const Float value : values) {
    auto text = std::isfinite(value) ? to_text(value, std::chars_format::scientific, digits) : cell_text(value);
    if (digits == 0 && std::isfinite(value)) text.insert(text.find('e'), ".");
    texts.push_back(std::move(text));
  }
  return texts;
}

template <class Float>
std::vector<std::string> without_exponent(const std::vector<Float>& values) {
  std::vector<std::string> texts;
  std::size_t digits = 0;
  for (const Float value : values) {
    auto& text = texts.emplace_back(std::isfinite(value) ? positional(value) : cell_text(value));
    if (std::isfinite(value)) digits = std::max(digits, text.size() - text.find('.') - 1);
  }
  for (std::size_t n = 0; n < texts.size(); ++n) {
    if (std::isfinite(values[n])) texts[n].append(digits - (texts[n].size() - texts[n].find('.') - 1), ' ');
  }
  return texts;
}

template <class Float>
std::vector<std::string> align_floats(const std::vector<Float>& values) {
  auto texts = needs_exponent(values) ? with_exponent(values) : without_exponent(values);
  pad_left(texts);
  return texts;
}

std::vector<std::string> align(const std::vector<std::int64_t>& values) {
  std::vector<std::string> texts;
  for (const auto value : values) texts.push_back(std::to_string(value));
  pad_left(texts);
  return texts;
}
std::vector<std::string> align(const std::vector<float>& values) { return align_floats(values); }
std::vector<std::string> align(const std::vector<double>& values) { return align_floats(values); }

/// Real and imaginary parts are aligned separately; blanks after the imaginary part move behind the j.
template <class Float>
std::vector<std::string> align(const std::vector<std::complex<Float>>& values) {
  std::vector<Float> real;
  std::vector<Float> imaginary;
  for (const auto& value : values) {
    real.push_back(value.real());
    imaginary.push_back(std::abs(value.imag()));
  }
  auto texts = align_floats(real);
  const auto imaginary_texts = align_floats(imaginary);
  for (std::size_t n = 0; n < texts.size(); ++n) {
    const auto& part = imaginary_texts[n];
    const auto blanks_before = part.find_first_not_of(' ');
    const auto digits_end = part.find_last_not_of(' ') + 1;
    texts[n] += std::string(blanks_before, ' ') + (std::signbit(values[n].imag()) ? '-' : '+');
    texts[n] += part.substr(blanks_before, digits_end - blanks_before) + "j" + part.substr(digits_end);
  }
  return texts;
}

}  // namespace

std::vector<std::string> align_numbers(const std::vector<Cell>& numbers) {
  if (numbers.empty()) return {};
  return std::visit(
      [&]<class T>(const T&) -> std::vector<std::string> {
        if constexpr (std::is_same_v<T, std::monostate> || std::is_same_v<T, std::string> ||
                      std::is_same_v<T, std::vector<std::byte>>) {
          return {};  // tensors contain numbers only
        } else {
          std::vector<T> values;
          for (const auto& number : numbers) values.push_back(std::get<T>(number));
          return align(values);
        }
      },
      numbers.front());
}

}  // namespace eindb

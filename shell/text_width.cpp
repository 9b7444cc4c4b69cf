#include "shell/text_width.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cwchar>

namespace eindb {
namespace {

/// The code point at the start of `text` and its length in bytes; length 0 for invalid UTF-8.
struct WideCharacter {
  wchar_t value = 0;
  std::size_t length = 0;
};

WideCharacter first_code_point(std::string_view text) {
  WideCharacter point;
  std::mbstate_t state{};
  const auto length = std::mbrtowc(&point.value, text.data(), text.size(), &state);
  if (text.front() == '\0') point.length = 1;
  else if (length <= text.size()) point.length = length;
  return point;
}

std::size_t columns_of(const WideCharacter& point) {
  const int columns = point.length == 0 ? 1 : wcwidth(point.value);
  return columns < 0 ? 1 : static_cast<std::size_t>(columns);
}

std::string escape(char c) {
  if (c == '\n') return "\\n";
  if (c == '\t') return "\\t";
  std::array<char, 5> code{};
  std::snprintf(code.data(), code.size(), "\\x%02X", static_cast<unsigned>(static_cast<unsigned char>(c)));
  return code.data();
}

std::size_t missing(const std::string& text, std::size_t width) { return width - std::min(width, display_width(text)); }

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto point = first_code_point(text);
    const auto length = std::max<std::size_t>(point.length, 1);
    const bool is_control = (point.value < 0x20 || (point.value >= 0x7F && point.value < 0xA0));
    if (point.length == 0) out += "\xEF\xBF\xBD";
    else if (is_control) std::for_each_n(text.begin(), length, [&](char c) { out += escape(c); });
    else out += text.substr(0, length);
    text.remove_prefix(length);
  }
  return out;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const auto point = first_code_point(text);
    width += columns_of(point);
    text.remove_prefix(std::max<std::size_t>(point.length, 1));
  }
  return width;
}

std::string shortened(const std::string& text, std::size_t width) {
  if (display_width(text) <= width) return text;
  const std::string dots(std::min<std::size_t>(width, 3), '.');
  std::size_t used = dots.size();
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto point = first_code_point(rest);
    used += columns_of(point);
    if (used > width) break;
    rest.remove_prefix(std::max<std::size_t>(point.length, 1));
  }
  return text.substr(0, text.size() - rest.size()) + dots;
}

std::string padded_left(const std::string& text, std::size_t width) {
  return std::string(missing(text, width), ' ') + text;
}

std::string padded_right(const std::string& text, std::size_t width) {
  return text + std::string(missing(text, width), ' ');
}

}  // namespace eindb

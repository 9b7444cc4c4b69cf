#include "common/source_span.hpp"

#include <algorithm>

namespace eindb {
namespace {

constexpr std::size_t kExcerptWidth = 100;

bool starts_code_point(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

std::size_t count_code_points(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_code_point));
}

std::string printable(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c == '\t' || c == '\r') c = ' ';
    if (static_cast<unsigned char>(c) < 0x20U || c == 0x7F) c = '?';
  }
  return out;
}

}  // namespace

SourceSpan cover(SourceSpan a, SourceSpan b) { return {std::min(a.begin, b.begin), std::max(a.end, b.end)}; }

SourcePosition locate(std::string_view text, std::size_t offset) {
  const auto before = text.substr(0, std::min(offset, text.size()));
  const auto newline = before.rfind('\n');
  const auto line_begin = newline == std::string_view::npos ? 0 : newline + 1;
  return {.line = 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')),
          .column = 1 + count_code_points(before.substr(line_begin))};
}

std::string excerpt(std::string_view text, SourceSpan span) {
  const auto begin = std::min(span.begin, text.size());
  const auto newline = begin == 0 ? std::string_view::npos : text.rfind('\n', begin - 1);
  std::size_t line_begin = newline == std::string_view::npos ? 0 : newline + 1;
  std::size_t line_end = std::min(text.find('\n', begin), text.size());
  if (line_end < begin) line_end = begin;

  // Keep the window around the span, on code point boundaries.
  if (begin - line_begin > kExcerptWidth / 2) line_begin = begin - kExcerptWidth / 2;
  while (line_begin < begin && !starts_code_point(text[line_begin])) ++line_begin;
  line_end = std::min(line_end, line_begin + kExcerptWidth);
  while (line_end < text.size() && line_end > begin && !starts_code_point(text[line_end])) --line_end;

  const auto end = std::clamp(span.end, begin, std::max(begin, line_end));
  const auto indent = count_code_points(text.substr(line_begin, begin - line_begin));
  const auto carets = std::max<std::size_t>(1, count_code_points(text.substr(begin, end - begin)));
  return "    " + printable(text.substr(line_begin, line_end - line_begin)) + "\n    " + std::string(indent, ' ') +
         std::string(carets, '^');
}

}  // namespace eindb

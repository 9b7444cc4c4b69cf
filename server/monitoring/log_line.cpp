#include "server/monitoring/log_line.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace eindb {
namespace {

std::string quoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

// Whether the text needs no quotes: it has no spaces, quotes or equals signs.
bool is_plain(std::string_view text) {
  constexpr std::string_view kMarks = "_-.:/@[]+";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kMarks.find(c) != std::string_view::npos;
  });
}

// Without an exponent, for readability. Infinities become null, as JSON has none.
std::string written(double value) {
  if (!std::isfinite(value)) return "null";
  std::array<char, std::numeric_limits<double>::max_exponent10 + 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed).ptr;
  return {text.data(), end};
}

std::string written(const LogField& field, LogFormat format) {
  if (const auto* text = std::get_if<std::string_view>(&field.value))
    return format == LogFormat::Text && is_plain(*text) ? std::string(*text) : quoted(*text);
  if (const auto* number = std::get_if<std::int64_t>(&field.value)) return std::to_string(*number);
  return written(std::get<double>(field.value));
}

}  // namespace

std::string log_line(LogFormat format, std::string_view event, std::span<const LogField> fields) {
  const bool json = format == LogFormat::Json;
  auto line = json ? "\"event\":" + quoted(event) : std::string(event);
  for (const auto& field : fields) {
    line += json ? ",\"" : " ";
    line += field.name;
    line += json ? "\":" : "=";
    line += written(field, format);
  }
  if (json) line += '}';
  return line;
}

std::string_view excerpt(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  auto end = most;
  constexpr std::size_t kLongestRest = 3;  // longest remainder of a UTF-8 character
  for (std::size_t n = 0; n < kLongestRest && end > 0 && continues(text[end]); ++n) --end;
  return text.substr(0, end);
}

}  // namespace eindb

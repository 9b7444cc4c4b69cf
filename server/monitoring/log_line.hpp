#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace eindb {

enum class LogFormat : std::uint8_t { Text, Json };

/// One named value of an event. The name is the server's own: a word.
struct LogField {
  std::string_view name;
  std::variant<std::int64_t, double, std::string_view> value;
};

/// An event as the rest of a line whose beginning is its time and level.
///
///     text:  connection opened session=3 address=127.0.0.1:40000 user="ada l."
///     JSON:  "event":"connection opened","session":3,"address":"127.0.0.1:40000","user":"ada l."}
///
/// Values may be any bytes, of hostile clients too: a line is printable ASCII, whatever they are, so that nobody writes
/// lines of his own or speaks to a terminal. What is no UTF-8 is replaced by U+FFFD.
std::string log_line(LogFormat format, std::string_view event, std::span<const LogField> fields);

/// The beginning of `text`, at most `most` bytes, not cut within a character.
std::string_view excerpt(std::string_view text, std::size_t most);

}  // namespace eindb

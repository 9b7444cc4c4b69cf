#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace eindb {

enum class LogFormat : std::uint8_t { Text, Json };

/// A named value of an event. The name is a word chosen by the server.
struct LogField {
  std::string_view name;
  std::variant<std::int64_t, double, std::string_view> value;
};

/// The remainder of a log line after its time and level.
///
///     text:  connection opened session=3 address=127.0.0.1:40000 user="ada l."
///     JSON:  "event":"connection opened","session":3,"address":"127.0.0.1:40000","user":"ada l."}
///
/// Values may be any bytes, even from hostile clients. The line is always printable ASCII, so that no client can forge
/// lines or control a terminal. Invalid UTF-8 is replaced by U+FFFD.
std::string log_line(LogFormat format, std::string_view event, std::span<const LogField> fields);

/// The beginning of `text`, at most `most` bytes, without splitting a character.
std::string_view excerpt(std::string_view text, std::size_t most);

}  // namespace eindb

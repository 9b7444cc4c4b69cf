#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "engine/session.hpp"
#include "server/protocol/frontend_message.hpp"
#include "server/protocol/message_writer.hpp"
#include "server/values/data_type.hpp"

namespace eindb {

/// The buffer size for put_sql_number().
inline constexpr std::size_t kMostNumberText = 32;

/// Writes a number to `to` as PostgreSQL prints it: the fewest digits that read back as the same value, in the form of
/// %g, "Infinity", "-Infinity" and "NaN". Returns the end.
char* put_sql_number(char* to, std::int64_t value);
char* put_sql_number(char* to, double value);
char* put_sql_number(char* to, float value);
template <class T>
void append_sql_number(std::string& out, T value) {
  std::array<char, kMostNumberText> text;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
  out.append(text.data(), put_sql_number(text.data(), value));
}
/// Appends a number, a text, or bytes as "\x6162". Appends nothing for NULL, nor for complex numbers, whose parts are
/// written separately.
void append_text(std::string& out, const Cell& cell);

/// Writes a value of a row after its length, for a client that reads the column as `type` in `format`. Integers are
/// accepted as floating-point numbers, numbers without a fraction as integers, and any value as text, where invalid
/// UTF-8 is written as \x6869. Error{Type} if the value does not fit the type: rows of SQLite's own tables may have
/// values of any type in any column.
/// `modifier` is that of the type, as of numeric(10,2); -1: none.
void write_value(MessageWriter& out, const Cell& cell, DataType type, frontend::Format format,
                 std::int32_t modifier = -1);
/// Appends a value as the text of its type, as write_value() has it; nothing for NULL.
void append_typed_text(std::string& out, const Cell& cell, DataType type, std::int32_t modifier = -1);
/// Writes one part of a complex number.
void write_value(MessageWriter& out, double value, DataType type, frontend::Format format);

using ParameterInput = decltype(StatementInputs::parameters)::value_type;

/// Reads the value of a parameter that a client sends as `type`; text format is valid UTF-8 (check_client_text).
/// Error{Value} for invalid text, Error{Unsupported} for types without values in eindb, ProtocolError for a binary
/// value of the wrong length.
ParameterInput read_value(std::string_view value, DataType type, frontend::Format format);

}  // namespace eindb

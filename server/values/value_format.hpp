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

/// Room that put_sql_number() needs.
inline constexpr std::size_t kMostNumberText = 32;

/// Writes a number to `to` as PostgreSQL prints it: the fewest digits that read back as the same value, in the form of
/// %g, "Infinity", "-Infinity" and "NaN". Returns its end.
char* put_sql_number(char* to, std::int64_t value);
char* put_sql_number(char* to, double value);
char* put_sql_number(char* to, float value);
template <class T>
void append_sql_number(std::string& out, T value) {
  std::array<char, kMostNumberText> text;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
  out.append(text.data(), put_sql_number(text.data(), value));
}
/// A number, or a text as it is; nothing for NULL, and for complex numbers, whose parts are written one by one.
void append_text(std::string& out, const Cell& cell);

/// Writes a value of a row, behind its length, for a client that takes the column as `type` in `format`. Integers are
/// also taken for numbers, numbers without a fraction for integers, and anything for text, where bytes that
/// are no UTF-8 come as \x6869. Error{Type} where the value
/// is none of the type: rows of SQLite's own tables may have values of any type in any column.
void write_value(MessageWriter& out, const Cell& cell, DataType type, frontend::Format format);
/// One part of a complex number.
void write_value(MessageWriter& out, double value, DataType type, frontend::Format format);

using ParameterInput = decltype(StatementInputs::parameters)::value_type;

/// The value of a parameter that a client sends as `type`. Error{Value} for text that is no value of the type,
/// Error{Unsupported} for types that eindb has no values of, ProtocolError for a binary value of the wrong length.
ParameterInput read_value(std::string_view value, DataType type, frontend::Format format);

}  // namespace eindb

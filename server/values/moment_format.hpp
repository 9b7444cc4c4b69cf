#pragma once

#include <string>
#include <string_view>

#include "server/values/data_type.hpp"

namespace eindb {

/// Whether values of the type are dates, times or identifiers that the database keeps as texts in one form.
bool is_kept_as_text(DataType type);

/// A parameter of such a type as it is kept: 2024-02-29, 2024-02-29 12:30:00, 1 day 02:00:00. Throws CodedError{22007},
/// {22P02} for other texts.
std::string read_kept_text(std::string_view text, DataType type);
/// The same from PostgreSQL's binary format. Throws ProtocolError for a wrong size, CodedError{22008} for dates outside
/// the years 1 to 9999.
std::string read_kept_binary(std::string_view value, DataType type);

/// Appends a kept text in the form of its type, or in PostgreSQL's binary format. Throw CodedError{22007}, {22P02} if
/// the text is none of the type, as SQLite's columns may hold any text.
void append_kept_text(std::string& out, std::string_view value, DataType type);
void append_kept_binary(std::string& out, std::string_view value, DataType type);

}  // namespace eindb

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace eindb {

/// The CREATE TABLE statement `created`, as SQLite keeps it, with another constraint at its end, and NOT NULL in the
/// columns `required`. Error{Unsupported} if it cannot be taken apart; CodedError if a column is not there.
/// Thread-safe.
///
///     CREATE TABLE t (a int, b text)  ->  CREATE TABLE t (a int NOT NULL, b text, PRIMARY KEY ( a ))
std::string with_constraint(std::string_view created, std::string_view constraint,
                            std::span<const std::string> required);

/// The CREATE TABLE with another column behind those that it has.
std::string with_new_column(std::string_view created, std::string_view column);

/// The CREATE TABLE with NOT NULL (or with `of_default` DEFAULT) of the column replaced by `value`, or without it.
/// Throws CodedError if there is no such column.
std::string with_column(std::string_view created, const std::string& column, bool of_default,
                        const std::optional<std::string>& value);

}  // namespace eindb

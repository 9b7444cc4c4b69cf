#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/sql_types/value_type.hpp"

namespace eindb {

/// A column of a table or of a query's rows.
struct TypedColumn {
  std::string name;
  ValueType type = ValueType::Unknown;
  bool hidden = false;  ///< * does not show it
};

/// What the inference asks the world about names. Without regard to the case of ASCII letters.
struct SqlNames {
  /// The columns of a table or view; nullopt if that is not known. The schema may be empty.
  std::function<std::optional<std::vector<TypedColumn>>(const std::string& schema, const std::string& table)> columns;
  /// What a function that SQLite itself has not gives; Unknown if that is not known.
  std::function<ValueType(const std::string& function)> function;
};

/// What a statement gives and takes.
struct SqlTypes {
  std::vector<ValueType> columns;     ///< empty: nothing is known, or there are none
  std::vector<ValueType> parameters;  ///< of $1, $2, ...; Unknown where the text says nothing
};

/// The types of a statement's columns and parameters, from its text alone: SQLite has types for values, not for
/// expressions. What is told of a column is true as far as tables keep to the types that they are declared with:
///
///     SELECT COUNT(*), SUM(n) / 2, name || '!' FROM t WHERE x > $1      n INTEGER, x REAL
///     Integer, Integer, Text; $1 is Real
///
/// SELECT with all its parts, WITH (RECURSIVE) and VALUES; INSERT, UPDATE and DELETE with RETURNING; the rows of CREATE
/// VIEW. Anything else, and what SQLite would refuse, is Unknown, which is never wrong. `parameters` are those that are
/// known already. Never throws but for want of memory; the time is bounded by the text's length.
SqlTypes infer_types(std::string_view sql, const SqlNames& names, std::vector<ValueType> parameters);

}  // namespace eindb

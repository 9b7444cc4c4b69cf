#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/source_span.hpp"
#include "engine/sql_types/value_type.hpp"

namespace eindb {

/// A column of a table or of a query's rows.
struct TypedColumn {
  std::string name;
  ValueType type = ValueType::Unknown;
  bool hidden = false;         ///< not shown by *
  bool complex = false;        ///< complex numbers, as texts: the val of a complex tensor
  std::string declared = {};   ///< the type in CREATE TABLE; empty if there is none
  bool key = false;            ///< whether it belongs to the primary key, as the labels of a tensor do
  bool always_counts = false;  ///< whether CREATE TABLE says GENERATED ALWAYS AS IDENTITY
};

/// The lookups that the inference uses for names; ASCII case-insensitive.
struct SqlNames {
  /// The columns of a table or view; nullopt if they are unknown. The schema may be empty.
  std::function<std::optional<std::vector<TypedColumn>>(const std::string& schema, const std::string& table)> columns;
  /// The result type of a function that is not built into SQLite; Unknown if it is not known.
  std::function<ValueType(const std::string& function)> function;
};

/// An operation on complex numbers that SQL has for real ones alone: SUM(val), val < 2, val + 1. SQLite would read the
/// real part of their text.
struct ComplexMisuse {
  std::string operation;  ///< "SUM", "<"
  SourceSpan span;        ///< of its name in the SQL
};

/// The types of a statement's columns and parameters.
struct SqlTypes {
  std::vector<ValueType> columns;       ///< empty: unknown, or no columns
  std::vector<ValueType> parameters;    ///< of $1, $2, ...; Unknown if the text does not determine it
  std::vector<bool> complex = {};       ///< for each of the columns
  std::optional<ComplexMisuse> misuse;  ///< the first one that was found
};

/// Infers the types of a statement's columns and parameters from its text alone, since SQLite has types for values, not
/// for expressions. A column's type is correct as long as the values in tables have their declared types:
///
///     SELECT COUNT(*), SUM(n) / 2, name || '!' FROM t WHERE x > $1      n INTEGER, x REAL
///     Integer, Integer, Text; $1 is Real
///
/// Covers SELECT with all its clauses, WITH (RECURSIVE) and VALUES; INSERT, UPDATE and DELETE with RETURNING; the rows
/// of CREATE VIEW. For any other SQL, and SQL that SQLite would refuse, the types are Unknown, which is always correct.
/// `parameters` are the types known so far. Throws only if memory is exhausted; the time is bounded by the text's
/// length.
SqlTypes infer_types(std::string_view sql, const SqlNames& names, std::vector<ValueType> parameters);

}  // namespace eindb

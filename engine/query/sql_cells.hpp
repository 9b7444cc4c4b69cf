#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "engine/query/sql_query.hpp"
#include "storage/cells/cell_source.hpp"

namespace eindb {

/// The index that a value of SQL names: a text, or an integer, which SQL compares with names as its text. -1 for
/// others.
template <class Value>
std::int64_t index_named_by(const Value& value, const IndexNames& names) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return names.find(std::to_string(*integer));
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? -1 : names.find(*text);
}

/// Compiles SQL that gives rows and changes nothing; Error{Unsupported} for any other SQL. `what` names the caller in
/// the message: "COPY".
PreparedSql prepare_rows(const ast::Sql& sql, SessionState& session, const std::string& what);

/// The rows of a query as cells: key..., value; for complex types also key..., re, im. Indices with names are given as
/// these, and NULL as a value is NaN. Error{Value} names the row, counted from 1, if it has NULL in the key or as an
/// INT64, text that is not a complex number of such a type, a key that is not an integer, or none of the names.
class SqlCells final : public CellSource {
 public:
  /// Error{Value} unless the query has one column per dimension and one for the value, or two for its parts.
  SqlCells(PreparedSql rows, DType dtype, Shape shape, DimensionNames names = {});

  DType dtype() const override { return dtype_; }
  const Shape& shape() const override { return shape_; }
  bool next(KeyedCell& cell) override;
  std::string place(std::int64_t line) const override { return "row " + std::to_string(line) + " of the query"; }

 private:
  [[noreturn]] void fail(int column, const std::string& what) const;
  std::int64_t index(std::size_t dimension);
  CellValue number(int column);
  double part(int column);

  PreparedSql rows_;
  DType dtype_;
  Shape shape_;
  DimensionNames names_;
  bool in_parts_ = false;  // re and im
  std::int64_t row_ = 0;
};

}  // namespace eindb

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/results/result.hpp"

namespace eindb {

/// The destination of rows that a program loads, a few at a time.
struct LoadTarget {
  std::string schema;                ///< for SQL tables: "main", "temp"; empty: the first schema that has the table
  std::string name;                  ///< of a tensor or table, case-insensitive
  std::vector<std::string> columns;  ///< empty: all columns in their order
  bool checked = false;  ///< whether a table takes values of its columns' types alone, as PostgreSQL's INSERT does
};

/// Loads rows into a tensor or a table: all of them or none. A tensor is filled anew, as by COPY from a file: cells
/// that no row gives are zero, and no cell may be given twice. Rows are added to a table.
///
///     auto loader = session.load({.name = "t"});
///     loader->add({Cell(1), Cell("a")}); ...
///     loader->finish();
///
/// A transaction is open for the life of the loader, and the session runs nothing else meanwhile. After an error, or
/// without finish(), everything is rolled back. Must not outlive its session. Not thread-safe.
class RowLoader {
 public:
  virtual ~RowLoader() = default;

  /// The columns of a row. For a tensor: its labels and val. For a complex tensor val is text, as everywhere in SQL,
  /// and re and im may be named in place of val.
  const std::vector<Column>& columns() const { return columns_; }
  /// Cells are integers, reals, texts, bytes or NULL, one for each column. Throws Error{Value} for a cell outside the
  /// tensor or a value that its type does not hold, Error{Constraint} and others as INSERT does, Error{Cancelled}.
  virtual void add(const Row& row) = 0;
  /// Ends the load and returns the number of rows.
  virtual std::int64_t finish() = 0;

 protected:
  std::vector<Column> columns_;
};

}  // namespace eindb

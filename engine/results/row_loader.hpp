#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/results/result.hpp"

namespace eindb {

/// Where rows go that are brought by a program, a few at a time.
struct LoadTarget {
  std::string schema;                ///< of SQL: "main", "temp"; empty: the first that has the table
  std::string name;                  ///< of a tensor or table, without regard to case
  std::vector<std::string> columns;  ///< empty: all, in their order
};

/// Takes rows into a tensor or a table: all of them, or none. As COPY from a file does, it fills a tensor anew: cells
/// that do not come are zero, and none may come twice. To a table it adds.
///
///     auto loader = session.load({.name = "t"});
///     loader->add({Cell(1), Cell("a")}); ...
///     loader->finish();
///
/// A transaction is open from the beginning to the end, and in between the session runs nothing else. After an error,
/// and where finish() was not called, everything is as it was before. Must not outlive its session. Not thread-safe.
class RowLoader {
 public:
  virtual ~RowLoader() = default;

  /// What a row consists of. Of a tensor: its labels and val; of a complex one val is text, as everywhere in SQL, and
  /// re and im may be named in its place.
  const std::vector<Column>& columns() const { return columns_; }
  /// Cells are integers, reals, texts or NULL, one for each column. Throws Error: Value for a cell outside the tensor
  /// or a value that its type does not hold, Constraint and others as INSERT does; Cancelled.
  virtual void add(const Row& row) = 0;
  /// Everything is there: gives the number of rows.
  virtual std::int64_t finish() = 0;

 protected:
  std::vector<Column> columns_;
};

}  // namespace eindb

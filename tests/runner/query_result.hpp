#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/results/result.hpp"
#include "tests/runner/test_script.hpp"

namespace eindb::runner {

/// The result of a query as a script writes it: one text per value, ordered by the sort mode.
class QueryResult {
 public:
  using TextRow = std::vector<std::string>;

  /// Reads all rows. NULL is "NULL", an empty text "(empty)", control characters are \n, \t or \x1B.
  static QueryResult read(Result& result, SortMode sort);
  /// Parses the lines of an expected result: one row per line, with values separated by tabs or, if that gives the
  /// right number, by blanks; or one value per line if not every line is a row.
  static QueryResult parse(const std::vector<std::string>& lines, std::size_t columns, SortMode sort);

  /// Describes the difference to the expected result; nullopt if there is none.
  std::optional<std::string> difference(const QueryResult& expected, const QueryCase& query) const;

  /// The lines of a script for this result: values separated by tabs.
  std::vector<std::string> lines() const;
  std::size_t value_count() const;
  /// A text such as "12 values hashing to 0123456789abcdef".
  std::string hash() const;
  std::size_t column_count() const { return columns_; }

 private:
  void sort(SortMode mode);

  std::size_t columns_ = 0;
  std::vector<TextRow> rows_;
};

}  // namespace eindb::runner

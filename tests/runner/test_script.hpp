#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tests/runner/value_comparison.hpp"

namespace eindb::runner {

/// Rows unsorted, rows sorted, or all values of all rows sorted as one list.
enum class SortMode { None, Rows, Values };

/// `statement ok`, or `statement error [REGEX]`, optionally with a `----` block of text that the message must contain.
struct StatementCase {
  std::string sql;
  bool fails = false;
  std::string pattern;
  std::string text;
  std::string elsewhere = {};  ///< the file of ${TMP} on which a session of its own runs it, without workers
};

/// `query TYPES [SORTMODE] [LABEL]`. Queries with the same label must have equal results; the second and later ones may
/// omit theirs.
struct QueryCase {
  std::string sql;
  std::string types;  ///< one of I, R, T per column
  SortMode sort = SortMode::None;
  std::string label;
  std::optional<std::vector<std::string>> expected;  ///< the lines below `----`
  std::size_t expected_begin = 0;                    ///< index of the first of them in the file
  Tolerance tolerance;
  std::size_t hash_threshold = 0;  ///< results with more values are written as a hash; 0: never
};

/// `database file`: go on with a fresh database in ${TMP}.
struct OpenFile {};
/// `reopen`: close the database file and open it again.
struct Reopen {};

/// One entry of a script, with the conditions under which it runs.
struct Record {
  std::size_t line = 0;  ///< 1-based
  std::vector<std::string> only_if;
  std::vector<std::string> skip_if;
  std::variant<StatementCase, QueryCase, OpenFile, Reopen> action;
};

/// A .test file: its lines, for rewriting, and its records. See tests/README.md for the format.
struct TestScript {
  std::filesystem::path path;
  std::vector<std::string> lines;
  std::vector<Record> records;
};

/// Throws std::runtime_error "FILE:LINE: ..." if the file is not readable, violates the format, or has no case.
TestScript read_test_script(const std::filesystem::path& path);

}  // namespace eindb::runner

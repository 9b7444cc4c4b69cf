#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/sql_types/sql_types.hpp"

namespace eindb {

/// A table or query in a FROM clause.
struct NamedSource {
  std::string name;  ///< qualifier of its columns; empty: none
  std::vector<TypedColumn> columns;
  bool known = true;                     ///< whether all its columns are known
  bool rowids = true;                    ///< whether its rows have a rowid
  std::vector<std::string> joined = {};  ///< columns of USING, which * shows only for the other source
};

/// The names that an expression sees: the sources of its SELECT, then those of the enclosing queries.
class NameScope {
 public:
  explicit NameScope(const NameScope* outer) : outer_(outer) {}
  const NameScope* outer() const { return outer_; }

  void add(NamedSource source) { sources_.push_back(std::move(source)); }
  /// JOIN ... USING (column): merges the last source's column with the same column of an earlier source, if there is
  /// one.
  void join_last(const std::string& column);
  /// NATURAL JOIN: merges all columns of equal names.
  void join_last_naturally();

  /// The column; `source` may be empty. Its type is Unknown if it is not found.
  TypedColumn find(const std::string& source, const std::string& column) const;
  /// The columns of *, or of source.*; nullopt if some are unknown.
  std::optional<std::vector<TypedColumn>> all(const std::string& source) const;

 private:
  std::optional<TypedColumn> find_here(const std::string& source, const std::string& column) const;

  const NameScope* outer_;
  std::vector<NamedSource> sources_;
};

}  // namespace eindb

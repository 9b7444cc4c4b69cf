#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/sql_types/sql_types.hpp"

namespace eindb {

/// A table or query of a FROM.
struct NamedSource {
  std::string name;  ///< by which columns call it; empty: they do not
  std::vector<TypedColumn> columns;
  bool known = true;                     ///< whether all its columns are
  bool rowids = true;                    ///< a table's rows have numbers
  std::vector<std::string> joined = {};  ///< columns of USING, which * shows once, on the other side
};

/// The names that an expression sees: the sources of its SELECT, then those around it.
class NameScope {
 public:
  explicit NameScope(const NameScope* outer) : outer_(outer) {}
  const NameScope* outer() const { return outer_; }

  void add(NamedSource source) { sources_.push_back(std::move(source)); }
  /// JOIN ... USING (column): it is one with that of the sources before the last one, if they have it.
  void join_last(const std::string& column);
  /// NATURAL JOIN: all that have the same name are one.
  void join_last_naturally();

  /// The type of a column, `source` may be empty. Unknown if there is none.
  ValueType find(const std::string& source, const std::string& column) const;
  /// The columns of *, or of source.*; nullopt if not all are known.
  std::optional<std::vector<TypedColumn>> all(const std::string& source) const;

 private:
  std::optional<ValueType> find_here(const std::string& source, const std::string& column) const;

  const NameScope* outer_;
  std::vector<NamedSource> sources_;
};

}  // namespace eindb

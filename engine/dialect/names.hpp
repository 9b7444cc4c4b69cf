#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/dialect/sql_type.hpp"

namespace eindb::dialect {

/// A column of a table or of a query's rows.
struct Column {
  std::string name;
  SqlType type = SqlType::Any;
  std::string declared = {};   ///< the type in CREATE TABLE: "varchar(20)"; empty for computed columns
  bool hidden = false;         ///< not shown by *
  bool key = false;            ///< whether it belongs to the primary key of its table
  bool always_counts = false;  ///< GENERATED ALWAYS AS IDENTITY
  std::string sql = {};        ///< what it is for SQLite, if that is not its name: "s"."value"
};

/// Stands in CREATE TABLE where GENERATED ALWAYS AS IDENTITY stood, of which SQLite knows nothing.
inline constexpr std::string_view kAlwaysIdentity = "/* GENERATED ALWAYS AS IDENTITY */";

/// The schema under which FindColumns has the columns of a query of eindb, whose text is the table's name.
inline constexpr std::string_view kEinsumSchema = "(EINSUM)";

/// Looks up the columns of a table, view or tensor; nullopt if there is none of this name. The schema may be empty.
using FindColumns =
    std::function<std::optional<std::vector<Column>>(const std::string& schema, const std::string& table)>;

/// A table or query in a FROM clause.
struct Source {
  std::string name;  ///< qualifier of its columns; empty: none
  std::vector<Column> columns;
  bool known = true;                     ///< whether all its columns are known
  std::vector<std::string> joined = {};  ///< columns of USING, which * shows only for the other source
  bool is_function = false;              ///< a function that gives rows of columns that are not known
};

/// The names that an expression sees: the sources of its SELECT, then those of the enclosing queries.
class Scope {
 public:
  explicit Scope(const Scope* outer) : outer_(outer) {}

  void add(Source source) { sources_.push_back(std::move(source)); }
  std::vector<Source>& sources() { return sources_; }
  const std::vector<Source>& sources() const { return sources_; }

  struct Found {
    SqlType type = SqlType::Any;
    bool ambiguous = false;
    std::string declared = {};
    std::string sql = {};
    const Scope* scope = nullptr;  ///< the one that has it
    std::size_t source = kNoSource;
  };
  /// The place of a source that is not known to have a column.
  static constexpr std::size_t kNoSource = static_cast<std::size_t>(-1);
  /// A column; `source` may be empty. nullopt if no source has it and all sources are known.
  std::optional<Found> find(const std::string& source, const std::string& column) const;
  /// A hint with the nearest column's name for a column that does not exist; empty if no name is near.
  std::string hint_for(const std::string& column) const;
  /// Whether a table of this name is in scope.
  bool has_source(const std::string& source) const;
  /// The names of the enclosing query; null if there is none.
  const Scope* outer() const { return outer_; }

 private:
  const Scope* outer_;
  std::vector<Source> sources_;
};

}  // namespace eindb::dialect

#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/results/result.hpp"
#include "engine/sql_types/sql_types.hpp"
#include "storage/sqlite/sqlite_statement.hpp"

namespace eindb {

/// A statement compiled by SQLite.
struct CompiledSql {
  std::string text;
  SqliteStatement statement;
  /// By SQLite's number: 3 for "$3"; nullopt: a parameter without a number.
  std::vector<std::optional<std::size_t>> parameters = {};
  std::size_t bytes = 0;  ///< approximate memory use

  /// The last types inferred, and the parameter types that they were inferred from.
  struct KnownTypes {
    std::vector<ValueType> given;
    std::vector<ValueType> parameters;
    std::vector<Column> columns;
  };
  std::optional<KnownTypes> types = {};
};

/// Compiled statements that a session keeps for another run; the least recently used ones are dropped first. Each is
/// lent to one run at a time, so the same text can run again while its rows are still read. Not thread-safe. Must not
/// outlive the connection, and must outlive the statements that it lent.
class CompiledStatements {
 public:
  /// The state that compiled statements depend on beyond the changes that SQLite itself detects.
  struct Version {
    std::uint64_t tensor_tables = 0;
    std::uint64_t attached = 0;
    friend bool operator==(const Version&, const Version&) = default;
  };

  class GiveBack {
   public:
    GiveBack() = default;
    GiveBack(CompiledStatements& home, std::uint64_t generation) : home_(&home), generation_(generation) {}
    void operator()(CompiledSql* compiled) const noexcept;

   private:
    CompiledStatements* home_ = nullptr;  // null: the statement is destroyed on return
    std::uint64_t generation_ = 0;
  };
  /// Returns to the cache when it is destroyed, reset and without parameter values.
  using Lent = std::unique_ptr<CompiledSql, GiveBack>;

  /// Drops all statements, and returns true, if the version changed.
  bool bring_to(const Version& version);
  /// Drops all statements; statements on loan are not kept on their return.
  void clear() noexcept;
  /// Lends the statement of this text; null if there is none.
  Lent take(std::string_view text);
  /// Lends a new statement, which is kept on its return.
  Lent lend(CompiledSql compiled) {
    return {std::make_unique<CompiledSql>(std::move(compiled)).release(), GiveBack(*this, generation_)};
  }
  /// Wraps a statement that is not kept on its return.
  static Lent lend_once(CompiledSql compiled) {
    return {std::make_unique<CompiledSql>(std::move(compiled)).release(), GiveBack()};
  }

  std::size_t size() const { return kept_.size(); }

 private:
  using Kept = std::list<std::unique_ptr<CompiledSql>>;

  void keep(std::unique_ptr<CompiledSql> compiled);
  void drop_oldest();

  Kept kept_;                                           // the most recently used first
  std::map<std::string_view, Kept::iterator> by_text_;  // keys refer to the texts of kept statements
  std::size_t bytes_ = 0;                               // approximate, of kept statements
  Version version_;
  std::uint64_t generation_ = 0;  // of statements on loan; clear() changes it
};

CompiledSql compiled_sql(std::string text, SqliteStatement statement);

/// Whether statements of this text may be kept, which holds for reading and writing rows. Other statements act while
/// they are compiled, as pragmas do, or change the meaning of names.
bool may_be_kept(std::string_view sql);

}  // namespace eindb

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

/// A statement of SQL as SQLite compiled it.
struct CompiledSql {
  std::string text;
  SqliteStatement statement;
  std::vector<std::optional<std::size_t>> parameters = {};  ///< 3 for "$3", in SQLite's order; nullopt: no number
  std::size_t bytes = 0;                                    ///< of memory, about

  /// What was found out about types last, and for which parameters.
  struct KnownTypes {
    std::vector<ValueType> given;
    std::vector<ValueType> parameters;
    std::vector<Column> columns;
  };
  std::optional<KnownTypes> types = {};
};

/// Statements that a session has compiled and will run again, those that ran last. Each is lent to one run at a time,
/// so that rows of one may be read while the same text runs again. Not thread-safe; must not outlive the connection,
/// nor be outlived by what it lent.
class CompiledStatements {
 public:
  /// What compiled statements depend on, beside what SQLite itself looks after.
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
    CompiledStatements* home_ = nullptr;  // null: it ends
    std::uint64_t generation_ = 0;
  };
  /// Goes back, reset and without values, when it is destroyed.
  using Lent = std::unique_ptr<CompiledSql, GiveBack>;

  /// Forgets all, and returns true, if this is another version than before.
  bool bring_to(const Version& version);
  /// Forgets all; what is lent does not come back.
  void clear() noexcept;
  /// The statement of this text; null if there is none.
  Lent take(std::string_view text);
  /// A new one, to be kept when it comes back.
  Lent lend(CompiledSql compiled) {
    return {std::make_unique<CompiledSql>(std::move(compiled)).release(), GiveBack(*this, generation_)};
  }
  /// One that is not kept.
  static Lent lend_once(CompiledSql compiled) {
    return {std::make_unique<CompiledSql>(std::move(compiled)).release(), GiveBack()};
  }

  std::size_t size() const { return kept_.size(); }

 private:
  using Kept = std::list<std::unique_ptr<CompiledSql>>;

  void keep(std::unique_ptr<CompiledSql> compiled);
  void drop_oldest();

  Kept kept_;                                           // the one that ran last comes first
  std::map<std::string_view, Kept::iterator> by_text_;  // texts of what is kept
  std::size_t bytes_ = 0;                               // of what is kept, about
  Version version_;
  std::uint64_t generation_ = 0;  // of what is lent; another one after clear()
};

CompiledSql compiled_sql(std::string text, SqliteStatement statement);

/// Whether statements of this text may be kept: those that read and write rows. Others act while they are compiled, as
/// pragmas do, or change what names mean.
bool may_be_kept(std::string_view sql);

}  // namespace eindb

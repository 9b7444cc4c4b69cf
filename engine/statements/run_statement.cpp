#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "common/check.hpp"
#include "engine/session/statement_scopes.hpp"
#include "engine/statements/attached_targets.hpp"
#include "engine/statements/statements.hpp"
#include "parser/statement_outline.hpp"
#include "tensor/tile_memory.hpp"

namespace eindb {
namespace {

// Statements that read and write tensors only by way of OpenDatabase::unwritten.
template <class Statement>
constexpr bool kKnowsUnwritten =
    std::is_same_v<Statement, ast::Query> || std::is_same_v<Statement, ast::Explain> ||
    std::is_same_v<Statement, ast::ExplainRedistribution> || std::is_same_v<Statement, ast::UpdateTensor> ||
    std::is_same_v<Statement, ast::CreateTensors> || std::is_same_v<Statement, ast::Empty> ||
    std::is_same_v<Statement, ast::Set> || std::is_same_v<Statement, ast::Show> ||
    std::is_same_v<Statement, ast::Reset> || std::is_same_v<Statement, ast::Prepare> ||
    std::is_same_v<Statement, ast::Execute> || std::is_same_v<Statement, ast::Deallocate> ||
    std::is_same_v<Statement, ast::Rollback>;

// The statements that write; SQL is checked where it is compiled, the statements of loops one by one.
template <class Statement>
constexpr bool kWrites =
    std::is_same_v<Statement, ast::CreateTensor> || std::is_same_v<Statement, ast::CreateTensors> ||
    std::is_same_v<Statement, ast::UpdateTensor> || std::is_same_v<Statement, ast::DropTensor> ||
    std::is_same_v<Statement, ast::AlterTensor> || std::is_same_v<Statement, ast::AnalyzeTensor> ||
    std::is_same_v<Statement, ast::InsertInto> || std::is_same_v<Statement, ast::CopyFrom> ||
    std::is_same_v<Statement, ast::CopyAllFrom> || std::is_same_v<Statement, ast::CreateMacro> ||
    std::is_same_v<Statement, ast::DropMacro> || std::is_same_v<Statement, ast::CommentOn> ||
    std::is_same_v<Statement, ast::CreateUser> || std::is_same_v<Statement, ast::AlterUser> ||
    std::is_same_v<Statement, ast::DropUser> || std::is_same_v<Statement, ast::Grant> ||
    std::is_same_v<Statement, ast::AlterWorker>;

// The statements of users who see only what was granted. They check the rights on what they name; SQL is checked where
// it is compiled, the own password where it changes.
template <class Statement>
constexpr bool kIsForAll =
    std::is_same_v<Statement, ast::Empty> || std::is_same_v<Statement, ast::ShowTensors> ||
    std::is_same_v<Statement, ast::ShowFileTensors> || std::is_same_v<Statement, ast::ShowMacros> ||
    std::is_same_v<Statement, ast::Describe> || std::is_same_v<Statement, ast::CopyFrom> ||
    std::is_same_v<Statement, ast::CopyTo> || std::is_same_v<Statement, ast::InsertInto> ||
    std::is_same_v<Statement, ast::UpdateTensor> || std::is_same_v<Statement, ast::Repeat> ||
    std::is_same_v<Statement, ast::Query> || std::is_same_v<Statement, ast::Explain> ||
    std::is_same_v<Statement, ast::ExplainRedistribution> || std::is_same_v<Statement, ast::Set> ||
    std::is_same_v<Statement, ast::Show> || std::is_same_v<Statement, ast::Reset> ||
    std::is_same_v<Statement, ast::Begin> || std::is_same_v<Statement, ast::Commit> ||
    std::is_same_v<Statement, ast::Rollback> || std::is_same_v<Statement, ast::SetTransaction> ||
    std::is_same_v<Statement, ast::Savepoint> || std::is_same_v<Statement, ast::Prepare> ||
    std::is_same_v<Statement, ast::Execute> || std::is_same_v<Statement, ast::Deallocate> ||
    std::is_same_v<Statement, ast::AlterUser> || std::is_same_v<Statement, ast::ShowUsers> ||
    std::is_same_v<Statement, ast::ShowWorkers> || std::is_same_v<Statement, ast::Sql>;

template <class Statement>
bool is_for_all(const Statement&) {
  return kIsForAll<Statement>;
}

template <class Statement>
bool writes(const Statement&) {
  return kWrites<Statement>;
}

// Whether a statement may change what rows are read from. Those that run others count as these, and rollbacks apart.
bool changes_rows(const ast::Sql& sql) {
  const auto kind = outline_of(sql.text).kind;
  return kind != StatementKind::Select && kind != StatementKind::Explain;
}
bool changes_rows(const ast::DetachDatabase&) { return true; }
template <class Statement>
bool changes_rows(const Statement& statement) {
  return writes(statement);
}

bool rolls_back(const ast::Statement& statement) {
  const auto* savepoint = std::get_if<ast::Savepoint>(&statement.node);
  return std::holds_alternative<ast::Rollback>(statement.node) ||
         (savepoint != nullptr && savepoint->use == ast::Savepoint::Use::RollBackTo);
}

// Rows that are being read do not show what the statement changes.
void keep_open_rows(const ast::Statement& statement, SessionState& session) {
  if (session.open_rows.empty()) return;
  if (rolls_back(statement)) session.keep_open_rows_from_rollback();
  else if (std::visit([](const auto& node) { return changes_rows(node); }, statement.node)) session.keep_open_rows();
}

// Whether the tensors that a statement changes are temporary: those are the user's own. One that is not there, or is a
// table, counts as the database's.
class ChangesTemporary {
 public:
  explicit ChangesTemporary(OpenDatabase& database) : database_(database) {}

  bool operator()(const ast::CreateTensor& create) const { return create.temporary; }
  bool operator()(const ast::CreateTensors& create) const { return create.temporary; }
  bool operator()(const ast::DropTensor& drop) const {
    return std::all_of(drop.names.begin(), drop.names.end(), [&](const auto& name) { return is_temporary(name); });
  }
  bool operator()(const ast::AlterTensor& alter) const { return is_temporary(alter.name); }
  bool operator()(const ast::AnalyzeTensor& analyze) const { return analyze.name && is_temporary(*analyze.name); }
  bool operator()(const ast::InsertInto& insert) const { return is_temporary(insert.tensor); }
  bool operator()(const ast::CopyFrom& copy) const { return is_temporary(copy.tensor); }
  bool operator()(const ast::UpdateTensor& update) const {
    const auto& definitions = std::get<ast::Updates>(update.query.body).definitions;
    return std::all_of(definitions.begin(), definitions.end(),
                       [&](const auto& definition) { return is_temporary(definition.name); });
  }
  template <class Other>
  bool operator()(const Other&) const {
    return false;
  }

 private:
  bool is_temporary(const ast::Identifier& name) const {
    const auto tensor = database_.catalog.find(name.text);
    return tensor && tensor->is_temporary();
  }

  OpenDatabase& database_;
};

// As in PostgreSQL, where transactions that are READ ONLY write rows of temporary tables, and create none.
template <class Statement>
constexpr bool kSetsValues = std::is_same_v<Statement, ast::InsertInto> || std::is_same_v<Statement, ast::CopyFrom> ||
                             std::is_same_v<Statement, ast::UpdateTensor>;

void check_allowed(const ast::Statement& statement, SessionState& session) {
  const ChangesTemporary changes_temporary(session.database);
  if (!std::visit([](const auto& node) { return is_for_all(node); }, statement.node) &&
      session.user.permissions.is_restricted() && !std::visit(changes_temporary, statement.node))
    session.user.permissions.check_not_restricted();
  if (!session.database.reads_only || !std::visit([](const auto& node) { return writes(node); }, statement.node))
    return;
  const bool sets_values =
      std::visit([](const auto& node) { return kSetsValues<std::remove_cvref_t<decltype(node)>>; }, statement.node);
  if (!sets_values || !std::visit(changes_temporary, statement.node)) session.database.check_writable();
}

bool knows_unwritten(const ast::Savepoint& savepoint) { return savepoint.use != ast::Savepoint::Use::Set; }
bool knows_unwritten(const ast::UpdateTensor& update) { return std::get<ast::Updates>(update.query.body).are_whole(); }
bool knows_unwritten(const ast::CreateTensor& create) { return std::holds_alternative<ast::Query>(create.source); }
template <class Statement>
bool knows_unwritten(const Statement&) {
  return kKnowsUnwritten<Statement>;
}

// Whether the statement runs other statements.
bool holds_statements(const ast::Statement& statement) {
  return std::holds_alternative<ast::Execute>(statement.node) || std::holds_alternative<ast::Repeat>(statement.node);
}

// Tells a running statement whether it belongs to a transaction. Restores the unwritten tensors if the statement fails,
// and drops them if no transaction remains open.
class StatementScope {
 public:
  StatementScope(OpenDatabase& database, StatementContext& statement)
      : database_(database), part_(statement, database.connection().in_transaction()) {
    // SQLite may have rolled the transaction back while rows of an earlier statement were read.
    if (!database.connection().in_transaction()) forget_transaction();
    before_ = database.unwritten.contents();
  }
  ~StatementScope() {
    if (!database_.connection().in_transaction()) forget_transaction();
    else if (!succeeded_) database_.unwritten.restore(std::move(before_));
  }
  StatementScope(const StatementScope&) = delete;
  StatementScope& operator=(const StatementScope&) = delete;

  void succeed() { succeeded_ = true; }

 private:
  void forget_transaction() noexcept {
    database_.unwritten.forget();
    database_.reads_only = false;
  }

  OpenDatabase& database_;
  UnwrittenTensors::Contents before_;
  const TransactionPart part_;
  bool succeeded_ = false;
};

}  // namespace

Result run_statement(const ast::Statement& statement, SessionState& session) {
  check_allowed(statement, session);
  session.database.attached.check_targets(statement);
  refuse_attached_targets(statement, session.database);
  const bool is_inner_loop = session.statement.is_in_loop() && std::holds_alternative<ast::Repeat>(statement.node);
  if (!session.database.unwritten.empty() && !is_inner_loop &&
      !std::visit([](const auto& node) { return knows_unwritten(node); }, statement.node))
    session.database.unwritten.write(session.database.connection());
  StatementScope scope(session.database, session.statement);
  session.limit_database_memory();
  keep_open_rows(statement, session);
  session.database.catalog.write_tiles_in(session.user.settings.tile_format());
  // Bounds the resident memory of tiles until the end of the statement: exported tiles are read back from the scratch
  // file after the last kernel has run. Sessions that share their memory have one common limit (QueryAdmission).
  std::optional<TileMemory::Limit> resident;
  if (session.user.gate == nullptr && !holds_statements(statement))
    resident.emplace(session.user.settings.memory_for_tiles());
  auto result = std::visit([&](const auto& node) { return execute_by_parts(node, session); }, statement.node);
  DCHECK((result.rows == nullptr) == result.columns.empty(), "a statement gives rows exactly if it has columns");
  scope.succeed();
  session.database.file.settle_shards();
  return result;
}

}  // namespace eindb

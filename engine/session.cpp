#include "engine/session.hpp"

#include <optional>
#include <set>

#include "common/caught_error.hpp"
#include "common/check.hpp"
#include "common/error.hpp"
#include "common/text_cache.hpp"
#include "engine/files/file_table.hpp"
#include "engine/files/load_rows.hpp"
#include "engine/query/stored_query.hpp"
#include "engine/results/rows.hpp"
#include "engine/session/session_state.hpp"
#include "engine/session/statement_scopes.hpp"
#include "engine/settings/machine_file.hpp"
#include "engine/statements/calibration.hpp"
#include "engine/statements/describe_statement.hpp"
#include "engine/statements/statements.hpp"
#include "security/openssl.hpp"

namespace eindb {

class Session::Impl {
 public:
  Impl(const std::string& database, const SessionOptions& options) : state(database, options) {
    state.show_file = &show_file;
  }

  /// Call before each statement: discards cancel requests for the previous one. While the returned scope lives, all
  /// work on the statement, including parsing, polls for cancellation.
  [[nodiscard]] CancellationScope start() {
    state.statement.cancellation().reset(std::chrono::milliseconds(state.user.settings.statement_timeout_ms()));
    limit_to_grants();
    return CancellationScope(state.statement.cancellation());
  }

  /// Reads the user's rights again: they may have changed since the last statement, and another user may have had the
  /// session.
  void limit_to_grants() {
    auto& permissions = state.user.permissions;
    std::shared_ptr<const TableRights> rights;
    if (permissions.is_restricted())
      rights = std::make_shared<const TableRights>(state.database.grants.rights_of(permissions.user().name));
    permissions.set_rights(rights);
    state.database.connection().limit_to(std::move(rights));
  }

  /// The statement of a text. A query is kept for when its text comes again, so that it is not parsed then.
  std::shared_ptr<const PreparedStatement> parsed(std::string_view text) {
    if (const auto* known = queries_.find(text)) return *known;
    auto statement = std::make_shared<const PreparedStatement>(parsed_statement(text));
    if (statement->key != nullptr) queries_.keep(text, statement);
    return statement;
  }

  SessionState state;

 private:
  static constexpr std::size_t kMostQueries = 64;
  static constexpr std::size_t kLongestQuery = 1024;

  TextCache<std::shared_ptr<const PreparedStatement>> queries_{kMostQueries, kLongestQuery};
};

namespace {

// Converts any other exception to Error; front ends see nothing else.
template <class F>
auto guarded(F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const Error&) {
    throw;
  } catch (...) {
    throw caught_error();
  }
}

// Keeps tensors attached while one statement runs.
class TemporaryTensors {
 public:
  TemporaryTensors(const std::map<std::string, MemoryTensor>& tensors, AttachedTensors& attached,
                   std::int64_t tile_bytes)
      : attached_(attached) {
    try {
      for (const auto& [name, tensor] : tensors) {
        attached_.attach(name, tensor, tile_bytes);
        names_.push_back(name);
      }
    } catch (...) {
      detach();
      throw;
    }
  }
  ~TemporaryTensors() { detach(); }
  TemporaryTensors(const TemporaryTensors&) = delete;
  TemporaryTensors& operator=(const TemporaryTensors&) = delete;

 private:
  void detach() {
    for (const auto& name : names_) attached_.detach(name);
  }

  AttachedTensors& attached_;
  std::vector<std::string> names_;
};

}  // namespace

Session::Session(const std::string& database, const SessionOptions& options)
    : impl_((openssl(), std::make_unique<Impl>(database, options))) {}
Session::~Session() = default;

Result Session::execute(std::string_view statement) {
  return guarded([&] {
    const auto scope = impl_->start();
    impl_->state.note_begin();
    auto& state = impl_->state;
    const auto parsed = impl_->parsed(statement);
    const KnownKey key(state.statement, *parsed);
    return run_statement(*parsed->statement, state);
  });
}

std::shared_ptr<const PreparedStatement> Session::prepare(std::string_view statement) {
  return guarded([&] {
    const auto scope = impl_->start();
    return std::make_shared<const PreparedStatement>(prepare_statement(statement));
  });
}

Result Session::execute(const PreparedStatement& statement, const StatementInputs& inputs) {
  auto& state = impl_->state;
  return guarded([&] {
    CHECK(statement.statement != nullptr, "a statement that runs was parsed");
    const auto scope = impl_->start();
    state.note_begin();
    const TemporaryTensors tensors(inputs.tensors, state.database.attached, state.user.settings.tile_bytes());
    const ParameterValues values(state.statement, inputs.parameters);
    const TransferScope transfer(state.statement, inputs.file);
    const KnownKey key(state.statement, statement);
    return run_statement(*statement.statement, state);
  });
}

StatementDescription Session::describe(const PreparedStatement& statement, std::span<const ColumnType> parameters) {
  return guarded([&] {
    const auto scope = impl_->start();
    return describe_statement(statement, parameters, impl_->state);
  });
}

TensorStrips Session::strips(std::shared_ptr<const TensorRelation> tensor) const {
  return TensorStrips(std::move(tensor), &impl_->state.statement.cancellation());
}

std::unique_ptr<RowLoader> Session::load(const LoadTarget& target) {
  return guarded([&] {
    const auto scope = impl_->start();
    auto& state = impl_->state;
    state.database.check_writable();
    state.keep_open_rows();
    state.database.unwritten.write(state.database.connection());
    state.database.catalog.write_tiles_in(state.user.settings.tile_format());
    return load_rows(target, state);
  });
}

std::vector<TableGrant> Session::grants_on(const std::string& table) {
  return guarded([&] { return impl_->state.database.grants.grants_on(table); });
}

void Session::restore_grants(const std::string& table, const std::vector<TableGrant>& grants) {
  guarded([&] {
    for (const auto& grant : grants) impl_->state.database.grants.grant(table, grant.user, grant.rights);
  });
}

void Session::act_for(ClientUser user) { impl_->state.user.permissions.act_for(std::move(user)); }

bool Session::in_transaction() const { return impl_->state.database.connection().in_transaction(); }

void Session::release_pages() noexcept { impl_->state.database.file.release_pages(); }

bool Session::has_state() {
  auto& state = impl_->state;
  if (in_transaction()) return true;  // ROLLBACK may bring temporary tables back
  if (state.database.may_have_temporary) {
    state.database.may_have_temporary =
        state.database.connection().query_integer(
            "SELECT COUNT(*) FROM temp.sqlite_schema WHERE tbl_name NOT LIKE 'eindb\\_%' ESCAPE '\\'") > 0;
  }
  return state.database.may_have_temporary || !state.user.prepared.empty() || !state.database.attached.empty() ||
         state.database.connection().has_attached();
}

const Settings& Session::settings() const { return impl_->state.user.settings; }
void Session::set_settings(const Settings& settings) { impl_->state.user.settings = settings; }

void Session::attach(const std::string& name, MemoryTensor tensor) {
  auto& state = impl_->state;
  guarded([&] { state.database.attached.attach(name, std::move(tensor), state.user.settings.tile_bytes()); });
}

void Session::replace(const std::string& name, MemoryTensor tensor) {
  auto& state = impl_->state;
  guarded([&] { state.database.attached.replace(name, std::move(tensor), state.user.settings.tile_bytes()); });
}

void Session::detach(const std::string& name) {
  guarded([&] { impl_->state.database.attached.detach(name); });
}

void Session::add_function(SqlFunction function) {
  guarded([&] { impl_->state.database.add_function(std::move(function)); });
}

void Session::show(const SideSchema& schema) {
  guarded([&] {
    const auto scope = impl_->start();
    auto& database = impl_->state.database;
    std::vector<VisibleTable> queries;
    database.side_schemas.show(schema, database.connection(), [&] {
      database.tensor_tables.refresh();
      show_sources_of_views(impl_->state, queries);
    });
  });
}

Result Session::calibrate(const std::string& path, double seconds) {
  return guarded([&] {
    const auto scope = impl_->start();
    const auto target = path.empty() ? default_machine_path() : path;
    if (target.empty()) {
      throw Error(ErrorKind::Value, "there is no home directory to leave the figures in", std::nullopt,
                  "name a file: eindb calibrate FILE");
    }
    make_directory_for(target);
    const auto figures = eindb::calibrate(impl_->state, target, seconds);
    write_machine_file(target, figures);
    return listed_result(machine_columns(), machine_rows(figures));
  });
}

bool Session::has_users() {
  return guarded([&] { return !impl_->state.database.users.empty(); });
}

Login Session::find_login(std::string_view name) {
  return guarded([&] { return impl_->state.database.login(name); });
}

void Session::begin_time() {
  guarded([&] { (void)impl_->start(); });
}
void Session::cancel() noexcept { impl_->state.statement.cancellation().request(); }

void Session::on_progress(ProgressCallback callback) { impl_->state.user.progress = std::move(callback); }

void Session::on_notice(NoticeCallback callback) { impl_->state.user.notices = std::move(callback); }

std::vector<std::string> Session::tensor_names() { return impl_->state.database.catalog.own_names(); }

std::optional<std::vector<TypedColumn>> Session::columns_of(const std::string& schema, const std::string& table) {
  impl_->limit_to_grants();
  return eindb::columns_of(impl_->state, schema, table);
}

std::optional<std::string> Session::view_text(const std::string& schema, const std::string& view) {
  return impl_->state.database.sql_names.view_text(schema, view);
}

std::uint64_t Session::schema_version() { return impl_->state.database.schema_version(); }

DimensionNames Session::index_names(const std::string& tensor) {
  return impl_->state.database.catalog.get(tensor).names;
}

std::vector<std::string> Session::known_words() {
  auto& state = impl_->state;
  std::set<std::string> words;
  for (const auto& name : state.database.catalog.names()) {
    words.insert(name);
    const auto labels = state.database.catalog.get(name).labels;
    words.insert(labels.begin(), labels.end());
  }
  for (const auto& macro : state.database.macros.list()) words.insert(macro.name);
  for (const auto& macro : builtin_macro_names()) words.insert(macro);
  for (const auto& setting : state.user.settings.show_all()) words.insert(setting.name);
  auto tables = state.database.connection().prepare(
      "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'eindb\\_%' ESCAPE '\\'");
  while (tables.step()) words.insert(tables.text(0));
  return {words.begin(), words.end()};
}

}  // namespace eindb

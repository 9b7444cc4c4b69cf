#include "engine/session.hpp"

#include <optional>
#include <set>

#include "cluster/cluster.hpp"
#include "common/caught_error.hpp"
#include "common/error.hpp"
#include "engine/calibration.hpp"
#include "engine/machine_file.hpp"
#include "engine/parameter_values.hpp"
#include "engine/rows.hpp"
#include "engine/session_state.hpp"
#include "engine/statement_description.hpp"
#include "engine/statements.hpp"
#include "parser/parser.hpp"
#include "security/openssl.hpp"
#include "tensor/tile_memory.hpp"

namespace eindb {

class Session::Impl {
 public:
  Impl(const std::string& database, const SessionOptions& options) : state(database, options) {}

  /// Before each statement: requests to cancel the one before are forgotten. While the scope lives, whatever works on
  /// the statement, from its text on, polls for them.
  [[nodiscard]] CancellationScope start() {
    state.cancellation.reset(std::chrono::milliseconds(state.settings.statement_timeout_ms()));
    return CancellationScope(state.cancellation);
  }

  SessionState state;
};

namespace {

// What is no Error yet becomes one here: front ends see nothing else.
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

// Tensors that are attached while one statement runs.
class TemporaryTensors {
 public:
  TemporaryTensors(SessionState& state, const std::map<std::string, MemoryTensor>& tensors) : state_(state) {
    try {
      for (const auto& [name, tensor] : tensors) {
        state_.attached.attach(name, tensor, state_.settings.tile_bytes());
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
    for (const auto& name : names_) state_.attached.detach(name);
  }

  SessionState& state_;
  std::vector<std::string> names_;
};

// What one COPY reads or writes.
class Transfer {
 public:
  Transfer(SessionState& state, const std::string& file) : state_(state) { state_.transfer = file; }
  ~Transfer() { state_.transfer.clear(); }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

 private:
  SessionState& state_;
};

}  // namespace

namespace {

// What such a statement reads and writes of tensors it does by way of session.unwritten.
template <class Statement>
constexpr bool kKnowsUnwritten =
    std::is_same_v<Statement, ast::Query> || std::is_same_v<Statement, ast::Explain> ||
    std::is_same_v<Statement, ast::UpdateTensor> || std::is_same_v<Statement, ast::CreateTensors> ||
    std::is_same_v<Statement, ast::Empty> || std::is_same_v<Statement, ast::Set> ||
    std::is_same_v<Statement, ast::Show> || std::is_same_v<Statement, ast::Reset> ||
    std::is_same_v<Statement, ast::Prepare> || std::is_same_v<Statement, ast::Execute> ||
    std::is_same_v<Statement, ast::Deallocate> || std::is_same_v<Statement, ast::Rollback>;

bool knows_unwritten(const ast::CreateTensor& create) { return std::holds_alternative<ast::Query>(create.source); }
template <class Statement>
bool knows_unwritten(const Statement&) {
  return kKnowsUnwritten<Statement>;
}

// Statements that run others.
bool holds_statements(const ast::Statement& statement) {
  return std::holds_alternative<ast::Execute>(statement.node) || std::holds_alternative<ast::Repeat>(statement.node);
}

// While a statement runs it knows whether it is a part of a transaction; if it fails, unwritten tensors are again what
// they were; without their transaction there are none.
class StatementScope {
 public:
  explicit StatementScope(SessionState& session)
      : session_(session),
        before_(session.unwritten.contents()),
        was_in_transaction_(std::exchange(session.is_in_transaction, session.database.connection().in_transaction())) {}
  ~StatementScope() {
    session_.is_in_transaction = was_in_transaction_;
    if (!session_.database.connection().in_transaction()) session_.unwritten.forget();
    else if (!succeeded_) session_.unwritten.restore(std::move(before_));
  }
  StatementScope(const StatementScope&) = delete;
  StatementScope& operator=(const StatementScope&) = delete;

  void succeed() { succeeded_ = true; }

 private:
  SessionState& session_;
  UnwrittenTensors::Contents before_;
  const bool was_in_transaction_;
  bool succeeded_ = false;
};

}  // namespace

Result run_statement(const ast::Statement& statement, SessionState& session) {
  session.attached.check_targets(statement);
  const bool is_inner_loop = session.loop_depth > 0 && std::holds_alternative<ast::Repeat>(statement.node);
  if (!session.unwritten.empty() && !is_inner_loop &&
      !std::visit([](const auto& node) { return knows_unwritten(node); }, statement.node))
    session.unwritten.write(session.database.connection());
  StatementScope scope(session);
  session.limit_database_memory();
  // To the statement's end: what is exported is read back from the scratch file after the last kernel has run. Where
  // sessions share their memory all have one limit (QueryAdmission).
  std::optional<TileMemory::Limit> resident;
  if (session.gate == nullptr && !holds_statements(statement)) resident.emplace(session.settings.memory_for_tiles());
  auto result = std::visit([&](const auto& node) { return execute_statement(node, session); }, statement.node);
  scope.succeed();
  session.database.settle_shards();
  return result;
}

Settings initial_settings(const SessionOptions& options) {
  Settings settings(options.policy == nullptr ? Settings::of_machine() : options.policy->settings);
  settings.set_default_statement_timeout(options.statement_timeout_ms);
  if (options.cluster != nullptr)
    settings.set_default_workers(static_cast<std::int64_t>(options.cluster->workers().size()) +
                                 (options.cluster->coordinator_computes() ? 1 : 0));
  return settings;
}

Session::Session(const std::string& database, const SessionOptions& options)
    : impl_((openssl(), std::make_unique<Impl>(database, options))) {}
Session::~Session() = default;

Result Session::execute(std::string_view statement) {
  return guarded([&] {
    const auto scope = impl_->start();
    return run_statement(parse_statement(statement), impl_->state);
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
    const auto scope = impl_->start();
    const TemporaryTensors tensors(state, inputs.tensors);
    const ParameterValues values(state, inputs.parameters);
    const Transfer transfer(state, inputs.file);
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
  return TensorStrips(std::move(tensor), &impl_->state.cancellation);
}

std::unique_ptr<RowLoader> Session::load(const LoadTarget& target) {
  return guarded([&] {
    const auto scope = impl_->start();
    auto& state = impl_->state;
    state.unwritten.write(state.database.connection());
    return load_rows(target, state);
  });
}

void Session::act_for(ClientUser user) { impl_->state.permissions.act_for(std::move(user)); }

bool Session::in_transaction() const { return impl_->state.database.connection().in_transaction(); }

void Session::release_pages() noexcept { impl_->state.database.release_pages(); }

bool Session::has_state() {
  auto& state = impl_->state;
  if (in_transaction()) return true;  // which may bring temporary tables back
  if (state.may_have_temporary) {
    state.may_have_temporary = state.database.connection().query_integer("SELECT COUNT(*) FROM temp.sqlite_schema") > 0;
  }
  return state.may_have_temporary || !state.prepared.empty() || !state.attached.empty();
}

const Settings& Session::settings() const { return impl_->state.settings; }
void Session::set_settings(const Settings& settings) { impl_->state.settings = settings; }

void Session::attach(const std::string& name, MemoryTensor tensor) {
  auto& state = impl_->state;
  guarded([&] { state.attached.attach(name, std::move(tensor), state.settings.tile_bytes()); });
}

void Session::detach(const std::string& name) {
  guarded([&] { impl_->state.attached.detach(name); });
}

void Session::add_function(SqlFunction function) {
  guarded([&] {
    auto& state = impl_->state;
    state.sql_names.add_function(function.name, function.result);
    state.database.connection().add_function(std::move(function));
  });
}

void Session::show(const SideSchema& schema) {
  guarded([&] {
    const auto scope = impl_->start();
    impl_->state.side_schemas.show(schema, impl_->state);
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
  return guarded([&] { return !impl_->state.users.empty(); });
}

Login Session::find_login(std::string_view name) {
  return guarded([&] { return impl_->state.login(name); });
}

void Session::cancel() noexcept { impl_->state.cancellation.request(); }

void Session::on_progress(ProgressCallback callback) { impl_->state.progress = std::move(callback); }

void Session::on_notice(NoticeCallback callback) { impl_->state.notices = std::move(callback); }

std::vector<std::string> Session::tensor_names() { return impl_->state.catalog.names(); }

std::vector<std::string> Session::known_words() {
  auto& state = impl_->state;
  std::set<std::string> words;
  for (const auto& name : state.catalog.names()) {
    words.insert(name);
    const auto labels = state.catalog.get(name).labels;
    words.insert(labels.begin(), labels.end());
  }
  for (const auto& macro : state.macros.list()) words.insert(macro.name);
  for (const auto& macro : builtin_macro_names()) words.insert(macro);
  for (const auto& setting : state.settings.show_all()) words.insert(setting.name);
  auto tables = state.database.connection().prepare(
      "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'eindb\\_%' ESCAPE '\\'");
  while (tables.step()) words.insert(tables.text(0));
  return {words.begin(), words.end()};
}

}  // namespace eindb

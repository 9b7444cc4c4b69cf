#include "server/statements/client_state.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "common/check.hpp"
#include "common/coded_error.hpp"
#include "common/error.hpp"
#include "server/dialect/client_columns.hpp"

namespace eindb {
namespace {

// More than any driver keeps, but affordable for a thousand clients.
constexpr std::size_t kMostStatements = 10000;
constexpr std::size_t kMostStatementBytes = std::size_t{128} << 20U;
constexpr std::size_t kMostPortals = 10000;
// A single value may have 1 GiB.
constexpr std::size_t kMostPortalBytes = std::size_t{1} << 30U;
constexpr std::size_t kMostCursors = 10000;
// Drivers set one before each statement of a transaction, and may release none.
constexpr std::size_t kMostSavepoints = 100000;
constexpr std::size_t kMostSavepointBytes = std::size_t{64} << 20U;
constexpr std::string_view kUnknownStatement = "26000";
constexpr std::string_view kUnknownCursor = "34000";
constexpr std::string_view kDuplicateCursor = "42P03";
constexpr std::string_view kNoTransaction = "25P01";
constexpr std::string_view kInTransaction = "25001";
constexpr std::string_view kFailedTransaction = "25P02";
constexpr std::string_view kUnknownSavepoint = "3B001";

// Savepoints of the database have numbers, since SQLite compares names without regard to case.
std::string savepoint_name(std::size_t number) { return "client_" + std::to_string(number); }

/// The text with the types that the client states, which decide its translation as well.
std::string with_types(std::string_view text, std::span<const std::int32_t> stated) {
  std::string key(text);
  if (std::all_of(stated.begin(), stated.end(), [](auto type) { return type == 0; })) return key;
  key += '\0';
  for (const auto type : stated) key += std::to_string(type) + ' ';
  return key;
}

}  // namespace

ClientState::ClientState(const std::shared_ptr<SharedBytes>& of_all)
    : statement_quota("prepared statements", "DEALLOCATE those that are not needed", kMostStatements,
                      kMostStatementBytes, of_all),
      portal_quota("portals", "close those that are not needed", kMostPortals, kMostPortalBytes, of_all),
      cursor_quota("cursors and the rows that they keep", "CLOSE those that are not needed", kMostCursors,
                   kMostPortalBytes, of_all),
      savepoint_quota_("savepoints", "RELEASE those that are not needed", kMostSavepoints, kMostSavepointBytes,
                       of_all) {}

ClientState::~ClientState() {
  portals.clear();
  cursors_.clear();
  if (session_ == nullptr) return;
  {
    const std::lock_guard lock(running_mutex_);
    running_ = nullptr;
  }
  session_.reset();  // an open transaction is rolled back
}

void ClientState::use(SessionPool& pool, ClientUser user) {
  CHECK(session_ == nullptr, "who the client is stays so while it has a session");
  pool_ = &pool;
  user_ = std::move(user);
}

Session& ClientState::session() {
  if (session_ != nullptr) return session_->session;
  CHECK(pool_ != nullptr, "sessions are for clients that are known");
  session_ = pool_->take();
  CHECK(session_ != nullptr && !session_->session.in_transaction(), "a session of the pool has no transaction");
  session_->session.act_for(user_);
  session_->session.set_settings(settings_ ? *settings_ : pool_->default_settings());
  const std::lock_guard lock(running_mutex_);
  running_ = &session_->session;
  return *running_;
}

void ClientState::show_catalog() {
  session();
  identity.settings = parameters.all();
  identity.cursors.clear();
  for (const auto& [name, open] : cursors_) {
    const auto& declaration = open.cursor->declaration();
    identity.cursors.push_back({.name = name,
                                .statement = open.cursor->text(),
                                .holds = declaration.holds,
                                .binary = declaration.binary,
                                .scrolls = declaration.scrolls});
  }
  identity.statements.clear();
  for (const auto& [name, statement] : statements) {
    auto& listed = identity.statements.emplace_back();
    listed.name = name;
    listed.text =
        std::shared_ptr<const std::string>(statement, &statement->text);  // weak: sessions outlive their clients
    listed.made = statement->made;
    for (const auto type : statement->parameter_types)
      listed.parameter_types.push_back(static_cast<std::int32_t>(type));
  }
  session_->catalog.show(identity);
}

Translation ClientState::translate(std::string_view text, std::span<const std::int32_t> stated) {
  if (!is_sql_for_sqlite(text)) return {};
  auto& session = this->session();
  begin_time();  // that of the statement before may be over: what is read here is for the next one
  auto& known = session_->translations;
  const auto key = with_types(text, stated);
  if (const auto* found = known.find(key, session.schema_version())) return *found;
  auto translation = translate_dialect(
      text,
      [&](const std::string& schema, const std::string& table) {
        if (schema == "pg_catalog") show_catalog();
        return columns_for_client(session, schema, table);
      },
      stated);
  known.keep(key, translation);
  return translation;
}

void ClientState::add_functions() {
  session();
  session_->catalog.add_functions(identity);
}

void ClientState::begin_time() {
  if (session_ != nullptr) session_->session.begin_time();
}

// A request that came after its statement had ended would stop what is read for the next one.
void ClientState::forget_cancellation() {
  if (cancelled_.exchange(false)) begin_time();
}

void ClientState::settle() {
  if (session_ == nullptr || !portals.empty() || transaction_ != Transaction::None || session_->session.has_state())
    return;
  settings_ = session_->session.settings();
  {
    const std::lock_guard lock(running_mutex_);
    running_ = nullptr;
  }
  CHECK(!session_->session.in_transaction(), "a session with a transaction stays the client's");
  forget_cancellation();
  CHECK(pool_ != nullptr, "a session goes back to where it came from");
  pool_->give_back(std::move(session_));
  CHECK(session_ == nullptr, "the pool owns what was given back");
}

void ClientState::cancel() noexcept {
  const std::lock_guard lock(running_mutex_);
  if (running_ == nullptr) return;
  running_->cancel();
  cancelled_ = true;
}

std::shared_ptr<ClientStatement> ClientState::statement(std::string_view name) const {
  const auto found = statements.find(name);
  if (found == statements.end())
    throw CodedError(kUnknownStatement, ErrorKind::UnknownName,
                     "there is no prepared statement \"" + std::string(name) + "\"");
  return found->second;
}

std::shared_ptr<Portal> ClientState::portal(std::string_view name) const {
  const auto found = portals.find(name);
  if (found == portals.end())
    throw CodedError(kUnknownCursor, ErrorKind::UnknownName, "there is no portal \"" + std::string(name) + "\"");
  return found->second;
}

// ---- Transactions ---------------------------------------------------------------------------------------------------

void ClientState::begin(const TransactionModes& modes) {
  if (transaction_ != Transaction::None)
    throw CodedError(kInTransaction, ErrorKind::Value, "a transaction is open already", "COMMIT or ROLLBACK it first");
  implicit_ = false;
  transaction_ = Transaction::Open;
  CHECK(is_valid(), "a transaction is the client's or implicit");
  set_modes(modes);
}

// Outside of a transaction PostgreSQL takes the modes without an effect, too.
void ClientState::set_modes(const TransactionModes& modes) {
  if (modes.read_only) set_read_only(*modes.read_only);
  if (transaction_ == Transaction::None) return;
  auto changed = parameters.transaction();
  if (modes.deferrable) changed.deferrable = modes.deferrable;
  if (modes.isolation) changed.isolation = modes.isolation;
  parameters.set_transaction(std::move(changed));
}

void ClientState::set_read_only(bool read_only) {
  if (read_only == parameters.transaction_read_only()) return;
  if (transaction_ == Transaction::None)
    throw CodedError(kNoTransaction, ErrorKind::Value, "SET TRANSACTION can only be used in transaction blocks",
                     "BEGIN READ ONLY, or SET SESSION CHARACTERISTICS AS TRANSACTION for those that follow");
  if (entered_) {
    if (!read_only)
      throw CodedError(kInTransaction, ErrorKind::Value, "a transaction is made READ WRITE before its first statement",
                       "end it, and begin one with BEGIN READ WRITE");
    session().execute("SET TRANSACTION READ ONLY");
  }
  auto changed = parameters.transaction();
  changed.read_only = read_only;
  parameters.set_transaction(std::move(changed));
}

void ClientState::begin_implicit() {
  if (transaction_ == Transaction::None) implicit_ = true;
  CHECK(is_valid(), "a transaction is the client's or implicit");
}

// Where transactions are READ ONLY by default, a statement without one gets its own. A statement that begins a
// transaction does so before it has read anything, so it comes before the savepoints.
void ClientState::enter_transaction(bool writes) {
  const bool read_only = parameters.transaction_read_only();
  if (read_only) begin_implicit();
  if (entered_ || (transaction_ == Transaction::None && !implicit_)) return;
  session().execute(read_only ? "BEGIN READ ONLY" : writes ? "BEGIN IMMEDIATE" : "BEGIN");
  entered_ = true;
  CHECK(is_valid() && session_->session.in_transaction(), "the first statement begins the transaction");
  for (std::size_t n = 0; n < savepoints_.size(); ++n) session().execute("SAVEPOINT " + savepoint_name(n));
}

bool ClientState::commit(bool chain) {
  const bool failed = transaction_ == Transaction::Failed;
  end_chained(!failed, chain);
  return !failed;
}

void ClientState::rollback(bool chain) { end_chained(false, chain); }

void ClientState::end_chained(bool commits, bool chain) {
  if (!chain) return leave_transaction(commits);
  require_transaction(commits ? "COMMIT AND CHAIN" : "ROLLBACK AND CHAIN");
  const auto modes = parameters.transaction();
  leave_transaction(commits);
  begin(modes);
}

void ClientState::end_implicit() {
  if (implicit_) leave_transaction(true);
}

void ClientState::fail() {
  if (transaction_ == Transaction::Open) transaction_ = Transaction::Failed;
  if (implicit_) leave_transaction(false);
  CHECK(is_valid() && transaction_ != Transaction::Open, "after an error no transaction goes on");
}

void ClientState::look_at_transaction() {
  if (implicit_ || transaction_ == Transaction::Failed || session_ == nullptr) return;
  entered_ = session_->session.in_transaction();
  transaction_ = entered_ ? Transaction::Open : Transaction::None;
  if (!entered_) forget_transaction();
  CHECK(is_valid(), "the client is told of the transaction that there is");
}

// Portals and cursors with unread rows would keep the transaction open.
void ClientState::leave_transaction(bool commits) {
  portals.clear();
  implicit_ = false;
  entered_ = false;
  transaction_ = Transaction::None;
  const auto in_transaction = [&] { return session_ != nullptr && session_->session.in_transaction(); };
  try {
    if (commits) {
      std::erase_if(cursors_, [](const auto& each) { return !each.second.cursor->declaration().holds; });
      keep_rows_of_held_cursors();
      if (in_transaction()) session_->session.execute("COMMIT");
      for (auto& [name, open] : cursors_) open.outlives = true;
    }
    forget_transaction();
    if (in_transaction()) session_->session.execute("ROLLBACK");
  } catch (const std::exception&) {  // a transaction that cannot be committed is rolled back
    forget_transaction();
    if (in_transaction()) session_->session.execute("ROLLBACK");
    throw;
  }
}

void ClientState::set_locally(const std::function<void()>& change) {
  if (!implicit_) require_transaction("SET LOCAL");
  if (!lasting_) lasting_ = LastingSettings{.parameters = parameters, .settings = session().settings()};
  change();
}

void ClientState::set(const std::function<void()>& change) {
  change();
  if (!lasting_) return;
  swap_settings(*lasting_);
  try {
    change();
  } catch (...) {
    swap_settings(*lasting_);
    throw;
  }
  swap_settings(*lasting_);
}

void ClientState::swap_settings(LastingSettings& other) {
  std::swap(parameters, other.parameters);
  const auto settings = session().settings();
  session().set_settings(other.settings);
  other.settings = settings;
}

void ClientState::forget_transaction() {
  if (lasting_) swap_settings(*lasting_);
  lasting_.reset();
  savepoints_.clear();
  std::erase_if(cursors_, [](const auto& each) { return !each.second.outlives; });
  parameters.set_transaction({});
}

void ClientState::check_not_failed() const {
  if (transaction_ == Transaction::Failed)
    throw CodedError(kFailedTransaction, ErrorKind::Value,
                     "the transaction has failed: statements are ignored up to its end",
                     "ROLLBACK, or ROLLBACK TO a savepoint");
}

void ClientState::require_transaction(const std::string& statement) const {
  if (transaction_ == Transaction::None)
    throw CodedError(kNoTransaction, ErrorKind::Value, statement + " can only be used in transaction blocks",
                     "BEGIN opens one");
}

// ---- Savepoints
// ------------------------------------------------------------------------------------------------------

void ClientState::set_savepoint(const std::string& name) {
  require_transaction("SAVEPOINT");
  CHECK(!implicit_, "only a transaction that the client has begun has savepoints");
  auto share = savepoint_quota_.take(sizeof(Savepoint) + name.size());
  if (entered_) session().execute("SAVEPOINT " + savepoint_name(savepoints_.size()));
  savepoints_.push_back({.name = name, .cursors = declared_, .share = std::move(share)});
}

void ClientState::release_savepoint(const std::string& name) {
  require_transaction("RELEASE SAVEPOINT");
  const auto number = find_savepoint(name);
  if (entered_) session().execute("RELEASE " + savepoint_name(number));
  savepoints_.resize(number);
}

void ClientState::roll_back_to_savepoint(const std::string& name) {
  require_transaction("ROLLBACK TO SAVEPOINT");
  const auto number = find_savepoint(name);
  std::erase_if(cursors_, [&](const auto& each) {
    return !each.second.outlives && each.second.number >= savepoints_[number].cursors;
  });
  if (entered_) {
    if (!session().in_transaction())
      throw CodedError(kFailedTransaction, ErrorKind::Value,
                       "the whole transaction is rolled back, with its savepoints: a statement was broken off while "
                       "it wrote",
                       "ROLLBACK, and begin it again");
    session().execute("ROLLBACK TO " + savepoint_name(number));
  }
  savepoints_.resize(number + 1);
  transaction_ = Transaction::Open;
  CHECK(is_valid(), "a transaction that goes on from a savepoint is the client's");
}

// The number of the last savepoint with this name.
std::size_t ClientState::find_savepoint(const std::string& name) const {
  for (auto number = savepoints_.size(); number-- > 0;)
    if (savepoints_[number].name == name) return number;
  throw CodedError(kUnknownSavepoint, ErrorKind::UnknownName, "savepoint \"" + name + "\" does not exist");
}

// ---- Cursors
// ---------------------------------------------------------------------------------------------------------

void ClientState::check_declaration(const CursorDeclaration& declaration) const {
  if (!declaration.holds && !implicit_) require_transaction("DECLARE CURSOR");
  if (has_cursor(declaration.name) || portals.contains(declaration.name))
    throw CodedError(kDuplicateCursor, ErrorKind::DuplicateName, "cursor \"" + declaration.name + "\" exists already",
                     "CLOSE it first, or use another name");
}

void ClientState::open_cursor(const CursorDeclaration& declaration, std::string text, Result result) {
  CHECK(!has_cursor(declaration.name), "a cursor is opened for a declaration that was checked");
  OpenCursor open{.cursor = std::make_shared<Cursor>(declaration, std::move(text), std::move(result), cursor_quota),
                  .number = declared_++,
                  .outlives = transaction_ == Transaction::None && !implicit_};
  if (open.outlives) open.cursor->keep_rest();
  cursors_.insert_or_assign(declaration.name, std::move(open));
}

std::shared_ptr<Cursor> ClientState::cursor(std::string_view name) const {
  const auto found = cursors_.find(name);
  if (found == cursors_.end())
    throw CodedError(kUnknownCursor, ErrorKind::UnknownName, "cursor \"" + std::string(name) + "\" does not exist");
  return found->second.cursor;
}

std::vector<frontend::Format> ClientState::simple_formats(const ClientStatement& statement) const {
  const auto* fetch = statement.command ? std::get_if<command::Fetch>(&*statement.command) : nullptr;
  const auto found = fetch != nullptr ? cursors_.find(fetch->cursor) : cursors_.end();
  return found == cursors_.end() ? std::vector<frontend::Format>{} : found->second.cursor->formats();
}

void ClientState::close_cursor(const std::optional<std::string>& name) {
  if (!name) return cursors_.clear();
  cursor(*name);
  cursors_.erase(*name);
}

void ClientState::keep_rows() {
  for (const auto& [name, open] : cursors_) {
    if (!open.cursor->reads_tables()) continue;
    begin_time();
    open.cursor->keep_rest();
  }
  for (const auto& [name, portal] : portals) {
    if (portal->stream == nullptr || portal->stream->at_end()) continue;
    begin_time();
    auto& kept = portal->kept ? *portal->kept : portal->kept.emplace(cursor_quota);
    portal->stream->keep_rest([&](std::size_t bytes) { kept.add(bytes); });
  }
}

void ClientState::keep_rows_of_held_cursors() {
  for (const auto& [name, open] : cursors_) {
    if (!open.cursor->declaration().holds || !open.cursor->reads_session()) continue;
    begin_time();
    open.cursor->keep_rest();
  }
}

void ClientState::discard() {
  CHECK(transaction_ == Transaction::None && !entered_, "nothing is discarded inside a transaction");
  portals.clear();
  cursors_.clear();
  statements.clear();
  parameters.reset_all();
  settings_.reset();
  {
    const std::lock_guard lock(running_mutex_);
    running_ = nullptr;
  }
  session_.reset();
}

}  // namespace eindb

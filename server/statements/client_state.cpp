#include "server/statements/client_state.hpp"

#include <utility>

#include "common/check.hpp"
#include "common/coded_error.hpp"
#include "common/error.hpp"

namespace eindb {
namespace {

// More than any driver keeps, but affordable for a thousand clients.
constexpr std::size_t kMostStatements = 10000;
constexpr std::size_t kMostStatementBytes = std::size_t{128} << 20U;
constexpr std::size_t kMostPortals = 10000;
// A single value may have 1 GiB.
constexpr std::size_t kMostPortalBytes = std::size_t{1} << 30U;
constexpr std::string_view kUnknownStatement = "26000";
constexpr std::string_view kUnknownCursor = "34000";

}  // namespace

ClientState::ClientState(const std::shared_ptr<SharedBytes>& of_all)
    : statement_quota("prepared statements", "DEALLOCATE those that are not needed", kMostStatements,
                      kMostStatementBytes, of_all),
      portal_quota("portals", "close those that are not needed", kMostPortals, kMostPortalBytes, of_all) {}

ClientState::~ClientState() {
  portals.clear();
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
  session_->catalog.show(identity);
}

void ClientState::add_functions() {
  session();
  session_->catalog.add_functions();
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
  CHECK(pool_ != nullptr, "a session goes back to where it came from");
  pool_->give_back(std::move(session_));
  CHECK(session_ == nullptr, "the pool owns what was given back");
}

void ClientState::cancel() noexcept {
  const std::lock_guard lock(running_mutex_);
  if (running_ != nullptr) running_->cancel();
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

void ClientState::begin() {
  if (transaction_ != Transaction::None)
    throw Error(ErrorKind::Value, "a transaction is open already", std::nullopt, "COMMIT or ROLLBACK it first");
  implicit_ = false;
  transaction_ = Transaction::Open;
  CHECK(is_valid(), "a transaction is the client's or implicit");
}

void ClientState::begin_implicit() {
  if (transaction_ == Transaction::None) implicit_ = true;
  CHECK(is_valid(), "a transaction is the client's or implicit");
}

void ClientState::enter_transaction(bool writes) {
  if (entered_ || (transaction_ == Transaction::None && !implicit_)) return;
  session().execute(writes ? "BEGIN IMMEDIATE" : "BEGIN");
  entered_ = true;
  CHECK(is_valid() && session_->session.in_transaction(), "the first statement begins the transaction");
}

bool ClientState::commit() {
  const bool failed = transaction_ == Transaction::Failed;
  leave_transaction(failed ? "ROLLBACK" : "COMMIT");
  return !failed;
}

void ClientState::rollback() { leave_transaction("ROLLBACK"); }

void ClientState::end_implicit() {
  if (implicit_) leave_transaction("COMMIT");
}

void ClientState::fail() {
  if (transaction_ == Transaction::Open) transaction_ = Transaction::Failed;
  if (implicit_) leave_transaction("ROLLBACK");
  CHECK(is_valid() && transaction_ != Transaction::Open, "after an error no transaction goes on");
}

void ClientState::look_at_transaction() {
  if (implicit_ || transaction_ == Transaction::Failed || session_ == nullptr) return;
  entered_ = session_->session.in_transaction();
  transaction_ = entered_ ? Transaction::Open : Transaction::None;
  CHECK(is_valid(), "the client is told of the transaction that there is");
}

// Portals with unread rows would keep the transaction open.
void ClientState::leave_transaction(const char* statement) {
  portals.clear();
  implicit_ = false;
  entered_ = false;
  transaction_ = Transaction::None;
  if (session_ == nullptr || !session_->session.in_transaction()) return;
  try {
    session_->session.execute(statement);
  } catch (const std::exception&) {  // a transaction that cannot be committed is rolled back
    if (session_->session.in_transaction()) session_->session.execute("ROLLBACK");
    throw;
  }
}

void ClientState::discard() {
  portals.clear();
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

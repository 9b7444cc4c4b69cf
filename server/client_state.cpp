#include "server/client_state.hpp"

#include <utility>

#include "common/error.hpp"

namespace eindb {

ClientState::~ClientState() {
  portals.clear();
  if (session_ == nullptr) return;
  {
    const std::lock_guard lock(running_mutex_);
    running_ = nullptr;
  }
  session_.reset();  // with whatever transaction is open: it is undone
}

void ClientState::use(SessionPool& pool, ClientUser user) {
  pool_ = &pool;
  user_ = std::move(user);
}

Session& ClientState::session() {
  if (session_ != nullptr) return session_->session;
  session_ = pool_->take();
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

void ClientState::settle() {
  if (session_ == nullptr || !portals.empty() || transaction_ != Transaction::None || session_->session.has_state())
    return;
  settings_ = session_->session.settings();
  {
    const std::lock_guard lock(running_mutex_);
    running_ = nullptr;
  }
  pool_->give_back(std::move(session_));
}

void ClientState::cancel() noexcept {
  const std::lock_guard lock(running_mutex_);
  if (running_ != nullptr) running_->cancel();
}

void ClientState::begin() {
  if (!implicit_) session().execute("BEGIN");
  implicit_ = false;
  transaction_ = Transaction::Open;
}

void ClientState::begin_implicit() {
  if (transaction_ != Transaction::None || implicit_) return;
  session().execute("BEGIN");
  implicit_ = true;
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
}

void ClientState::look_at_transaction() {
  if (implicit_ || transaction_ == Transaction::Failed || session_ == nullptr) return;
  transaction_ = session_->session.in_transaction() ? Transaction::Open : Transaction::None;
}

// Rows that are still to come hold a transaction open.
void ClientState::leave_transaction(const char* statement) {
  portals.clear();
  implicit_ = false;
  transaction_ = Transaction::None;
  if (session_ != nullptr && session_->session.in_transaction()) session_->session.execute(statement);
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

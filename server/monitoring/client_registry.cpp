#include "server/monitoring/client_registry.hpp"

#include <utility>

#include "common/check.hpp"
#include "engine/script.hpp"
#include "server/monitoring/log_line.hpp"

namespace eindb {
namespace {

bool may_stop(const ClientLogin& asking, const ClientLogin& target) {
  return asking.role > UserRole::ReadOnly || asking.user == target.user;
}

}  // namespace

std::string_view describe(ClientActivity activity) {
  switch (activity) {
    case ClientActivity::LogsIn: return "logging in";
    case ClientActivity::Active: return "active";
    case ClientActivity::Idle: return "idle";
    case ClientActivity::InTransaction: return "idle in transaction";
    case ClientActivity::InFailedTransaction: break;
  }
  return "idle in transaction (aborted)";
}

RegisteredClient::RegisteredClient(std::int32_t id, std::string address) {
  snapshot_.id = id;
  snapshot_.address = std::move(address);
  snapshot_.connected = std::chrono::system_clock::now();
  snapshot_.activity_began = snapshot_.connected;
}

void RegisteredClient::log_in(ClientLogin login) {
  const std::lock_guard lock(mutex_);
  snapshot_.login = std::move(login);
}

void RegisteredClient::rename(std::string_view application_name) {
  const std::lock_guard lock(mutex_);
  snapshot_.login.application_name = application_name;
}

void RegisteredClient::run(std::string_view statement) {
  const auto now = std::chrono::system_clock::now();
  const std::lock_guard lock(mutex_);
  snapshot_.statement = excerpt(statement, kMostStatementBytes);
  snapshot_.statement_began = now;
  snapshot_.activity_began = now;
  snapshot_.activity = ClientActivity::Active;
}

bool RegisteredClient::has_run(std::string_view statement) const {
  const std::lock_guard lock(mutex_);
  return snapshot_.statement == excerpt(statement, kMostStatementBytes);
}

void RegisteredClient::rest(ClientActivity activity) {
  const auto now = std::chrono::system_clock::now();
  const std::lock_guard lock(mutex_);
  snapshot_.activity_began = now;
  snapshot_.activity = activity;
}

ClientSnapshot RegisteredClient::snapshot() const {
  const std::lock_guard lock(mutex_);
  return snapshot_;
}

std::shared_ptr<RegisteredClient> ClientRegistry::add(std::int32_t id, const std::string& address) {
  auto client = std::make_shared<RegisteredClient>(id, address);
  const std::lock_guard lock(mutex_);
  const bool is_new = clients_.emplace(id, client).second;
  CHECK(is_new, "no two clients have the same number");
  return client;
}

void ClientRegistry::remove(std::int32_t id) {
  const std::lock_guard lock(mutex_);
  clients_.erase(id);
}

std::vector<ClientSnapshot> ClientRegistry::list() const {
  std::vector<ClientSnapshot> list;
  const std::lock_guard lock(mutex_);
  list.reserve(clients_.size());
  for (const auto& [id, client] : clients_) list.push_back(client->snapshot());
  return list;
}

std::vector<ClientSnapshot> ClientRegistry::list_for(std::int32_t asking) const {
  const auto self = find(asking);
  const auto login = self == nullptr ? ClientLogin() : self->snapshot().login;
  auto clients = list();
  for (auto& client : clients) {
    if (!may_stop(login, client.login)) client.statement.clear();
    else if (mentions_password(client.statement)) client.statement = kHiddenStatement;
  }
  return clients;
}

ClientRegistry::StopOutcome ClientRegistry::stop(std::int32_t asking, std::int32_t target, What what) const {
  const auto self = find(asking);
  const auto other = find(target);
  if (other == nullptr) return StopOutcome::Unknown;
  if (self == nullptr || !may_stop(self->snapshot().login, other->snapshot().login)) return StopOutcome::Forbidden;
  stopper_({asking, target, what});
  return StopOutcome::Asked;
}

std::shared_ptr<RegisteredClient> ClientRegistry::find(std::int32_t id) const {
  const std::lock_guard lock(mutex_);
  const auto found = clients_.find(id);
  return found == clients_.end() ? nullptr : found->second;
}

}  // namespace eindb

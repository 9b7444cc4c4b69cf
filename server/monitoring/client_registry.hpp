#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "common/check.hpp"
#include "common/user_role.hpp"

namespace eindb {

enum class ClientActivity : std::uint8_t { LogsIn, Active, Idle, InTransaction, InFailedTransaction };
/// The activity in PostgreSQL's words: "active", "idle in transaction", ...
std::string_view describe(ClientActivity activity);

/// The identity of a logged-in client.
struct ClientLogin {
  std::string user;
  std::string database = {};
  std::string application_name = {};
  UserRole role = UserRole::ReadOnly;
};

/// The state of a client at one moment.
struct ClientSnapshot {
  using Time = std::chrono::system_clock::time_point;

  std::int32_t id = 0;  ///< process number of its cancel key
  std::string address;  ///< "127.0.0.1:40000"
  ClientLogin login;    ///< during login, the claimed identity
  ClientActivity activity = ClientActivity::LogsIn;
  Time connected;
  Time activity_began;
  Time statement_began;   ///< of the running or last statement
  std::string statement;  ///< the beginning of its text
};

/// The entry of a connected client, written by the thread that serves it and read by all threads. Thread-safe.
class RegisteredClient {
 public:
  /// The number of bytes of a statement that are kept.
  static constexpr std::size_t kMostStatementBytes = 1024;

  RegisteredClient(std::int32_t id, std::string address);

  void log_in(ClientLogin login);
  void rename(std::string_view application_name);
  /// Records that a statement begins to run.
  void run(std::string_view statement);
  /// Whether `statement` is the running or last one, compared as far as it is kept.
  bool has_run(std::string_view statement) const;
  /// Records that no statement runs.
  void rest(ClientActivity activity);

  ClientSnapshot snapshot() const;

 private:
  mutable std::mutex mutex_;  // guards snapshot_
  ClientSnapshot snapshot_;
};

/// The connected clients, and the means to stop them. Thread-safe.
class ClientRegistry {
 public:
  enum class What : std::uint8_t { Statement, Connection };
  enum class StopOutcome : std::uint8_t { Asked, Unknown, Forbidden };
  struct StopRequest {
    std::int32_t asking = 0;
    std::int32_t target = 0;
    What what = What::Statement;
    friend bool operator==(const StopRequest&, const StopRequest&) = default;
  };
  /// Cancels the target's statement or ends its connection, asynchronously. Called from any thread.
  using Stopper = std::function<void(const StopRequest&)>;

  /// Sets the function that stops clients; without it clients cannot be stopped. Call before the first client connects.
  void use(Stopper stopper) {
    CHECK(stopper != nullptr, "somebody stops clients");
    stopper_ = std::move(stopper);
  }

  std::shared_ptr<RegisteredClient> add(std::int32_t id, const std::string& address);
  void remove(std::int32_t id);

  /// All clients in the order of their connection.
  std::vector<ClientSnapshot> list() const;
  /// The clients as the client `asking` may see them: only users who may stop another client see its statement.
  /// Statements that contain a password are never shown.
  std::vector<ClientSnapshot> list_for(std::int32_t asking) const;
  /// Asks `target` to stop. A user may stop clients of the same name; a user who may write may stop all.
  StopOutcome stop(std::int32_t asking, std::int32_t target, What what) const;

 private:
  std::shared_ptr<RegisteredClient> find(std::int32_t id) const;

  Stopper stopper_ = [](const StopRequest& /*request*/) {};
  mutable std::mutex mutex_;  // guards clients_
  std::map<std::int32_t, std::shared_ptr<RegisteredClient>> clients_;
};

/// The replacement for a statement that contains a password.
inline constexpr std::string_view kHiddenStatement = "<not shown: it has a password>";

}  // namespace eindb

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
/// In PostgreSQL's words: "active", "idle in transaction", ...
std::string_view describe(ClientActivity activity);

/// Who has logged in.
struct ClientLogin {
  std::string user;
  std::string database = {};
  std::string application_name = {};
  UserRole role = UserRole::ReadOnly;
};

/// A client as it was when somebody looked.
struct ClientSnapshot {
  using Time = std::chrono::system_clock::time_point;

  std::int32_t id = 0;  ///< the process of its cancel key
  std::string address;  ///< "127.0.0.1:40000"
  ClientLogin login;    ///< while it logs in, who it says it is
  ClientActivity activity = ClientActivity::LogsIn;
  Time connected;
  Time activity_began;
  Time statement_began;   ///< of the one that runs, or ran last
  std::string statement;  ///< its beginning
};

/// A connected client's entry, written by who serves it and read by all. Thread-safe.
class RegisteredClient {
 public:
  /// Bytes of a statement that are kept to be shown.
  static constexpr std::size_t kMostStatementBytes = 1024;

  RegisteredClient(std::int32_t id, std::string address);

  void log_in(ClientLogin login);
  void rename(std::string_view application_name);
  /// A statement begins to run.
  void run(std::string_view statement);
  /// Whether `statement` is the one that runs, or ran last, as far as that is kept.
  bool has_run(std::string_view statement) const;
  /// None runs now.
  void rest(ClientActivity activity);

  ClientSnapshot snapshot() const;

 private:
  mutable std::mutex mutex_;  // guards snapshot_
  ClientSnapshot snapshot_;
};

/// Who is connected, and how they are stopped. Thread-safe.
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
  /// Stops what the target runs, or ends its connection, soon; called from any thread.
  using Stopper = std::function<void(const StopRequest&)>;

  /// Who knows how; without, nobody is stopped. Before the first client.
  void use(Stopper stopper) {
    CHECK(stopper != nullptr, "somebody stops clients");
    stopper_ = std::move(stopper);
  }

  std::shared_ptr<RegisteredClient> add(std::int32_t id, const std::string& address);
  void remove(std::int32_t id);

  /// In the order in which they came.
  std::vector<ClientSnapshot> list() const;
  /// As the client `asking` may see them: statements of others are for users who may stop them. What has a password is
  /// shown to nobody.
  std::vector<ClientSnapshot> list_for(std::int32_t asking) const;
  /// Asks `target` to stop. A user may stop what runs under the same name, and who may write, all.
  StopOutcome stop(std::int32_t asking, std::int32_t target, What what) const;

 private:
  std::shared_ptr<RegisteredClient> find(std::int32_t id) const;

  Stopper stopper_ = [](const StopRequest& /*request*/) {};
  mutable std::mutex mutex_;  // guards clients_
  std::map<std::int32_t, std::shared_ptr<RegisteredClient>> clients_;
};

/// What is shown in place of a statement that has a password.
inline constexpr std::string_view kHiddenStatement = "<not shown: it has a password>";

}  // namespace eindb

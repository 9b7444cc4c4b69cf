#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cluster/connection_task.hpp"
#include "cluster/handshake.hpp"

namespace eindb {

/// The credentials with which a node begins connections.
struct NodeCredentials {
  ClusterSecret secret;
  const TlsContext* tls = nullptr;  ///< for this side of a connection; null: no TLS
};

/// The beginning of a connection: TLS, if the node uses it, and the handshake. A peer that does not know the secret is
/// told so after a second, to slow down guessing. Silent peers are disconnected after a time limit.
class HandshakeTask : public ConnectionTask {
 public:
  using Done = std::function<void(std::unique_ptr<Connection>, const Introduction& peer)>;
  using Failed = std::function<void(const Error&)>;

  HandshakeTask(NodeTasks& tasks, std::unique_ptr<Connection> connection, Handshake::Side side,
                const NodeCredentials& credentials, Introduction self, std::chrono::milliseconds time, Done done,
                Failed failed);

 private:
  void step() override;
  void failed(const Error& error) override;

  bool begin();
  bool begin_tls();
  bool send();
  bool receive();
  void refuse_plain_text();
  void refuse(const Error& error);

  const Handshake::Side side_;
  const NodeCredentials credentials_;
  const Introduction self_;
  const std::chrono::milliseconds time_;
  const Done done_;
  const Failed failed_;
  bool has_begun_ = false;
  bool has_time_ = false;         // the time limit is set
  bool has_tls_ = false;          // TLS has begun
  bool has_waited_ = false;       // has waited for the first byte
  std::optional<Error> refusal_;  // sent after the delay
  std::optional<Handshake> handshake_;
  std::string output_;
};

}  // namespace eindb

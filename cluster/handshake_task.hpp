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
  const TlsContext* tls = nullptr;  ///< of the side that it is for; null: without TLS
};

/// The beginning of a connection: TLS, if the node has it, and the handshake. Whoever does not know the secret is told
/// so after a second, so that guessing takes its time; whoever is silent is not waited for long.
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
  bool has_time_ = false;         // that is limited
  bool has_tls_ = false;          // it has begun
  bool has_waited_ = false;       // for the first byte
  std::optional<Error> refusal_;  // to be told when the time has come
  std::optional<Handshake> handshake_;
  std::string output_;
};

}  // namespace eindb

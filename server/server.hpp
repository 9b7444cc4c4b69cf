#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engine/session.hpp"
#include "security/tls_context.hpp"
#include "server/monitoring/http_endpoint.hpp"
#include "server/monitoring/server_log.hpp"
#include "server/sessions/client_limits.hpp"
#include "server/sessions/shared_resources.hpp"

namespace eindb {

struct ServerOptions {
  std::string database;
  bool read_only = false;             ///< nobody changes the database
  std::string address = "127.0.0.1";  ///< of one interface, as a number
  std::uint16_t port = 5433;          ///< 0: one that is free
  int workers = 0;                    ///< threads that run statements; 0: four for each core, at least 16
  std::optional<TlsOptions> tls;      ///< absent: clients stay in the clear
  bool requires_tls = false;
  std::size_t max_connections = 2000;  ///< sessions at a time
  ClientLimits limits;
  std::chrono::milliseconds statement_timeout{0};  ///< what the setting is by default; 0: none
  /// The same for users who may only read; absent: as above, or five minutes where that is none.
  std::optional<std::chrono::milliseconds> read_only_statement_timeout = {};
  std::chrono::milliseconds shutdown_grace = std::chrono::seconds(10);  ///< for statements that run when it ends
  ResourceLimits resources;
  LogOptions log;
  std::optional<HttpOptions> http;   ///< /health and /metrics; absent: nowhere
  std::shared_ptr<Cluster> cluster;  ///< of the database; null: none
};

/// A database for clients of the PostgreSQL protocol. One thread waits for all sockets; statements run in others, so
/// that clients that wait cost nothing but what they have sent.
///
///     socket --bytes--> FrameReader --a worker--> Backend --bytes--> socket
///
/// A client is read again when what it asked for has been answered, and what was answered has gone: nobody holds more
/// than a connection's worth. A message goes to a worker when all of it is there. Who is silent in the beginning gives
/// place to those who come when there are many of them.
class Server {
 public:
  /// Opens the database and listens. Throws Error: of the database, of the certificate (TlsContext), Io where the
  /// address cannot be had.
  explicit Server(ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const;
  /// Of HTTP; 0 if there is none.
  std::uint16_t http_port() const;
  /// Serves until stop(), or a signal SIGTERM or SIGINT. Then clients are told to go, and those whose statements run
  /// have the time of shutdown_grace, or up to a second such request: then they are cancelled. All has ended when it
  /// returns.
  void run();
  /// Any thread.
  void stop() noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace eindb

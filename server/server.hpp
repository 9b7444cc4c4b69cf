#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engine/session.hpp"
#include "security/tls_context.hpp"
#include "server/http/http_endpoint.hpp"
#include "server/monitoring/server_log.hpp"
#include "server/sessions/client_limits.hpp"
#include "server/sessions/shared_resources.hpp"

namespace eindb {

struct ServerOptions {
  std::string database;
  bool read_only = false;             ///< no client may change the database
  std::string address = "127.0.0.1";  ///< numeric address of an interface
  std::uint16_t port = 5433;          ///< 0: any free port
  int workers = 0;                    ///< number of threads that run statements; 0: four per core, at least 16
  std::optional<TlsOptions> tls;      ///< nullopt: clients connect in clear text
  bool requires_tls = false;
  std::size_t max_connections = 2000;  ///< most sessions at a time
  ClientLimits limits;
  std::chrono::milliseconds statement_timeout{0};  ///< default of the setting; 0: none
  /// The timeout for users who may only read. nullopt: statement_timeout or, if that is 0, five minutes.
  std::optional<std::chrono::milliseconds> read_only_statement_timeout = {};
  /// For statements that run when the server shuts down.
  std::chrono::milliseconds shutdown_grace = std::chrono::seconds(10);
  ResourceLimits resources;
  LogOptions log;
  std::optional<HttpOptions> http;   ///< /health and /metrics; nullopt: not served
  std::shared_ptr<Cluster> cluster;  ///< of the database; null: there is none
};

/// Serves a database to clients of the PostgreSQL protocol. One thread waits for all sockets and other threads run
/// statements, so an idle client costs only the bytes that it has sent.
///
///     socket --bytes--> FrameReader --a worker--> Backend --bytes--> socket
///
/// The server reads from a client again only after it has answered its messages and sent the answers, so the data held
/// per connection is bounded. A message goes to a worker once it is complete. If there are too many connections without
/// a session, new ones replace those that have been silent for longest.
class Server {
 public:
  /// Opens the database and listens. Throws errors of the database and of the certificate (TlsContext), and Error{Io}
  /// if the address is not available.
  explicit Server(ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const;
  /// The port of HTTP; 0 if it is not served.
  std::uint16_t http_port() const;
  /// Serves until stop(), SIGTERM or SIGINT. Then it tells clients to leave; running statements may continue for
  /// shutdown_grace, or until a second such request, and are then cancelled. Returns once everything has ended.
  void run();
  /// Thread-safe.
  void stop() noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace eindb

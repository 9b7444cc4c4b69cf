#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "server/shared_resources.hpp"

namespace eindb {

struct ServerOptions {
  std::string database;
  bool read_only = false;             ///< nobody changes the database
  std::string address = "127.0.0.1";  ///< of one interface, as a number
  std::uint16_t port = 5433;          ///< 0: one that is free
  int workers = 0;                    ///< threads that run statements; 0: four for each core, at least 16
  ResourceLimits resources;
};

/// A database for clients of the PostgreSQL protocol. One thread waits for all sockets; statements run in others, so
/// that clients that wait cost nothing but what they have sent.
///
///     socket --bytes--> FrameReader --a worker--> Backend --bytes--> socket
///
/// A client is read again when what it asked for has been answered, and what was answered has gone: nobody holds more
/// than a connection's worth.
class Server {
 public:
  /// Opens the database and listens. Throws Error: of the database, Io where the address cannot be had.
  explicit Server(ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const;
  /// Serves until stop(), or a signal SIGTERM or SIGINT; then statements that run are cancelled, and all has ended when
  /// it returns.
  void run();
  /// Any thread.
  void stop() noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace eindb

#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "server/server.hpp"
#include "shell/cluster_command.hpp"

namespace eindb {

/// `eindb serve DATABASE [--listen ADDRESS:PORT] [--http ADDRESS:PORT] [--log FILE] ...`.
struct ServeCommand {
  std::string listen = "127.0.0.1:5433";
  int statement_threads = 0;  ///< number of threads that run statements; 0: by the number of cores
  TlsOptions tls;             ///< without a certificate: no TLS
  bool requires_tls = false;
  std::size_t max_connections = ServerOptions{}.max_connections;
  ClientLimits limits;
  std::chrono::milliseconds statement_timeout{0};
  std::optional<std::chrono::milliseconds> read_only_statement_timeout = {};
  std::chrono::milliseconds shutdown_grace = ServerOptions{}.shutdown_grace;
  std::string memory_limit;  ///< of all clients, as in "2GB"; empty: determined by the machine
  int threads = 0;           ///< most threads of a statement; 0: one per core
  int heavy_statements = 0;  ///< most that run at a time; 0: by the number of cores
  std::string files_directory;
  std::string http;  ///< address of the console, /health and /metrics; empty: not served
  bool http_allow_remote = false;
  std::vector<std::string> http_names;  ///< under which browsers reach the console
  LogOptions log;
};

/// Serves clients until a signal asks to stop, with the workers named by `cluster`. Throws Error.
void run_server(const ServeCommand& command, const ClusterCommand& cluster, const std::string& database,
                bool read_only);

}  // namespace eindb

#include "shell/serve_command.hpp"

#include <cstdint>
#include <cstdio>
#include <optional>
#include <utility>

#include "common/error.hpp"
#include "engine/settings/settings.hpp"
#include "shell/listen_place.hpp"

namespace eindb {
namespace {

// TLS needs both files, and all other TLS options need TLS.
std::optional<TlsOptions> tls_of(const ServeCommand& command) {
  const auto& tls = command.tls;
  if (tls.certificate.empty() != tls.key.empty())
    throw Error(ErrorKind::Value, "TLS takes a certificate and its key", std::nullopt,
                "give --tls-cert FILE and --tls-key FILE");
  if (!tls.certificate.empty()) return tls;
  if (command.requires_tls || !tls.authority.empty())
    throw Error(ErrorKind::Value, "there is no certificate for TLS", std::nullopt,
                "give --tls-cert FILE and --tls-key FILE too");
  return std::nullopt;
}

std::int64_t bytes_of(const std::string& size) {
  if (size.empty()) return 0;
  if (const auto bytes = parse_byte_size(size); bytes && *bytes > 0) return *bytes;
  throw Error(ErrorKind::Value, "'" + size + "' is no size of memory", std::nullopt,
              "write it as in --memory-limit 2GB");
}

ServerOptions options_of(const ServeCommand& command, const std::string& database, bool read_only) {
  auto [address, port] = read_place(command.listen, "--listen 127.0.0.1:5433");
  ServerOptions options;
  options.database = database;
  options.read_only = read_only;
  options.address = std::move(address);
  options.port = port;
  options.workers = command.statement_threads;
  options.tls = tls_of(command);
  options.requires_tls = command.requires_tls;
  options.max_connections = command.max_connections;
  options.limits = command.limits;
  options.statement_timeout = command.statement_timeout;
  options.read_only_statement_timeout = command.read_only_statement_timeout;
  options.shutdown_grace = command.shutdown_grace;
  options.resources = {.memory = bytes_of(command.memory_limit),
                       .threads = command.threads,
                       .heavy_statements = command.heavy_statements,
                       .files_directory = command.files_directory};
  options.log = command.log;
  options.http = read_http(command.http, command.http_allow_remote);
  if (options.http) options.http->names = command.http_names;
  return options;
}

}  // namespace

void run_server(const ServeCommand& command, const ClusterCommand& cluster, const std::string& database,
                bool read_only) {
  auto options = options_of(command, database, read_only);
  std::optional<CommandCluster> workers;
  if (!cluster.workers.empty()) options.cluster = workers.emplace(cluster, command.log).cluster();
  Server server(std::move(options));
  std::printf("listening on port %d\n", int{server.port()});
  if (server.http_port() != 0) std::printf("http on port %d\n", int{server.http_port()});
  std::fflush(stdout);
  server.run();
}

}  // namespace eindb

#include "shell/serve_command.hpp"

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <utility>

#include "common/error.hpp"
#include "engine/settings.hpp"

namespace eindb {
namespace {

struct Place {
  std::string address;
  std::uint16_t port = 0;
};

// ADDRESS:PORT, with an IPv6 address in brackets.
Place read_place(const std::string& text, const std::string& example) {
  Place place;
  const auto colon = text.rfind(':');
  const auto* const end = text.data() + text.size();
  if (colon != std::string::npos) {
    const auto [parsed, error] = std::from_chars(text.data() + colon + 1, end, place.port);
    place.address = text.substr(0, colon);
    if (place.address.size() > 2 && place.address.front() == '[' && place.address.back() == ']')
      place.address = place.address.substr(1, place.address.size() - 2);
    if (error == std::errc() && parsed == end && !place.address.empty()) return place;
  }
  throw Error(ErrorKind::Value, "'" + text + "' is no address to listen on", std::nullopt, "write it as in " + example);
}

// TLS takes two files; what else there is to say of it needs them.
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

std::optional<HttpOptions> http_of(const ServeCommand& command) {
  if (command.http.empty()) return std::nullopt;
  auto [address, port] = read_place(command.http, "--http 127.0.0.1:8433");
  return HttpOptions{std::move(address), port, command.http_allow_remote};
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
  options.shutdown_grace = command.shutdown_grace;
  options.resources = {.memory = bytes_of(command.memory_limit),
                       .threads = command.threads,
                       .heavy_statements = command.heavy_statements,
                       .files_directory = command.files_directory};
  options.log = command.log;
  options.http = http_of(command);
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

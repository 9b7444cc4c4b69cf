#include "shell/serve_command.hpp"

#include <charconv>
#include <cstdio>
#include <optional>
#include <utility>

#include "common/error.hpp"
#include "engine/settings.hpp"

namespace eindb {
namespace {

// ADDRESS:PORT, with an IPv6 address in brackets.
ServerOptions listening_on(const std::string& place) {
  ServerOptions options;
  const auto colon = place.rfind(':');
  const auto* const end = place.data() + place.size();
  if (colon != std::string::npos) {
    const auto [parsed, error] = std::from_chars(place.data() + colon + 1, end, options.port);
    options.address = place.substr(0, colon);
    if (options.address.size() > 2 && options.address.front() == '[' && options.address.back() == ']')
      options.address = options.address.substr(1, options.address.size() - 2);
    if (error == std::errc() && parsed == end && !options.address.empty()) return options;
  }
  throw Error(ErrorKind::Value, "'" + place + "' is no address to listen on", std::nullopt,
              "write it as in --listen 127.0.0.1:5433");
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

}  // namespace

void run_server(const ServeCommand& command, const std::string& database, bool read_only) {
  auto options = listening_on(command.listen);
  options.database = database;
  options.read_only = read_only;
  options.workers = command.workers;
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
  Server server(std::move(options));
  if (server.exposes_clear_text())
    std::fputs("warning: other machines reach this server, and may connect without TLS: --tls-required forbids it\n",
               stderr);
  std::printf("listening on port %d\n", int{server.port()});
  std::fflush(stdout);
  server.run();
}

}  // namespace eindb

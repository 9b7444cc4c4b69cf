#include "shell/serve_command.hpp"

#include <charconv>
#include <cstdio>

#include "common/error.hpp"
#include "engine/settings.hpp"
#include "server/server.hpp"

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
  options.resources = {.memory = bytes_of(command.memory_limit),
                       .threads = command.threads,
                       .heavy_statements = command.heavy_statements,
                       .files_directory = command.files_directory};
  Server server(std::move(options));
  std::printf("listening on port %d\n", int{server.port()});
  std::fflush(stdout);
  server.run();
}

}  // namespace eindb

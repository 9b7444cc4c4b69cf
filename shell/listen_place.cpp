#include "shell/listen_place.hpp"

#include <charconv>
#include <utility>

#include "common/error.hpp"

namespace eindb {

ListenPlace read_place(const std::string& text, const std::string& example) {
  ListenPlace place;
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

std::optional<HttpOptions> read_http(const std::string& text, bool allow_remote) {
  if (text.empty()) return std::nullopt;
  auto [address, port] = read_place(text, "--http 127.0.0.1:8433");
  return HttpOptions{.address = std::move(address), .port = port, .allow_remote = allow_remote};
}

}  // namespace eindb

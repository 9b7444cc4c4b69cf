#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "server/http/http_endpoint.hpp"

namespace eindb {

struct ListenPlace {
  std::string address;
  std::uint16_t port = 0;
};

/// Parses ADDRESS:PORT, with an IPv6 address in brackets. Error{Value} shows `example`.
ListenPlace read_place(const std::string& text, const std::string& example);

/// The options for `--http ADDRESS:PORT --http-allow-remote`; nullopt for an empty text.
std::optional<HttpOptions> read_http(const std::string& text, bool allow_remote);

}  // namespace eindb

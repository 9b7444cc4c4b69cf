#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "security/tls_context.hpp"
#include "server/http/http_message.hpp"

namespace eindb {

/// Returns the page at a path; nullopt if there is none. Called by the endpoint's thread.
using HttpPages = std::function<std::optional<HttpAnswer>(std::string_view path)>;

/// Services of an endpoint beside pages. All must outlive the endpoint.
struct HttpExtras {
  HttpService* service = nullptr;  ///< null: none
  /// Clients may begin TLS on the same port; null: they may not.
  const TlsContext* tls = nullptr;
  /// How long a client may take nothing of an answer in pieces; zero: as long as it wants.
  std::chrono::milliseconds send = std::chrono::minutes(5);
};

/// The pages and services that the connections of an endpoint offer, and the number of these connections. Used by the
/// endpoint's thread.
struct HttpSource {
  HttpSource(HttpPages served, HttpExtras more) : pages(std::move(served)), extras(more) {}

  const HttpPages pages;
  const HttpExtras extras;
  int connections = 0;
};

}  // namespace eindb

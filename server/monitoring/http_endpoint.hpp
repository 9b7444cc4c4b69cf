#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace eindb {

struct HttpOptions {
  std::string address = "127.0.0.1";  ///< numeric address of an interface
  std::uint16_t port = 8433;          ///< 0: any free port
  bool allow_remote = false;  ///< also allow addresses that other machines can reach, although there are no passwords
};

/// The content type of plain text.
inline constexpr const char* kPlainText = "text/plain; charset=utf-8";

struct HttpAnswer {
  unsigned status = 200;
  std::string content_type;
  std::string body;
};

/// Returns the page at a path; nullopt if there is none. Called by the endpoint's thread.
using HttpPages = std::function<std::optional<HttpAnswer>(std::string_view path)>;

/// Serves status pages to monitoring programs: GET and HEAD of HTTP/1.1, without bodies. It has a thread of its own, so
/// it answers even while the server is busy. Hostile clients are bounded: headers are short, connections few, and each
/// request has a time limit.
class HttpEndpoint {
 public:
  /// Listens and answers until it is destroyed. Error{Value} for an address that other machines can reach, unless that
  /// is allowed; Error{Io} if the address is not available.
  HttpEndpoint(const HttpOptions& options, HttpPages pages);
  ~HttpEndpoint();
  HttpEndpoint(const HttpEndpoint&) = delete;
  HttpEndpoint& operator=(const HttpEndpoint&) = delete;

  std::uint16_t port() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace eindb

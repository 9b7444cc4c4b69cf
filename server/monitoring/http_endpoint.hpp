#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace eindb {

struct HttpOptions {
  std::string address = "127.0.0.1";  ///< of one interface, as a number
  std::uint16_t port = 8433;          ///< 0: one that is free
  bool allow_remote = false;          ///< addresses that other machines reach, too: there are no passwords here
};

/// The content type of pages without markup.
inline constexpr const char* kPlainText = "text/plain; charset=utf-8";

struct HttpAnswer {
  unsigned status = 200;
  std::string content_type;
  std::string body;
};

/// The page at a path, nullopt if there is none. Called by the endpoint's thread.
using HttpPages = std::function<std::optional<HttpAnswer>(std::string_view path)>;

/// Pages to look at, for programs that watch the server: GET and HEAD of HTTP/1.1, without bodies. It has a thread of
/// its own, so that it answers whatever the server is busy with. What is hostile costs little: headers are short,
/// connections few, and each request has its time.
class HttpEndpoint {
 public:
  /// Listens, and answers until it is destroyed. Error{Value} for an address that other machines reach unless that is
  /// allowed; Error{Io} where the address cannot be had.
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

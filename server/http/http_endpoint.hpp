#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "server/http/http_source.hpp"

namespace eindb {

struct HttpOptions {
  std::string address = "127.0.0.1";  ///< numeric address of an interface
  std::uint16_t port = 8433;          ///< 0: any free port
  bool allow_remote = false;  ///< also allow addresses that other machines can reach, although there are no passwords
  std::vector<std::string> names = {};  ///< under which browsers may know the server, beside addresses and localhost
};

/// Serves HTTP/1.1: status pages to monitoring programs, by GET and HEAD without bodies, and the requests of a service.
/// It has a thread of its own, so it answers even while the server is busy. Hostile clients are bounded: headers and
/// bodies are short, connections few, and each request has a time limit.
class HttpEndpoint {
 public:
  /// Listens. Error{Value} for an address that other machines can reach, unless that is allowed; Error{Io} if the
  /// address is not available.
  explicit HttpEndpoint(const HttpOptions& options);
  /// Listens, and serves `pages`.
  HttpEndpoint(const HttpOptions& options, HttpPages pages);
  /// Calls stop().
  ~HttpEndpoint();
  HttpEndpoint(const HttpEndpoint&) = delete;
  HttpEndpoint& operator=(const HttpEndpoint&) = delete;

  /// Answers from now on until stop(). Call once.
  void serve(HttpPages pages, HttpExtras extras = {});
  /// Ends the thread; open connections end with the endpoint.
  void stop();

  std::uint16_t port() const;
  /// The context that the endpoint's thread runs, for a service that posts to it or waits for time to pass.
  boost::asio::io_context& io();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace eindb

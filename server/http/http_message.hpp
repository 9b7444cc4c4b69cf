#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace eindb {

/// The content types of plain text and of JSON.
inline constexpr const char* kPlainText = "text/plain; charset=utf-8";
inline constexpr const char* kJsonText = "application/json";

/// A request as it came, from a stranger until somebody checks who sends it. It has at most 8 KiB of headers.
struct HttpRequest {
  std::string method;  ///< "GET"
  std::string path;    ///< before the '?', not decoded: "/api/run"
  std::string body = {};
  bool encrypted = false;              ///< by TLS
  boost::asio::ip::address peer = {};  ///< of the client
  std::string place = {};              ///< the client's address and port, for the log

  /// The value of a header, whose name is in lower case; empty if there is none. Where it came several times, its
  /// values with ", " between them, which fits nothing that may come once.
  std::string_view header(std::string_view name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string_view() : std::string_view(found->second);
  }
  std::map<std::string, std::string, std::less<>> headers = {};  ///< by their names in lower case
};

struct HttpAnswer {
  unsigned status = 200;
  std::string content_type;
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};  ///< more than the endpoint adds itself
};

/// A request and the way of its answer, which may come later: at once by answer(), or in pieces by begin(), write() and
/// end(). An exchange that is let go of without an answer ends its connection. Used by the endpoint's thread.
class HttpExchange {
 public:
  HttpExchange() = default;
  virtual ~HttpExchange() = default;
  HttpExchange(const HttpExchange&) = delete;
  HttpExchange& operator=(const HttpExchange&) = delete;

  virtual const HttpRequest& request() const = 0;
  virtual void answer(HttpAnswer answer) = 0;
  /// Begins an answer of unknown length; the body of `head` is not used.
  virtual void begin(HttpAnswer head) = 0;
  /// Sends a piece, which is not empty, and calls `then` when the client has taken it, with whether it has. One piece
  /// at a time. A client that takes nothing for as long as the endpoint allows has left.
  virtual void write(std::string piece, std::function<void(bool)> then) = 0;
  virtual void end() = 0;
  /// Whether the client has closed its side of the connection.
  virtual bool has_left() = 0;
};

/// Serves the requests for which an endpoint has no page. Called by the endpoint's thread, so that nothing may wait.
class HttpService {
 public:
  HttpService() = default;
  virtual ~HttpService() = default;
  HttpService(const HttpService&) = delete;
  HttpService& operator=(const HttpService&) = delete;

  /// The most bytes that the body of such a request may have; 0: it may have none.
  virtual std::size_t most_body_bytes(std::string_view method, std::string_view path) const = 0;
  /// Whether this is one of the service's paths; then serve() answers all methods.
  virtual bool has_path(std::string_view path) const = 0;
  virtual void serve(const std::shared_ptr<HttpExchange>& exchange) = 0;
};

}  // namespace eindb

#include "server/http/http_connection.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "common/check.hpp"
#include "common/letter_case.hpp"
#include "server/http/http_stream.hpp"

namespace eindb {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::uint32_t kMostHeaderBytes = 8192;
constexpr std::size_t kReadBytes = std::size_t{64} << 10U;  // the most that one read takes
// The time limit for a request and its answer together, but for the pieces of a long answer.
constexpr std::chrono::seconds kRequestTime{10};
// The limits for reading on after a refused request. If the connection were closed before the client has sent all of
// it, the client would not see the answer.
constexpr std::chrono::seconds kLingerTime{5};
constexpr std::size_t kMostLingerBytes = std::size_t{16} << 20U;
constexpr std::size_t kLingerPiece = std::size_t{16} << 10U;

HttpAnswer refusal(http::status status) {
  return {static_cast<unsigned>(status), kPlainText, std::string(http::obsolete_reason(status)) + "\n"};
}

http::status status_of(const error_code& error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow)
    return http::status::request_header_fields_too_large;
  if (error == http::error::body_limit) return http::status::payload_too_large;
  return http::status::bad_request;
}

// The first byte of TLS's records of a handshake; requests begin with a letter.
constexpr std::uint8_t kTlsHandshake = 22;

std::string text_in_view(boost::string_view view) { return {view.data(), view.size()}; }

std::string_view path_of(boost::string_view target) {
  const std::string_view text(target.data(), target.size());
  return text.substr(0, text.find('?'));
}

// How the client learns where an answer ends.
enum class Framing { Length, Chunks, EndOfConnection };

std::string head_of(const HttpAnswer& answer, Framing framing, bool keep) {
  http::response<http::empty_body> response(static_cast<http::status>(answer.status), 11);
  response.set(http::field::content_type, answer.content_type);
  response.set(http::field::cache_control, "no-store");
  for (const auto& [name, value] : answer.headers) response.set(name, value);
  response.keep_alive(keep);
  if (framing == Framing::Length) response.content_length(answer.body.size());
  if (framing == Framing::Chunks) response.chunked(true);
  std::ostringstream text;
  text << response.base();
  return text.str();
}

// One connection, which may send several requests in sequence.
class HttpConnection final : public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(HttpSource& source, tcp::socket socket) : source_(source), stream_(std::move(socket)) {
    ++source_.connections;
  }
  ~HttpConnection() { --source_.connections; }
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  // Waits for the first bytes of a client, which tell whether it begins TLS.
  void begin();

 private:
  class Exchange;
  using Step = void (HttpConnection::*)();
  // Of a body that nobody reads: what is longer is refused before it comes.
  static constexpr std::size_t kBodyBytesUnread = std::size_t{1} << 20U;

  // An operation's handler, which keeps the connection alive; an error ends the connection.
  HttpStream::Then then(std::function<void(std::size_t)> go_on) {
    return [self = shared_from_this(), go_on = std::move(go_on)](const error_code& error, std::size_t bytes) {
      if (!error) go_on(bytes);
    };
  }

  void read_request();
  void parse(Step next);
  void read_more(Step next);
  void reject_unless_gone(const error_code& error);
  void take_header();
  void respond();
  HttpAnswer page(std::string_view path) const;
  HttpRequest request_of();
  void serve();
  void send(HttpAnswer answer, bool keep, bool is_head);
  void put(std::string head, std::string body, HttpStream::Then then);
  void end(bool keep) { keep ? read_request() : linger(); }
  void linger();
  void drop_bytes();

  bool is_of_service(std::string_view path) const {
    return source_.extras.service != nullptr && source_.extras.service->has_path(path);
  }

  HttpSource& source_;
  HttpStream stream_;
  boost::beast::flat_buffer buffer_{kMostHeaderBytes + kReadBytes};
  std::optional<http::request_parser<http::string_body>> parser_;
  std::string head_;  // what is being written
  std::string body_;
  std::size_t lingered_ = 0;
};

class HttpConnection::Exchange final : public HttpExchange {
 public:
  explicit Exchange(std::shared_ptr<HttpConnection> connection)
      : connection_(std::move(connection)),
        request_(connection_->request_of()),
        keep_(connection_->parser_->get().keep_alive()),
        is_head_(connection_->parser_->get().method() == http::verb::head),
        in_chunks_(connection_->parser_->get().version() >= 11) {}

  const HttpRequest& request() const override { return request_; }

  void answer(HttpAnswer answer) override { connection_->send(std::move(answer), keep_, is_head_); }

  void begin(HttpAnswer head) override {
    keep_ = keep_ && in_chunks_;
    head_text_ = head_of(head, in_chunks_ ? Framing::Chunks : Framing::EndOfConnection, keep_);
  }

  void write(std::string piece, std::function<void(bool)> then) override {
    CHECK(!piece.empty(), "an empty piece would end the answer");
    put(in_chunks_ ? chunk(piece) : std::move(piece), std::move(then));
  }

  void end() override {
    put(in_chunks_ ? "0\r\n\r\n" : "", [connection = connection_, keep = keep_](bool well) {
      if (well) connection->end(keep);
    });
  }

  // True as well if the client has sent its next request already, which it has no reason to.
  bool has_left() override {
    pollfd asked{.fd = connection_->stream_.tcp().socket().native_handle(), .events = POLLRDHUP, .revents = 0};
    return ::poll(&asked, 1, 0) > 0;
  }

 private:
  static std::string chunk(const std::string& piece) {
    std::ostringstream text;
    text << std::hex << piece.size() << "\r\n" << piece << "\r\n";
    return text.str();
  }

  void put(std::string bytes, std::function<void(bool)> then) {
    auto& connection = *connection_;
    const auto limit = connection.source_.extras.send;
    if (limit == limit.zero()) connection.stream_.tcp().expires_never();
    else connection.stream_.tcp().expires_after(limit);
    connection.put(std::exchange(head_text_, {}), std::move(bytes),
                   [self = connection_, next = std::move(then)](const error_code& error, std::size_t /*bytes*/) {
                     self->stream_.tcp().expires_never();  // until the next piece the client waits for the server
                     std::string().swap(self->body_);
                     next(!error);
                   });
  }

  const std::shared_ptr<HttpConnection> connection_;
  const HttpRequest request_;
  bool keep_;
  const bool is_head_;
  const bool in_chunks_;   // clients of HTTP/1.0 know no chunks: the end of the connection ends the answer
  std::string head_text_;  // of the answer in pieces, until the first one
};

void HttpConnection::begin() {
  if (source_.extras.tls == nullptr) return read_request();
  stream_.tcp().expires_after(kRequestTime);
  stream_.read_some(buffer_.prepare(kMostHeaderBytes), then([this](std::size_t bytes) {
                      buffer_.commit(bytes);
                      if (*static_cast<const std::uint8_t*>(buffer_.data().data()) != kTlsHandshake)
                        return read_request();
                      stream_.begin_tls(*source_.extras.tls, buffer_.data(), then([this](std::size_t /*bytes*/) {
                        buffer_.clear();
                        read_request();
                      }));
                    }));
}

// A body is read for the service alone: another request with one is refused, or ends the connection.
void HttpConnection::read_request() {
  parser_.emplace();
  parser_->header_limit(kMostHeaderBytes);
  parser_->body_limit(kBodyBytesUnread);
  stream_.tcp().expires_after(kRequestTime);
  parse(&HttpConnection::take_header);
}

// Goes on with `next` once there is a whole header, or, after that, a whole message.
void HttpConnection::parse(Step next) {
  const auto is_there = [&] { return parser_->is_done() || (!parser_->eager() && parser_->is_header_done()); };
  while (!is_there() && buffer_.size() > 0) {
    error_code error;
    buffer_.consume(parser_->put(buffer_.data(), error));
    if (error == http::error::need_more) break;
    if (error) return reject_unless_gone(error);
  }
  if (is_there()) return (this->*next)();
  read_more(next);
}

void HttpConnection::read_more(Step next) {
  const auto room = std::min(kReadBytes, buffer_.max_size() - buffer_.size());
  if (room == 0) return reject_unless_gone(http::error::buffer_overflow);
  stream_.read_some(buffer_.prepare(room), then([this, next](std::size_t bytes) {
                      buffer_.commit(bytes);
                      parse(next);
                    }));
}

void HttpConnection::reject_unless_gone(const error_code& error) {
  if (error.category() != http::make_error_code(http::error::bad_method).category()) return;
  send(refusal(status_of(error)), false, false);
}

void HttpConnection::take_header() {
  const auto& request = parser_->get();
  const auto path = path_of(request.target());
  if (!is_of_service(path)) return respond();
  const auto most = source_.extras.service->most_body_bytes(text_in_view(request.method_string()), path);
  const auto length = parser_->content_length();
  const bool too_long = length && *length > most;
  if (too_long || (parser_->chunked() && most == 0))
    return send(refusal(http::status::payload_too_large), false, false);
  parser_->body_limit(most);
  parser_->eager(true);
  parse(&HttpConnection::serve);
}

void HttpConnection::respond() {
  const auto& request = parser_->get();
  const bool keep = parser_->is_done() && request.keep_alive();
  const bool is_head = request.method() == http::verb::head;
  if (!is_head && request.method() != http::verb::get) {
    auto answer = refusal(http::status::method_not_allowed);
    answer.headers = {{"Allow", "GET, HEAD"}};
    return send(std::move(answer), keep, false);
  }
  send(page(path_of(request.target())), keep, is_head);
}

HttpAnswer HttpConnection::page(std::string_view path) const {
  try {
    auto found = source_.pages(path);
    return found ? *std::move(found) : refusal(http::status::not_found);
  } catch (const std::exception&) {
    return refusal(http::status::internal_server_error);
  }
}

HttpRequest HttpConnection::request_of() {
  auto& message = parser_->get();
  HttpRequest request{.method = text_in_view(message.method_string()),
                      .path = std::string(path_of(message.target())),
                      .body = std::move(message.body()),
                      .encrypted = stream_.is_encrypted()};
  for (const auto& field : message) {
    auto& value = request.headers[to_lower(text_in_view(field.name_string()))];
    if (!value.empty()) value += ", ";
    value += text_in_view(field.value());
  }
  error_code gone;
  const auto place = stream_.tcp().socket().remote_endpoint(gone);
  std::ostringstream text;
  text << place;
  request.place = text.str();
  request.peer = place.address();
  return request;
}

void HttpConnection::serve() {
  stream_.tcp().expires_never();  // what waits for a thread, or for a wrong password, has limits of its own
  source_.extras.service->serve(std::make_shared<Exchange>(shared_from_this()));
}

void HttpConnection::send(HttpAnswer answer, bool keep, bool is_head) {
  stream_.tcp().expires_after(kRequestTime);
  auto head = head_of(answer, Framing::Length, keep);
  put(std::move(head), is_head ? std::string() : std::move(answer.body),
      then([this, keep](std::size_t /*bytes*/) { end(keep); }));
}

void HttpConnection::put(std::string head, std::string body, HttpStream::Then then) {
  head_ = std::move(head);
  body_ = std::move(body);
  stream_.write({asio::buffer(head_), asio::buffer(body_)}, std::move(then));
}

// Ends this side, and reads on.
void HttpConnection::linger() {
  error_code ignored;
  stream_.tcp().socket().shutdown(tcp::socket::shutdown_send, ignored);
  stream_.tcp().expires_after(kLingerTime);
  buffer_.clear();
  drop_bytes();
}

void HttpConnection::drop_bytes() {
  stream_.tcp().async_read_some(buffer_.prepare(kLingerPiece), then([this](std::size_t bytes) {
                                  lingered_ += bytes;
                                  if (lingered_ < kMostLingerBytes) drop_bytes();
                                }));
}

}  // namespace

void begin_http(HttpSource& source, tcp::socket socket) {
  std::make_shared<HttpConnection>(source, std::move(socket))->begin();
}

}  // namespace eindb

#include "server/http/http_connection.hpp"

#include <openssl/ssl.h>
#include <poll.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/beast/core/detect_ssl.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/chunk_encode.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <chrono>
#include <sstream>

#include "common/check.hpp"
#include "common/letter_case.hpp"

namespace eindb {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::uint32_t kMostHeaderBytes = 8192;
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

std::string text_in_view(boost::string_view view) { return {view.data(), view.size()}; }

// One connection, which may send several requests in sequence. `Stream` is in clear text or of TLS.
template <class Stream>
class HttpConnection final : public std::enable_shared_from_this<HttpConnection<Stream>> {
 public:
  template <class... Arguments>
  explicit HttpConnection(HttpSource& source, Arguments&&... arguments)
      : source_(source), stream_(std::forward<Arguments>(arguments)...) {
    ++source_.connections;
  }
  ~HttpConnection() { --source_.connections; }
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  Stream& stream() { return stream_; }
  beast::flat_buffer& buffer() { return buffer_; }

  // A body is read for the service alone: another request with one is refused, or ends the connection.
  void read() {
    parser_.emplace();
    parser_->header_limit(kMostHeaderBytes);
    parser_->body_limit(kBodyBytesUnread);
    lowest().expires_after(kRequestTime);
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = this->shared_from_this()](const error_code& error, std::size_t /*bytes*/) {
                              if (!error) self->take_header();
                              else self->reject_unless_gone(error);
                            });
  }

 private:
  class Exchange;
  // Of a body that nobody reads: what is longer is refused before it comes.
  static constexpr std::size_t kBodyBytesUnread = std::size_t{1} << 20U;

  beast::tcp_stream& lowest() { return beast::get_lowest_layer(stream_); }

  void reject_unless_gone(const error_code& error) {
    if (error.category() != http::make_error_code(http::error::bad_method).category()) return;
    if (error == http::error::end_of_stream || error == http::error::partial_message) return;
    send(refusal(status_of(error)), false, false);
  }

  static std::string_view path_of(boost::string_view target) {
    const std::string_view text(target.data(), target.size());
    return text.substr(0, text.find('?'));
  }

  bool is_of_service(std::string_view path) const {
    return source_.extras.service != nullptr && source_.extras.service->has_path(path);
  }

  void take_header() {
    const auto& request = parser_->get();
    const auto path = path_of(request.target());
    if (!is_of_service(path)) return respond();
    const auto most = source_.extras.service->most_body_bytes(text_in_view(request.method_string()), path);
    const auto length = parser_->content_length();
    const bool too_long = length && *length > most;
    if (too_long || (parser_->chunked() && most == 0))
      return send(refusal(http::status::payload_too_large), false, false);
    if (parser_->is_done()) return serve();
    parser_->body_limit(most);
    http::async_read(stream_, buffer_, *parser_,
                     [self = this->shared_from_this()](const error_code& error, std::size_t /*bytes*/) {
                       if (!error) self->serve();
                       else self->reject_unless_gone(error);
                     });
  }

  void respond() {
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

  HttpAnswer page(std::string_view path) const {
    try {
      auto found = source_.pages(path);
      return found ? *std::move(found) : refusal(http::status::not_found);
    } catch (const std::exception&) {
      return refusal(http::status::internal_server_error);
    }
  }

  HttpRequest request_of();
  void serve();

  void send(HttpAnswer answer, bool keep, bool is_head) {
    lowest().expires_after(kRequestTime);
    const auto bytes = answer.body.size();
    http::response<http::string_body> response(static_cast<http::status>(answer.status), 11);
    response.set(http::field::content_type, answer.content_type);
    response.set(http::field::cache_control, "no-store");
    for (const auto& [name, value] : answer.headers) response.set(name, value);
    response.keep_alive(keep);
    response.content_length(bytes);
    if (!is_head) response.body() = std::move(answer.body);
    response_ = std::move(response);
    serializer_.emplace(*response_);
    const auto sent = [self = this->shared_from_this(), keep](const error_code& error, std::size_t /*bytes*/) {
      if (error) return;
      if (keep) self->read();
      else self->linger();
    };
    if (is_head) http::async_write_header(stream_, *serializer_, sent);
    else http::async_write(stream_, *serializer_, sent);
  }

  void linger() {
    error_code ignored;
    lowest().socket().shutdown(tcp::socket::shutdown_send, ignored);
    lowest().expires_after(kLingerTime);
    buffer_.clear();
    drop_bytes();
  }

  void drop_bytes() {
    lowest().async_read_some(buffer_.prepare(kLingerPiece),
                             [self = this->shared_from_this()](const error_code& error, std::size_t bytes) {
                               self->lingered_ += bytes;
                               if (!error && self->lingered_ < kMostLingerBytes) self->drop_bytes();
                             });
  }

  HttpSource& source_;
  Stream stream_;
  beast::flat_buffer buffer_{kMostHeaderBytes + (std::size_t{64} << 10U)};
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<http::response<http::string_body>> response_;
  std::optional<http::response_serializer<http::string_body>> serializer_;
  std::optional<http::response<http::empty_body>> head_;  // of an answer in pieces
  std::optional<http::response_serializer<http::empty_body>> head_serializer_;
  std::string piece_;
  std::size_t lingered_ = 0;
};

template <class Stream>
class HttpConnection<Stream>::Exchange final : public HttpExchange {
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
    auto& response = connection_->head_.emplace(static_cast<http::status>(head.status), 11);
    response.set(http::field::content_type, head.content_type);
    response.set(http::field::cache_control, "no-store");
    for (const auto& [name, value] : head.headers) response.set(name, value);
    keep_ = keep_ && in_chunks_;
    response.keep_alive(keep_);
    if (in_chunks_) response.chunked(true);
    std::ostringstream text;
    text << response.base();
    head_text_ = text.str();
  }

  void write(std::string piece, std::function<void(bool)> then) override {
    CHECK(!piece.empty(), "an empty piece would end the answer");
    put(in_chunks_ ? chunk(piece) : std::move(piece), std::move(then));
  }

  void end() override {
    put(in_chunks_ ? "0\r\n\r\n" : "", [connection = connection_, keep = keep_](bool well) {
      if (well && keep) connection->read();
      else if (well) connection->linger();
    });
  }

  // True as well if the client has sent its next request already, which it has no reason to.
  bool has_left() override {
    pollfd asked{.fd = connection_->lowest().socket().native_handle(), .events = POLLRDHUP, .revents = 0};
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
    connection.piece_ = std::exchange(head_text_, {}) + bytes;
    const auto limit = connection.source_.extras.send;
    if (limit == limit.zero()) connection.lowest().expires_never();
    else connection.lowest().expires_after(limit);
    asio::async_write(connection.stream_, asio::buffer(connection.piece_),
                      [self = connection_, next = std::move(then)](const error_code& error, std::size_t /*bytes*/) {
                        self->lowest().expires_never();  // until the next piece the client waits for the server
                        std::string().swap(self->piece_);
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

template <class Stream>
HttpRequest HttpConnection<Stream>::request_of() {
  auto& message = parser_->get();
  HttpRequest request{.method = text_in_view(message.method_string()),
                      .path = std::string(path_of(message.target())),
                      .body = std::move(message.body()),
                      .encrypted = !std::is_same_v<Stream, beast::tcp_stream>};
  for (const auto& field : message) {
    auto& value = request.headers[to_lower(text_in_view(field.name_string()))];
    if (!value.empty()) value += ", ";
    value += text_in_view(field.value());
  }
  error_code gone;
  const auto place = lowest().socket().remote_endpoint(gone);
  std::ostringstream text;
  text << place;
  request.place = text.str();
  request.peer = place.address();
  return request;
}

template <class Stream>
void HttpConnection<Stream>::serve() {
  lowest().expires_never();  // what waits for a thread, or for a wrong password, has limits of its own
  source_.extras.service->serve(std::make_shared<Exchange>(this->shared_from_this()));
}

using ClearConnection = HttpConnection<beast::tcp_stream>;
using TlsConnection = HttpConnection<beast::ssl_stream<beast::tcp_stream>>;

// Waits for the first bytes of a client, which tell whether it begins TLS.
class FirstBytes : public std::enable_shared_from_this<FirstBytes> {
 public:
  FirstBytes(HttpSource& source, tcp::socket socket)
      : source_(source), context_(shared_context(*source.extras.tls)), stream_(std::move(socket)) {
    ++source_.connections;
  }
  ~FirstBytes() { --source_.connections; }
  FirstBytes(const FirstBytes&) = delete;
  FirstBytes& operator=(const FirstBytes&) = delete;

  void wait() {
    stream_.expires_after(kRequestTime);
    beast::async_detect_ssl(stream_, buffer_, [self = shared_from_this()](const error_code& error, bool tls) {
      if (error) return;
      if (tls) self->greet();
      else self->go_on_in_clear_text();
    });
  }

 private:
  // Asio's context shares the server's.
  static asio::ssl::context shared_context(const TlsContext& tls) {
    ::SSL_CTX_up_ref(tls.handle());
    return asio::ssl::context(tls.handle());
  }

  void go_on_in_clear_text() {
    const auto connection = std::make_shared<ClearConnection>(source_, std::move(stream_));
    take_bytes(connection->buffer());
    connection->read();
  }

  void greet() {
    const auto connection = std::make_shared<TlsConnection>(source_, std::move(stream_), context_);
    auto& tls = connection->stream();
    beast::get_lowest_layer(tls).expires_after(kRequestTime);
    tls.async_handshake(asio::ssl::stream_base::server, buffer_.data(),
                        [self = shared_from_this(), connection](const error_code& error, std::size_t /*bytes*/) {
                          if (!error) connection->read();
                        });
  }

  void take_bytes(beast::flat_buffer& to) { to.commit(asio::buffer_copy(to.prepare(buffer_.size()), buffer_.data())); }

  HttpSource& source_;
  asio::ssl::context context_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_{kMostHeaderBytes};
};

}  // namespace

void begin_http(HttpSource& source, tcp::socket socket) {
  if (source.extras.tls == nullptr) std::make_shared<ClearConnection>(source, std::move(socket))->read();
  else std::make_shared<FirstBytes>(source, std::move(socket))->wait();
}

}  // namespace eindb

#include "server/monitoring/http_endpoint.hpp"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <chrono>
#include <thread>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::uint32_t kMostHeaderBytes = 8192;
constexpr int kMostConnections = 32;
// The time limit for a request and its answer together.
constexpr std::chrono::seconds kRequestTime{10};
// The limits for reading on after a refused request. If the connection were closed at once, the client would not see
// the answer.
constexpr std::chrono::seconds kLingerTime{1};
constexpr std::size_t kMostLingerBytes = std::size_t{64} << 10U;
// The delay before the next attempt if no connection can be accepted, for example for lack of descriptors.
constexpr std::chrono::milliseconds kPageAcceptPause{100};

HttpAnswer refusal(http::status status) {
  return {static_cast<unsigned>(status), kPlainText, std::string(http::obsolete_reason(status)) + "\n"};
}

http::status status_of(const error_code& error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow)
    return http::status::request_header_fields_too_large;
  if (error == http::error::body_limit) return http::status::payload_too_large;
  return http::status::bad_request;
}

}  // namespace

class HttpEndpoint::Impl {
 public:
  Impl(const HttpOptions& options, HttpPages pages);
  ~Impl() {
    io_.stop();
    thread_.join();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

 private:
  class Connection;

  void listen(const HttpOptions& options, const std::string& place);
  void run() noexcept;
  void accept();
  void accept_anew();
  HttpAnswer answer(std::string_view path) const;

  const HttpPages pages_;
  asio::io_context io_{1};
  // Keeps io_ running even if nothing is waited for, as after a handler that threw.
  const asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  int connections_ = 0;
  std::thread thread_;  // the only thread that runs io_
};

// One connection, which may send several requests in sequence.
class HttpEndpoint::Impl::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Impl& endpoint, tcp::socket socket) : endpoint_(endpoint), stream_(std::move(socket)) {
    CHECK(endpoint_.connections_ < kMostConnections, "few look at the server at a time");
    ++endpoint_.connections_;
  }
  ~Connection() { --endpoint_.connections_; }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Bodies are not read: a request with a body is refused, or ends the connection.
  void read() {
    parser_.emplace();
    parser_->header_limit(kMostHeaderBytes);
    stream_.expires_after(kRequestTime);
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = shared_from_this()](const error_code& error, std::size_t /*bytes*/) {
                              if (!error) self->respond();
                              else if (error.category() == http::make_error_code(http::error::bad_method).category())
                                self->reject(error);
                            });
  }

 private:
  using Request = http::request<http::empty_body>;

  void reject(const error_code& error) {
    if (error == http::error::end_of_stream || error == http::error::partial_message) return;
    send(refusal(status_of(error)), false, false);
  }

  void respond() {
    CHECK(parser_.has_value(), "what is answered was read");
    const Request& request = parser_->get();
    const bool keep = parser_->is_done() && request.keep_alive();
    const bool is_head = request.method() == http::verb::head;
    if (!is_head && request.method() != http::verb::get)
      return send(refusal(http::status::method_not_allowed), keep, false);
    const std::string_view target(request.target().data(), request.target().size());
    send(endpoint_.answer(target.substr(0, target.find('?'))), keep, is_head);
  }

  void send(HttpAnswer answer, bool keep, bool is_head) {
    const auto bytes = answer.body.size();
    http::response<http::string_body> response(static_cast<http::status>(answer.status), 11);
    response.set(http::field::content_type, answer.content_type);
    response.set(http::field::cache_control, "no-store");
    if (response.result() == http::status::method_not_allowed) response.set(http::field::allow, "GET, HEAD");
    response.keep_alive(keep);
    response.content_length(bytes);
    if (!is_head) response.body() = std::move(answer.body);
    response_ = std::move(response);
    serializer_.emplace(*response_);
    const auto sent = [self = shared_from_this(), keep](const error_code& error, std::size_t /*bytes*/) {
      if (error) return;
      if (keep) self->read();
      else self->linger();
    };
    if (is_head) http::async_write_header(stream_, *serializer_, sent);
    else http::async_write(stream_, *serializer_, sent);
  }

  void linger() {
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.expires_after(kLingerTime);
    drop_bytes();
  }

  void drop_bytes() {
    stream_.async_read_some(asio::buffer(dropped_),
                            [self = shared_from_this()](const error_code& error, std::size_t bytes) {
                              self->lingered_ += bytes;
                              if (!error && self->lingered_ < kMostLingerBytes) self->drop_bytes();
                            });
  }

  Impl& endpoint_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_{kMostHeaderBytes};
  std::optional<http::request_parser<http::empty_body>> parser_;
  std::optional<http::response<http::string_body>> response_;
  std::optional<http::response_serializer<http::string_body>> serializer_;
  std::array<char, 1024> dropped_{};
  std::size_t lingered_ = 0;
};

HttpEndpoint::Impl::Impl(const HttpOptions& options, HttpPages pages)
    : pages_(std::move(pages)), acceptor_(io_), pause_(io_) {
  CHECK(pages_ != nullptr, "somebody makes the pages");
  const auto place = options.address + ":" + std::to_string(options.port);
  try {
    listen(options, place);
  } catch (const boost::system::system_error& error) {
    throw Error(ErrorKind::Io, "cannot listen on " + place + ": " + error.code().message(), std::nullopt,
                "give another address with --http ADDRESS:PORT");
  }
  accept();
  thread_ = std::thread([this] { run(); });
}

void HttpEndpoint::Impl::listen(const HttpOptions& options, const std::string& place) {
  const tcp::endpoint endpoint(asio::ip::make_address(options.address), options.port);
  if (!endpoint.address().is_loopback() && !options.allow_remote)
    throw Error(ErrorKind::Value, "HTTP asks for no password, and " + place + " can be reached from other machines",
                std::nullopt, "listen on 127.0.0.1, or say --http-allow-remote where the network keeps strangers away");
  acceptor_.open(endpoint.protocol());
  acceptor_.set_option(tcp::acceptor::reuse_address(true));
  acceptor_.bind(endpoint);
  acceptor_.listen();
}

void HttpEndpoint::Impl::accept() {
  acceptor_.async_accept([this](const error_code& error, tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (error) {
      pause_.expires_after(kPageAcceptPause);
      pause_.async_wait([this](const error_code& aborted) {
        if (!aborted) accept();
      });
      return;
    }
    if (connections_ < kMostConnections) std::make_shared<Connection>(*this, std::move(socket))->read();
    accept();
  });
}

// After a failure for lack of memory the connection concerned is gone, and accepting starts again.
void HttpEndpoint::Impl::run() noexcept {
  for (bool is_well = true;;) {
    try {
      if (!std::exchange(is_well, true)) accept_anew();
      io_.run();
      return;
    } catch (const std::exception&) {
      is_well = false;
      std::this_thread::sleep_for(kPageAcceptPause);
    }
  }
}

void HttpEndpoint::Impl::accept_anew() {
  error_code ignored;
  pause_.cancel(ignored);
  acceptor_.cancel(ignored);
  accept();
}

HttpAnswer HttpEndpoint::Impl::answer(std::string_view path) const {
  try {
    auto page = pages_(path);
    return page ? *std::move(page) : refusal(http::status::not_found);
  } catch (const std::exception&) {
    return refusal(http::status::internal_server_error);
  }
}

HttpEndpoint::HttpEndpoint(const HttpOptions& options, HttpPages pages)
    : impl_(std::make_unique<Impl>(options, std::move(pages))) {}
HttpEndpoint::~HttpEndpoint() = default;
std::uint16_t HttpEndpoint::port() const { return impl_->port(); }

}  // namespace eindb

#include "server/http/http_endpoint.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <thread>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "server/http/http_connection.hpp"

namespace eindb {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr int kMostHttpConnections = 32;
// The delay before the next attempt if no connection can be accepted, for example for lack of descriptors.
constexpr std::chrono::milliseconds kPageAcceptPause{100};

}  // namespace

class HttpEndpoint::Impl {
 public:
  explicit Impl(const HttpOptions& options);
  ~Impl() { stop(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void serve(HttpPages pages, HttpExtras extras);
  void stop();
  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  asio::io_context& io() { return io_; }

 private:
  void listen(const HttpOptions& options, const std::string& place);
  void run() noexcept;
  void accept();
  void accept_anew();

  std::optional<HttpSource> source_;  // since serve(); connections that are left end with io_
  asio::io_context io_{1};
  // Keeps io_ running even if nothing is waited for, as after a handler that threw.
  const asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  std::thread thread_;  // the only thread that runs io_
};

HttpEndpoint::Impl::Impl(const HttpOptions& options) : acceptor_(io_), pause_(io_) {
  const auto place = options.address + ":" + std::to_string(options.port);
  try {
    listen(options, place);
  } catch (const boost::system::system_error& error) {
    throw Error(ErrorKind::Io, "cannot listen on " + place + ": " + error.code().message(), std::nullopt,
                "give another address with --http ADDRESS:PORT");
  }
}

void HttpEndpoint::Impl::serve(HttpPages pages, HttpExtras extras) {
  CHECK(!source_ && pages != nullptr, "an endpoint serves once, and somebody makes the pages");
  source_.emplace(std::move(pages), extras);
  accept();
  thread_ = std::thread([this] { run(); });
}

void HttpEndpoint::Impl::stop() {
  io_.stop();
  if (thread_.joinable()) thread_.join();
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
    if (source_->connections < kMostHttpConnections) begin_http(*source_, std::move(socket));
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

HttpEndpoint::HttpEndpoint(const HttpOptions& options) : impl_(std::make_unique<Impl>(options)) {}
HttpEndpoint::HttpEndpoint(const HttpOptions& options, HttpPages pages) : HttpEndpoint(options) {
  serve(std::move(pages));
}
HttpEndpoint::~HttpEndpoint() = default;
void HttpEndpoint::serve(HttpPages pages, HttpExtras extras) { impl_->serve(std::move(pages), extras); }
void HttpEndpoint::stop() { impl_->stop(); }
std::uint16_t HttpEndpoint::port() const { return impl_->port(); }
asio::io_context& HttpEndpoint::io() { return impl_->io(); }

}  // namespace eindb

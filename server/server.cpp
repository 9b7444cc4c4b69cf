#include "server/server.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <csignal>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "common/error.hpp"
#include "server/backend.hpp"
#include "server/worker_pool.hpp"

namespace eindb {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// What one client may bring before the others have their turn.
constexpr std::size_t kReadBytes = std::size_t{64} << 10U;
// Kept for the next answer; more is given back.
constexpr std::size_t kKeptBytes = 1024;
constexpr std::chrono::seconds kRefusalDelay{1};
constexpr int kWorkersPerCore = 4;
constexpr int kFewestWorkers = 16;

int worker_count(int wanted) {
  if (wanted > 0) return wanted;
  return std::max(kFewestWorkers, kWorkersPerCore * static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

class Server::Impl {
 public:
  explicit Impl(ServerOptions options);
  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  void run();
  void stop() noexcept {
    asio::post(io_, [this] { shut_down(); });
  }

 private:
  class Client;

  void accept();
  void forget(std::int32_t process) { clients_.erase(process); }
  void cancel(const CancelKey& key);
  void check_users(const std::string& place);
  void shut_down();

  ServerOptions options_;
  ClientSessions sessions_;
  asio::io_context io_{1};
  WorkerPool workers_;
  tcp::acceptor acceptor_;
  asio::signal_set signals_;
  std::map<std::int32_t, std::shared_ptr<Client>> clients_;  // by the process of their keys; of the thread of run()
  std::random_device random_;
  std::int32_t last_process_ = 0;
  std::array<char, kReadBytes> bytes_{};  // that were read last, of whatever client
};

// One connection. Its members belong to the thread of run(), but while a worker has the backend.
class Server::Impl::Client : public std::enable_shared_from_this<Client> {
 public:
  Client(Impl& server, tcp::socket socket, CancelKey key)
      : server_(server), socket_(std::move(socket)), timer_(server.io_), key_(key), backend_(server.sessions_, key) {}

  const CancelKey& key() const { return key_; }
  void cancel() noexcept { backend_.cancel(); }

  void read() {
    socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this()](const error_code& error) {
      if (error) self->close();
      else self->take_bytes();
    });
  }

  // Of a client whose statement runs the end comes with the answer.
  void leave() {
    leaving_ = true;
    if (running_) backend_.cancel();
    else close();
  }

 private:
  void take_bytes() {
    error_code error;
    const auto count = socket_.read_some(asio::buffer(server_.bytes_), error);
    if (error == asio::error::would_block) return read();
    if (error) return close();
    frames_.append({server_.bytes_.data(), count});
    work();
  }

  void work() {
    running_ = true;
    // The server goes on until the worker is back.
    server_.workers_.post([self = shared_from_this(), guard = asio::make_work_guard(server_.io_)] {
      const auto next = self->backend_.run(self->frames_, self->out_);
      asio::post(self->server_.io_, [self, next] {
        self->running_ = false;
        self->answer(next);
      });
    });
  }

  void answer(Backend::Next next) {
    if (leaving_) return close();
    if (const auto& key = backend_.cancel_requested()) server_.cancel(*key);
    if (out_.size() == 0) return go_on(next);
    if (next == Backend::Next::Refuse) return refuse();
    write(next);
  }

  void write(Backend::Next next) {
    asio::async_write(socket_, asio::buffer(out_.buffer()),
                      [self = shared_from_this(), next](const error_code& error, std::size_t /*bytes*/) {
                        if (error) return self->close();
                        auto& written = self->out_.buffer();
                        written.clear();
                        if (written.capacity() > kKeptBytes && next != Backend::Next::Output)
                          std::string().swap(written);
                        self->go_on(next);
                      });
  }

  void go_on(Backend::Next next) {
    if (leaving_ || next == Backend::Next::Close) return close();
    if (next == Backend::Next::Output) work();
    else read();
  }

  // Who tries passwords tries one a second on each connection.
  void refuse() {
    timer_.expires_after(kRefusalDelay);
    timer_.async_wait([self = shared_from_this()](const error_code&) { self->write(Backend::Next::Close); });
  }

  void close() {
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_both, ignored);
    socket_.close(ignored);
    server_.forget(key_.process);
  }

  Impl& server_;
  tcp::socket socket_;
  asio::steady_timer timer_;
  const CancelKey key_;
  FrameReader frames_;
  MessageWriter out_;
  Backend backend_;
  bool running_ = false;
  bool leaving_ = false;
};

Server::Impl::Impl(ServerOptions options)
    : options_(std::move(options)),
      sessions_{{options_.database, options_.session, static_cast<std::size_t>(worker_count(options_.workers))},
                {options_.database, {.read_only = true}, static_cast<std::size_t>(worker_count(options_.workers))},
                false},
      workers_(static_cast<std::size_t>(worker_count(options_.workers))),
      acceptor_(io_),
      signals_(io_, SIGTERM, SIGINT) {
  const auto place = options_.address + ":" + std::to_string(options_.port);
  try {
    const tcp::endpoint endpoint(asio::ip::make_address(options_.address), options_.port);
    sessions_.trusts = endpoint.address().is_loopback();
    check_users(place);
    acceptor_.open(endpoint.protocol());
    acceptor_.set_option(tcp::acceptor::reuse_address(true));
    acceptor_.bind(endpoint);
    acceptor_.listen();
  } catch (const boost::system::system_error& error) {
    throw Error(ErrorKind::Io, "cannot listen on " + place + ": " + error.code().message(), std::nullopt,
                "give another address with --listen ADDRESS:PORT");
  }
}

// A database that cannot be opened, or would be open to everybody, fails now rather than for the first client.
void Server::Impl::check_users(const std::string& place) {
  auto session = sessions_.read_write.take();
  if (!sessions_.trusts && !session->session.has_users()) {
    throw Error(ErrorKind::Value, "the database has no users, and " + place + " can be reached from other machines",
                std::nullopt, "CREATE USER name PASSWORD '...' first, or listen on 127.0.0.1");
  }
  sessions_.read_write.give_back(std::move(session));
}

void Server::Impl::run() {
  signals_.async_wait([this](const error_code& error, int /*signal*/) {
    if (!error) shut_down();
  });
  accept();
  io_.run();
  workers_.join();
}

void Server::Impl::accept() {
  acceptor_.async_accept([this](const error_code& error, tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (!error) {
      error_code ignored;
      socket.non_blocking(true, ignored);
      socket.set_option(tcp::no_delay(true), ignored);
      const CancelKey key{++last_process_, static_cast<std::int32_t>(random_())};
      auto client = std::make_shared<Client>(*this, std::move(socket), key);
      clients_.emplace(key.process, client);
      client->read();
    }
    accept();
  });
}

void Server::Impl::cancel(const CancelKey& key) {
  const auto found = clients_.find(key.process);
  if (found != clients_.end() && found->second->key() == key) found->second->cancel();
}

void Server::Impl::shut_down() {
  error_code ignored;
  acceptor_.close(ignored);
  signals_.cancel(ignored);
  const auto clients = clients_;  // those that leave are forgotten
  for (const auto& [process, client] : clients) client->leave();
}

Server::Server(ServerOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Server::~Server() = default;
std::uint16_t Server::port() const { return impl_->port(); }
void Server::run() { impl_->run(); }
void Server::stop() noexcept { impl_->stop(); }

}  // namespace eindb

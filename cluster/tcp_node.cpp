#include "cluster/tcp_node.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "cluster/address.hpp"
#include "cluster/cancellation_poll.hpp"
#include "cluster/data_pool.hpp"
#include "cluster/handshake_task.hpp"
#include "cluster/local_socket.hpp"
#include "cluster/promise.hpp"
#include "cluster/tcp_channel.hpp"
#include "cluster/tcp_exchange.hpp"
#include "common/cancellation.hpp"
#include "common/check.hpp"
#include "security/openssl.hpp"

namespace eindb {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using LocalProtocol = asio::local::stream_protocol;
using boost::system::error_code;
using Endpoints = std::vector<tcp::endpoint>;

// The limit for connections that are not authenticated yet; beyond it the oldest is closed.
constexpr std::size_t kMostHalfOpen = 256;
// The pause in accepting connections for lack of descriptors or memory.
constexpr std::chrono::milliseconds kAcceptPause{100};
// The time limit for binding a kept connection; after that, a new one is made.
constexpr std::chrono::milliseconds kBindKept{2000};
// The interval of keep-alive probes, which detect that a peer's machine has vanished while nothing is sent to it.
constexpr int kKeepAliveSeconds = 10;
constexpr int kKeepAliveProbes = 3;
// The same limit for sent data that is not acknowledged.
constexpr unsigned kMostUnacknowledgedMs = 1000U * kKeepAliveSeconds * (1 + kKeepAliveProbes);

FileDescriptor take_socket(tcp::socket socket) {
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  const int number = socket.native_handle();
  ::setsockopt(number, IPPROTO_TCP, TCP_KEEPIDLE, &kKeepAliveSeconds, sizeof kKeepAliveSeconds);
  ::setsockopt(number, IPPROTO_TCP, TCP_KEEPINTVL, &kKeepAliveSeconds, sizeof kKeepAliveSeconds);
  ::setsockopt(number, IPPROTO_TCP, TCP_KEEPCNT, &kKeepAliveProbes, sizeof kKeepAliveProbes);
  ::setsockopt(number, IPPROTO_TCP, TCP_USER_TIMEOUT, &kMostUnacknowledgedMs, sizeof kMostUnacknowledgedMs);
  return FileDescriptor(socket.release());
}

}  // namespace

/// Members without a note belong to the node's thread.
class TcpNode::Impl : public DataConnections, public std::enable_shared_from_this<TcpNode::Impl> {
 public:
  explicit Impl(TcpNodeOptions options);
  void start();
  void stop();
  std::uint16_t port() const { return port_; }

  // Thread-safe:
  std::unique_ptr<Channel> connect(const std::string& address);
  std::unique_ptr<Exchange> open_exchange(const StatementRanks& ranks);
  std::vector<std::optional<Error>> probe(const std::vector<std::string>& addresses);
  std::size_t idle_connections();
  void keep_alive(TcpExchange& exchange) override;
  void forget(TcpExchange& exchange) noexcept override;
  void give_back(std::unique_ptr<Connection> connection, const StatementRanks& ranks, Rank peer) override;
  void say_farewell(std::unique_ptr<Connection> connection) override;
  void log(std::string_view line) override { options_.log(line); }

 private:
  using Connected = std::function<void(std::unique_ptr<Connection>)>;
  using Failed = std::function<void(const Error&)>;

  Endpoints allowed_endpoints(const std::string& address, const char* what) const;
  void listen(const std::string& address);
  void accept();
  void accept_on_host();
  void pause_accepting();
  bool uses_local_sockets() const { return options_.local_sockets && !options_.tls; }
  void welcome(FileDescriptor socket, const std::string& from);
  void admit(std::unique_ptr<Connection> connection, const Introduction& peer);
  std::unique_ptr<Channel> make_channel(std::unique_ptr<Connection> connection);

  void connect_to(const std::string& address, const Endpoints& endpoints, ConnectionPurpose purpose, Connected done,
                  Failed failed);
  void introduce(FileDescriptor socket, const std::string& address, ConnectionPurpose purpose, Connected done,
                 Failed failed);
  void bind(const std::string& address, const Endpoints& endpoints, const DataBinding& binding,
            const std::shared_ptr<StatementConnections>& connections);
  void bind_new(const std::string& address, const Endpoints& endpoints, const DataBinding& binding,
                const std::shared_ptr<StatementConnections>& connections);
  void ask_to_bind(std::unique_ptr<Connection> connection, const DataBinding& binding, std::chrono::milliseconds time,
                   const std::shared_ptr<StatementConnections>& connections, Failed failed);
  void begin_probe(const std::string& address, const Endpoints& endpoints, ProbeTask::Done done);
  void give_signs_of_life();
  void run() noexcept;
  void begin_anew();
  void end_connections();
  void shut_down();

  const TcpNodeOptions options_;          // constant
  std::optional<TlsContext> server_tls_;  // constant
  std::optional<TlsContext> client_tls_;  // constant
  NodeTasks tasks_;
  std::uint16_t port_ = 0;  // constant after the start
  asio::executor_work_guard<asio::io_context::executor_type> work_{tasks_.io.get_executor()};
  tcp::acceptor acceptor_{tasks_.io};
  LocalProtocol::acceptor local_acceptor_{tasks_.io};  // open if and only if nodes of this host can connect so
  asio::steady_timer accept_timer_{tasks_.io};
  asio::steady_timer signs_timer_{tasks_.io};
  std::deque<std::weak_ptr<HandshakeTask>> half_open_;
  std::vector<std::weak_ptr<tcp::socket>> connecting_;
  DataPool pool_{tasks_};
  bool is_stopping_ = false;
  std::mutex exchanges_mutex_;        // guards exchanges_
  std::set<TcpExchange*> exchanges_;  // exchanges that send signs of life
  std::thread thread_;
};

TcpNode::Impl::Impl(TcpNodeOptions options) : options_(std::move(options)) {
  openssl();  // initialised before the first handshake
  tasks_.log = options_.log;
  tasks_.messages = options_.messages ? options_.messages : std::make_shared<MessageMemory>();
  if (options_.tls) {
    server_tls_.emplace(*options_.tls, TlsSide::Server);
    client_tls_.emplace(*options_.tls, TlsSide::Client);
  }
  if (options_.listen) listen(*options_.listen);
}

void TcpNode::Impl::start() {
  CHECK(!thread_.joinable(), "a node starts once");
  if (acceptor_.is_open()) accept();
  if (local_acceptor_.is_open()) accept_on_host();
  give_signs_of_life();
  thread_ = std::thread([this] { run(); });
}

// After a failure for lack of memory it is unknown which waits are lost. All connections are closed, and peers connect
// again.
void TcpNode::Impl::run() noexcept {
  for (bool is_well = true;;) {
    try {
      if (!std::exchange(is_well, true)) begin_anew();
      tasks_.io.run();
      return;
    } catch (const std::exception&) {
      is_well = false;
      std::this_thread::sleep_for(kAcceptPause);
    }
  }
}

void TcpNode::Impl::begin_anew() {
  error_code ignored;
  end_connections();
  if (is_stopping_) return;
  give_signs_of_life();
  if (!acceptor_.is_open()) return;
  acceptor_.cancel(ignored);
  accept_timer_.cancel();
  accept();
  local_acceptor_.cancel(ignored);
  if (local_acceptor_.is_open()) accept_on_host();
}

void TcpNode::Impl::end_connections() {
  error_code ignored;
  for (const auto& connecting : connecting_)
    if (const auto socket = connecting.lock()) socket->close(ignored);
  while (!tasks_.alive.empty()) (*tasks_.alive.begin())->shut_down();
}

void TcpNode::Impl::stop() {
  asio::post(tasks_.io, [this] { shut_down(); });
  thread_.join();
}

void TcpNode::Impl::shut_down() {
  is_stopping_ = true;
  error_code ignored;
  acceptor_.close(ignored);
  local_acceptor_.close(ignored);
  accept_timer_.cancel();
  signs_timer_.cancel();
  end_connections();
  work_.reset();
}

/// An address that other machines can reach needs a way to authenticate nodes.
Endpoints TcpNode::Impl::allowed_endpoints(const std::string& address, const char* what) const {
  auto endpoints = resolve_address(address);
  const bool has_authority = options_.tls && !options_.tls->authority.empty();
  if (options_.secret.is_given() || has_authority || is_loopback(endpoints)) return endpoints;
  throw Error(
      ErrorKind::Permission,
      std::string("without a secret a node does not ") + what + " '" + address + "', beyond this machine", std::nullopt,
      "give all nodes the same --secret-file FILE, or certificates, as with --tls-cert FILE, --tls-key FILE and "
      "--tls-ca FILE");
}

// ---- Nodes that connect to this one --------------------------------------------------------------------------------

void TcpNode::Impl::listen(const std::string& address) {
  const auto endpoint = allowed_endpoints(address, "listen on").front();
  error_code error;
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error) throw Error(ErrorKind::Io, "cannot listen on '" + address + "': " + error.message());
  port_ = acceptor_.local_endpoint().port();
  if (!uses_local_sockets()) return;
  if (auto socket = listen_on_host(acceptor_.local_endpoint()))
    local_acceptor_.assign(LocalProtocol(), socket.release(), error);
}

void TcpNode::Impl::accept() {
  acceptor_.async_accept([this](const error_code& error, tcp::socket socket) {
    if (is_stopping_ || error == asio::error::operation_aborted) return;
    if (error && error != asio::error::connection_aborted) return pause_accepting();
    error_code ended;
    const auto place = socket.remote_endpoint(ended);
    if (!error && !ended) welcome(take_socket(std::move(socket)), text_of(place));
    accept();
  });
}

void TcpNode::Impl::accept_on_host() {
  local_acceptor_.async_accept([this](const error_code& error, LocalProtocol::socket socket) {
    if (is_stopping_ || error == asio::error::operation_aborted) return;
    if (error && error != asio::error::connection_aborted) return pause_accepting();
    if (!error && is_of_same_user(socket.native_handle())) welcome(FileDescriptor(socket.release()), "this host");
    accept_on_host();
  });
}

void TcpNode::Impl::pause_accepting() {
  accept_timer_.expires_after(kAcceptPause);
  accept_timer_.async_wait([this](const error_code& error) {
    if (error || is_stopping_) return;
    error_code ignored;
    acceptor_.cancel(ignored);
    accept();
    local_acceptor_.cancel(ignored);
    if (local_acceptor_.is_open()) accept_on_host();
  });
}

void TcpNode::Impl::welcome(FileDescriptor socket, const std::string& from) {
  std::erase_if(half_open_, [](const auto& task) { return task.expired(); });
  if (half_open_.size() >= kMostHalfOpen) {
    if (const auto oldest = half_open_.front().lock()) oldest->shut_down();
    half_open_.pop_front();
  }
  half_open_.push_back(start_task<HandshakeTask>(
      tasks_, std::make_unique<Connection>(std::move(socket), from), Handshake::Side::Accepts,
      NodeCredentials{options_.secret, server_tls_ ? &*server_tls_ : nullptr}, Introduction{.node = options_.name},
      options_.handshake_time,
      [this](std::unique_ptr<Connection> connection, const Introduction& peer) { admit(std::move(connection), peer); },
      [this, from](const Error& e) { log("connection from " + from + " refused: " + e.message()); }));
  CHECK(half_open_.size() <= kMostHalfOpen, "few connections are half open at a time");
}

void TcpNode::Impl::admit(std::unique_ptr<Connection> connection, const Introduction& peer) {
  connection->rename_peer(peer.node + " (" + connection->peer() + ")");
  if (peer.purpose == ConnectionPurpose::Data) return pool_.put_foreign(std::move(connection), std::nullopt);
  if (!options_.on_channel) return log("connection from " + connection->peer() + " closed: no channels here");
  options_.on_channel(make_channel(std::move(connection)), peer.node);
}

std::unique_ptr<Channel> TcpNode::Impl::make_channel(std::unique_ptr<Connection> connection) {
  const auto peer = connection->peer();
  return std::make_unique<TcpChannel>(start_task<ChannelTask>(tasks_, std::move(connection)), peer);
}

// ---- Nodes that this one connects to -------------------------------------------------------------------------------

void TcpNode::Impl::connect_to(const std::string& address, const Endpoints& endpoints, ConnectionPurpose purpose,
                               Connected done, Failed failed) {
  if (is_stopping_) return failed(Error(ErrorKind::WorkerLost, "this node ends"));
  if (purpose == ConnectionPurpose::Data && uses_local_sockets())
    for (const auto& endpoint : endpoints)
      if (auto local = connect_on_host(endpoint))
        return introduce(std::move(local), address, purpose, std::move(done), std::move(failed));
  const auto socket = std::make_shared<tcp::socket>(tasks_.io);
  std::erase_if(connecting_, [](const auto& other) { return other.expired(); });
  connecting_.push_back(socket);
  const auto timer = std::make_shared<asio::steady_timer>(tasks_.io, options_.handshake_time);
  timer->async_wait([socket](const error_code& error) {
    error_code ignored;
    if (!error) socket->close(ignored);
  });
  asio::async_connect(
      *socket, endpoints,
      [=, this, done = std::move(done), failed = std::move(failed)](const error_code& error, const auto&) {
        timer->cancel();
        if (is_stopping_) return failed(Error(ErrorKind::WorkerLost, "this node ends"));
        if (!error) return introduce(take_socket(std::move(*socket)), address, purpose, done, failed);
        const bool late = error == asio::error::operation_aborted;
        failed(Error(ErrorKind::WorkerLost,
                     "cannot connect to '" + address + "': " + (late ? "no answer" : error.message())));
      });
}

void TcpNode::Impl::introduce(FileDescriptor socket, const std::string& address, ConnectionPurpose purpose,
                              Connected done, Failed failed) {
  start_task<HandshakeTask>(
      tasks_, std::make_unique<Connection>(std::move(socket), address), Handshake::Side::Connects,
      NodeCredentials{options_.secret, client_tls_ ? &*client_tls_ : nullptr},
      Introduction{.purpose = purpose, .node = options_.name}, options_.handshake_time,
      [done = std::move(done)](std::unique_ptr<Connection> connection, const Introduction&) {
        done(std::move(connection));
      },
      [this, address, failed = std::move(failed)](const Error& error) {
        log("connection to " + address + " failed: " + error.message());
        failed(Error(error.kind(), "'" + address + "': " + error.message(), std::nullopt, error.hint()));
      });
}

std::unique_ptr<Channel> TcpNode::Impl::connect(const std::string& address) {
  const auto endpoints = allowed_endpoints(address, "connect to");
  auto result = std::make_shared<Promise<std::unique_ptr<Channel>>>();
  auto channel = result->future();
  asio::post(tasks_.io, [=, this, result = std::move(result)] {
    connect_to(
        address, endpoints, ConnectionPurpose::Control,
        [=, this](std::unique_ptr<Connection> connection) { result->set_value(make_channel(std::move(connection))); },
        [=](const Error& error) { result->set_error(std::make_exception_ptr(error)); });
  });
  const auto end = std::chrono::steady_clock::now() + options_.connect_time;
  while (!channel.wait_for(kCancellationPoll)) {
    poll_cancellation();
    if (std::chrono::steady_clock::now() >= end)
      throw Error(ErrorKind::WorkerLost, "cannot connect to '" + address + "': no answer");
  }
  return channel.get();
}

// ---- Statements ----------------------------------------------------------------------------------------------------

std::unique_ptr<Exchange> TcpNode::Impl::open_exchange(const StatementRanks& ranks) {
  CHECK(ranks.rank < ranks.addresses.size(), "a node is one of the statement's ranks");
  const auto connections = std::make_shared<StatementConnections>(ranks.addresses.size(), ranks.rank);
  std::vector<Endpoints> lower;
  for (Rank peer = 0; peer < ranks.rank; ++peer)
    lower.push_back(allowed_endpoints(ranks.addresses[peer], "connect to"));
  asio::post(tasks_.io, [this, ranks, connections, lower] {
    pool_.expect(ranks.statement, ranks.rank, connections);
    for (Rank peer = 0; peer < ranks.rank; ++peer)
      bind(ranks.addresses[peer], lower[peer], {.statement = ranks.statement, .from = ranks.rank, .to = peer},
           connections);
  });
  std::exception_ptr failure;
  try {
    connections->wait(options_.connect_time, ranks.addresses);
  } catch (...) {
    failure = std::current_exception();
  }
  asio::post(tasks_.io, [this, ranks, failed = failure != nullptr] {
    pool_.forget(ranks.statement, ranks.rank);
    if (failed) pool_.refuse(ranks.statement, ranks.rank);
  });
  auto exchange = std::make_unique<TcpExchange>(ranks, connections->take(), weak_from_this(), options_.data_silence);
  if (!failure) return exchange;
  exchange->abort(failure);  // tells the ranks that have connected
  std::rethrow_exception(failure);
}

void TcpNode::Impl::bind(const std::string& address, const Endpoints& endpoints, const DataBinding& binding,
                         const std::shared_ptr<StatementConnections>& connections) {
  auto kept = pool_.take_own(address);
  if (kept == nullptr) return bind_new(address, endpoints, binding, connections);
  // The other node may have been restarted in between.
  ask_to_bind(std::move(kept), binding, std::min(kBindKept, options_.handshake_time), connections,
              [=, this](const Error&) { bind_new(address, endpoints, binding, connections); });
}

void TcpNode::Impl::bind_new(const std::string& address, const Endpoints& endpoints, const DataBinding& binding,
                             const std::shared_ptr<StatementConnections>& connections) {
  const Failed failed = [=](const Error& error) { connections->fail(PeerLost({binding.to}, error)); };
  connect_to(
      address, endpoints, ConnectionPurpose::Data,
      [=, this](std::unique_ptr<Connection> connection) {
        ask_to_bind(std::move(connection), binding, options_.handshake_time, connections, failed);
      },
      failed);
}

void TcpNode::Impl::ask_to_bind(std::unique_ptr<Connection> connection, const DataBinding& binding,
                                std::chrono::milliseconds time,
                                const std::shared_ptr<StatementConnections>& connections, Failed failed) {
  start_task<BindTask>(
      tasks_, std::move(connection), binding, time,
      [=](std::unique_ptr<Connection> bound) { connections->arrive(binding.to, std::move(bound)); }, std::move(failed));
}

void TcpNode::Impl::give_back(std::unique_ptr<Connection> connection, const StatementRanks& ranks, Rank peer) {
  CHECK(peer != ranks.rank && peer < ranks.addresses.size(), "a connection is between two ranks");
  const auto own = peer < ranks.rank ? std::optional(ranks.addresses[peer]) : std::nullopt;
  asio::post(tasks_.io, [this, own, statement = ranks.statement, kept = std::move(connection)]() mutable {
    if (is_stopping_) return;
    if (own) pool_.put_own(std::move(kept), *own, statement);
    else pool_.put_foreign(std::move(kept), statement);
  });
}

void TcpNode::Impl::say_farewell(std::unique_ptr<Connection> connection) {
  asio::post(tasks_.io, [this, leaving = std::move(connection)]() mutable {
    if (!is_stopping_) start_task<FarewellTask>(tasks_, std::move(leaving));
  });
}

// ---- Whether there is a way ----------------------------------------------------------------------------------------

// For exchanges that compute and run no operation.
void TcpNode::Impl::give_signs_of_life() {
  {
    const std::lock_guard lock(exchanges_mutex_);
    for (auto* exchange : exchanges_) exchange->give_signs_of_life();
  }
  signs_timer_.expires_after(kSignOfLife);
  signs_timer_.async_wait([this](const error_code& error) {
    if (!error && !is_stopping_) give_signs_of_life();
  });
}

void TcpNode::Impl::keep_alive(TcpExchange& exchange) {
  const std::lock_guard lock(exchanges_mutex_);
  const bool is_new = exchanges_.insert(&exchange).second;
  CHECK(is_new, "an exchange is kept alive once");
}

void TcpNode::Impl::forget(TcpExchange& exchange) noexcept {
  const std::lock_guard lock(exchanges_mutex_);
  exchanges_.erase(&exchange);
}

void TcpNode::Impl::begin_probe(const std::string& address, const Endpoints& endpoints, ProbeTask::Done done) {
  connect_to(
      address, endpoints, ConnectionPurpose::Data,
      [=, this](std::unique_ptr<Connection> connection) {
        start_task<ProbeTask>(tasks_, std::move(connection), options_.handshake_time, done);
      },
      [=](const Error& error) { done(error); });
}

// Probes all addresses concurrently.
std::vector<std::optional<Error>> TcpNode::Impl::probe(const std::vector<std::string>& addresses) {
  using Outcome = std::optional<Error>;
  std::vector<Promise<Outcome>::Future> outcomes;
  for (const auto& address : addresses) {
    const auto outcome = std::make_shared<Promise<Outcome>>();
    outcomes.push_back(outcome->future());
    try {
      const auto endpoints = allowed_endpoints(address, "connect to");
      asio::post(tasks_.io, [=, this] {
        begin_probe(address, endpoints, [=](const Outcome& error) { outcome->set_value(error); });
      });
    } catch (const Error& error) {
      outcome->set_value(error);
    }
  }
  // The time to connect, to authenticate, and to be answered.
  const auto end = std::chrono::steady_clock::now() + 3 * options_.handshake_time + kBindKept;
  std::vector<Outcome> out;
  for (auto& outcome : outcomes) {
    while (!outcome.wait_for(kCancellationPoll) && std::chrono::steady_clock::now() < end) poll_cancellation();
    const bool is_known = outcome.wait_for(std::chrono::milliseconds(0));
    out.push_back(is_known ? outcome.get() : Error(ErrorKind::WorkerLost, "no answer"));
  }
  CHECK(out.size() == addresses.size(), "something is known of every address");
  return out;
}

std::size_t TcpNode::Impl::idle_connections() {
  const auto count = std::make_shared<Promise<std::size_t>>();
  auto counted = count->future();
  asio::post(tasks_.io, [this, count] { count->set_value(pool_.idle_count()); });
  while (!counted.wait_for(kCancellationPoll)) {
  }
  return counted.get();
}

// ---- TcpNode -------------------------------------------------------------------------------------------------------

TcpNode::TcpNode(TcpNodeOptions options) : impl_(std::make_shared<Impl>(std::move(options))) { impl_->start(); }
TcpNode::~TcpNode() { impl_->stop(); }
std::uint16_t TcpNode::port() const { return impl_->port(); }
std::unique_ptr<Channel> TcpNode::connect(const std::string& address) { return impl_->connect(address); }
std::unique_ptr<Exchange> TcpNode::open_exchange(const StatementRanks& ranks) { return impl_->open_exchange(ranks); }
std::vector<std::optional<Error>> TcpNode::probe(const std::vector<std::string>& addresses) {
  return impl_->probe(addresses);
}
std::size_t TcpNode::idle_connections() { return impl_->idle_connections(); }

}  // namespace eindb

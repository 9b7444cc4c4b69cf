#include "server/server.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <new>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "common/check.hpp"
#include "common/coded_error.hpp"
#include "common/error.hpp"
#include "common/memory_wait.hpp"
#include "common/open_databases.hpp"
#include "security/digest.hpp"
#include "server/client_connection.hpp"
#include "server/console_service.hpp"
#include "server/login/counted_address.hpp"
#include "server/login/error_response.hpp"
#include "server/login/half_open_counts.hpp"
#include "server/monitoring/client_monitor.hpp"
#include "server/monitoring/service_manager.hpp"
#include "server/operation_pages.hpp"

namespace eindb {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// The limit for connections without a session is that of sessions, but at least this.
constexpr std::size_t kFewestHalfOpen = 1000;
// The pause in accepting connections for lack of descriptors or memory.
constexpr std::chrono::milliseconds kAcceptPause{100};
// The interval at which clients' deadlines are checked.
constexpr std::chrono::milliseconds kSweepEvery{200};
constexpr int kWorkersPerCore = 4;
constexpr int kFewestWorkers = 16;
// The pause after a failure for lack of memory.
constexpr std::chrono::milliseconds kMemoryPause{10};
constexpr std::string_view kKillMessage = "the connection ends: somebody has killed it";

std::size_t worker_count(int wanted) {
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  return static_cast<std::size_t>(wanted > 0 ? wanted : std::max(kFewestWorkers, kWorkersPerCore * cores));
}

std::int32_t random_secret() {
  std::int32_t secret = 0;
  std::memcpy(&secret, random_bytes(sizeof secret).data(), sizeof secret);
  return secret;
}

std::string fatal_message(std::string_view sqlstate, std::string_view message) {
  MessageWriter out;
  write_fatal(out, sqlstate, message, "try again when the machine has memory");
  return std::exchange(out.buffer(), {});
}

std::string endpoint_text(const tcp::endpoint& endpoint) {
  std::ostringstream text;
  text << endpoint;
  return text.str();
}

// A connection is a descriptor, and so are the files of a session: takes as many as the system allows.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// Users who may only read have a timeout even if others have none.
std::chrono::milliseconds read_only_timeout(const ServerOptions& options) {
  constexpr std::chrono::minutes kReadOnlyTimeout{5};
  if (options.read_only_statement_timeout) return *options.read_only_statement_timeout;
  return options.statement_timeout > options.statement_timeout.zero() ? options.statement_timeout : kReadOnlyTimeout;
}

}  // namespace

class Server::Impl final : private ConnectionOwner {
 public:
  explicit Impl(ServerOptions options);
  ~Impl() override { end_workers(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  std::uint16_t http_port() const { return http_ ? http_->port() : std::uint16_t{0}; }
  void run();
  void stop() noexcept {
    post_surely(io_, [this] { shut_down(); });
  }

 private:
  using Clock = ClientConnection::Clock;

  SessionOptions session_options(bool read_only) const;
  void use_tls();
  void accept();
  void pause_accepting();
  void welcome(tcp::socket& socket);
  bool drop_silent(const std::string* address = nullptr);
  void forget(std::int32_t process) override;
  void note_session(const std::string& address) override { half_open_.remove(address); }
  void cancel(const CancelKey& key, const std::string& address) override;
  bool is_stopping() const override { return stopping_; }
  void stop_client(const ClientRegistry::StopRequest& request);
  void watch();
  void tell_of_start();
  void check_users(const std::string& place);
  void run_io();
  void end_workers();
  void begin_waits();
  void await_signal();
  void shut_down();
  void hurry();
  void end_if_alone();
  void sweep();
  template <class F>
  void for_each_client(F&& f);
  CancelKey next_key() { return {++last_process_, random_secret()}; }
  bool is_alone() const { return clients_.empty() && (!console_ || !console_->is_busy()); }

  const std::string out_of_memory_ = fatal_message(kOutOfMemory, kOutOfMemoryMessage);
  ServerOptions options_;
  ServerMonitor monitor_;
  SharedResources resources_;
  ClientSessions sessions_;
  std::optional<TlsContext> tls_;
  asio::io_context io_{1};
  tcp::acceptor acceptor_;
  asio::signal_set signals_;
  asio::steady_timer accept_timer_;
  asio::steady_timer sweep_timer_;
  // Used by the thread of run():
  std::array<char, ClientConnection::kReadBytes> bytes_{};  // buffer for reading, used for one client at a time
  const ConnectionResources shared_{io_, monitor_, sessions_, resources_.workers(), tls_, bytes_, out_of_memory_};
  // By the process number of their keys, which is in order of age.
  std::map<std::int32_t, std::shared_ptr<ClientConnection>> clients_;
  HalfOpenCounts half_open_;
  std::atomic<std::int32_t> last_process_{0};  // of the console's clients as well
  // Used by the thread of http_, which ends before them:
  std::optional<OperationPages> pages_;
  std::optional<HttpEndpoint> http_;
  std::optional<ConsoleService> console_;
  bool stopping_ = false;
  bool hurrying_ = false;
  Clock::time_point grace_end_ = Clock::time_point::max();
};

Server::Impl::Impl(ServerOptions options)
    : options_(std::move(options)),
      monitor_(options_.log),
      resources_(options_.resources, options_.database, worker_count(options_.workers), options_.read_only),
      sessions_{.read_write = {options_.database, session_options(false), worker_count(options_.workers)},
                .read_only = {options_.database, session_options(true), worker_count(options_.workers)},
                .transfers = TransferDirectory(options_.database),
                .limits = options_.limits,
                .held_for_clients = std::make_shared<SharedBytes>(resources_.bytes_for_clients()),
                .seats = SessionSeats(options_.max_connections)},
      acceptor_(io_),
      signals_(io_, SIGTERM, SIGINT),
      accept_timer_(io_),
      sweep_timer_(io_),
      half_open_(std::max(kFewestHalfOpen, options_.max_connections)) {
  const auto place = options_.address + ":" + std::to_string(options_.port);
  raise_descriptor_limit();
  use_tls();
  try {
    const tcp::endpoint endpoint(asio::ip::make_address(options_.address), options_.port);
    sessions_.rules.trusts = endpoint.address().is_loopback();
    check_users(place);
    acceptor_.open(endpoint.protocol());
    acceptor_.set_option(tcp::acceptor::reuse_address(true));
    acceptor_.bind(endpoint);
    acceptor_.listen();
  } catch (const boost::system::system_error& error) {
    throw Error(ErrorKind::Io, "cannot listen on " + place + ": " + error.code().message(), std::nullopt,
                "give another address with --listen ADDRESS:PORT");
  }
  watch();
}

void Server::Impl::use_tls() {
  if (!options_.tls) return;
  tls_.emplace(*options_.tls);
  auto& rules = sessions_.rules;
  rules.offers_tls = true;
  // Certificates of clients require TLS.
  rules.requires_tls = options_.requires_tls || !options_.tls->authority.empty();
  rules.certificate_hash = tls_->certificate_hash();
}

// Fails now, rather than for the first client, if the database cannot be opened or would be open to everybody.
void Server::Impl::check_users(const std::string& place) {
  auto session = sessions_.read_write.take();
  if (const auto& log = options_.log.file; !log.empty())
    refuse_open_database(AT_FDCWD, log, "cannot write the log to " + log);
  if (!sessions_.rules.trusts && !session->session.has_users()) {
    throw Error(ErrorKind::Value, "the database has no users, and " + place + " can be reached from other machines",
                std::nullopt, "CREATE USER name PASSWORD '...' first, or listen on 127.0.0.1");
  }
  sessions_.read_write.give_back(std::move(session));
}

SessionOptions Server::Impl::session_options(bool read_only) const {
  auto options = resources_.session(read_only);
  const auto timeout = read_only ? read_only_timeout(options_) : options_.statement_timeout;
  options.statement_timeout_ms = timeout.count();
  options.cluster = options_.cluster;
  return options;
}

void Server::Impl::run() {
  when_there_is_memory([this] { tell_of_start(); });
  run_io();
  end_workers();
  monitor_.log.write(LogLevel::Info, "stopped", {});
}

// The endpoint's thread posts tasks to the workers, and they to it.
void Server::Impl::end_workers() {
  if (http_) http_->stop();
  resources_.workers().join();
}

// For lack of memory a wait may not be renewed and be lost; then all waits are begun again.
void Server::Impl::run_io() {
  for (bool is_well = false;;) {
    try {
      if (!std::exchange(is_well, true)) begin_waits();
      io_.run();
      return;
    } catch (const std::exception&) {
      is_well = false;
      std::this_thread::sleep_for(kMemoryPause);
    }
  }
}

void Server::Impl::begin_waits() {
  error_code ignored;
  for (auto* timer : {&accept_timer_, &sweep_timer_}) timer->cancel(ignored);
  signals_.cancel(ignored);
  await_signal();
  sweep();
  if (stopping_) return end_if_alone();
  acceptor_.cancel(ignored);
  accept();
}

void Server::Impl::tell_of_start() {
  monitor_.log.write(LogLevel::Info, "listening",
                     {{"address", endpoint_text(acceptor_.local_endpoint())},
                      {"database", options_.database},
                      {"workers", static_cast<std::int64_t>(worker_count(options_.workers))},
                      {"tls", tls_ ? (sessions_.rules.requires_tls ? "required" : "offered") : "none"},
                      {"http_port", http_port()}});
  tell_service_manager("READY=1");
  // Data in clear text can be read in transit.
  if (!sessions_.rules.trusts && !sessions_.rules.requires_tls)
    monitor_.log.write(LogLevel::Warning, "other machines may connect without TLS",
                       {{"hint", "--tls-required forbids it"}});
}

void Server::Impl::accept() {
  acceptor_.async_accept([this](const error_code& error, tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (error) return pause_accepting();
    try {
      welcome(socket);
    } catch (const std::exception&) {  // no memory for the client: its socket is closed
      error_code ignored;
      if (socket.is_open()) socket.send(asio::buffer(out_of_memory_), 0, ignored);
    }
    accept();
  });
}

// There is no descriptor or no memory for a connection now; tries again later.
void Server::Impl::pause_accepting() {
  drop_silent();
  accept_timer_.expires_after(kAcceptPause);
  accept_timer_.async_wait([this](const error_code& error) {
    if (!error) accept();
  });
}

void Server::Impl::welcome(tcp::socket& socket) {
  error_code ignored;
  socket.non_blocking(true, ignored);
  socket.set_option(tcp::no_delay(true), ignored);
  socket.set_option(tcp::socket::keep_alive(true), ignored);
  const auto place = socket.remote_endpoint(ignored);
  const auto address = counted_address(place.address());
  if (half_open_.is_full_for(address) && !drop_silent(&address)) return;
  if (half_open_.is_full() && !drop_silent()) return;
  const auto key = next_key();
  auto client = std::make_shared<ClientConnection>(static_cast<ConnectionOwner&>(*this), shared_, socket,
                                                   endpoint_text(place), address, key);
  half_open_.add(address);
  try {
    const bool is_new = clients_.emplace(key.process, client).second;
    CHECK(is_new, "every connection has a number of its own");
  } catch (...) {
    half_open_.remove(address);
    throw;
  }
  client->take_turn([&] { client->read(); });
}

// Ends the connection that has been silent for longest, among those of `address` if it is given. Returns false if none
// is silent: all connections without a session are running, or wait for the answer to a wrong password.
bool Server::Impl::drop_silent(const std::string* address) {
  const auto silent = std::find_if(clients_.begin(), clients_.end(), [address](const auto& entry) {
    const auto& client = *entry.second;
    return client.is_silent() && (address == nullptr || client.address() == *address);
  });
  if (silent == clients_.end()) return false;
  std::shared_ptr<ClientConnection>(silent->second)->close();
  return true;
}

void Server::Impl::forget(std::int32_t process) {
  const auto found = clients_.find(process);
  if (!found->second->in_session()) half_open_.remove(found->second->address());
  clients_.erase(found);
  end_if_alone();
}

// A wrong key takes as much time as a comparison, and gets the same answer as the right one: none.
void Server::Impl::cancel(const CancelKey& key, const std::string& address) {
  const auto found = clients_.find(key.process);
  const bool fits = found != clients_.end() && found->second->key() == key;
  if (fits) found->second->cancel();
  monitor_.metrics.cancel_requests.add();
  // If the key does not match, the session is gone, or the client is guessing.
  monitor_.log.write(fits ? LogLevel::Info : LogLevel::Warning, fits ? "cancel" : "cancel refused",
                     {{"session", key.process}, {"address", address}});
}

void Server::Impl::stop_client(const ClientRegistry::StopRequest& request) {
  const auto found = clients_.find(request.target);
  const bool connection = request.what == ClientRegistry::What::Connection;
  if (found == clients_.end() && !console_) return;
  monitor_.log.write(LogLevel::Info, connection ? "kill connection" : "kill",
                     {{"session", request.target}, {"by", request.asking}});
  if (found == clients_.end()) return console_->stop(request);
  const auto client = found->second;
  if (connection) client->hurry(kKillMessage);
  else client->cancel();
}

// Sets up the means to observe the server and to stop its clients.
void Server::Impl::watch() {
  monitor_.clients.use([this](const ClientRegistry::StopRequest& request) {
    post_surely(io_, [this, request] { stop_client(request); });
  });
  if (!options_.http) return;
  pages_.emplace(OperationPages::Sources{monitor_, sessions_.read_write, sessions_.read_only, options_.database,
                                         options_.cluster});
  http_.emplace(*options_.http);
  console_.emplace(
      http_->io(), monitor_, sessions_, resources_.workers(), [this] { return next_key(); },
      ConsoleService::Options{.host_names = options_.http->names, .port = http_->port()});
  http_->serve([this](std::string_view path) { return pages_->page(path); },
               {.service = &*console_, .tls = tls_ ? &*tls_ : nullptr, .send = options_.limits.send});
}

// ---- The end -------------------------------------------------------------------------------------------------------

void Server::Impl::await_signal() {
  signals_.async_wait([this](const error_code& error, int /*signal*/) {
    if (error) return;
    try {
      await_signal();
    } catch (const std::bad_alloc&) {  // a second signal then changes nothing
    }
    shut_down();
  });
}

// The second call cancels the running statements instead of waiting for them.
void Server::Impl::shut_down() {
  if (std::exchange(stopping_, true)) return hurry();
  monitor_.stopping = true;
  tell_service_manager("STOPPING=1");
  monitor_.log.write(LogLevel::Info, "shutting down", {{"connections", static_cast<std::int64_t>(clients_.size())}});
  grace_end_ = Clock::now() + options_.shutdown_grace;
  error_code ignored;
  acceptor_.close(ignored);
  accept_timer_.cancel();
  for_each_client([](ClientConnection& client) { client.take_turn([&] { client.leave(); }); });
  end_if_alone();
}

// Ends all waits once the last client is gone.
void Server::Impl::end_if_alone() {
  if (!stopping_ || !is_alone()) return;
  error_code ignored;
  signals_.cancel(ignored);
  sweep_timer_.cancel();
}

void Server::Impl::hurry() {
  hurrying_ = true;
  if (console_) console_->cancel_all();
  for_each_client([](ClientConnection& client) { client.take_turn([&] { client.hurry(kShutdownMessage); }); });
}

// Checks the deadlines of all clients. That is cheaper than a timer for each, which every message would set.
void Server::Impl::sweep() {
  const auto now = Clock::now();
  // Repeated, to cancel statements that began after the last call.
  if (now >= grace_end_ || hurrying_) hurry();
  for_each_client([now](ClientConnection& client) { client.take_turn([&] { client.check_time(now); }); });
  if (stopping_ && is_alone()) return end_if_alone();
  sweep_timer_.expires_after(kSweepEvery);
  sweep_timer_.async_wait([this](const error_code& error) {
    if (!error) sweep();
  });
}

// Allows clients to leave the map during the iteration.
template <class F>
void Server::Impl::for_each_client(F&& f) {
  for (auto here = clients_.begin(); here != clients_.end();) {
    const auto client = (here++)->second;
    f(*client);
  }
}

Server::Server(ServerOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Server::~Server() = default;
std::uint16_t Server::port() const { return impl_->port(); }
std::uint16_t Server::http_port() const { return impl_->http_port(); }
void Server::run() { impl_->run(); }
void Server::stop() noexcept { impl_->stop(); }

}  // namespace eindb

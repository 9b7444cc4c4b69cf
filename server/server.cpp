#include "server/server.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <csignal>
#include <cstring>
#include <limits>
#include <map>
#include <new>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include "common/error.hpp"
#include "common/memory_wait.hpp"
#include "common/open_databases.hpp"
#include "security/digest.hpp"
#include "server/backend.hpp"
#include "server/client_channel.hpp"
#include "server/login/counted_address.hpp"
#include "server/login/error_response.hpp"
#include "server/login/half_open_counts.hpp"
#include "server/monitoring/client_monitor.hpp"
#include "server/monitoring/service_manager.hpp"
#include "server/operation_pages.hpp"
#include "server/values/coded_error.hpp"

namespace eindb {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;
using Wait = ClientChannel::Wait;

// What one client may bring before the others have their turn, and what it may be brought.
constexpr std::size_t kReadBytes = std::size_t{64} << 10U;
constexpr std::size_t kWriteBytes = std::size_t{256} << 10U;
// Kept for the next answer; more is given back.
constexpr std::size_t kKeptBytes = 1024;
// As many connections may have no session yet as there may be sessions, and so many at least.
constexpr std::size_t kFewestHalfOpen = 1000;
constexpr std::chrono::seconds kRefusalDelay{1};
// Without descriptors, or memory, for another connection.
constexpr std::chrono::milliseconds kAcceptPause{100};
// How exactly the times of clients are kept.
constexpr std::chrono::milliseconds kSweepEvery{200};
constexpr int kWorkersPerCore = 4;
constexpr int kFewestWorkers = 16;
constexpr std::string_view kShutdown = "57P01";
constexpr std::string_view kShutdownMessage = "the connection ends: the server is being shut down";
// Why a client goes for whom there was no memory, and how long the server then waits for some.
constexpr std::string_view kOutOfMemoryMessage = "the connection ends: the machine has no memory left for it";
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

// When there is no memory for that, as soon as there is some.
template <class F>
void post_surely(asio::io_context& io, const F& f) noexcept {
  when_there_is_memory([&] { asio::post(io, f); });
}

std::string text_of(const tcp::endpoint& endpoint) {
  std::ostringstream text;
  text << endpoint;
  return text.str();
}

// A connection is a descriptor, and so are the files of a session: as many as the system gives.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// Users who may only read have a limit also where there is none for others.
std::chrono::milliseconds read_only_timeout(const ServerOptions& options) {
  constexpr std::chrono::minutes kReadOnlyTimeout{5};
  if (options.read_only_statement_timeout) return *options.read_only_statement_timeout;
  return options.statement_timeout > options.statement_timeout.zero() ? options.statement_timeout : kReadOnlyTimeout;
}

// Zero is no limit.
Clock::time_point after(std::chrono::milliseconds time) {
  return time == time.zero() ? Clock::time_point::max() : Clock::now() + time;
}

}  // namespace

class Server::Impl {
 public:
  explicit Impl(ServerOptions options);
  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  std::uint16_t http_port() const { return http_ ? http_->port() : std::uint16_t{0}; }
  void run();
  void stop() noexcept {
    post_surely(io_, [this] { shut_down(); });
  }

 private:
  class Client;

  SessionOptions session_options(bool read_only) const;
  void use_tls();
  void accept();
  void pause_accepting();
  void welcome(tcp::socket& socket);
  bool drop_silent(const std::string* address = nullptr);
  void forget(std::int32_t process);
  void cancel(const CancelKey& key, const std::string& address);
  void stop_client(const ClientRegistry::StopRequest& request);
  void watch();
  void tell_of_start();
  void check_users(const std::string& place);
  void run_io();
  void begin_waits();
  void await_signal();
  void shut_down();
  void hurry();
  void end_if_alone();
  void sweep();
  template <class F>
  void for_each_client(F&& f);

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
  // Of the thread of run():
  std::map<std::int32_t, std::shared_ptr<Client>> clients_;  // by the process of their keys, which is by age
  HalfOpenCounts half_open_;
  std::int32_t last_process_ = 0;
  std::array<char, kReadBytes> bytes_{};  // that were read last, of whatever client
  std::optional<OperationPages> pages_;   // of the thread of http_
  std::optional<HttpEndpoint> http_;
  bool stopping_ = false;
  bool hurrying_ = false;
  Clock::time_point grace_end_ = Clock::time_point::max();
};

// One connection. Its members belong to the thread of run(), but while it is Working.
class Server::Impl::Client : public std::enable_shared_from_this<Client>, private InterimOutput {
 public:
  /// Takes the socket unless it throws.
  Client(Impl& server, tcp::socket& socket, const tcp::endpoint& place, CancelKey key)
      : server_(server),
        address_(counted_address(place.address())),
        timer_(server.io_),
        key_(key),
        monitor_(server.monitor_, key.process, text_of(place)),
        backend_(server.sessions_, key, monitor_, address_),
        login_deadline_(after(server.sessions_.limits.login)),
        channel_(std::move(socket)) {
    backend_.tell_progress_by(*this);
  }

  const CancelKey& key() const { return key_; }
  /// As counted_address() has it.
  const std::string& address() const { return address_; }
  bool in_session() const { return in_session_; }
  /// Whether the server waits for the client to say who it is.
  bool is_silent() const { return !in_session_ && (doing_ == Doing::Reading || doing_ == Doing::Greeting); }
  void cancel() noexcept {
    cancelled_ = true;
    backend_.cancel();
  }

  void read() { wait(Doing::Reading, Wait::Readable, &Client::take_bytes); }

  /// One thing that the thread of run() does for the client: where there is no memory for it, the client goes.
  template <class F>
  void take_turn(F&& f) noexcept {
    try {
      std::forward<F>(f)();
    } catch (const std::exception&) {
      give_up();
    }
  }

  /// The server ends: a client whose statement runs goes when that is done.
  void leave() {
    if (doing_ == Doing::Greeting || doing_ == Doing::Refusing) close();
    else if (doing_ == Doing::Reading && may_leave()) expel(kShutdown, kShutdownMessage);
  }

  /// The client goes now, and what it runs is cancelled.
  void hurry(std::string_view message) {
    farewell_ = message;
    switch (doing_) {
      case Doing::Working: return cancel();
      case Doing::Reading: return expel(kShutdown, message);
      default: return close();
    }
  }

  /// Ends the client if its time is over, and a statement that nobody waits for.
  void check_time(Clock::time_point now) {
    if (doing_ == Doing::Working && (channel_.has_left() || !farewell_.empty())) cancel();
    if (doing_ == Doing::Working || doing_ == Doing::Refusing) return;
    const bool late = !in_session_ && now >= login_deadline_;
    if (!late && now < deadline_) return;
    if (doing_ != Doing::Reading) return close();
    if (late) return expel("57014", "the connection ends: it took too long to log in");
    if (const auto limit = backend_.idle_limit()) expel(limit->sqlstate, limit->message);
  }

  void close() {
    if (std::exchange(doing_, Doing::Nothing) == Doing::Nothing) return;
    channel_.close();
    timer_.cancel();
    server_.forget(key_.process);
  }

 private:
  enum class Doing : std::uint8_t {
    Reading,   // waits for messages
    Working,   // a worker has the client
    Greeting,  // waits for the client's part in the beginning of TLS
    Writing,   // waits for the client to take what was written
    Refusing,  // waits before it says that a password was wrong
    Nothing    // has ended
  };

  // Goes on with `next` when the socket is ready, unless something else has ended the waiting.
  void wait(Doing doing, Wait what, void (Client::*next)()) {
    if (what == Wait::Never) return close();
    doing_ = doing;
    const auto readiness = what == Wait::Readable ? tcp::socket::wait_read : tcp::socket::wait_write;
    channel_.socket().async_wait(readiness, [self = shared_from_this(), doing, next](const error_code& error) {
      if (self->doing_ != doing) return;
      if (error) self->close();
      else self->take_turn([&] { (self.get()->*next)(); });
    });
  }

  // Who has no session yet has a line with all others of the kind.
  std::string_view line() const { return in_session_ ? std::string_view(backend_.user()) : std::string_view(); }

  // Without any memory: what was made ready before is written, if it makes sense where it comes (not while TLS begins),
  // and goes as far as it goes.
  void give_up() noexcept {
    if (doing_ == Doing::Nothing) return;
    const bool makes_sense = written_ == 0 && interim_gone_ && next_ != Backend::Next::Encrypt;
    if (makes_sense) channel_.write(server_.out_of_memory_);
    try {
      monitor_.abort(kOutOfMemory, kOutOfMemoryMessage);
    } catch (const std::exception&) {  // nor for a line of the log
    }
    close();
  }

  // Runs `f` in a worker, and then `done` with what it gave in the thread of run(), which goes on until then.
  template <class F, class Done>
  void work(F f, Done done) {
    doing_ = Doing::Working;
    cancelled_ = false;
    const auto task = [self = shared_from_this(), guard = asio::make_work_guard(server_.io_), f, done] {
      std::optional<std::invoke_result_t<F, Client&>> result;
      try {
        if (self->cancelled_) self->backend_.cancel_next();  // while it waited in line
        result.emplace(f(*self));
      } catch (const std::exception&) {  // not even memory to say that there is none
      }
      post_surely(self->server_.io_, [self, result, done] {
        if (!result) self->give_up();
        else self->take_turn([&] { done(*self, *result); });
      });
    };
    server_.resources_.workers().post(task, line());
  }

  void take_bytes() {
    const auto got = channel_.read(server_.bytes_);
    monitor_.received(got.bytes);
    if (got.bytes > 0) frames_.append({server_.bytes_.data(), got.bytes});
    if (!frames_.ready())
      return wait(Doing::Reading, got.wait == Wait::None ? Wait::Readable : got.wait, &Client::take_bytes);
    if (backend_.blocks()) run_backend();
    else answer(backend_.run(frames_, out_));
  }

  void run_backend() {
    work([](Client& self) { return self.backend_.run(self.frames_, self.out_); },
         [](Client& self, Backend::Next next) { self.answer(next); });
  }

  void answer(Backend::Next next) {
    if (!in_session_ && backend_.in_session()) {
      in_session_ = true;
      server_.half_open_.remove(address_);
    }
    if (const auto& key = backend_.cancel_requested()) server_.cancel(*key, monitor_.address());
    if (!farewell_.empty() && next != Backend::Next::Close) {
      write_fatal(out_, kShutdown, farewell_);
      next = Backend::Next::Close;
    }
    next_ = next;
    out_.buffer().insert(0, std::exchange(interim_, {}));
    interim_gone_ = true;
    if (next == Backend::Next::Refuse) return refuse();
    deadline_ = after(server_.sessions_.limits.send);
    write();
  }

  // What a worker's statement tells meanwhile. It is written as far as the socket takes it: the rest is tried again
  // when there is more, and goes before the answer.
  bool is_ready() override {
    if (!interim_gone_) send_interim({});
    return interim_gone_;
  }
  void send(MessageWriter& out) override {
    interim_gone_ = false;
    send_interim(std::exchange(out.buffer(), {}));
  }

  void send_interim(std::string bytes) {
    asio::post(server_.io_, [self = shared_from_this(), more = std::move(bytes)] {
      if (self->doing_ != Doing::Working) return;
      auto& interim = self->interim_;
      interim += more;
      const auto put = self->channel_.write(interim);
      interim.erase(0, put.bytes);
      if (put.wait == Wait::Never) self->cancel();
      self->interim_gone_ = interim.empty();
    });
  }

  void write() {
    const auto rest = std::string_view(out_.buffer()).substr(written_);
    const auto put = channel_.write(rest.substr(0, kWriteBytes));
    written_ += put.bytes;
    monitor_.sent(put.bytes);
    if (put.bytes > 0) deadline_ = after(server_.sessions_.limits.send);
    if (put.bytes < rest.size())
      return wait(Doing::Writing, put.wait == Wait::None ? Wait::Writable : put.wait, &Client::write);
    forget_written();
    go_on();
  }

  void forget_written() {
    auto& buffer = out_.buffer();
    buffer.clear();
    written_ = 0;
    if (buffer.capacity() > kKeptBytes && next_ != Backend::Next::Output) std::string().swap(buffer);
  }

  void go_on() {
    switch (next_) {
      case Backend::Next::Input: break;
      case Backend::Next::Encrypt: channel_.begin_tls(*server_.tls_); return greet();
      case Backend::Next::Output:
      case Backend::Next::LogIn: return run_backend();
      default: return close();
    }
    if (server_.stopping_ && may_leave()) return expel(kShutdown, kShutdownMessage);
    const auto limit = backend_.idle_limit();
    deadline_ = limit ? after(limit->time) : Clock::time_point::max();
    read();
  }

  // Keys take their time.
  void greet() {
    work([](Client& self) { return self.channel_.greet(); },
         [](Client& self, Wait what) {
           if (what != Wait::None) return self.wait(Doing::Greeting, what, &Client::greet);
           self.next_ = Backend::Next::Input;
           self.go_on();
         });
  }

  // Who tries passwords tries one a second on each connection.
  void refuse() {
    doing_ = Doing::Refusing;
    timer_.expires_after(kRefusalDelay);
    timer_.async_wait([self = shared_from_this()](const error_code&) {
      if (self->doing_ != Doing::Refusing) return;
      self->next_ = Backend::Next::Close;
      self->deadline_ = after(self->server_.sessions_.limits.send);
      self->take_turn([&] { self->write(); });
    });
  }

  bool may_leave() const { return !in_session_ || backend_.at_rest(); }

  // Of a client that is read.
  void expel(std::string_view sqlstate, std::string_view message) {
    if (sqlstate != kShutdown) monitor_.abort(sqlstate, message);
    doing_ = Doing::Writing;  // what was waited for is forgotten
    error_code ignored;
    channel_.socket().cancel(ignored);
    write_fatal(out_, sqlstate, message);
    next_ = Backend::Next::Close;
    deadline_ = after(server_.sessions_.limits.send);
    write();
  }

  Impl& server_;
  const std::string address_;
  asio::steady_timer timer_;
  const CancelKey key_;
  FrameReader frames_;
  MessageWriter out_;
  std::size_t written_ = 0;  // of what is in out_
  std::string interim_;      // what is to be written while a worker works
  std::atomic<bool> interim_gone_ = true;
  std::atomic<bool> cancelled_ = false;  // since a worker was asked for
  ClientMonitor monitor_;
  Backend backend_;
  Doing doing_ = Doing::Reading;
  Backend::Next next_ = Backend::Next::Input;  // when all is written
  bool in_session_ = false;
  std::string_view farewell_;  // why the client is to go when what it runs has ended; empty: it may stay
  const Clock::time_point login_deadline_;
  Clock::time_point deadline_ = Clock::time_point::max();  // of Reading or Writing
  ClientChannel channel_;
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
  // In the clear nobody can show a certificate.
  rules.requires_tls = options_.requires_tls || !options_.tls->authority.empty();
  rules.certificate_hash = tls_->certificate_hash();
}

// A database that cannot be opened, or would be open to everybody, fails now rather than for the first client.
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
  resources_.workers().join();
  monitor_.log.write(LogLevel::Info, "stopped", {});
}

// What is waited for may be lost where there is no memory to wait for it again: then all of it is begun anew.
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
                     {{"address", text_of(acceptor_.local_endpoint())},
                      {"database", options_.database},
                      {"workers", static_cast<std::int64_t>(worker_count(options_.workers))},
                      {"tls", tls_ ? (sessions_.rules.requires_tls ? "required" : "offered") : "none"},
                      {"http_port", http_port()}});
  tell_service_manager("READY=1");
  // What is said in the clear can be read on its way.
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
    } catch (const std::exception&) {  // no memory for a client: it is gone with its socket
      error_code ignored;
      if (socket.is_open()) socket.send(asio::buffer(out_of_memory_), 0, ignored);
    }
    accept();
  });
}

// There is no descriptor, or no memory, for a connection: perhaps soon.
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
  const CancelKey key{++last_process_, random_secret()};
  auto client = std::make_shared<Client>(*this, socket, place, key);
  half_open_.add(address);
  try {
    clients_.emplace(key.process, client);
  } catch (...) {
    half_open_.remove(address);
    throw;
  }
  client->take_turn([&] { client->read(); });
}

// Ends the connection that has been silent for longest, of an address if one is given. False: all who have no session
// are at work, or wait for the answer to a wrong password.
bool Server::Impl::drop_silent(const std::string* address) {
  const auto silent = std::find_if(clients_.begin(), clients_.end(), [address](const auto& entry) {
    const auto& client = *entry.second;
    return client.is_silent() && (address == nullptr || client.address() == *address);
  });
  if (silent == clients_.end()) return false;
  std::shared_ptr<Client>(silent->second)->close();
  return true;
}

void Server::Impl::forget(std::int32_t process) {
  const auto found = clients_.find(process);
  if (!found->second->in_session()) half_open_.remove(found->second->address());
  clients_.erase(found);
  end_if_alone();
}

// A guess costs what comparing costs, and is answered as the right key is: by nothing.
void Server::Impl::cancel(const CancelKey& key, const std::string& address) {
  const auto found = clients_.find(key.process);
  const bool fits = found != clients_.end() && found->second->key() == key;
  if (fits) found->second->cancel();
  monitor_.metrics.cancel_requests.add();
  // Where it does not fit, the session is gone, or somebody guesses.
  monitor_.log.write(fits ? LogLevel::Info : LogLevel::Warning, fits ? "cancel" : "cancel refused",
                     {{"session", key.process}, {"address", address}});
}

void Server::Impl::stop_client(const ClientRegistry::StopRequest& request) {
  const auto found = clients_.find(request.target);
  if (found == clients_.end()) return;
  const auto client = found->second;
  const bool connection = request.what == ClientRegistry::What::Connection;
  monitor_.log.write(LogLevel::Info, connection ? "kill connection" : "kill",
                     {{"session", request.target}, {"by", request.asking}});
  if (connection) client->hurry(kKillMessage);
  else client->cancel();
}

// How others look at the server, and stop its clients.
void Server::Impl::watch() {
  monitor_.clients.use([this](const ClientRegistry::StopRequest& request) {
    post_surely(io_, [this, request] { stop_client(request); });
  });
  if (!options_.http) return;
  pages_.emplace(OperationPages::Sources{monitor_, sessions_.read_write, sessions_.read_only, options_.database,
                                         options_.cluster});
  http_.emplace(*options_.http, [this](std::string_view path) { return pages_->page(path); });
}

// ---- The end -------------------------------------------------------------------------------------------------------

void Server::Impl::await_signal() {
  signals_.async_wait([this](const error_code& error, int /*signal*/) {
    if (error) return;
    try {
      await_signal();
    } catch (const std::bad_alloc&) {  // then a second signal changes nothing
    }
    shut_down();
  });
}

// Called again, it does not wait for statements any more.
void Server::Impl::shut_down() {
  if (std::exchange(stopping_, true)) return hurry();
  monitor_.stopping = true;
  tell_service_manager("STOPPING=1");
  monitor_.log.write(LogLevel::Info, "shutting down", {{"connections", static_cast<std::int64_t>(clients_.size())}});
  grace_end_ = Clock::now() + options_.shutdown_grace;
  error_code ignored;
  acceptor_.close(ignored);
  accept_timer_.cancel();
  for_each_client([](Client& client) { client.take_turn([&] { client.leave(); }); });
  end_if_alone();
}

// Nothing is waited for any more.
void Server::Impl::end_if_alone() {
  if (!stopping_ || !clients_.empty()) return;
  error_code ignored;
  signals_.cancel(ignored);
  sweep_timer_.cancel();
}

void Server::Impl::hurry() {
  hurrying_ = true;
  for_each_client([](Client& client) { client.take_turn([&] { client.hurry(kShutdownMessage); }); });
}

// Looks at the clocks of all clients: cheaper than a timer for each, which would be set with every message.
void Server::Impl::sweep() {
  const auto now = Clock::now();
  // A statement that begins after one that was cancelled is cancelled the next time.
  if (now >= grace_end_ || hurrying_) hurry();
  for_each_client([now](Client& client) { client.take_turn([&] { client.check_time(now); }); });
  if (stopping_ && clients_.empty()) return end_if_alone();
  sweep_timer_.expires_after(kSweepEvery);
  sweep_timer_.async_wait([this](const error_code& error) {
    if (!error) sweep();
  });
}

// Those that leave are forgotten meanwhile.
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

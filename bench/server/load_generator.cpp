// Clients of a PostgreSQL-protocol server, many in one thread, for the measurements of bench/server. They are the same
// for every server, and cheap, so that the machine is left to the server. No password is sent.
//
// Usage: load_generator PORT USER DATABASE, which reads a command per line and answers each with a line of JSON:
//   idle N                      N more connections, which run a statement once, and wait from then on
//   active N                    N connections, which run() uses
//   slow N                      N connections that send a byte now and then while run() runs: half of them never finish
//                               their start, half a statement
//   run SECONDS MODE STATEMENT  each active connection sends the statement again as soon as it is answered. MODE is
//                               `simple`: a Query, in which {} is a number between 1 and 10,000; or `prepared`: Parse
//                               once, then Bind, Describe, Execute and Sync, as libpq does, with such a number for $1
//   fetch MODE STATEMENT        once, on a connection of its own, and reads all; MODE is `simple`, `text` or `binary`
//   do STATEMENT                for the connection of fetch
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "server/protocol/big_endian.hpp"
#include "server/protocol/message_writer.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;
using namespace std::chrono_literals;

constexpr int kMostKey = 10000;
constexpr std::size_t kReadBytes = std::size_t{256} << 10U;
// Time in which each slow connection sends a byte.
constexpr auto kSlowPeriod = 500ms;
constexpr auto kWarmUp = 200ms;

double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what + ": " + std::strerror(errno)); }

struct Place {
  std::uint16_t port = 0;
  std::string user;
  std::string database;
};

// ---- Messages ------------------------------------------------------------------------------------------------------

/// Splits a server's data into messages, and keeps only errors.
class AnswerScanner {
 public:
  /// Calls `take(type, bytes of the message)` at the end of each message.
  template <class Take>
  void scan(std::string_view bytes, Take&& take) {
    while (!bytes.empty()) {
      if (left_ == 0 && !begin(bytes)) return;
      const auto here = std::min(left_, bytes.size());
      if (type_ == 'E') error_.append(bytes.substr(0, here));  // behind the last byte of the length
      bytes.remove_prefix(here);
      left_ -= here;
      if (left_ == 0) take(type_, size_);
    }
  }
  /// The fields of the last error.
  const std::string& error() const { return error_; }

 private:
  // Handles the head of a message, which may arrive in parts. A message without a body has one byte left, the last of
  // its length.
  bool begin(std::string_view& bytes) {
    constexpr std::size_t kHead = 5;
    const auto taken = std::min(kHead - head_.size(), bytes.size());
    head_.append(bytes.substr(0, taken));
    if (head_.size() < kHead) {
      bytes.remove_prefix(taken);
      return false;
    }
    bytes.remove_prefix(taken - 1);
    type_ = head_[0];
    size_ = static_cast<std::size_t>(eindb::load_big_endian<std::int32_t>(std::string_view(head_).substr(1))) + 1;
    left_ = size_ - kHead + 1;
    head_.clear();
    if (type_ == 'E') error_.clear();
    return true;
  }

  std::string head_;
  std::string error_;
  char type_ = 0;
  std::size_t size_ = 0;
  std::size_t left_ = 0;
};

std::string startup_bytes(const Place& place) {
  std::string parameters;
  for (const auto& text : {std::string("user"), place.user, std::string("database"), place.database, std::string()})
    parameters.append(text).append(1, '\0');
  std::string bytes;
  eindb::append_big_endian(bytes, static_cast<std::int32_t>(parameters.size() + 2 * sizeof(std::int32_t)));
  eindb::append_big_endian(bytes, std::int32_t{3} << 16);
  return bytes + parameters;
}

/// The messages with which a client runs a statement.
class Question {
 public:
  Question(std::string_view mode, std::string statement) : statement_(std::move(statement)) {
    is_prepared_ = mode != "simple";
    result_format_ = mode == "binary" ? 1 : 0;
    has_parameter_ = statement_.find("$1") != std::string::npos;
    key_ = statement_.find("{}");
  }

  bool is_prepared() const { return is_prepared_; }

  void prepare(eindb::MessageWriter& out) const {
    out.begin('P').text("s").text(statement_).integer<std::int16_t>(0).end();
    out.empty('S');
  }

  void ask(eindb::MessageWriter& out, int key) const {
    if (is_prepared_) return bind(out, key);
    if (key_ == std::string::npos) return out.begin('Q').text(statement_).end();
    auto text = statement_;
    out.begin('Q').text(text.replace(key_, 2, std::to_string(key))).end();
  }

 private:
  void bind(eindb::MessageWriter& out, int key) const {
    out.begin('B').text("").text("s").integer<std::int16_t>(0).integer<std::int16_t>(has_parameter_ ? 1 : 0);
    if (has_parameter_) {
      const auto text = std::to_string(key);
      out.integer(static_cast<std::int32_t>(text.size())).bytes(text);
    }
    out.integer<std::int16_t>(1).integer(result_format_).end();
    out.begin('D').bytes("P").text("").end();
    out.begin('E').text("").integer<std::int32_t>(0).end();
    out.empty('S');
  }

  std::string statement_;
  bool is_prepared_ = false;
  bool has_parameter_ = false;
  std::int16_t result_format_ = 0;
  std::size_t key_ = std::string::npos;
};

// ---- Connections ---------------------------------------------------------------------------------------------------

/// Owns a socket.
class Socket {
 public:
  explicit Socket(std::uint16_t port) : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (descriptor_ < 0) fail("cannot make a socket");
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      ::close(descriptor_);
      fail("cannot connect");
    }
    const int yes = 1;
    ::setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  }
  ~Socket() { ::close(descriptor_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  int descriptor() const { return descriptor_; }

  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const auto sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) fail("cannot send");
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  /// False if the server has closed the connection, or if its receive buffer is full.
  bool try_send(std::string_view bytes) const {
    return ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
           static_cast<ssize_t>(bytes.size());
  }
  /// Receives at least one byte; throws if the connection ends.
  std::string_view receive(std::vector<char>& buffer) const {
    while (true) {
      const auto count = ::recv(descriptor_, buffer.data(), buffer.size(), 0);
      if (count > 0) return {buffer.data(), static_cast<std::size_t>(count)};
      if (count == 0) throw std::runtime_error("the server has closed the connection");
      if (errno != EINTR) fail("cannot receive");
    }
  }

 private:
  int descriptor_;
};

/// A client in its session.
class Connection {
 public:
  Connection(const Place& place, std::vector<char>& buffer) : socket_(place.port), buffer_(buffer) {
    socket_.send(startup_bytes(place));
    wait();
  }

  const Socket& socket() const { return socket_; }

  /// Sends the output of `write`, without waiting for the answer.
  void send(const std::function<void(eindb::MessageWriter&)>& write) {
    out_.buffer().clear();
    write(out_);
    socket_.send(out_.buffer());
  }
  /// Reads the available data; returns whether the server is ready. Throws the server's error.
  bool receive() {
    bool ready = false;
    bool failed = false;
    scanner_.scan(socket_.receive(buffer_), [&](char type, std::size_t bytes) {
      ready = ready || type == 'Z';
      failed = failed || type == 'E';
      if (type != 'D' && type != 'd') return;
      ++rows_;
      row_bytes_ += bytes;
    });
    if (failed) throw std::runtime_error("the server refuses: " + readable(scanner_.error()));
    return ready;
  }
  void wait() {
    while (!receive()) continue;
  }
  void run(const std::string& statement) {
    send([&](eindb::MessageWriter& out) { out.begin('Q').text(statement).end(); });
    wait();
  }

  std::size_t rows() const { return rows_; }
  std::size_t row_bytes() const { return row_bytes_; }
  Clock::time_point asked;

 private:
  static std::string readable(std::string fields) {
    fields.erase(0, 1);
    std::replace(fields.begin(), fields.end(), '\0', ' ');
    return fields;
  }

  Socket socket_;
  std::vector<char>& buffer_;  // of whichever connection reads
  AnswerScanner scanner_;
  eindb::MessageWriter out_;
  std::size_t rows_ = 0;
  std::size_t row_bytes_ = 0;
};

/// Connections that send so slowly that they hold the server's resources as long as it permits.
class SlowClients {
 public:
  explicit SlowClients(const Place& place) : place_(place) {}

  void open(std::size_t count) {
    sockets_.clear();
    opened_ = 0;
    for (std::size_t n = 0; n < count; ++n) sockets_.push_back(open_one(n));
  }
  std::size_t size() const { return sockets_.size(); }
  /// Connections closed by the server are opened again, like those of an attacker.
  std::size_t opened() const { return opened_; }

  /// Sends the bytes that are due.
  void send_due(Clock::time_point now) {
    if (sockets_.empty()) return;
    const auto pause = kSlowPeriod / sockets_.size();
    if (next_time_ + kSlowPeriod < now) next_time_ = now;
    for (; next_time_ <= now; next_time_ += pause) {
      next_ = (next_ + 1) % sockets_.size();
      if (!sockets_[next_]->try_send("a")) sockets_[next_] = open_one(next_);
    }
  }

 private:
  std::unique_ptr<Socket> open_one(std::size_t n) {
    ++opened_;
    auto socket = std::make_unique<Socket>(place_.port);
    std::string bytes;
    if (n % 2 == 0) {
      eindb::append_big_endian<std::int32_t>(bytes, 9000);
      eindb::append_big_endian<std::int32_t>(bytes, 3 << 16);
    } else {
      bytes = startup_bytes(place_) + 'Q';
      eindb::append_big_endian<std::int32_t>(bytes, 1000000);
    }
    socket->send(bytes);
    return socket;
  }

  const Place& place_;
  std::vector<std::unique_ptr<Socket>> sockets_;
  std::size_t next_ = 0;
  std::size_t opened_ = 0;
  Clock::time_point next_time_;
};

// ---- A run ---------------------------------------------------------------------------------------------------------

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double percentile(std::vector<double>& sorted, double share) {
  return sorted.empty() ? 0 : sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

class Load {
 public:
  explicit Load(Place place) : place_(std::move(place)), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    if (epoll_ < 0) fail("cannot wait for sockets");
  }
  ~Load() { ::close(epoll_); }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  json answer(const std::string& line) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "idle") return open(idle_, count_of(words), true);
    if (command == "active") return open(active_, count_of(words), false);
    if (command == "slow") return open_slow(count_of(words));
    if (command == "run") return run(words);
    if (command == "fetch") return fetch(words);
    if (command == "do") return execute(words);
    throw std::runtime_error("there is no command " + command);
  }

 private:
  static std::size_t count_of(std::istream& words) {
    std::size_t count = 0;
    words >> count;
    return count;
  }
  static std::string rest_of(std::istream& words) {
    std::string rest;
    std::getline(words >> std::ws, rest);
    return rest;
  }
  int random_key() { return std::uniform_int_distribution<int>(1, kMostKey)(random_); }

  json open(std::vector<std::unique_ptr<Connection>>& connections, std::size_t count, bool used) {
    for (std::size_t n = 0; n < count; ++n) {
      connections.push_back(std::make_unique<Connection>(place_, buffer_));
      if (used) connections.back()->run("SELECT 1");
    }
    return {{"open", connections.size()}};
  }

  json open_slow(std::size_t count) {
    slow_.open(count);
    return {{"open", slow_.size()}};
  }

  Connection& fetching() {
    if (fetching_ == nullptr) fetching_ = std::make_unique<Connection>(place_, buffer_);
    return *fetching_;
  }

  // A connection that the server has closed is replaced.
  template <class F>
  void with_fetching(F&& f) {
    try {
      f(fetching());
    } catch (const std::exception&) {
      fetching_.reset();
      throw;
    }
  }

  json execute(std::istream& words) {
    with_fetching([&](Connection& connection) { connection.run(rest_of(words)); });
    return json::object();
  }

  json fetch(std::istream& words) {
    std::string mode;
    words >> mode;
    const Question question(mode, rest_of(words));
    json outcome;
    with_fetching([&](Connection& connection) {
      if (question.is_prepared()) {
        connection.send([&](eindb::MessageWriter& out) {
          out.begin('C').bytes("S").text("s").end();
          question.prepare(out);
        });
        connection.wait();
      }
      const auto rows = connection.rows();
      const auto bytes = connection.row_bytes();
      const auto begin = Clock::now();
      connection.send([&](eindb::MessageWriter& out) { question.ask(out, 1); });
      connection.wait();
      outcome = {{"seconds", seconds_between(begin, Clock::now())},
                 {"rows", connection.rows() - rows},
                 {"bytes", connection.row_bytes() - bytes}};
    });
    return outcome;
  }

  json run(std::istream& words) {
    double seconds = 0;
    std::string mode;
    words >> seconds >> mode;
    const Question question(mode, rest_of(words));
    for (auto& connection : active_) {
      connection->send([&](eindb::MessageWriter& out) {
        out.begin('C').bytes("S").text("s").end();
        if (question.is_prepared()) question.prepare(out);
        else out.empty('S');
      });
      connection->wait();
    }
    watch_active();
    const auto begin = Clock::now() + kWarmUp;
    const auto end = begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    for (auto& connection : active_) ask(*connection, question);
    latencies_.clear();
    answered_ = 0;
    const auto cpu = cpu_seconds();
    const auto last = ask_until(question, begin, end);
    for (auto& connection : active_) connection->wait();
    std::sort(latencies_.begin(), latencies_.end());
    return {{"statements", latencies_.size()},
            {"answered", answered_},
            {"seconds", seconds_between(begin, last)},
            {"generator cpu", cpu_seconds() - cpu},
            {"p50", percentile(latencies_, 0.5)},
            {"p99", percentile(latencies_, 0.99)},
            {"p999", percentile(latencies_, 0.999)},
            {"max", percentile(latencies_, 1)},
            {"slow opened", slow_.opened()}};
  }

  void watch_active() {
    for (; watched_ < active_.size(); ++watched_) {
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.ptr = active_[watched_].get();
      if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, active_[watched_]->socket().descriptor(), &event) != 0)
        fail("cannot wait for a socket");
    }
  }

  void ask(Connection& connection, const Question& question) {
    connection.asked = Clock::now();
    connection.send([&](eindb::MessageWriter& out) { question.ask(out, random_key()); });
  }

  // Sends statements until `end`; those answered from `begin` on count. Returns the time of the last answer.
  Clock::time_point ask_until(const Question& question, Clock::time_point begin, Clock::time_point end) {
    std::array<epoll_event, 64> events{};
    auto now = Clock::now();
    while (now < end) {
      const auto count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 10);
      for (int n = 0; n < count; ++n) {
        auto& connection = *static_cast<Connection*>(events[static_cast<std::size_t>(n)].data.ptr);
        if (!connection.receive()) continue;
        now = Clock::now();
        ++answered_;
        if (now >= begin) latencies_.push_back(seconds_between(connection.asked, now));
        ask(connection, question);
      }
      now = Clock::now();
      slow_.send_due(now);
    }
    return now;
  }

  const Place place_;
  std::vector<char> buffer_ = std::vector<char>(kReadBytes);
  int epoll_;
  std::mt19937 random_{1};
  std::vector<std::unique_ptr<Connection>> idle_;
  std::vector<std::unique_ptr<Connection>> active_;
  std::size_t watched_ = 0;  // of active_, the first ones
  std::unique_ptr<Connection> fetching_;
  SlowClients slow_{place_};
  std::size_t answered_ = 0;  // in the last run, while it warmed up, too
  std::vector<double> latencies_;
};

void serve(Load& load) {
  std::string line;
  while (std::getline(std::cin, line)) {
    json answer;
    try {
      answer = load.answer(line);
    } catch (const std::exception& error) {
      answer = {{"error", error.what()}};
    }
    std::cout << answer << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "Usage: load_generator PORT USER DATABASE\n";
    return 1;
  }
  Load load({static_cast<std::uint16_t>(std::atoi(argv[1])), argv[2], argv[3]});
  serve(load);
  return 0;
}

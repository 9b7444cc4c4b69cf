// Arbitrary bytes as input of a client to the whole server except its sockets: messages are parsed, statements run,
// answers are written. Answers must be valid messages without internal errors, and ReadyForQuery must be sent exactly
// when the client may expect it.
//
// The low bit of the first byte selects the kind of the remaining bytes: a connection from its first byte on, or
// messages of a session, each of them a type, a body, and a byte 1E, so that lengths stay right under mutation. The
// other bits determine the sizes of pieces. tests/server/record_client_bytes.py records seeds of both kinds from real
// clients.
//
// Each input has a database of its own, in memory, and the policy of a server without --files-dir, so no statement
// reaches a file.
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "server/backend.hpp"
#include "server/monitoring/client_monitor.hpp"
#include "server/protocol/big_endian.hpp"

namespace eindb {
namespace {

using namespace std::chrono_literals;

constexpr auto kMostTime = 200ms;  // per input; then running statements are cancelled
constexpr std::int64_t kMostSqlMemory = std::int64_t{64} << 20U;
constexpr char kEndOfMessage = '\x1E';
constexpr std::size_t kMostAnswer = std::size_t{4} << 20U;  // bytes

void expect(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::abort();
}

// ---- Input ----------------------------------------------------------------------------------------------------------

std::string startup_bytes() {
  constexpr std::string_view kParameters{"user\0ada\0database\0s\0", 20};
  std::string bytes;
  append_big_endian<std::int32_t>(bytes, static_cast<std::int32_t>(2 * sizeof(std::int32_t) + kParameters.size() + 1));
  append_big_endian<std::int32_t>(bytes, 3 << 16);
  bytes += kParameters;
  bytes += '\0';
  return bytes;
}

std::string query_bytes(std::string_view statements) {
  MessageWriter writer;
  writer.begin('Q').text(statements).end();
  return writer.buffer();
}

/// The messages of a session in `records`, with their lengths.
std::string message_bytes(std::string_view records) {
  MessageWriter writer;
  while (!records.empty()) {
    const auto record = records.substr(0, records.find(kEndOfMessage));
    if (!record.empty()) writer.begin(record[0]).bytes(record.substr(1)).end();
    records.remove_prefix(std::min(records.size(), record.size() + 1));
  }
  return writer.buffer();
}

/// A client after login, with little memory, before it sends the messages in `records`.
std::string session_bytes(std::string_view records) {
  return startup_bytes() + query_bytes("SET memory_limit = '16MiB'; SET threads = 2; SET parallelism = 2") +
         message_bytes(records);
}

std::string to_upper_letters(std::string_view text) {
  std::string upper(text);
  for (auto& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return upper;
}

/// The number of ReadyForQuery messages that a client may expect for its input.
class Questions {
 public:
  void append(std::string_view bytes) {
    if (over_) return;
    try {
      frames_.append(bytes);
      while (const auto frame = frames_.next()) receive(*frame);
    } catch (const ProtocolError&) {  // the connection ends
      over_ = true;
    }
  }
  std::size_t most_ready() const { return most_ready_; }
  /// Each Sync is answered, whatever came before it, except in a COPY, which ignores it.
  std::size_t least_ready() const { return least_ready_; }

 private:
  void receive(const Frame& frame) {
    if (in_session_) {
      if (frame.type == 'Q' || frame.type == 'S' || frame.type == 'F') ++most_ready_;
      if (frame.type == 'S') ++least_ready_;
    } else if (std::holds_alternative<frontend::Startup>(frontend::parse_first(frame))) {
      in_session_ = true;
      frames_.begin_session();
      frames_.limit(SIZE_MAX);
      ++most_ready_;
    }
  }

  FrameReader frames_;
  bool in_session_ = false;
  bool over_ = false;
  std::size_t most_ready_ = 0;
  std::size_t least_ready_ = 0;
};

// ---- Output ---------------------------------------------------------------------------------------------------------

/// Parses a message's body; an unknown form is not a message of this server.
class AnswerBody {
 public:
  explicit AnswerBody(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  T integer() {
    const auto value = load_big_endian<T>(take(sizeof(T)));
    return value;
  }
  std::string_view take(std::size_t count) {
    expect(count <= bytes_.size(), "a field of an answer is all there");
    const auto taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }
  std::string_view text() {
    const auto taken = take(std::min(bytes_.find('\0'), bytes_.size()));
    expect(take(1)[0] == '\0', "a text of an answer ends");
    return taken;
  }
  void end() const { expect(bytes_.empty(), "an answer has nothing behind its fields"); }

 private:
  std::string_view bytes_;
};

void check_row_description(AnswerBody& body) {
  for (auto columns = body.integer<std::int16_t>(); columns > 0; --columns) {
    body.text();
    body.take(18);  // table, column, type, size, modifier, format
  }
}

void check_row(AnswerBody& body) {
  for (auto values = body.integer<std::int16_t>(); values > 0; --values)
    if (const auto size = body.integer<std::int32_t>(); size != -1) body.take(static_cast<std::size_t>(size));
}

void check_error(AnswerBody& body) {
  std::string_view code;
  std::string_view message;
  for (auto field = body.take(1)[0]; field != '\0'; field = body.take(1)[0]) {
    const auto text = body.text();
    if (field == 'C') code = text;
    if (field == 'M') message = text;
  }
  expect(code.size() == 5 && !message.empty(), "an error has a code and says something");
  if (code == "XX000") std::fprintf(stderr, "%.*s\n", static_cast<int>(message.size()), message.data());
  expect(code != "XX000", "no error is internal");
}

/// The messages sent to a client.
class Answers {
 public:
  void append(std::string_view bytes) {
    size_ += bytes.size();
    if (bytes == "N") return;  // no TLS: a byte without a length
    while (!bytes.empty()) {
      expect(bytes.size() >= 5, "an answer has a type and a length");
      const auto length = load_big_endian<std::int32_t>(bytes.substr(1));
      expect(length >= 4 && static_cast<std::size_t>(length) < bytes.size(), "an answer is all there");
      check(bytes[0], AnswerBody(bytes.substr(5, static_cast<std::size_t>(length) - 4)));
      bytes.remove_prefix(static_cast<std::size_t>(length) + 1);
    }
  }
  std::size_t ready() const { return ready_; }
  std::size_t size() const { return size_; }

 private:
  void check(char type, AnswerBody body) {
    switch (type) {
      case 'T': check_row_description(body); break;
      case 'D': check_row(body); break;
      case 'E':
      case 'N': check_error(body); break;
      case 'C': body.text(); break;
      case 'S':
        body.text();
        body.text();
        break;
      case 'K': body.take(8); break;
      case 't': body.take(4 * static_cast<std::size_t>(body.integer<std::int16_t>())); break;
      case 'Z':
        expect(std::string_view("ITE").find(body.take(1)[0]) != std::string_view::npos,
               "a transaction is in a known state");
        ++ready_;
        break;
      case '1':
      case '2':
      case '3':
      case 'I':
      case 'n':
      case 's':
      case 'c': break;
      default:
        expect(std::string_view("RvdGH").find(type) != std::string_view::npos, "an answer is of a known type");
        return;
    }
    body.end();
  }

  std::size_t ready_ = 0;
  std::size_t size_ = 0;
};

// ---- A connection ---------------------------------------------------------------------------------------------------

/// Cancels a client's statements repeatedly once its time is over.
class Watchdog {
 public:
  explicit Watchdog(Backend& backend)
      : thread_([this, &backend](const std::stop_token& stop) { watch(stop, backend); }) {}

  bool is_over() const { return std::chrono::steady_clock::now() >= end_; }

 private:
  void watch(const std::stop_token& stop, Backend& backend) {
    std::unique_lock lock(mutex_);
    const auto never = [] { return false; };
    changed_.wait_until(lock, stop, end_, never);
    for (; !stop.stop_requested(); changed_.wait_for(lock, stop, 5ms, never)) backend.cancel();
  }

  const std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + kMostTime;
  std::mutex mutex_;  // guards nothing; needed only for waiting
  std::condition_variable_any changed_;
  std::jthread thread_;
};

SessionOptions options_of(bool read_only) {
  SessionOptions options{.read_only = read_only};
  options.policy = std::make_shared<const ClientPolicy>(ClientPolicy{.files = nullptr, .read_only = read_only});
  return options;
}

void fill(SessionPool& pool) {
  auto pooled = pool.take();
  pooled->session.act_for({.name = "ada", .role = UserRole::Admin});
  for (const char* statement : {"CREATE TENSOR X AS EINSUM X[i 3, j 4] = CAST(i * 4 + j AS FLOAT32) / 2",
                                "CREATE TENSOR C AS EINSUM C[i 2] = COMPLEX(i, 1)",
                                "CREATE TABLE t (name TEXT, n INTEGER)", "INSERT INTO t VALUES ('a', 1), ('b', 2)"})
    pooled->session.execute(statement);
  pool.give_back(std::move(pooled));
}

/// Runs the backend as far as possible; false when the connection ends.
bool run(Backend& backend, FrameReader& frames, Answers& answers) {
  while (true) {
    MessageWriter out;
    const auto next = backend.run(frames, out);
    answers.append(out.buffer());
    if (next == Backend::Next::Input) return true;
    const bool goes_on = next == Backend::Next::Output || next == Backend::Next::LogIn;
    if (!goes_on || answers.size() > kMostAnswer) return false;
  }
}

void serve(std::string_view bytes, std::size_t piece) {
  const bool copies = to_upper_letters(bytes).find("COPY") != std::string::npos;
  ClientSessions sessions{.read_write = {":memory:", options_of(false), 1},
                          .read_only = {":memory:", options_of(true), 1},
                          .transfers = TransferDirectory(":memory:"),
                          .rules = {.trusts = true}};
  fill(sessions.read_write);
  static ServerMonitor monitor({.level = LogLevel::Off}, std::cerr);
  ClientMonitor client(monitor, 1, "127.0.0.1:1");
  Backend backend(sessions, {1, 2}, client);
  const Watchdog watchdog(backend);
  FrameReader frames;
  Questions questions;
  Answers answers;
  bool goes_on = true;
  while (goes_on && !bytes.empty() && !watchdog.is_over()) {
    const auto next = bytes.substr(0, piece);
    bytes.remove_prefix(next.size());
    questions.append(next);
    frames.append(next);
    goes_on = run(backend, frames, answers);
  }
  expect(answers.ready() <= questions.most_ready(), "nobody is told \"ready\" who did not ask");
  if (goes_on && !copies) expect(answers.ready() >= questions.least_ready(), "each Sync is answered");
}

}  // namespace
}  // namespace eindb

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  sqlite3_hard_heap_limit64(eindb::kMostSqlMemory);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t piece = (std::size_t{data[0]} >> 1U) * 8 + 1;
  const bool in_session = data[0] % 2 == 1;
  eindb::serve(in_session ? eindb::session_bytes(bytes) : std::string(bytes), piece);
  return 0;
}

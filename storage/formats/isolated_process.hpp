#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "common/cancellation.hpp"
#include "common/caught_error.hpp"
#include "common/error.hpp"

namespace eindb {

/// What a process that IsolatedProcess has forked talks to its parent through. Every answer begins with a byte: 0, and
/// what was asked for, or 1 and an error.
class IsolatedChild {
 public:
  explicit IsolatedChild(int socket) : socket_(socket) {}

  /// Ends the process if nobody listens any more.
  void send(std::span<const std::byte> bytes) const;
  template <class T>
  void send_value(T value) const {
    send(std::as_bytes(std::span(&value, 1)));
  }
  /// False: the parent asks for nothing more.
  bool receive(std::span<std::byte> target) const;

  /// What `act` gives, who sends the answer; nothing if it has thrown, which is the answer then.
  template <class Act>
  auto answer(const Act& act) const -> std::optional<std::invoke_result_t<Act>> {
    try {
      return act();
    } catch (...) {
      send_error();
    }
    return std::nullopt;
  }

 private:
  void send_error() const;

  int socket_;
};

/// A process forked for what a library does that may crash: whatever becomes of it stays there.
///
/// The child has one thread, and writes to nothing but its socket and what is open for it. A lock that another thread
/// holds stays locked in it for ever: it takes none but `library`, which is held while forking.
/// One thread at a time; the one that makes it outlives it.
class IsolatedProcess {
 public:
  using Serve = std::function<void(IsolatedChild&)>;
  /// The error for a child that has ended by itself, with this status of waitpid.
  using Died = std::function<Error(int status)>;

  /// `serve` runs in the child, which ends when it returns. `cancellation` may be null and must outlive the process;
  /// every function that waits throws its Error{Cancelled}. Error{Io} or Error{MemoryLimit} if there is no process.
  IsolatedProcess(std::mutex& library, const Serve& serve, Died died, const Cancellation* cancellation);
  /// Ends the child, whatever it does.
  ~IsolatedProcess();
  IsolatedProcess(const IsolatedProcess&) = delete;
  IsolatedProcess& operator=(const IsolatedProcess&) = delete;

  void send(std::span<const std::byte> bytes);
  void receive(std::span<std::byte> target);
  template <class T>
  T receive_value() {
    T value{};
    receive(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
  /// The beginning of an answer; throws its error.
  void receive_status();
  /// The child has ended, or talks nonsense.
  [[noreturn]] void fail();

 private:
  void start(std::mutex& library, const Serve& serve);
  void stop();
  void wait_for(short events);
  std::string receive_text();

  Died died_;
  const Cancellation* cancellation_;
  pid_t child_ = -1;
  int socket_ = -1;
};

}  // namespace eindb

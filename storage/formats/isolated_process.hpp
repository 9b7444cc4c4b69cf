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

/// The child's end of an IsolatedProcess's socket. Every answer begins with a byte: 0 before the result, or 1 before an
/// error.
class IsolatedChild {
 public:
  explicit IsolatedChild(int socket) : socket_(socket) {}

  /// Ends the process if the parent is gone.
  void send(std::span<const std::byte> bytes) const;
  template <class T>
  void send_value(T value) const {
    send(std::as_bytes(std::span(&value, 1)));
  }
  /// False if the parent sends no more requests.
  bool receive(std::span<std::byte> target) const;

  /// Returns the result of `act`, which the caller sends; if `act` throws, sends the error and returns nullopt.
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

/// A forked process for library calls that may crash, so that the crash stays there.
///
/// The child has a single thread, and writes only to its socket and to the files that are open for it. Any lock that
/// another thread holds at the fork stays locked in it forever. Therefore the child takes no lock but `library`, which
/// is held while forking, and those of the allocators, which prepare for forks. Used by one thread at a time; the
/// thread that creates it must outlive it.
class IsolatedProcess {
 public:
  using Serve = std::function<void(IsolatedChild&)>;
  /// The error for a child that ended by itself, with this status of waitpid.
  using Died = std::function<Error(int status)>;

  /// `serve` runs in the child, which exits when it returns. `cancellation` may be null and must outlive the process;
  /// every function that waits throws its Error{Cancelled}. Error{Io} or Error{MemoryLimit} if the fork fails.
  IsolatedProcess(std::mutex& library, const Serve& serve, Died died, const Cancellation* cancellation);
  /// Kills the child.
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
  /// Reads the first byte of an answer; throws the error if there is one.
  void receive_status();
  /// Throws the error for a child that has ended or violates the protocol.
  [[noreturn]] void fail();

 private:
  void start(std::mutex& library, const Serve& serve);
  void fork_child(std::mutex& library, const Serve& serve);
  void stop();
  void wait_for(short events);
  std::string receive_text();

  Died died_;
  const Cancellation* cancellation_;
  pid_t child_ = -1;
  int socket_ = -1;
};

}  // namespace eindb

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/channel.hpp"
#include "common/check.hpp"

namespace eindb {

/// Uses the one channel between two processes for a sequence of calls. Each call has a channel of its own, which can be
/// closed and replaced while the underlying one stays open. One side calls and the other answers. A call ends the
/// previous one, and late messages of ended calls are dropped.
///
///     message = number of the call (u64), kind (u8), bytes
///
/// The caller numbers calls from 1. Thread-safe, like channels. Calls must not outlive the line.
class CallLine {
 public:
  struct Call {
    std::string subject;  ///< as stated by the caller
    std::unique_ptr<Channel> channel;
  };

  explicit CallLine(std::unique_ptr<Channel> channel) : channel_(std::move(channel)) {
    CHECK(channel_ != nullptr, "a line has a channel");
  }

  /// Begins a new call; the last call's channel must be destroyed. Error{WorkerLost} as for Channel::send().
  std::unique_ptr<Channel> call(std::string_view subject);
  /// Waits until the last call's channel is destroyed, then for the next call; nullopt if the other side has hung up. A
  /// channel notices the end of its call only when it is used. Error{WorkerLost} as for Channel::receive().
  std::optional<Call> answer();
  /// Tells the other side that no more calls follow.
  void hang_up() noexcept;

 private:
  class CallChannel;
  enum class Kind : std::uint8_t { Begin, Message, End, HangUp };
  struct Incoming {
    std::uint64_t call = 0;
    Kind kind = Kind::Message;
    std::vector<std::byte> bytes;
  };

  std::unique_ptr<Channel> open(std::uint64_t call);
  void send(std::uint64_t call, Kind kind, std::span<const std::byte> bytes);
  std::optional<Incoming> receive(std::chrono::milliseconds timeout);
  std::optional<Incoming> take(std::uint64_t call, std::chrono::milliseconds timeout);
  Incoming next_beginning();
  void note_closed();

  const std::unique_ptr<Channel> channel_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable call_closed_;
  bool has_channel_ = false;           // the last call has a channel, which alone receives
  std::uint64_t last_call_ = 0;        // number of the last call begun or answered
  std::optional<Incoming> beginning_;  // of a call not answered yet, or HangUp
};

}  // namespace eindb

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

/// The one channel that two processes have, used for one call after the other: each is a channel of its own, which can
/// be closed and made again without the one below. One side calls, the other answers. A call ends the one before it;
/// what was on its way of a call that has ended is dropped.
///
///     message = number of the call (u64), kind (u8), bytes
///
/// Calls are numbered from 1 on by who makes them. Thread-safe, as channels are. Calls do not outlive the line.
class CallLine {
 public:
  struct Call {
    std::string subject;  ///< as the caller said
    std::unique_ptr<Channel> channel;
  };

  explicit CallLine(std::unique_ptr<Channel> channel) : channel_(std::move(channel)) {
    CHECK(channel_ != nullptr, "a line has a channel");
  }

  /// A new call, when the last one's channel is gone. Error{WorkerLost} as Channel::send().
  std::unique_ptr<Channel> call(std::string_view subject);
  /// Waits for the last call's channel to be gone, and then for the next one; nullopt: the other side hung up. Channels
  /// do not end before they are asked for something. Error{WorkerLost} as Channel::receive().
  std::optional<Call> answer();
  /// There are no more calls.
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
  std::mutex mutex_;  // guards the following
  std::condition_variable call_closed_;
  bool has_channel_ = false;           // of the last call; who has it receives, and nobody else
  std::uint64_t last_call_ = 0;        // begun or answered
  std::optional<Incoming> beginning_;  // of a call that is not answered yet, or the end of calls
};

}  // namespace eindb

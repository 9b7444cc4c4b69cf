#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "cluster/channel.hpp"
#include "common/error.hpp"

namespace eindb {

/// One end of a control channel: it creates the heartbeats and handles the received messages. Unless noted otherwise,
/// called by the link's listening thread.
class ControlLinkUser {
 public:
  virtual ~ControlLinkUser() = default;
  /// The message to send as this side's heartbeat. Called by the link's sending thread.
  virtual std::vector<std::byte> sign_of_life() = 0;
  /// Handles a message. An exception ends the link; for Error{Corrupt} the peer gets no message.
  virtual void receive(std::span<const std::byte> message) = 0;
  /// The link has ended; no further calls follow.
  virtual void end(const Error& why) noexcept = 0;
};

/// A monitored channel. Each side sends at least one message per heartbeat, and gives the other up after
/// kMissedHeartbeats of silence. Separate threads send heartbeats and receive, so that a peer that does not read cannot
/// delay the detection.
///
///     start() --> receive()* --> end(why)
///
/// Thread-safe; the user must outlive it.
class ControlLink {
 public:
  ControlLink(std::unique_ptr<Channel> channel, std::chrono::milliseconds heartbeat, ControlLinkUser& user);
  /// Closes the link and waits for end(). Must not be called in a thread of the link.
  ~ControlLink();
  ControlLink(const ControlLink&) = delete;
  ControlLink& operator=(const ControlLink&) = delete;

  void start();
  /// Error{WorkerLost} if the link has ended, or ends before the message is sent.
  void send(std::span<const std::byte> message);
  /// Ends the link; end() receives `why`, unless the link has ended already. Thread-safe.
  void close(const Error& why) noexcept;
  std::chrono::milliseconds heartbeat() const { return heartbeat_; }
  /// The time since the peer's last message.
  std::chrono::milliseconds silence() const;

 private:
  using Clock = std::chrono::steady_clock;

  void give_signs_of_life() noexcept;
  void listen() noexcept;
  void listen_until_error();
  Error reason_of(const std::exception_ptr& end) const;

  const std::unique_ptr<Channel> channel_;
  const std::chrono::milliseconds heartbeat_;
  ControlLinkUser& user_;
  mutable std::mutex mutex_;  // guards the members below, up to the threads
  std::condition_variable closing_;
  bool closed_ = false;
  std::optional<Error> why_;  // the argument of the first close()
  Clock::time_point heard_ = Clock::now();
  std::thread signs_;
  std::thread listener_;
};

/// A text such as "3.2 s", for messages.
std::string in_seconds(std::chrono::milliseconds time);

/// Receives the peer's first message. Error{WorkerLost} if it does not arrive in time.
std::vector<std::byte> receive_first(Channel& channel, std::chrono::milliseconds timeout);

}  // namespace eindb

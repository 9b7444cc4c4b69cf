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

/// One end of a control channel: it makes the messages that are sent and takes those that arrive. Called by one thread
/// of the link.
class ControlLinkUser {
 public:
  virtual ~ControlLinkUser() = default;
  /// What is sent as this side's sign of life. By another thread of the link.
  virtual std::vector<std::byte> sign_of_life() = 0;
  /// A message has come. What it throws ends the link: of Error{Corrupt} the peer is told nothing.
  virtual void receive(std::span<const std::byte> message) = 0;
  /// The link has ended; nothing comes after it.
  virtual void end(const Error& why) noexcept = 0;
};

/// A channel that is watched: each side says something at least once per heartbeat, and who hears nothing for
/// kMissedHeartbeats of them gives the other up. A thread sends signs of life, and another receives: so a peer that
/// takes nothing keeps nobody from noticing.
///
///     start() --> receive()* --> end(why)
///
/// Thread-safe; the user outlives it.
class ControlLink {
 public:
  ControlLink(std::unique_ptr<Channel> channel, std::chrono::milliseconds heartbeat, ControlLinkUser& user);
  /// Closes it, and waits for end(): not in a thread of the link.
  ~ControlLink();
  ControlLink(const ControlLink&) = delete;
  ControlLink& operator=(const ControlLink&) = delete;

  void start();
  /// Error{WorkerLost} when the link has ended or does so before it could be sent.
  void send(std::span<const std::byte> message);
  /// end() gives `why`, if it has not ended already. From any thread.
  void close(const Error& why) noexcept;
  std::chrono::milliseconds heartbeat() const { return heartbeat_; }
  /// Since the peer was heard of.
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
  mutable std::mutex mutex_;  // guards what follows, up to the threads
  std::condition_variable closing_;
  bool closed_ = false;
  std::optional<Error> why_;  // that close() was given first
  Clock::time_point heard_ = Clock::now();
  std::thread signs_;
  std::thread listener_;
};

/// "3.2 s", for messages.
std::string in_seconds(std::chrono::milliseconds time);

/// The first message of a peer. Error{WorkerLost} if it does not come in time.
std::vector<std::byte> receive_first(Channel& channel, std::chrono::milliseconds timeout);

}  // namespace eindb

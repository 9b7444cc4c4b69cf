#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

#include "cluster/channel.hpp"
#include "cluster/connection_task.hpp"
#include "common/check.hpp"

namespace eindb {

/// The part of a TcpChannel in the node's thread: sends and receives messages in pieces over the connection. It queues
/// at most about kMostWaiting bytes of outgoing messages and of received ones; beyond that, senders wait on both sides.
class ChannelTask : public ConnectionTask {
 public:
  /// The limit for a message, and so for the memory that a peer can make this node use.
  static constexpr std::size_t kMostMessage = std::size_t{256} << 20U;
  static constexpr std::size_t kMostWaiting = std::size_t{16} << 20U;
  /// Messages up to this size, such as heartbeats and requests, are few and never wait.
  static constexpr std::size_t kSmallMessage = std::size_t{16} << 10U;

  using ConnectionTask::ConnectionTask;

  // Thread-safe:
  void send(std::span<const std::byte> message);
  std::optional<std::vector<std::byte>> receive(std::chrono::milliseconds timeout);
  void close() noexcept;

 private:
  using Message = std::vector<std::byte>;
  struct Received {
    Message message;
    MessageMemory::Part memory;
  };

  void step() override;
  void failed(const Error& error) override;

  void send_messages();
  bool stage_piece();
  void receive_messages();
  bool receive_piece();
  bool begin_piece();
  void check_piece(const FrameHeader& frame) const;
  void keep_message();
  void wake();

  // Used by the node's thread:
  Message outgoing_;
  std::size_t staged_ = 0;  // number of staged bytes of outgoing_
  bool sends_ = false;      // a message is being sent
  Message incoming_;
  std::size_t received_ = 0;  // complete bytes of incoming_, without the current piece
  bool receives_ = false;
  bool piece_begun_ = false;
  MessageMemory::Part memory_;  // for incoming_
  std::size_t incoming_total_ = 0;

  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::deque<Message> outbox_;
  std::size_t outbox_bytes_ = 0;
  std::deque<Received> inbox_;
  std::size_t inbox_bytes_ = 0;
  bool is_paused_ = false;  // receiving waits until the inbox has room
  std::optional<Error> end_;
};

/// A Channel over an authenticated connection. The node's thread sends and receives its messages; the channel is closed
/// when the node ends.
class TcpChannel : public Channel {
 public:
  TcpChannel(std::shared_ptr<ChannelTask> task, std::string peer) : task_(std::move(task)), peer_(std::move(peer)) {
    CHECK(task_ != nullptr, "a channel has a task that moves its messages");
  }
  ~TcpChannel() override { task_->close(); }
  TcpChannel(const TcpChannel&) = delete;
  TcpChannel& operator=(const TcpChannel&) = delete;

  void send(std::span<const std::byte> message) override { task_->send(message); }
  std::optional<std::vector<std::byte>> receive(std::chrono::milliseconds timeout) override {
    return task_->receive(timeout);
  }
  void close() noexcept override { task_->close(); }
  std::string peer() const override { return peer_; }

 private:
  const std::shared_ptr<ChannelTask> task_;
  const std::string peer_;
};

}  // namespace eindb

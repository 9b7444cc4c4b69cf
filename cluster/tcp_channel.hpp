#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

#include "cluster/channel.hpp"
#include "cluster/connection_task.hpp"
#include "common/check.hpp"

namespace eindb {

/// The node's part of a TcpChannel: messages in pieces through the connection, both ways. Holds kMostWaiting bytes of
/// messages to be sent, and of messages received that nobody has taken: whoever sends more waits, here and there.
class ChannelTask : public ConnectionTask {
 public:
  /// The largest message: what a peer can make this node hold.
  static constexpr std::size_t kMostMessage = std::size_t{256} << 20U;
  static constexpr std::size_t kMostWaiting = std::size_t{16} << 20U;
  /// Signs of life, requests and their like, which are few, go without waiting.
  static constexpr std::size_t kSmallMessage = std::size_t{16} << 10U;

  using ConnectionTask::ConnectionTask;

  // Any thread:
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

  // Of the node's thread:
  Message outgoing_;
  std::size_t staged_ = 0;  // bytes of outgoing_
  bool sends_ = false;      // a message
  Message incoming_;
  std::size_t received_ = 0;  // bytes of incoming_, without the piece that is being received
  bool receives_ = false;
  bool piece_begun_ = false;
  MessageMemory::Part memory_;  // of incoming_
  std::size_t incoming_total_ = 0;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<Message> outbox_;
  std::size_t outbox_bytes_ = 0;
  std::deque<Received> inbox_;
  std::size_t inbox_bytes_ = 0;
  bool is_paused_ = false;  // nothing is received until the inbox has room
  std::optional<Error> end_;
};

/// A Channel over a connection that was authenticated. Its messages are sent and received by the node's thread; after
/// the node it is closed.
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

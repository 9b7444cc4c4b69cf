#include "cluster/tcp_channel.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "cluster/cancellation_poll.hpp"
#include "common/cancellation.hpp"
#include "common/check.hpp"
#include "common/memory_wait.hpp"

namespace eindb {
namespace {

// The interval at which a message that waits for memory tries again.
constexpr std::chrono::milliseconds kMemoryPoll{10};

}  // namespace

// ---- Any thread ----------------------------------------------------------------------------------------------------

void ChannelTask::send(std::span<const std::byte> message) {
  if (message.size() > kMostMessage)
    throw Error(ErrorKind::Value,
                "a message of " + std::to_string(message.size()) + " bytes is too large for a channel");
  std::unique_lock lock(mutex_);
  const auto has_room = [&] {
    return end_ || message.size() <= kSmallMessage || outbox_.empty() || outbox_bytes_ + message.size() <= kMostWaiting;
  };
  while (!changed_.wait_for(lock, kCancellationPoll, has_room)) poll_cancellation();
  if (end_) throw Error(*end_);
  wake();  // first, so that queued messages are sent
  outbox_.emplace_back(message.begin(), message.end());
  outbox_bytes_ += message.size();
}

std::optional<std::vector<std::byte>> ChannelTask::receive(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [&] { return end_ || !inbox_.empty(); });
  if (inbox_.empty()) {
    if (end_) throw Error(*end_);
    return std::nullopt;
  }
  auto message = std::move(inbox_.front().message);
  inbox_.pop_front();
  CHECK(inbox_bytes_ >= message.size(), "the bytes of messages that have come are counted");
  inbox_bytes_ -= message.size();
  if (!end_ && is_paused_ && inbox_bytes_ <= kMostWaiting) wake();
  return message;
}

void ChannelTask::close() noexcept {
  const std::lock_guard lock(mutex_);
  if (end_) return;
  when_there_is_memory([this] { end_ = Error(ErrorKind::WorkerLost, "the channel was closed"); });
  changed_.notify_all();
  // The node's thread exists until the task has ended.
  when_there_is_memory([this] { boost::asio::post(tasks().io, [self = shared_from_this()] { self->shut_down(); }); });
}

/// Call with mutex_ held, before the end.
void ChannelTask::wake() { step_soon(); }

// ---- The node's thread ---------------------------------------------------------------------------------------------

void ChannelTask::step() {
  send_messages();
  receive_messages();
}

void ChannelTask::failed(const Error& error) {
  if (error.kind() == ErrorKind::Corrupt)
    tasks().log("connection to " + connection().peer() + " closed: " + error.message());
  const std::lock_guard lock(mutex_);
  if (!end_) end_ = Error(ErrorKind::WorkerLost, error.message());
  changed_.notify_all();
}

void ChannelTask::send_messages() {
  while (true) {
    while (connection().can_stage() && stage_piece()) {
    }
    if (connection().is_flushed()) return;
    if (const auto wait = connection().flush(); wait != Wait::None) return step_when(wait);
  }
}

/// Returns false if there is nothing to send.
bool ChannelTask::stage_piece() {
  if (!sends_) {
    const std::lock_guard lock(mutex_);
    if (outbox_.empty()) return false;
    outgoing_ = std::move(outbox_.front());
    outbox_.pop_front();
    CHECK(outbox_bytes_ >= outgoing_.size(), "the bytes of messages that wait are counted");
    outbox_bytes_ -= outgoing_.size();
    changed_.notify_all();
    staged_ = 0;
    sends_ = true;
  }
  CHECK(staged_ <= outgoing_.size(), "no more of a message is staged than it has");
  const auto size = std::min(outgoing_.size() - staged_, kMostFramePayload);
  connection().stage({.kind = FrameKind::Message, .total = outgoing_.size()}, {},
                     std::span(outgoing_).subspan(staged_, size));
  staged_ += size;
  sends_ = staged_ < outgoing_.size();
  return true;
}

void ChannelTask::receive_messages() {
  while (receive_piece()) {
  }
}

/// Returns false if it must wait.
bool ChannelTask::receive_piece() {
  {
    const std::lock_guard lock(mutex_);
    is_paused_ = inbox_bytes_ > kMostWaiting;
    if (is_paused_) return false;
  }
  auto& from = connection();
  auto wait = from.fetch_frame();
  if (wait == Wait::None) {
    if (!piece_begun_ && !begin_piece()) {
      step_after(kMemoryPoll);
      return false;
    }
    piece_begun_ = true;
    CHECK(received_ <= incoming_.size(), "a piece comes behind those before it");
    wait = from.fetch_payload(std::span(incoming_).subspan(received_));
  }
  if (wait != Wait::None) {
    step_when(wait);
    return false;
  }
  from.finish_frame();
  piece_begun_ = false;
  received_ = incoming_.size();
  if (received_ == incoming_total_) keep_message();
  return true;
}

// Returns false if there is no memory for the message now. The whole message is counted at its first piece, but
// allocated as pieces arrive.
bool ChannelTask::begin_piece() {
  const auto& frame = *connection().frame();
  if (!receives_) {
    incoming_total_ = frame.total;
    received_ = 0;
    check_piece(frame);
    auto memory = tasks().messages->take(static_cast<std::int64_t>(frame.total));
    if (!memory) return false;
    memory_ = std::move(*memory);
    incoming_.clear();
    receives_ = true;
  }
  check_piece(frame);
  incoming_.resize(received_ + frame.payload_size);
  CHECK(incoming_.size() <= incoming_total_, "a message has the bytes that memory was taken for");
  return true;
}

void ChannelTask::check_piece(const FrameHeader& frame) const {
  const bool goes_on = frame.payload_size > 0 || frame.total == 0;
  if (frame.kind != FrameKind::Message || frame.stream != 0 || frame.head_size != 0 || frame.total > kMostMessage ||
      frame.total != incoming_total_ || frame.payload_size > incoming_total_ - received_ || !goes_on)
    throw Error(ErrorKind::Corrupt, "a frame is no piece of a message");
}

void ChannelTask::keep_message() {
  const std::lock_guard lock(mutex_);
  CHECK(receives_ && incoming_.size() == incoming_total_, "a message is kept when all of it is there");
  inbox_bytes_ += incoming_.size();
  inbox_.push_back({std::exchange(incoming_, {}), std::exchange(memory_, {})});
  receives_ = false;
  changed_.notify_all();
}

}  // namespace eindb

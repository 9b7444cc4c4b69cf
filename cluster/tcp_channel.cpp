#include "cluster/tcp_channel.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

namespace eindb {

// ---- Any thread ----------------------------------------------------------------------------------------------------

void ChannelTask::send(std::span<const std::byte> message) {
  if (message.size() > kMostMessage)
    throw Error(ErrorKind::Value,
                "a message of " + std::to_string(message.size()) + " bytes is too large for a channel");
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return end_ || outbox_.empty() || outbox_bytes_ + message.size() <= kMostWaiting; });
  if (end_) throw Error(*end_);
  outbox_.emplace_back(message.begin(), message.end());
  outbox_bytes_ += message.size();
  wake();
}

std::optional<std::vector<std::byte>> ChannelTask::receive(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [&] { return end_ || !inbox_.empty(); });
  if (inbox_.empty()) {
    if (end_) throw Error(*end_);
    return std::nullopt;
  }
  auto message = std::move(inbox_.front());
  inbox_.pop_front();
  inbox_bytes_ -= message.size();
  if (!end_ && is_paused_ && inbox_bytes_ <= kMostWaiting) wake();
  return message;
}

void ChannelTask::close() noexcept {
  const std::lock_guard lock(mutex_);
  if (end_) return;
  end_ = Error(ErrorKind::WorkerLost, "the channel was closed");
  changed_.notify_all();
  // The node's thread is there as long as there has been no end.
  boost::asio::post(tasks().io, [self = shared_from_this()] { self->shut_down(); });
}

/// With the mutex, before the end.
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

/// False if there is nothing to send.
bool ChannelTask::stage_piece() {
  if (!sends_) {
    const std::lock_guard lock(mutex_);
    if (outbox_.empty()) return false;
    outgoing_ = std::move(outbox_.front());
    outbox_.pop_front();
    outbox_bytes_ -= outgoing_.size();
    changed_.notify_all();
    staged_ = 0;
    sends_ = true;
  }
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

/// False if it has to wait.
bool ChannelTask::receive_piece() {
  {
    const std::lock_guard lock(mutex_);
    is_paused_ = inbox_bytes_ > kMostWaiting;
    if (is_paused_) return false;
  }
  auto& from = connection();
  const bool is_new = from.frame() == nullptr;
  auto wait = from.fetch_frame();
  if (wait == Wait::None) {
    if (is_new) begin_piece();
    wait = from.fetch_payload(std::span(incoming_).subspan(received_));
  }
  if (wait != Wait::None) {
    step_when(wait);
    return false;
  }
  from.finish_frame();
  received_ = incoming_.size();
  if (received_ == incoming_total_) keep_message();
  return true;
}

// Memory is taken as pieces come, not for what the first one promises.
void ChannelTask::begin_piece() {
  const auto& frame = *connection().frame();
  if (!receives_) {
    incoming_.clear();
    incoming_total_ = frame.total;
    received_ = 0;
    receives_ = true;
  }
  const bool goes_on = frame.payload_size > 0 || frame.total == 0;
  if (frame.kind != FrameKind::Message || frame.stream != 0 || frame.head_size != 0 || frame.total > kMostMessage ||
      frame.total != incoming_total_ || frame.payload_size > incoming_total_ - received_ || !goes_on)
    throw Error(ErrorKind::Corrupt, "a frame is no piece of a message");
  incoming_.resize(received_ + frame.payload_size);
}

void ChannelTask::keep_message() {
  const std::lock_guard lock(mutex_);
  inbox_bytes_ += incoming_.size();
  inbox_.push_back(std::exchange(incoming_, {}));
  receives_ = false;
  changed_.notify_all();
}

}  // namespace eindb

#include "cluster/control_link.hpp"

#include <algorithm>
#include <utility>

#include "cluster/control_message.hpp"
#include "common/caught_error.hpp"
#include "common/check.hpp"
#include "common/memory_wait.hpp"

namespace eindb {

std::string in_seconds(std::chrono::milliseconds time) {
  const auto tenths = (time.count() + 50) / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

ControlLink::ControlLink(std::unique_ptr<Channel> channel, std::chrono::milliseconds heartbeat, ControlLinkUser& user)
    : channel_(std::move(channel)), heartbeat_(heartbeat), user_(user) {
  CHECK(channel_ != nullptr, "a link has a channel");
}

ControlLink::~ControlLink() {
  close(when_there_is_memory([] { return Error(ErrorKind::WorkerLost, "the connection was closed"); }));
  if (listener_.joinable()) listener_.join();
  if (signs_.joinable()) signs_.join();
}

void ControlLink::start() {
  CHECK(!signs_.joinable() && !listener_.joinable(), "a link starts once");
  {
    const std::lock_guard lock(mutex_);
    heard_ = Clock::now();
  }
  signs_ = std::thread([this] { give_signs_of_life(); });
  listener_ = std::thread([this] { listen(); });  // last, since it uses the other members
}

void ControlLink::send(std::span<const std::byte> message) { channel_->send(message); }

void ControlLink::close(const Error& why) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (!why_) when_there_is_memory([&] { why_ = why; });
    closed_ = true;
  }
  closing_.notify_all();
  channel_->close();
}

std::chrono::milliseconds ControlLink::silence() const {
  const std::lock_guard lock(mutex_);
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - heard_);
}

void ControlLink::give_signs_of_life() noexcept {
  try {
    std::unique_lock lock(mutex_);
    while (!closed_) {
      lock.unlock();
      channel_->send(user_.sign_of_life());
      lock.lock();
      closing_.wait_for(lock, heartbeat_, [this] { return closed_; });
    }
  } catch (...) {
    // The listener fails too, and reports the reason.
    channel_->close();
  }
}

void ControlLink::listen() noexcept {
  std::exception_ptr end;
  try {
    listen_until_error();
  } catch (...) {
    end = std::current_exception();
  }
  const auto why = when_there_is_memory([&] { return reason_of(end); });
  close(why);
  user_.end(why);
}

void ControlLink::listen_until_error() {
  const auto patience = kMissedHeartbeats * heartbeat_;
  while (true) {
    const auto message = channel_->receive(std::max(heartbeat_ / 2, std::chrono::milliseconds(1)));
    if (message) {
      {
        const std::lock_guard lock(mutex_);
        heard_ = Clock::now();
      }
      user_.receive(*message);
    } else if (silence() >= patience) {
      // No message is waiting, so the peer was silent, rather than this side slow to receive.
      throw Error(ErrorKind::WorkerLost, "nothing was heard of it for " + in_seconds(silence()));
    }
  }
}

// A reason given to close() is more precise than the channel's error.
Error ControlLink::reason_of(const std::exception_ptr& end) const {
  const std::lock_guard lock(mutex_);
  if (why_) return *why_;
  try {
    std::rethrow_exception(end);
  } catch (...) {
    return caught_error("what a node has sent");
  }
}

std::vector<std::byte> receive_first(Channel& channel, std::chrono::milliseconds timeout) {
  if (auto message = channel.receive(timeout)) return std::move(*message);
  throw Error(ErrorKind::WorkerLost, "it does not answer");
}

}  // namespace eindb

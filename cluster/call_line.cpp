#include "cluster/call_line.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "cluster/byte_text.hpp"
#include "common/byte_order.hpp"
#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// The interval at which a receiver checks whether its call was closed on this side.
constexpr milliseconds kSlice{10};
constexpr std::uint8_t kMessageKinds = 4;
constexpr std::size_t kHead = sizeof(std::uint64_t) + 1;

}  // namespace

// The channel of one call.
class CallLine::CallChannel final : public Channel {
 public:
  CallChannel(CallLine& line, std::uint64_t call) : line_(line), call_(call) {}
  ~CallChannel() override {
    close();
    line_.note_closed();
  }
  CallChannel(const CallChannel&) = delete;
  CallChannel& operator=(const CallChannel&) = delete;

  void send(std::span<const std::byte> message) override {
    if (closed_) throw_closed();
    line_.send(call_, Kind::Message, message);
  }

  std::optional<std::vector<std::byte>> receive(milliseconds timeout) override {
    const auto deadline = Clock::now() + timeout;
    while (true) {
      if (closed_) throw_closed();
      const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
      if (auto message = line_.take(call_, std::clamp(left, milliseconds(0), kSlice))) {
        if (message->kind == Kind::Message) return std::move(message->bytes);
        closed_ = true;
      } else if (left.count() <= 0) {
        return std::nullopt;
      }
    }
  }

  void close() noexcept override {
    if (closed_.exchange(true)) return;
    try {
      line_.send(call_, Kind::End, {});
    } catch (const std::exception&) {  // the peer is gone, and so is the call
    }
  }

  std::string peer() const override { return line_.channel_->peer(); }

 private:
  [[noreturn]] void throw_closed() const {
    throw Error(ErrorKind::WorkerLost, "the channel to " + peer() + " is closed");
  }

  CallLine& line_;
  const std::uint64_t call_;
  std::atomic<bool> closed_{false};
};

std::unique_ptr<Channel> CallLine::call(std::string_view subject) {
  std::unique_lock lock(mutex_);
  call_closed_.wait(lock, [this] { return !has_channel_; });
  const auto call = ++last_call_;
  lock.unlock();
  auto channel = open(call);
  send(call, Kind::Begin, std::as_bytes(std::span(subject)));
  return channel;
}

std::optional<CallLine::Call> CallLine::answer() {
  auto beginning = next_beginning();
  if (beginning.kind == Kind::HangUp) return std::nullopt;
  CHECK(beginning.kind == Kind::Begin, "a call is answered when it begins");
  {
    const std::lock_guard lock(mutex_);
    CHECK(beginning.call > last_call_, "calls are numbered upwards");
    last_call_ = beginning.call;
  }
  return Call{std::string(as_text(beginning.bytes)), open(beginning.call)};
}

CallLine::Incoming CallLine::next_beginning() {
  std::unique_lock lock(mutex_);
  call_closed_.wait(lock, [this] { return !has_channel_; });
  if (auto beginning = std::exchange(beginning_, std::nullopt)) return std::move(*beginning);
  const auto last = last_call_;
  lock.unlock();
  while (true) {
    auto message = receive(kSlice);
    if (!message || message->call <= last) continue;
    if (message->kind == Kind::Begin || message->kind == Kind::HangUp) return std::move(*message);
    // The message belongs to a call that ended before it was answered.
  }
}

void CallLine::hang_up() noexcept {
  try {
    std::unique_lock lock(mutex_);
    const auto call = ++last_call_;
    lock.unlock();
    send(call, Kind::HangUp, {});
  } catch (const std::exception&) {  // no peer is left
  }
}

std::unique_ptr<Channel> CallLine::open(std::uint64_t call) {
  const std::lock_guard lock(mutex_);
  CHECK(!has_channel_, "a line has one call at a time");
  has_channel_ = true;
  return std::make_unique<CallChannel>(*this, call);
}

void CallLine::note_closed() {
  {
    const std::lock_guard lock(mutex_);
    has_channel_ = false;
  }
  call_closed_.notify_all();
}

void CallLine::send(std::uint64_t call, Kind kind, std::span<const std::byte> bytes) {
  std::vector<std::byte> message(kHead + bytes.size());
  store_number(message, 0, call);
  store_number(message, kHead - 1, static_cast<std::uint8_t>(kind));
  std::copy(bytes.begin(), bytes.end(), message.begin() + std::ptrdiff_t{kHead});
  channel_->send(message);
}

std::optional<CallLine::Incoming> CallLine::receive(milliseconds timeout) {
  auto message = channel_->receive(timeout);
  if (!message) return std::nullopt;
  const auto kind = message->size() < kHead ? kMessageKinds : load_number<std::uint8_t>(*message, kHead - 1);
  if (kind >= kMessageKinds) throw Error(ErrorKind::Corrupt, channel_->peer() + " sent what belongs to no call");
  const auto call = load_number<std::uint64_t>(*message, 0);
  message->erase(message->begin(), message->begin() + std::ptrdiff_t{kHead});
  return Incoming{call, static_cast<Kind>(kind), std::move(*message)};
}

// The call's next message, or its End if the next call has begun.
std::optional<CallLine::Incoming> CallLine::take(std::uint64_t call, milliseconds timeout) {
  const Incoming end{call, Kind::End, {}};
  {
    const std::lock_guard lock(mutex_);
    if (beginning_) return end;
  }
  auto message = receive(timeout);
  if (!message || message->call < call) return std::nullopt;
  if (message->call == call) return message;
  const std::lock_guard lock(mutex_);
  if (message->kind == Kind::Begin || message->kind == Kind::HangUp) beginning_ = std::move(*message);
  return end;
}

}  // namespace eindb

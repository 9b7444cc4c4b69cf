#include "executor/in_process_exchange.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>
#include <string>

#include "common/cancellation.hpp"
#include "common/check.hpp"
#include "common/error.hpp"
#include "common/stopwatch.hpp"
#include "executor/collective_exchange.hpp"
#include "executor/rank_error.hpp"

namespace eindb {
namespace {

// The interval at which a waiting rank checks for cancellation.
constexpr std::chrono::milliseconds kCancellationPoll{20};

std::string name_of_rank(Rank rank) { return "rank " + std::to_string(rank); }

/// The place where one rank leaves a message for another.
///
///     Empty --the sender lays a message--> Laid --the receiver--> Taken (being copied) --> Empty
///           --or the end of its stream--> Ended --the receiver--> Empty
struct Slot {
  enum class State : std::uint8_t { Empty, Laid, Taken, Ended };

  State state = State::Empty;
  bool is_streamed = false;  // whether the sender's operation is streamed
  OutgoingMessage message;
};

struct Failure {
  Rank rank = 0;
  std::exception_ptr error;
};

/// The state shared by the ranks. The mutex guards all of it and is not held while a stream is called or bytes are
/// copied.
struct Hub {
  explicit Hub(std::size_t ranks) : slots(ranks * ranks), has_left(ranks), changed(ranks), size(ranks) {}

  Slot& slot(Rank from, Rank to) { return slots[from * size + to]; }
  void wake(Rank rank) { changed[rank].notify_one(); }
  void wake_all() {
    for (auto& rank_changed : changed) rank_changed.notify_one();
  }
  /// Only the first failure counts.
  void fail(Rank rank, std::exception_ptr error) {
    if (!failure) failure = Failure{rank, std::move(error)};
    wake_all();
  }

  std::mutex mutex;
  std::vector<Slot> slots;
  std::vector<bool> has_left;
  std::optional<Failure> failure;
  std::vector<std::condition_variable> changed;  // by rank; signals events that it may wait for
  const std::size_t size;
};

class InProcessExchange : public CollectiveExchange {
 public:
  InProcessExchange(std::shared_ptr<Hub> hub, Rank rank) : hub_(std::move(hub)), rank_(rank) {}
  InProcessExchange(const InProcessExchange&) = delete;
  InProcessExchange& operator=(const InProcessExchange&) = delete;
  ~InProcessExchange() override {
    const std::lock_guard lock(hub_->mutex);
    hub_->has_left[rank_] = true;
    hub_->wake_all();
  }

  Rank rank() const override { return rank_; }
  std::size_t size() const override { return hub_->size; }
  void abort(std::exception_ptr error) noexcept override {
    const std::lock_guard lock(hub_->mutex);
    hub_->fail(rank_, std::move(error));
  }

 protected:
  void transfer(const Traffic& traffic) override;

 private:
  using Lock = std::unique_lock<std::mutex>;
  enum class Sent : std::uint8_t { Nothing, Last, All };  // Last: the only message has been laid

  /// The progress of a transfer.
  struct Course {
    explicit Course(const Traffic& t)
        : traffic(t), sent(t.to.size()), received(t.from.size()), left(t.to.size() + t.from.size()) {}

    const Traffic& traffic;
    std::vector<Sent> sent;      // by peer in traffic.to
    std::vector<bool> received;  // by peer in traffic.from, whether all is received
    std::size_t left;            // number of streams that have not ended
  };

  void run(Course& course, Lock& lock);
  bool send(Course& course, std::size_t n, Lock& lock);
  bool receive(Course& course, std::size_t n, Lock& lock);
  void take_message(const Traffic& traffic, Rank from, Lock& lock);
  void empty(Slot& slot, Rank from) {
    slot.state = Slot::State::Empty;
    hub_->wake(from);
  }
  void wait(Lock& lock);
  void check_failure() const;
  void check_present(Rank peer) const;
  void withdraw(Lock& lock);

  const std::shared_ptr<Hub> hub_;
  const Rank rank_;
};

void InProcessExchange::transfer(const Traffic& traffic) {
  [[maybe_unused]] const auto is_other = [this](Rank peer) { return peer != rank_ && peer < size(); };
  DCHECK(std::ranges::all_of(traffic.to, is_other), "a rank sends to other ranks of its mesh");
  DCHECK(std::ranges::all_of(traffic.from, is_other), "a rank receives from other ranks of its mesh");
  Course course(traffic);
  Lock lock(hub_->mutex);
  try {
    run(course, lock);
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    hub_->fail(rank_, std::current_exception());
    withdraw(lock);
    throw;
  }
}

void InProcessExchange::run(Course& course, Lock& lock) {
  while (true) {
    check_failure();
    if (course.left == 0) return;
    bool moved = false;
    for (std::size_t n = 0; n < course.received.size(); ++n) moved |= receive(course, n, lock);
    for (std::size_t n = 0; n < course.sent.size(); ++n) moved |= send(course, n, lock);
    if (!moved) wait(lock);
  }
}

/// Returns whether the stream to traffic.to[n] made progress.
bool InProcessExchange::send(Course& course, std::size_t n, Lock& lock) {
  const auto& traffic = course.traffic;
  const auto peer = traffic.to[n];
  auto& slot = hub_->slot(rank_, peer);
  if (course.sent[n] == Sent::All) return false;
  if (slot.state != Slot::State::Empty) {
    check_present(peer);
    return false;
  }
  if (course.sent[n] == Sent::Nothing) {
    lock.unlock();
    const auto message = traffic.out.next(peer);
    if (message) count_sent(*message);
    lock.lock();
    CHECK(slot.state == Slot::State::Empty, "a message is laid where the one before it was taken");
    slot = {.state = message ? Slot::State::Laid : Slot::State::Ended,
            .is_streamed = traffic.is_streamed,
            .message = message.value_or(OutgoingMessage{})};
    hub_->wake(peer);
    if (message && !traffic.is_streamed) course.sent[n] = Sent::Last;
    if (message) return true;
  }
  course.sent[n] = Sent::All;
  --course.left;
  return true;
}

/// Returns whether the stream from traffic.from[n] made progress.
bool InProcessExchange::receive(Course& course, std::size_t n, Lock& lock) {
  const auto& traffic = course.traffic;
  const auto peer = traffic.from[n];
  auto& slot = hub_->slot(peer, rank_);
  if (course.received[n]) return false;
  if (slot.state == Slot::State::Empty) {
    check_present(peer);
    return false;
  }
  CHECK(slot.is_streamed == traffic.is_streamed, "all ranks call the same operations in the same order");
  const bool ends = slot.state == Slot::State::Ended || !traffic.is_streamed;
  if (slot.state == Slot::State::Laid) take_message(traffic, peer, lock);
  else empty(slot, peer);
  if (ends) {
    course.received[n] = true;
    --course.left;
  }
  return true;
}

// The stream chooses the destination while the sender may still withdraw the message. Once copying has begun, the
// sender may not.
void InProcessExchange::take_message(const Traffic& traffic, Rank from, Lock& lock) {
  check_failure();  // a failed rank's message no longer exists
  auto& slot = hub_->slot(from, rank_);
  const auto payload = slot.message.payload;
  const std::vector<std::byte> header(slot.message.header.begin(), slot.message.header.end());
  lock.unlock();
  const auto target = traffic.in.begin(from, header, payload.size());
  CHECK(target.size() == payload.size(), "a stream has room for the message that it was told of");
  lock.lock();
  check_failure();
  CHECK(slot.state == Slot::State::Laid, "a message is taken from where it was laid");
  slot.state = Slot::State::Taken;
  lock.unlock();
  if (!payload.empty()) std::memcpy(target.data(), payload.data(), payload.size());
  lock.lock();
  empty(slot, from);
  lock.unlock();
  count_received(header.size(), payload.size());
  traffic.in.end(from);
  lock.lock();
}

void InProcessExchange::wait(Lock& lock) {
  const Stopwatch stopwatch;
  hub_->changed[rank_].wait_for(lock, kCancellationPoll);
  count_waiting(stopwatch.seconds());
  poll_cancellation();
}

void InProcessExchange::check_failure() const {
  if (!hub_->failure) return;
  const auto& [rank, error] = *hub_->failure;
  if (rank == rank_) std::rethrow_exception(error);
  throw error_of_rank(name_of_rank(rank), error);
}

void InProcessExchange::check_present(Rank peer) const {
  if (hub_->has_left[peer]) throw Error(ErrorKind::WorkerLost, name_of_rank(peer) + " has left");
}

// After a failure: no peer begins to copy this rank's messages any more; waits for those that have begun.
void InProcessExchange::withdraw(Lock& lock) {
  hub_->changed[rank_].wait(lock, [&] {
    for (Rank to = 0; to < static_cast<Rank>(size()); ++to)
      if (hub_->slot(rank_, to).state == Slot::State::Taken) return false;
    return true;
  });
}

}  // namespace

std::vector<std::unique_ptr<Exchange>> in_process_exchanges(std::size_t size) {
  CHECK(size > 0 && size <= std::numeric_limits<Rank>::max(), "ranks have sixteen bits");
  const auto hub = std::make_shared<Hub>(size);
  std::vector<std::unique_ptr<Exchange>> exchanges;
  for (Rank rank = 0; rank < static_cast<Rank>(size); ++rank)
    exchanges.push_back(std::make_unique<InProcessExchange>(hub, rank));
  return exchanges;
}

}  // namespace eindb

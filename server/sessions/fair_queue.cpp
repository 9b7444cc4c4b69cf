#include "server/sessions/fair_queue.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb {
namespace {

using Clock = std::chrono::steady_clock;

// The interval at which waiting work checks for cancellation and for freed caches.
constexpr std::chrono::milliseconds kPatience{10};

[[noreturn]] void no_memory_comes() {
  throw Error(ErrorKind::MemoryLimit, "results that clients have not fetched to the end hold the server's memory",
              std::nullopt, "fetch or close them, or SET memory_limit to less");
}

}  // namespace

/// The admission of some work. Cores and memory may be returned separately.
class FairQueue::Leave final : public Admission {
 public:
  Leave(FairQueue& queue, bool heavy) : queue_(queue), heavy_(heavy) {}
  ~Leave() override { queue_.give_back(heavy_, !has_run_, bytes_); }

  /// Marks the work as admitted; before that there is nothing to return.
  void begin(std::int64_t bytes) {
    bytes_ = bytes;
    has_run_ = false;
  }
  std::int64_t bytes() const override { return bytes_; }
  void has_run(std::int64_t held) noexcept override {
    const auto freed = bytes_ - std::min(held, bytes_);
    queue_.give_back(heavy_, !std::exchange(has_run_, true), freed);
    bytes_ -= freed;
  }

 private:
  FairQueue& queue_;
  const bool heavy_;
  std::int64_t bytes_ = 0;
  bool has_run_ = true;
};

FairQueue::FairQueue(const Limits& limits, std::shared_ptr<TileCachePool> caches, WorkerPool& threads)
    : limits_(limits), caches_(std::move(caches)), threads_(threads) {
  CHECK(limits_.memory >= 0 && limits_.heavy > 0, "a queue has memory to share out, and lets something run");
  CHECK(caches_ != nullptr, "caches give way to statements");
}

FairQueue::~FairQueue() = default;

std::unique_ptr<Admission> FairQueue::admit(const ClientUser& user, const Work& work,
                                            const Cancellation& cancellation) {
  CHECK(work.bytes >= 0 && !(work.seconds < 0), "work takes no less than nothing");
  if (auto light = admit_light(work)) return light;
  auto heavy = work;
  heavy.bytes = std::min(work.bytes, most_for_one(limits_.memory));
  auto leave = std::make_unique<Leave>(*this, true);
  Waiter waiter{.user = user, .work = heavy, .since = Clock::now()};
  wait(waiter, cancellation);
  leave->begin(heavy.bytes);
  return leave;
}

std::unique_ptr<Admission> FairQueue::admit_light(const Work& work) {
  if (work.seconds > limits_.light_seconds || work.bytes > limits_.light_bytes) return nullptr;
  auto leave = std::make_unique<Leave>(*this, false);
  const std::lock_guard lock(mutex_);
  if (light_bytes_ + work.bytes > limits_.memory / kLightShare) return nullptr;
  leave->begin(work.bytes);
  light_bytes_ += work.bytes;
  fit_caches();
  DCHECK(is_valid(), "light work keeps to its share of the memory");
  return leave;
}

void FairQueue::wait(Waiter& waiter, const Cancellation& cancellation) {
  std::unique_lock lock(mutex_);
  line_up(waiter);
  admit_next();
  if (waiter.admitted) return;
  lock.unlock();
  try {
    const WorkerPool::Waiting waits(threads_);  // may start a thread
    lock.lock();
    while (!waiter.admitted) {
      if (is_hopeless(waiter)) no_memory_comes();
      changed_.wait_for(lock, kPatience);
      if (!waiter.admitted) cancellation.check();
      admit_next();
    }
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    if (waiter.admitted) return;
    leave_line(waiter);
    admit_next();
    throw;
  }
}

void FairQueue::line_up(Waiter& waiter) {
  CHECK(!waiter.admitted, "admitted work does not wait");
  if (waiter.work.urgent) {
    urgent_.push_back(&waiter);
    return;
  }
  const auto of_user = [&](const Line& line) { return line.user == waiter.user.name; };
  auto line = std::find_if(lines_.begin(), lines_.end(), of_user);
  if (line == lines_.end()) line = lines_.insert(line, Line{.user = waiter.user.name, .waiters = {}});
  line->waiters.push_back(&waiter);
}

void FairQueue::leave_line(Waiter& waiter) noexcept {
  std::erase(urgent_, &waiter);
  for (auto& line : lines_) std::erase(line.waiters, &waiter);
  std::erase_if(lines_, [](const Line& line) { return line.waiters.empty(); });
  DCHECK(is_valid(), "a line ends with its last waiter");
}

// After its first waiter is admitted, a line goes behind all others.
void FairQueue::admit_next() {
  bool any = false;
  while (!urgent_.empty() && try_admit(*urgent_.front())) {
    urgent_.pop_front();
    any = true;
  }
  while (urgent_.empty() && !lines_.empty() && running_ < limits_.heavy && try_admit(*lines_.front().waiters.front())) {
    auto& line = lines_.front();
    line.waiters.pop_front();
    if (line.waiters.empty()) lines_.pop_front();
    else lines_.splice(lines_.end(), lines_, lines_.begin());
    any = true;
  }
  if (any) changed_.notify_all();
  DCHECK(is_valid(), "who is admitted has left the line");
}

bool FairQueue::is_valid() const {
  std::vector<std::string_view> users;
  const auto waits = [](const Waiter* waiter) { return waiter != nullptr && !waiter->admitted; };
  for (const auto& line : lines_) {
    if (line.waiters.empty() || !std::all_of(line.waiters.begin(), line.waiters.end(), waits)) return false;
    users.emplace_back(line.user);
  }
  std::sort(users.begin(), users.end());
  return std::adjacent_find(users.begin(), users.end()) == users.end() &&
         std::all_of(urgent_.begin(), urgent_.end(), waits) && running_ >= 0 && heavy_bytes_ >= 0 &&
         heavy_bytes_ <= most_for_one(limits_.memory) && light_bytes_ >= 0 &&
         light_bytes_ <= limits_.memory / kLightShare;
}

// Admits the work if the memory suffices. Caches that are not in use shrink for it.
bool FairQueue::try_admit(Waiter& waiter) {
  const auto bytes = waiter.work.bytes;
  if (heavy_bytes_ + bytes > most_for_one(limits_.memory)) return false;
  heavy_bytes_ += bytes;
  const auto left = limits_.memory - heavy_bytes_ - light_bytes_;
  if (caches_->limit_to(std::clamp<std::int64_t>(left, 0, most_for_caches(limits_.memory))) > left) {
    heavy_bytes_ -= bytes;
    return false;
  }
  ++running_;
  waiter.admitted = true;
  return true;
}

// Whether no running work would free memory. Only clients that fetch results could, and they have freed none for a
// while.
bool FairQueue::is_hopeless(const Waiter& waiter) const {
  const bool is_next =
      urgent_.empty() ? !lines_.empty() && lines_.front().waiters.front() == &waiter : urgent_.front() == &waiter;
  if (!is_next || running_ > 0 || heavy_bytes_ + waiter.work.bytes <= most_for_one(limits_.memory)) return false;
  return Clock::now() - std::max(freed_, waiter.since) > limits_.patience;
}

void FairQueue::fit_caches() {
  const auto left = std::max<std::int64_t>(0, limits_.memory - heavy_bytes_ - light_bytes_);
  caches_->limit_to(std::min(left, most_for_caches(limits_.memory)));
}

void FairQueue::give_back(bool heavy, bool ran, std::int64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  (heavy ? heavy_bytes_ : light_bytes_) -= bytes;
  if (heavy && ran) --running_;
  DCHECK(is_valid(), "nothing is given back that was not taken");
  freed_ = Clock::now();
  fit_caches();
  admit_next();
}

std::vector<FairQueue::Waiting> FairQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  std::vector<Waiting> found;
  const auto add = [&](const std::deque<Waiter*>& waiters) {
    for (const auto* waiter : waiters) found.push_back({waiter->user, waiter->since});
  };
  add(urgent_);
  for (const auto& line : lines_) add(line.waiters);
  return found;
}

FairQueue::Counts FairQueue::counts() const {
  const std::lock_guard lock(mutex_);
  auto waiting = urgent_.size();
  for (const auto& line : lines_) waiting += line.waiters.size();
  return {.running = running_,
          .waiting = static_cast<int>(waiting),
          .heavy_bytes = heavy_bytes_,
          .light_bytes = light_bytes_,
          .cached_bytes = caches_->bytes()};
}

}  // namespace eindb

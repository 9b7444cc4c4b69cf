#include "cluster/data_pool.hpp"

#include <algorithm>
#include <utility>

#include "cluster/cancellation_poll.hpp"
#include "common/cancellation.hpp"
#include "common/check.hpp"

namespace eindb {
namespace {

// The most idle connections per address; further concurrent statements begin with handshakes.
constexpr std::size_t kMostIdle = 16;
// The most connections for statements that this node is about to begin, and how long they are kept.
constexpr std::size_t kMostEarly = 4096;
constexpr std::chrono::seconds kEarlyTime{60};
constexpr std::size_t kMostRefused = 1024;

bool is_over(const std::weak_ptr<IdleTask>& task) {
  const auto alive = task.lock();
  return alive == nullptr || alive->is_over();
}

}  // namespace

// ---- StatementConnections ------------------------------------------------------------------------------------------

void StatementConnections::arrive(Rank from, std::unique_ptr<Connection> connection) {
  CHECK(connection != nullptr, "what arrives is a connection");
  const std::lock_guard lock(mutex_);
  if (from >= connections_.size() || from == self_ || connections_[from] != nullptr) return;
  CHECK(missing_ > 0, "who arrives was missing");
  connections_[from] = std::move(connection);
  --missing_;
  changed_.notify_all();
}

void StatementConnections::fail(const PeerLost& error) {
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = error;
  changed_.notify_all();
}

void StatementConnections::wait(std::chrono::milliseconds time, const std::vector<std::string>& addresses) {
  const auto end = std::chrono::steady_clock::now() + time;
  std::unique_lock lock(mutex_);
  while (missing_ > 0 && !error_ && std::chrono::steady_clock::now() < end) {
    changed_.wait_for(lock, kCancellationPoll, [&] { return missing_ == 0 || error_; });
    poll_cancellation();
  }
  if (error_) throw PeerLost(*error_);
  CHECK(addresses.size() == connections_.size(), "every rank has an address");
  for (std::size_t rank = 0; rank < connections_.size(); ++rank)
    if (connections_[rank] == nullptr && rank != self_)
      throw PeerLost(
          {static_cast<Rank>(rank), true},
          Error(ErrorKind::WorkerLost, (addresses[rank].empty() ? "the coordinator" : "worker " + addresses[rank]) +
                                           " has not come to the statement in time"));
  CHECK(missing_ == 0, "nobody is missing where all have come");
}

std::vector<std::unique_ptr<Connection>> StatementConnections::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(connections_, {});
}

// ---- DataPool ------------------------------------------------------------------------------------------------------

void DataPool::put_own(std::unique_ptr<Connection> connection, const std::string& address,
                       std::optional<std::uint64_t> released) {
  auto& idle = own_[address];
  std::erase_if(idle, [](const auto& task) { return task->is_over(); });
  if (idle.size() == kMostIdle) {
    idle.front()->shut_down();
    idle.pop_front();
  }
  idle.push_back(start_task<IdleTask>(tasks_, std::move(connection), released, nullptr));
  CHECK(idle.size() <= kMostIdle, "few connections to a node wait for a statement");
}

std::unique_ptr<Connection> DataPool::take_own(const std::string& address) {
  const auto found = own_.find(address);
  if (found == own_.end()) return nullptr;
  auto& idle = found->second;
  const auto free = std::find_if(idle.rbegin(), idle.rend(), [](const auto& task) { return task->is_free(); });
  if (free == idle.rend()) return nullptr;
  auto connection = (*free)->take();
  CHECK(connection != nullptr, "a connection that is free can be had");
  idle.erase(std::next(free).base());
  return connection;
}

void DataPool::put_foreign(std::unique_ptr<Connection> connection, std::optional<std::uint64_t> released) {
  std::erase_if(foreign_, is_over);
  foreign_.push_back(start_task<IdleTask>(
      tasks_, std::move(connection), released,
      [this](std::unique_ptr<Connection> c, const DataBinding& binding) { bound(std::move(c), binding); }));
}

void DataPool::bound(std::unique_ptr<Connection> connection, const DataBinding& binding) {
  const Place place{binding.statement, binding.to};
  if (const auto found = expected_.find(place); found != expected_.end())
    return found->second->arrive(binding.from, std::move(connection));
  if (std::find(refused_.begin(), refused_.end(), place) != refused_.end()) return;
  forget_late();
  if (early_.size() < kMostEarly)
    early_.emplace(place, Early{std::move(connection), binding.from, Clock::now() + kEarlyTime});
}

void DataPool::expect(std::uint64_t statement, Rank rank, std::shared_ptr<StatementConnections> connections) {
  CHECK(connections != nullptr, "there is a place for the connections that are expected");
  const Place place{statement, rank};
  const auto [first, last] = early_.equal_range(place);
  for (auto early = first; early != last; ++early)
    connections->arrive(early->second.from, std::move(early->second.connection));
  early_.erase(first, last);
  expected_[place] = std::move(connections);
}

void DataPool::refuse(std::uint64_t statement, Rank rank) {
  refused_.emplace_back(statement, rank);
  if (refused_.size() > kMostRefused) refused_.pop_front();
}

void DataPool::forget_late() {
  std::erase_if(early_, [now = Clock::now()](const auto& early) { return early.second.until < now; });
}

std::size_t DataPool::idle_count() const {
  std::size_t count = 0;
  for (const auto& [address, idle] : own_)
    count += static_cast<std::size_t>(
        std::count_if(idle.begin(), idle.end(), [](const auto& task) { return task->is_free(); }));
  return count + static_cast<std::size_t>(
                     std::count_if(foreign_.begin(), foreign_.end(), [](const auto& task) { return !is_over(task); }));
}

}  // namespace eindb

#include "cluster/shard_caretaker.hpp"

#include <algorithm>
#include <utility>

#include "common/error.hpp"
#include "storage/shards/shard_log.hpp"
#include "storage/shards/sharded_contents.hpp"

namespace eindb {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using Standing = TilePlace::Standing;

// The most bytes that move together, unless a tile has more.
constexpr std::int64_t kRoundBytes = std::int64_t{4} << 20U;
// A look at all tiles takes at most one part in this many of the time.
constexpr int kPartOfLooks = 20;
// The pause before tiles that could not be moved are tried again.
constexpr std::chrono::seconds kPauseAfterFailure{10};
// How long SQLite waits for other writers, and the pause before the next attempt.
constexpr milliseconds kPatienceForWriters{200};
constexpr milliseconds kPauseForWriters{100};

}  // namespace

ShardCaretaker::ShardCaretaker(std::string path, const MoveOptions& options, MoveProgress& progress,
                               DamagedCopies& damaged, NodeLog& log)
    : path_(std::move(path)), options_(options), progress_(progress), damaged_(damaged), log_(log) {}

ShardCaretaker::~ShardCaretaker() = default;

bool ShardCaretaker::Occasion::is_empty() const {
  return !is_uneven && leaving.empty() && std::all_of(standings.begin(), standings.end(), [](const auto& worker) {
    return worker.second == Standing::Stays;
  });
}

void ShardCaretaker::open(ShardAccess& access) {
  if (mover_) return;
  file_ = std::make_unique<DatabaseFile>(path_);
  file_->use_shards({std::shared_ptr<void>(), &access});
  file_->connection().set_busy_timeout(kPatienceForWriters);
  mover_.emplace(*file_);
}

milliseconds ShardCaretaker::step(ShardAccess& access, const std::vector<WorkerStatus>& workers, milliseconds idle) {
  try {
    open(access);
    settle(workers);
    mend();
    const auto now = Clock::now();
    auto occasion = this->occasion(workers);
    if (!is_moving() || seen_ != occasion) {
      const bool has_changed = seen_ != occasion || file_->connection().commits_of_others() != commits_;
      if (!has_changed || now < next_look_) return idle;
      look(workers, std::move(occasion));
    }
    if (is_moving()) {
      if (now >= next_move_) move();
      const auto wait = duration_cast<milliseconds>(next_move_ - Clock::now());
      return std::clamp(wait, milliseconds(0), idle);
    }
    return idle;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::Busy) return std::min(idle, kPauseForWriters);  // nothing has changed
    reset();
    throw;
  } catch (...) {
    reset();
    throw;
  }
}

// The next step begins anew.
void ShardCaretaker::reset() noexcept {
  census_.reset();
  seen_.reset();
  mover_.reset();
  file_.reset();
}

// Whatever is left to be told or dropped, by whichever process: one that has ended leaves it to others. What has just
// come is its session's to settle. A worker is drained once its garbage is gone, too.
void ShardCaretaker::settle(const std::vector<WorkerStatus>& workers) {
  auto unsettled = ShardLog(file_->connection()).unsettled_workers();
  std::erase_if(unsettled, [&](DataId data) {
    return std::none_of(workers.begin(), workers.end(), [data](const WorkerStatus& worker) {
      return worker.data == data && worker.state == WorkerState::Up;
    });
  });
  auto& contents = *ShardedContents::of(file_->connection());
  const bool is_own = contents.is_unsettled();
  const auto before = std::exchange(unsettled_, std::move(unsettled));
  const bool is_left = std::any_of(unsettled_.begin(), unsettled_.end(), [&](DataId data) {
    return std::find(before.begin(), before.end(), data) != before.end();
  });
  if (!is_own && !is_left) return;
  contents.settle();
  if (!contents.is_unsettled() && !is_moving()) seen_.reset();
}

// Again after a while, as a worker with an intact copy may come back.
void ShardCaretaker::mend() {
  auto damaged = damaged_.unread();
  if (damaged.empty() && unmended_.empty()) return;
  if (damaged == unmended_ && Clock::now() < next_mending_) return;
  const auto mended = mover_->mend(damaged);
  for (const auto& [data, content] : mended.unknown) damaged_.forget(data, content);
  progress_.set_unmendable(mended.unmendable);
  next_mending_ = Clock::now() + kPauseAfterFailure;
  const auto before = std::exchange(unmended_, damaged_.unread());
  if (unmended_ == before) return;
  for (const auto& [data, tiles] : mended.unmendable)
    for (const auto& tile : tiles)
      log_.write(NodeLog::Level::Warning, "tile damaged", "", tile + ": no other copy of it is there");
}

TilePlace ShardCaretaker::place_of(const ShardWorker& worker, const std::vector<WorkerStatus>& workers) const {
  TilePlace place{.worker = worker};
  const auto found = std::find_if(workers.begin(), workers.end(),
                                  [&](const WorkerStatus& status) { return status.data == worker.data; });
  if (found == workers.end()) {
    if (Clock::now() - began_ >= options_.missed_after) place.standing = Standing::Missed;
    return place;
  }
  place.is_there = found->state == WorkerState::Up || found->state == WorkerState::Draining;
  place.takes = found->state == WorkerState::Up && !found->is_full();
  place.bytes_free = found->load.bytes_free;
  // One that has not been tried yet is not missed.
  if (!place.is_there && found->state != WorkerState::Joining && found->since >= options_.missed_after)
    place.standing = Standing::Missed;
  return place;
}

// By what workers report, which costs nothing. All contents of a worker count there.
bool ShardCaretaker::is_uneven(const std::vector<WorkerStatus>& workers) const {
  std::int64_t sum = 0;
  std::int64_t count = 0;
  for (const auto& worker : workers) {
    if (worker.state != WorkerState::Up || worker.is_full()) continue;
    sum += worker.load.bytes_stored;
    ++count;
  }
  if (count == 0) return false;
  const auto mean = sum / count;
  return std::any_of(workers.begin(), workers.end(), [&](const WorkerStatus& worker) {
    return worker.state == WorkerState::Up && !worker.is_full() && worker.load.bytes_stored < mean / 2 &&
           mean - worker.load.bytes_stored > options_.least_imbalance;
  });
}

ShardCaretaker::Occasion ShardCaretaker::occasion(const std::vector<WorkerStatus>& workers) {
  Occasion occasion;
  ShardLog log(file_->connection());
  for (const auto& [number, worker] : log.workers())
    occasion.standings[worker.data] = place_of(worker, workers).standing;
  occasion.leaving = log.leaving();
  for (const auto& worker : workers)
    if (worker.state == WorkerState::Up && !worker.is_full()) occasion.taking.push_back(worker.data);
  occasion.is_uneven = is_uneven(workers);
  return occasion;
}

void ShardCaretaker::look(const std::vector<WorkerStatus>& workers, Occasion occasion) {
  const auto began = Clock::now();
  // A change that comes after this is seen the next time.
  commits_ = file_->connection().commits_of_others();
  seen_.reset();
  census_.reset();
  if (occasion.is_empty()) {
    progress_.set({}, {});
  } else {
    std::vector<ShardWorker> taking;
    for (const auto& worker : workers)
      if (worker.state == WorkerState::Up && worker.data != DataId{}) taking.push_back({worker.data, worker.address});
    census_ = mover_->look([&](const ShardWorker& worker) { return place_of(worker, workers); }, taking,
                           options_.least_imbalance);
    done_ = {};
    next_ = 0;
    to_move_.clear();
    for (const auto& [number, tiles] : census_->plan.leaving) to_move_[census_->places.at(number).worker.data] = tiles;
    progress_.set(to_move_, census_->drained);
  }
  seen_ = std::move(occasion);
  next_look_ = Clock::now() + kPartOfLooks * (Clock::now() - began);
}

void ShardCaretaker::move() {
  const auto before = done_;
  const auto bytes = std::min(kRoundBytes, std::max<std::int64_t>(options_.bytes_per_second, 1));
  const auto began = Clock::now();
  const auto moved = mover_->move_some(*census_, next_, bytes, done_);
  for (const auto end = next_ + moved; next_ < end; ++next_) note_moved(census_->plan.moves[next_]);
  progress_.count_moved(done_.tiles - before.tiles, done_.bytes - before.bytes);
  const auto seconds = static_cast<double>(done_.bytes - before.bytes) / static_cast<double>(options_.bytes_per_second);
  next_move_ = began + duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  progress_.set(to_move_, census_->drained);
  if (is_moving()) return;
  log_.write(NodeLog::Level::Info, "tiles moved", "",
             std::to_string(done_.tiles) + " tiles, " + std::to_string(done_.bytes) + " bytes" +
                 (done_.failed == 0 ? "" : "; " + std::to_string(done_.failed) + " could not be moved"));
  file_->settle_shards();
  // Another look finds the tiles that could not be moved, or have changed meanwhile.
  seen_.reset();
  if (done_.failed > 0) next_look_ = std::max(next_look_, Clock::now() + kPauseAfterFailure);
}

void ShardCaretaker::note_moved(const TileMove& move) {
  for (const auto worker : move.removed) {
    const auto found = to_move_.find(census_->places.at(worker).worker.data);
    if (found == to_move_.end()) continue;
    --found->second.tiles;
    found->second.bytes -= static_cast<std::int64_t>(move.tile.reference.bytes);
  }
}

}  // namespace eindb

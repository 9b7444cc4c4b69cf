#include "cluster/take_over.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "common/error.hpp"
#include "storage/files/file_identity.hpp"
#include "storage/shards/shard_log.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"
#include "storage/tiles/shard_census.hpp"

namespace eindb {
namespace {

constexpr std::chrono::seconds kPatience{10};
constexpr int kBlockBits = 32;
constexpr std::size_t kMostNamed = 5;

using Contents = std::set<ContentId>;

// The contents at a worker, and the last epoch of the database that it served.
struct Found {
  WorkerStatus status;
  Contents contents;
};

// Workers that the file does not know, to which tiles may have moved since it was copied.
std::vector<Found> ask_others(Cluster& cluster, ShardLog& log) {
  std::vector<Found> found;
  const auto known = log.workers();
  for (const auto& status : cluster.workers()) {
    const auto is_its = [&](const auto& worker) { return worker.second.data == status.data; };
    if (status.state != WorkerState::Up || std::any_of(known.begin(), known.end(), is_its)) continue;
    const auto contents = cluster.stored_contents(status.data);
    found.push_back({status, {contents.begin(), contents.end()}});
  }
  return found;
}

// Queries the workers that the rows of tensors refer to.
std::map<WorkerNumber, Found> ask_workers(Cluster& cluster, ShardLog& log) {
  std::map<WorkerNumber, Found> found;
  std::string away;
  const auto statuses = cluster.wait_for_workers(kPatience);
  for (const auto& [number, worker] : log.workers()) {
    const auto is_its = [data = worker.data](const auto& status) { return status.data == data; };
    const auto known = std::find_if(statuses.begin(), statuses.end(), is_its);
    if (known == statuses.end() || known->state != WorkerState::Up) {
      away += (away.empty() ? "" : ", ") + worker.address +
              (known == statuses.end() || known->reason.empty() ? "" : " (" + known->reason + ")");
      continue;
    }
    const auto contents = cluster.stored_contents(worker.data);
    found[number] = {*known, {contents.begin(), contents.end()}};
  }
  if (away.empty()) {
    CHECK(found.size() == log.workers().size(), "all workers say what they have before another file takes over");
    return found;
  }
  throw Error(ErrorKind::WorkerLost,
              "to take the place of another file takes all workers, and these are not there: " + away, std::nullopt,
              "start them on their data directories, and name all of them in --workers");
}

// Counts the tiles that no worker has, by tensor, and collects the copies that the file refers to. Tiles that are at
// other workers than the file says have moved since it was copied: contents never change, and their numbers are unique.
class Census {
 public:
  Census(SqliteConnection& connection, const std::map<WorkerNumber, Found>& workers) {
    for_each_reference(connection, [&](const ShardedTile& tile) {
      const auto& reference = tile.reference;
      ++tiles_;
      const auto has = [&](WorkerNumber worker) {
        const auto found = workers.find(worker);
        return found != workers.end() && found->second.contents.contains(reference.content);
      };
      auto moved = tile;
      if (std::none_of(reference.workers.begin(), reference.workers.end(), has)) {
        moved.reference.workers.clear();
        for (const auto& [worker, found] : workers)
          if (has(worker) && moved.reference.workers.size() < TileReference::kMaxWorkers)
            moved.reference.workers.push_back(worker);
        if (moved.reference.workers.empty()) {
          ++missing_[tile.tensor->name];
          return;
        }
        moved_.push_back(moved);
      }
      for (const auto worker : moved.reference.workers) known_[worker].insert(reference.content);
    });
  }

  void require_all(const std::string& path) const {
    if (missing_.empty()) return;
    std::string tensors;
    std::size_t named = 0;
    for (const auto& [tensor, tiles] : missing_) {
      if (named++ == kMostNamed) break;
      tensors += (tensors.empty() ? "" : ", ") + tensor + " (" + std::to_string(tiles) + ")";
    }
    if (missing_.size() > kMostNamed) tensors += " and " + std::to_string(missing_.size() - kMostNamed) + " more";
    throw Error(
        ErrorKind::Conflict,
        path + " is older than what the workers have: they do not have tiles any more of these tensors: " + tensors,
        std::nullopt, "use a later copy of the file; or drop these tensors, without --workers, and take over then");
  }

  // Makes rows refer to where their tiles are.
  void follow(SqliteConnection& connection) const {
    for (const auto& tile : moved_) {
      const auto reference = encode_reference(tile.reference);
      auto update =
          connection.prepare("UPDATE main." + quote_identifier(tile.tensor->table) + " SET tile = ? WHERE tile_id = ?");
      update.bind(1, std::span<const std::byte>(reference)).bind(2, tile.tile_id).run();
    }
  }

  std::int64_t tiles() const { return tiles_; }
  bool refers_to(WorkerNumber worker, ContentId content) const {
    const auto known = known_.find(worker);
    return known != known_.end() && known->second.contains(content);
  }

 private:
  std::int64_t tiles_ = 0;
  std::map<std::string, std::int64_t> missing_;
  std::map<WorkerNumber, Contents> known_;
  std::vector<ShardedTile> moved_;
};

// Makes the workers stop serving the other file. The takeover is already committed; failures here are repaired by
// running it again, or when the file is used.
void tell_workers(Cluster& cluster, ShardLog& log) {
  try {
    cluster.claim(log.database_identity(), log.former_identities());
  } catch (const Error& error) {
    throw Error(error.kind(),
                "the file has taken the other's place, and not all workers know it yet: " + error.message(),
                std::nullopt, "run eindb take-over again");
  }
}

void require_last_state(const std::map<WorkerNumber, Found>& workers, ShardLog& log, const std::string& path) {
  for (const auto& [number, found] : workers)
    if (!log.knows(found.status.epoch))
      throw Error(ErrorKind::Conflict,
                  path + " is older than what the workers have: worker " + found.status.address +
                      " has seen a later state of the database",
                  std::nullopt,
                  "use the coordinator's own file if it is still there, or another standby; eindb take-over takes this "
                  "one as it is, without what was committed later");
}

std::int64_t block_of(ContentId content) { return number(content) >> kBlockBits; }

}  // namespace

TakeOver take_over(Cluster& cluster, DatabaseFile& file, Older older) {
  ShardLog log(file.connection());
  log.create();
  const auto identity = log.database_identity();
  ClusterDatabase database{.identity = identity, .former = log.former_identities()};
  for (const auto& [number, worker] : log.workers()) database.known.push_back(worker);
  cluster.begin(std::move(database));
  auto workers = ask_workers(cluster, log);
  auto others = ask_others(cluster, log);
  SqliteTransaction transaction(file.connection());
  for (auto& other : others)
    workers.emplace(log.number_of({other.status.data, other.status.address}), std::move(other));
  if (older == Older::Refused) require_last_state(workers, log, file.path());
  const Census census(file.connection(), workers);
  census.require_all(file.path());
  census.follow(file.connection());
  TakeOver result{.tiles = census.tiles()};
  ShardEpoch last = log.epoch();
  std::int64_t block = 0;
  for (const auto& [worker, found] : workers) {
    last.number = std::max(last.number, found.status.epoch.number);
    for (const auto content : found.contents) {
      block = std::max(block, block_of(content));
      if (census.refers_to(worker, content)) continue;
      log.discard(worker, content);
      ++result.surplus;
    }
  }
  log.renew_identity(ShardLog::Former::Kept);
  CHECK(log.database_identity() != identity, "a file that takes over is a database of its own");
  log.write_file_identity(file_identity_of(file.path()));
  log.go_on_behind(last.number, block, random_identity());
  transaction.commit();
  tell_workers(cluster, log);
  return result;
}

}  // namespace eindb

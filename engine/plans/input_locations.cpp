#include "engine/plans/input_locations.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "common/check.hpp"
#include "storage/shards/shard_log.hpp"
#include "storage/tiles/stored_references.hpp"
#include "storage/tiles/tile_store.hpp"
#include "tensor/tile_placement.hpp"

namespace eindb {
namespace {

TileHolders all_at(Rank rank, std::int64_t tiles) {
  TileHolders holders;
  holders.add({&rank, 1}, tiles);
  return holders;
}

// To look a row up takes as long as to read about so many one after the other.
constexpr std::size_t kRowsForOneLookup = 10;

std::vector<StoredReference> needed_references(SqliteConnection& connection, const TileStore& store,
                                               const PlannedInput& input) {
  const auto* listed = input.listed();
  const auto tiles = static_cast<std::size_t>(store.grid().tile_count());
  if (listed != nullptr && listed->size() < tiles / kRowsForOneLookup)
    return read_references(connection, store, *listed);
  return read_references(connection, store);
}

std::function<bool(WorkerNumber, ContentId)> damage_known_to(const StoredTensors& stored) {
  CHECK(stored.cluster != nullptr, "copies at workers are those of a cluster");
  return [cluster = stored.cluster, workers = ShardLog(stored.connection).workers()](WorkerNumber worker,
                                                                                     ContentId content) {
    const auto known = workers.find(worker);
    return known != workers.end() && cluster->damaged_copies().contains(known->second.data, content);
  };
}

std::map<WorkerNumber, Rank> ranks_of(const Workers& workers, SqliteConnection& connection) {
  std::map<DataId, Rank> by_data;
  for (std::size_t n = 0; n < workers.size(); ++n) by_data[workers[n].data] = static_cast<Rank>(n);
  std::map<WorkerNumber, Rank> ranks;
  for (const auto& [number, worker] : ShardLog(connection).workers())
    if (const auto known = by_data.find(worker.data); known != by_data.end()) ranks[number] = known->second;
  return ranks;
}

// By the hash FNV-1a, of numbers instead of bytes.
std::uint64_t number_for(std::span<const TileHolders> holders) {
  constexpr std::uint64_t kFnvOffset = 0xcbf29ce484222325;
  constexpr std::uint64_t kFnvPrime = 0x100000001b3;
  auto number = kFnvOffset;
  const auto add = [&](std::uint64_t value) { number = (number ^ value) * kFnvPrime; };
  for (const auto& list : holders) {
    add(list.run_count());
    for (std::size_t n = 0; n < list.run_count(); ++n) {
      const auto run = list.run(n);
      add(static_cast<std::uint64_t>(run.end));
      add(run.ranks.size());
      for (const auto rank : run.ranks) add(rank);
    }
  }
  return number;
}

// Locates the tiles of one tensor at a time.
class Locator {
 public:
  Locator(const StoredTensors& stored, const Workers& workers, InputLocations& out)
      : stored_(stored), workers_(workers), out_(out) {}

  void find(const PlannedInput& input) {
    const auto& tensor = input.tensor();
    const auto coordinator = static_cast<Rank>(workers_.size());
    auto& holders = out_.holders.emplace_back();
    auto& contents = out_.contents.emplace_back();
    if (tensor.attached) {
      const auto& grid = tensor.stored_grid();
      holders = all_at(coordinator, grid.tile_count());
      return;
    }
    const auto info = stored_.catalog.get(tensor.name);
    if (stored_.cluster == nullptr) {
      holders = TilePlacement(info.grid, workers_.size(), 1).all();
      return;
    }
    auto& connection = stored_.connection;
    if (!info.is_sharded()) {
      holders = holders_of_own(connection, info.store(), coordinator);
      return;
    }
    const auto references = needed_references(connection, info.store(), input);
    holders = holders_of(connection, info.store(), references, rules_for(input));
    for (const auto& [tile, reference] : references)
      if (input.needs(tile)) contents.add(tile, reference.content);
  }

 private:
  CopyRules rules_for(const PlannedInput& input) {
    if (!is_damaged_) {
      ranks_ = ranks_of(workers_, stored_.connection);
      is_damaged_ = damage_known_to(stored_);
    }
    CopyRules rules;
    rules.rank_of = [this](WorkerNumber worker) -> std::optional<Rank> {
      const auto known = ranks_.find(worker);
      return known == ranks_.end() ? std::nullopt : std::optional(known->second);
    };
    rules.is_damaged = is_damaged_;
    rules.is_needed = [&input](std::int64_t tile) { return input.needs(tile); };
    return rules;
  }

  const StoredTensors& stored_;
  const Workers& workers_;
  InputLocations& out_;
  std::map<WorkerNumber, Rank> ranks_;                            // filled at the first sharded tensor
  std::function<bool(WorkerNumber, ContentId)> is_damaged_ = {};  // set at the first sharded tensor
};

}  // namespace

void PlannedInput::add(const InputTensor& scanned) {
  CHECK(scanned.name == tensor_.name, "the scans of one list of holders are of one tensor");
  if (!scanned.selection) needed_.reset();
  if (!needed_) return;
  const auto grid = scanned.selection->grid();
  for (std::int64_t tile = 0; tile < grid.tile_count(); ++tile)
    needed_->insert(scanned.selection->stored_tile(grid.key_of(tile)));
}

LocationTerms location_terms(const StoredTensors& stored, const Workers& workers) {
  LocationTerms terms;
  terms.data_version = stored.connection.current_data_version();
  terms.workers.reserve(workers.size());
  for (const auto& worker : workers) terms.workers.push_back(worker.data);
  if (stored.cluster != nullptr) terms.damage_changes = stored.cluster->damaged_copies().changes();
  return terms;
}

InputLocations locate(std::span<const PlannedInput> inputs, const StoredTensors& stored, const Workers& workers,
                      LocationTerms terms) {
  InputLocations out{std::move(terms), {}, 0, {}};
  Locator locator(stored, workers, out);
  for (const auto& input : inputs) locator.find(input);
  out.places = number_for(out.holders);
  CHECK(out.holders.size() == inputs.size() && out.contents.size() == inputs.size(), "every input is located once");
  return out;
}

void mend_copies(std::span<const PlannedInput> inputs, const StoredTensors& stored) {
  auto& connection = stored.connection;
  const auto is_damaged = damage_known_to(stored);
  for (const auto& input : inputs) {
    if (input.tensor().attached) continue;
    const auto info = stored.catalog.get(input.tensor().name);
    if (!info.is_sharded()) continue;
    const auto store = info.store();
    for (const auto& [tile, reference] : read_references(connection, store)) {
      const auto content = reference.content;
      if (std::any_of(reference.workers.begin(), reference.workers.end(),
                      [&](WorkerNumber worker) { return is_damaged(worker, content); }))
        store.mend(connection, tile);
    }
  }
}

}  // namespace eindb

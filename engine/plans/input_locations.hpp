#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "catalog/catalog.hpp"
#include "engine/plans/worker_choices.hpp"
#include "plan/ein_graph.hpp"
#include "storage/shards/content_runs.hpp"
#include "storage/shards/shard_numbers.hpp"
#include "storage/sqlite/sqlite_connection.hpp"
#include "tensor/tile_holders.hpp"

namespace eindb {

/// A tensor that a plan for ranks reads, and the set of tiles that it needs.
class PlannedInput {
 public:
  explicit PlannedInput(InputTensor tensor) : tensor_(std::move(tensor)) {}

  /// Adds another scan of the same tensor, or of a selection from it.
  void add(const InputTensor& scanned);

  const InputTensor& tensor() const { return tensor_; }
  bool needs(std::int64_t tile) const { return !needed_ || needed_->contains(tile); }
  /// The tiles that are needed; null if all are.
  const std::set<std::int64_t>* listed() const { return needed_ ? &*needed_ : nullptr; }

 private:
  InputTensor tensor_;
  std::optional<std::set<std::int64_t>> needed_ = std::set<std::int64_t>{};  // nullopt: all
};

/// The state in which tiles were located. InputLocations depend on it and on the plan.
struct LocationTerms {
  std::uint64_t data_version = 0;   ///< SqliteConnection::current_data_version()
  std::vector<DataId> workers;      ///< by rank; 0: an imagined worker
  std::int64_t damage_changes = 0;  ///< DamagedCopies::changes()

  friend bool operator==(const LocationTerms&, const LocationTerms&) = default;
};

/// The locations of the tiles that a plan reads, by holder list. Immutable and shared.
struct InputLocations {
  LocationTerms terms;
  std::vector<TileHolders> holders;
  std::uint64_t places = 0;  ///< a number for the holders of all inputs: different ones differ in it, but for accidents
  std::vector<ContentRuns> contents;  ///< of the tiles that have holders; empty: no tile is at a worker
};

/// The place where tiles are looked up. Everything it refers to must outlive it.
struct StoredTensors {
  SqliteConnection& connection;
  Catalog& catalog;
  const Cluster* cluster;  ///< null: for plans without a cluster; stored tensors count as sharded over imagined workers
};

LocationTerms location_terms(const StoredTensors& stored, const Workers& workers);

/// Locates the tiles. Error{WorkerLost} names a tile that is read and that none of the workers has.
InputLocations locate(std::span<const PlannedInput> inputs, const StoredTensors& stored, const Workers& workers,
                      LocationTerms terms);

/// Repairs the damaged copies of the inputs' tiles from intact copies, as far as there are any. A copy that another
/// transaction drops meanwhile stays: this statement reads a state that contains it.
void mend_copies(std::span<const PlannedInput> inputs, const StoredTensors& stored);

}  // namespace eindb

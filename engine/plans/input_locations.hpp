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
#include "storage/shards/shard_numbers.hpp"
#include "storage/sqlite/sqlite_connection.hpp"
#include "tensor/tile_holders.hpp"

namespace eindb {

/// A tensor that a plan for ranks reads, and which of its tiles.
class PlannedInput {
 public:
  explicit PlannedInput(InputTensor tensor) : tensor_(std::move(tensor)) {}

  /// Another scan of the same tensor, or of a selection from it.
  void add(const InputTensor& scanned);

  const InputTensor& tensor() const { return tensor_; }
  bool needs(std::int64_t tile) const { return !needed_ || needed_->contains(tile); }
  /// How many tiles are listed: none where all are needed.
  std::size_t listed() const { return needed_ ? needed_->size() : 0; }

 private:
  InputTensor tensor_;
  std::optional<std::set<std::int64_t>> needed_ = std::set<std::int64_t>{};  // nullopt: all
};

/// The state in which tiles were looked for: what InputLocations depend on beside the plan.
struct LocationTerms {
  std::uint64_t data_version = 0;   ///< SqliteConnection::current_data_version()
  std::vector<DataId> workers;      ///< by rank; 0: imagined ones
  std::int64_t damage_changes = 0;  ///< DamagedCopies::changes()

  friend bool operator==(const LocationTerms&, const LocationTerms&) = default;
};

/// Where the tiles lie that a plan reads, by holder list. Immutable and shared.
struct InputLocations {
  LocationTerms terms;
  std::vector<TileHolders> holders;
  std::vector<std::vector<ContentId>> contents;  ///< of tiles at workers, by tile; empty: none is there
};

/// Where tiles are looked for. All that it refers to outlives it.
struct StoredTensors {
  SqliteConnection& connection;
  Catalog& catalog;
  const Cluster* cluster;  ///< null: stored tensors are taken to lie at workers that are not there
};

LocationTerms location_terms(const StoredTensors& stored, const Workers& workers);

/// Looks where the tiles lie. Error{WorkerLost} names a tile that is read and that none of the workers has.
InputLocations locate(std::span<const PlannedInput> inputs, const StoredTensors& stored, const Workers& workers,
                      LocationTerms terms);

/// Writes those copies of what is read that were found damaged anew from others, as far as there are any. What is
/// dropped by others meanwhile stays where it is: the statement reads a state in which it is there.
void mend_copies(std::span<const PlannedInput> inputs, const StoredTensors& stored);

}  // namespace eindb

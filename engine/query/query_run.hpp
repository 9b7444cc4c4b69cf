#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/plans/planned_query.hpp"
#include "engine/query/query_admission.hpp"
#include "engine/query/replanning.hpp"
#include "engine/session/session_state.hpp"
#include "engine/tensors/tile_endpoints.hpp"
#include "executor/execution_context.hpp"
#include "executor/execution_profile.hpp"
#include "storage/tiles/read_snapshot.hpp"

namespace eindb {

/// Frees memory for a query: first tiles of the cache, which can be read again, then unwritten tiles.
class KeptTiles final : public TileKeeper {
 public:
  KeptTiles(TileCache& cache, UnwrittenTensors& unwritten, MemoryBudget& memory)
      : cache_(cache), unwritten_(unwritten), memory_(memory) {
    memory_.set_keeper(this);
  }
  ~KeptTiles() override { memory_.set_keeper(&cache_); }
  KeptTiles(const KeptTiles&) = delete;
  KeptTiles& operator=(const KeptTiles&) = delete;

  std::int64_t idle_bytes() const override { return cache_.idle_bytes() + unwritten_.idle_bytes(); }
  std::int64_t evict(std::int64_t bytes) override {
    const auto freed = cache_.evict(bytes);
    return freed > 0 ? freed : unwritten_.evict(bytes);
  }

 private:
  TileCache& cache_;
  UnwrittenTensors& unwritten_;
  MemoryBudget& memory_;
};

/// The resources of one running query: its turn, its memory, and its source of stored tiles. Lives on the session's
/// thread, as long as the query runs.
class QueryRun {
 public:
  /// Waits for the query's turn, where sessions share the machine; `need` is asked then. Errors as
  /// AdmissionGate::admit.
  QueryRun(const PlannedQuery& planned, SessionState& session, ReadSnapshot& snapshot,
           const std::function<QueryNeed()>& need);
  QueryRun(const QueryRun&) = delete;
  QueryRun& operator=(const QueryRun&) = delete;

  ExecutionContext& context() { return context_; }
  /// Brings all tiles at workers that the query reads, for one that runs here as it is small.
  void bring_tiles(const PlannedQuery& planned);
  /// The result is there.
  void end() { admission_->has_run(*memory_); }

 private:
  QueryRun(const PlannedQuery& planned, SessionState& session, ReadSnapshot& snapshot,
           const std::function<QueryNeed()>& need, std::uint64_t version);

  std::shared_ptr<QueryAdmission> admission_;
  std::shared_ptr<MemoryBudget> memory_;
  TileCache::Statement cached_;
  KeptTiles kept_;
  StoredTiles stored_;
  AttachedTiles source_;
  ExecutionContext context_;
};

/// The measurements of a plan for one rank.
struct LocalRun {
  ExecutionProfile profile;  ///< up to the checkpoint at which the rest was planned again, if one was
  std::shared_ptr<const PlannedAgain> again = nullptr;  ///< null: it ran as planned
};

/// Runs a plan for one rank in this process, and what is planned again at its checkpoints. A plan that was not made for
/// the memory limit may still fit, since absent tiles take no memory. If it does not, Error{MemoryLimit} names the
/// least memory that suffices.
LocalRun execute_here(const PlannedQuery& planned, SessionState& session, ExecutionContext& context,
                      std::span<TileSink* const> sinks);

}  // namespace eindb

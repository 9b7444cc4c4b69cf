#pragma once

#include <memory>
#include <vector>

#include "engine/plans/planned_query.hpp"
#include "engine/session/session_state.hpp"
#include "executor/result_tiles.hpp"
#include "parser/binder/bound_region.hpp"

namespace eindb {

/// Writes values of an update over the cells of its regions, inside the caller's SqliteTransaction. Only the tiles of a
/// tensor that have such cells are read and written. Used by the session's thread; destroyed before the commit.
class RegionWriter {
 public:
  /// `tiles`: of each result of the query that has run. The arguments must outlive the object.
  RegionWriter(const PlannedQuery& planned, const std::vector<std::shared_ptr<ResultTiles>>& tiles,
               SessionState& session)
      : planned_(planned), tiles_(tiles), session_(session) {}

  /// Error{Value} names the cell for an index outside of the tensor, and for a second value of one cell where they are
  /// not added.
  void write(const BoundRegion& region, const StoredResult& result) const;

 private:
  const PlannedQuery& planned_;
  const std::vector<std::shared_ptr<ResultTiles>>& tiles_;
  SessionState& session_;
};

}  // namespace eindb

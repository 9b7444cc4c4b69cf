#pragma once

namespace eindb {

/// The predicted seconds of a query in this process and at the workers of a cluster, and where it therefore runs.
struct PlaceChoice {
  bool here = false;
  double seconds_here = 0;        ///< to fetch the tiles that lie at workers, and to compute
  double seconds_at_workers = 0;  ///< at least: an exchange with all of them, and an equal share of the work for each
};

}  // namespace eindb

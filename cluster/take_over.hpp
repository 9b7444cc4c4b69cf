#pragma once

#include <cstdint>

#include "cluster/cluster.hpp"
#include "storage/tiles/database_file.hpp"

namespace eindb {

/// The outcome of a takeover.
struct TakeOver {
  std::int64_t tiles = 0;    ///< that the file refers to, all of which are there
  std::int64_t surplus = 0;  ///< copies at workers that it knows nothing of, to be removed
};

/// Makes a copy of a database's file the database, in the place of the one that workers serve now, which is refused
/// from then on:
///
///     all workers join --> each says what it has --> every tile that the file refers to is there
///         --> one transaction: a new identity, beside the former; numbers and epochs behind those of the other file;
///             what the other has made since is garbage
///     (workers change over when the file, with both identities, comes to them next)
///
/// Nothing has changed, in the file or at workers, if it throws: Error{WorkerLost} names workers that are not there,
/// Error{Conflict} tensors that have tiles which no worker has. `cluster` has not begun, and is of no use afterwards.
TakeOver take_over(Cluster& cluster, DatabaseFile& file);

}  // namespace eindb

#pragma once

#include <cstdint>

#include "cluster/cluster.hpp"
#include "storage/tiles/database_file.hpp"

namespace eindb {

/// The outcome of a takeover.
struct TakeOver {
  std::int64_t tiles = 0;    ///< tiles that the file refers to, all of them at workers
  std::int64_t surplus = 0;  ///< copies at workers without a reference in the file, to be removed
};

/// Makes a copy of a database's file the database, in place of the file that the workers serve now, which they refuse
/// afterwards:
///
///     all workers join --> each says what it has --> every tile that the file refers to is there
///         --> one transaction: a new identity, beside the former; numbers and epochs behind those of the other file;
///             what the other has made since is garbage
///     (workers change over when the file, with both identities, comes to them next)
///
/// A file that does not know the last epoch of a worker is an older state than what was committed; `older` says whether
/// it is taken.
///
/// If it throws, neither the file nor a worker has changed: Error{WorkerLost} names missing workers, Error{Conflict}
/// names tensors with tiles that no worker has, or a
/// worker that has seen more. `cluster` must not have begun, and is unusable afterwards.
enum class Older : std::uint8_t { Taken, Refused };
TakeOver take_over(Cluster& cluster, DatabaseFile& file, Older older = Older::Taken);

}  // namespace eindb

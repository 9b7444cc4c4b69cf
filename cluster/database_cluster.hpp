#pragma once

#include "cluster/cluster.hpp"
#include "storage/tiles/database_file.hpp"

namespace eindb {

/// Starts the cluster for the database, which must already use its shards (DatabaseFile::use_shards), with the
/// identity, the workers and the transactions recorded in the file. Later calls, by further sessions, do nothing. Call
/// in the thread of the file's connection.
void begin_cluster(Cluster& cluster, DatabaseFile& file);

}  // namespace eindb

#pragma once

#include "cluster/cluster.hpp"
#include "storage/tiles/database_file.hpp"

namespace eindb {

/// Lets the cluster begin for the database, which already uses its shards (DatabaseFile::use_shards): with the
/// identity, the workers and the transactions that the file knows. Later calls, of further sessions, do nothing. In the
/// thread of the file's connection.
void begin_cluster(Cluster& cluster, DatabaseFile& file);

}  // namespace eindb

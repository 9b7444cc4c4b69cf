#pragma once

#include "cluster/mpi_transport.hpp"
#include "cluster/node_log.hpp"
#include "cluster/worker_node.hpp"

namespace eindb {

/// What the ranks of workers do: serve the coordinator until it leaves. The subject of its channels is the folder of a
/// database's tiles, in which each rank has a directory of its own, "rank-1" and so on; with another subject the rank
/// is a worker of another database. Without one, tiles lie in a temporary directory, which is gone at the end. The
/// coordinator gets to know what is wrong with a directory.
void run_mpi_worker(MpiTransport& transport, const WorkerOptions& options, NodeLog& log);

}  // namespace eindb

#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "server/monitoring/server_log.hpp"
#include "shell/node_trust.hpp"

namespace eindb {

/// `eindb worker --listen HOST:PORT --data DIR ...`.
struct WorkerCommand {
  std::string listen = "127.0.0.1:7700";
  std::string data;  ///< directory of its tiles
  NodeTrust trust;
  std::string memory_limit;  ///< of all statements, as in "2GB" or "40%"; empty: determined by the machine
  std::string disk_limit;    ///< for its data, as in "500GB"; empty: the size of the disk
  std::string http;          ///< ADDRESS:PORT of /health and /metrics; empty: none
  bool http_allow_remote = false;
  /// A disk without an answer for this long counts as hanging.
  std::chrono::milliseconds disk_timeout = std::chrono::seconds(3);
  std::int64_t scrub_rate = std::int64_t{4} << 20U;  ///< bytes of tiles that are verified in a second; 0: none
  int threads = 0;                                   ///< most threads of a statement; 0: one per core
  bool tcp_only = false;                             ///< no sockets of the host between nodes of one
  LogOptions log;
};

/// The bytes in "2GB", or in "40%" of the memory of the machine or the control group; empty: four fifths of it, as for
/// a server. Error{Value} if it is not a size, or too small for a worker.
std::int64_t worker_memory(const std::string& size);

/// Serves coordinators until a signal or a coordinator asks the worker to leave. Running statements are finished, or
/// ended by a second signal. Throws Error.
void run_worker(const WorkerCommand& command);

}  // namespace eindb

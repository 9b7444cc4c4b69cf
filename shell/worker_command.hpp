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
  std::string memory_limit;  ///< of all statements, as in "2GB" or "40%"; empty: by the machine
  std::string disk_limit;    ///< that its data may take, as in "500GB"; empty: the disk's
  std::string http;          ///< ADDRESS:PORT of /health and /metrics; empty: none
  bool http_allow_remote = false;
  std::chrono::milliseconds disk_timeout = std::chrono::seconds(3);  ///< a disk that is silent for so long hangs
  int threads = 0;                                                   ///< that a statement may use; 0: the cores
  LogOptions log;
};

/// Bytes of "2GB", or of "40%" of what the machine or the control group has; empty: four fifths of that, as a server
/// takes. Error{Value} if it is no size, or too small for a worker.
std::int64_t worker_memory(const std::string& size);

/// Serves coordinators until a signal, or one of them, asks to leave: then statements that run are finished, or ended
/// by a second signal. Throws Error.
void run_worker(const WorkerCommand& command);

}  // namespace eindb

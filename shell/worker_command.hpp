#pragma once

#include <cstdint>
#include <string>

#include "cluster/tcp_node.hpp"
#include "server/server_log.hpp"

namespace eindb {

/// `eindb worker --listen HOST:PORT --data DIR ...`.
struct WorkerCommand {
  std::string listen = "127.0.0.1:7700";
  std::string data;          ///< directory of its tiles
  std::string secret_file;   ///< empty: none
  TlsOptions tls;            ///< without a certificate: in the clear
  std::string memory_limit;  ///< of all statements, as in "2GB"; empty: by the machine
  int threads = 0;           ///< that a statement may use; 0: the cores
  LogOptions log;
};

/// Bytes of "2GB"; empty: four fifths of the machine's, as a server takes. Error{Value} if it is no size, or too small
/// for a worker.
std::int64_t worker_memory(const std::string& size);

/// Serves coordinators until a signal, or one of them, asks to leave: then statements that run are finished, or ended
/// by a second signal. Throws Error.
void run_worker(const WorkerCommand& command);

}  // namespace eindb

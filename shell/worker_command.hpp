#pragma once

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

/// Serves coordinators until a signal, or one of them, asks to leave: then statements that run are finished, or ended
/// by a second signal. Throws Error.
void run_worker(const WorkerCommand& command);

}  // namespace eindb

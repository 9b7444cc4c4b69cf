#include "shell/mpi_command.hpp"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <thread>

#include "cluster/mpi_transport.hpp"
#include "cluster/mpi_worker.hpp"
#include "server/monitoring/server_log.hpp"
#include "shell/server_node_log.hpp"
#include "shell/worker_command.hpp"

namespace eindb {
namespace {

// The default is this process's cores divided by the number of ranks on this machine.
int threads_of(const MpiCommand& command, const MpiWorld& world) {
  if (command.threads > 0) return command.threads;
  const auto cores = static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  const auto own = std::min<std::size_t>(std::thread::hardware_concurrency(), cores / world.ranks_here());
  return static_cast<int>(std::max<std::size_t>(own, 1));
}

WorkerOptions worker_options(const MpiCommand& command, const MpiWorld& world) {
  const auto memory = worker_memory(command.memory_limit);
  const auto ranks = command.memory_limit.empty() ? static_cast<std::int64_t>(world.ranks_here()) : 1;
  return {.program = EINDB_VERSION,
          .threads = static_cast<std::uint32_t>(threads_of(command, world)),
          .memory_limit = std::max(memory / ranks, MemoryShares::kLeast),
          .scratch_directory = {}};
}

std::string folder_of_workers(const MpiCommand& command, const std::string& database) {
  if (!command.data.empty() || database == ":memory:") return command.data;
  return database + ".workers";
}

int run_coordinator(MpiTransport& transport, const MpiCommand& command, NodeLog& log,
                    const std::function<int(const MpiSetting&)>& program) {
  const auto& world = transport.world();
  MpiSetting setting{nullptr, threads_of(command, world)};
  if (world.size() > 1)
    setting.cluster = std::make_shared<Cluster>(transport.cluster_options(), transport, transport, log);
  return program(setting);
}

}  // namespace

int run_in_mpi(const MpiCommand& command, const std::string& database,
               const std::function<int(const MpiSetting&)>& program) {
  LogOptions log_options;
  log_options.level = LogLevel::Warning;
  ServerLog log(log_options);
  ServerNodeLog node_log(log);
  int status = 0;
  std::exception_ptr error;
  {
    const auto world = load_mpi_world();
    // The exception is reported first, since destroying the world by an exception ends the job at once.
    try {
      MpiTransport transport(*world);
      transport.set_subject(folder_of_workers(command, database));
      if (transport.is_coordinator()) status = run_coordinator(transport, command, node_log, program);
      else run_mpi_worker(transport, worker_options(command, *world), node_log);
    } catch (...) {
      error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
  return status;
}

}  // namespace eindb

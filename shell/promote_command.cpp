#include "shell/promote_command.hpp"

#include "cluster/promote.hpp"
#include "common/error.hpp"
#include "shell/take_over_command.hpp"

namespace eindb {

void run_promote(const std::string& directory, const std::string& database, const ClusterCommand& workers) {
  if (workers.workers.empty())
    throw Error(ErrorKind::Value, "to take the place of the lost file takes the workers that have its tiles",
                std::nullopt, "name all of them: --workers HOST:PORT,...");
  LogOptions log;
  log.level = LogLevel::Warning;
  CommandCluster cluster(workers, log);
  print_take_over(database, promote(*cluster.cluster(), directory, database));
}

}  // namespace eindb

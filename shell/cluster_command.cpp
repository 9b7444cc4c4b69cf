#include "shell/cluster_command.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "common/error.hpp"

namespace eindb {
namespace {

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> items;
  for (std::size_t begin = 0; begin <= list.size();) {
    const auto end = std::min(list.find(',', begin), list.size());
    items.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return items;
}

std::vector<std::string> addresses_in(const std::string& list) {
  if (list.empty()) return {};
  auto workers = split(list);
  for (const auto& worker : workers)
    if (const auto colon = worker.rfind(':'); colon == std::string::npos || colon == 0 || colon + 1 == worker.size())
      throw Error(ErrorKind::Value, "'" + worker + "' is no address of a worker", std::nullopt,
                  "write them as in --workers 10.0.0.1:7700,10.0.0.2:7700");
  return workers;
}

}  // namespace

CommandCluster::CommandCluster(const ClusterCommand& command, const LogOptions& log)
    : log_(log),
      node_log_(log_),
      tcp_({addresses_in(command.workers), command.trust.secret_file, tls_of(command.trust, "--cluster-tls"),
            command.heartbeat, command.moves, !command.tcp_only, addresses_in(command.standbys)},
           node_log_) {}

}  // namespace eindb

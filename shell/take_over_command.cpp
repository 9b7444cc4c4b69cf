#include "shell/take_over_command.hpp"

#include <cinttypes>
#include <cstdio>
#include <filesystem>

#include "common/error.hpp"

namespace eindb {

void print_take_over(const std::string& database, const TakeOver& result) {
  std::printf("%s is the database of these workers now: they have all of its %" PRId64 " tiles\n", database.c_str(),
              result.tiles);
  if (result.surplus > 0)
    std::printf("%" PRId64 " copies of tiles that it does not know are removed when it is used next\n", result.surplus);
}

void run_take_over(const std::string& database, const ClusterCommand& workers) {
  if (workers.workers.empty())
    throw Error(ErrorKind::Value, "to take the place of another file takes the workers that have its tiles",
                std::nullopt, "name all of them: --workers HOST:PORT,...");
  if (!std::filesystem::is_regular_file(database))
    throw Error(ErrorKind::Io, "there is no database " + database, std::nullopt, "give the path of the copy");
  LogOptions log;
  log.level = LogLevel::Warning;
  CommandCluster cluster(workers, log);
  DatabaseFile file(database);
  print_take_over(database, take_over(*cluster.cluster(), file));
}

}  // namespace eindb

#include "shell/promote_command.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <vector>

#include "cluster/take_over.hpp"
#include "common/error.hpp"
#include "storage/worker_file/standby_copy.hpp"

namespace eindb {
namespace {

namespace fs = std::filesystem;

// A worker of several databases has a directory for each further one.
std::string copy_in(const std::string& directory) {
  std::vector<std::string> found;
  const auto look_in = [&](const fs::path& folder) {
    if (const auto path = (folder / kStandbyFolder).string(); StandbyCopy::is_in(path)) found.push_back(path);
  };
  look_in(directory);
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(fs::path(directory) / "databases", ignored)) look_in(entry.path());
  if (found.empty()) return (fs::path(directory) / kStandbyFolder).string();
  if (found.size() == 1) return found.front();
  std::sort(found.begin(), found.end());
  std::string list;
  for (const auto& path : found) list += (list.empty() ? "" : ", ") + fs::path(path).parent_path().string();
  throw Error(ErrorKind::Value, "this worker keeps copies of several databases' files", std::nullopt,
              "name the directory of one: " + list);
}

void remove_database(const std::string& path) {
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(path + suffix, ignored);
}

}  // namespace

void run_promote(const std::string& directory, const std::string& database, const ClusterCommand& workers) {
  if (workers.workers.empty())
    throw Error(ErrorKind::Value, "to take the place of the lost file takes the workers that have its tiles",
                std::nullopt, "name all of them: --workers HOST:PORT,...");
  const auto copy = copy_in(directory);
  LogOptions log;
  log.level = LogLevel::Warning;
  CommandCluster cluster(workers, log);
  StandbyCopy::take(copy, database);
  TakeOver result;
  try {
    DatabaseFile file(database);
    result = take_over(*cluster.cluster(), file, Older::Refused);
  } catch (...) {
    remove_database(database);
    throw;
  }
  std::printf("%s is the database of these workers now: they have all of its %" PRId64 " tiles\n", database.c_str(),
              result.tiles);
  if (result.surplus > 0)
    std::printf("%" PRId64 " copies of tiles that it does not know are removed when it is used next\n", result.surplus);
}

}  // namespace eindb

#include "cluster/promote.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

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

TakeOver promote(Cluster& cluster, const std::string& directory, const std::string& database) {
  StandbyCopy::take(copy_in(directory), database);
  try {
    DatabaseFile file(database);
    return take_over(cluster, file, Older::Refused);
  } catch (...) {
    remove_database(database);
    throw;
  }
}

}  // namespace eindb

#include "common/machine_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <limits>
#include <sstream>

#include "common/file_stream.hpp"

namespace eindb {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGroups = "/proc/self/cgroup";
constexpr const char* kGroupsMount = "/sys/fs/cgroup";
constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

// "max", malformed text and a missing file mean no limit. Version 1 uses a number beyond all memory for that.
std::int64_t limit_in(const fs::path& path) {
  FileStream file(path);
  std::string text;
  file >> text;
  std::int64_t limit = 0;
  const auto* const end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, limit);
  return error == std::errc() && parsed == end && limit > 0 ? limit : kNoLimit;
}

// The smallest limit of the group and its ancestors. In a container the group's path may be the host's, while the mount
// is the group itself.
std::int64_t least_limit(const fs::path& root, const fs::path& group, const char* file) {
  auto least = limit_in(root / file);
  auto inner = root;
  for (const auto& part : group.relative_path()) {
    inner /= part;
    least = std::min(least, limit_in(inner / file));
  }
  return least;
}

std::int64_t machine_memory() { return std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE); }

std::string text_of(const char* path) {
  FileStream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool has_memory(const std::string& controllers) {
  return ("," + controllers + ",").find(",memory,") != std::string::npos;
}

}  // namespace

std::int64_t group_memory_limit(const std::string& groups, const std::string& mount) {
  FileStream file(groups);
  auto least = kNoLimit;
  for (std::string line; std::getline(file, line);) {  // "0::/system.slice/eindb.service", "9:memory:/docker/1f"
    std::istringstream fields(line);
    std::string number;
    std::string controllers;
    std::string group;
    if (!std::getline(fields, number, ':') || !std::getline(fields, controllers, ':') || !std::getline(fields, group))
      continue;
    if (controllers.empty())
      least = std::min({least, least_limit(mount, group, "memory.max"), least_limit(mount, group, "memory.high")});
    else if (has_memory(controllers))
      least = std::min(least, least_limit(fs::path(mount) / "memory", group, "memory.limit_in_bytes"));
  }
  return least;
}

std::int64_t available_memory() { return std::min(machine_memory(), group_memory_limit(kGroups, kGroupsMount)); }

// In containers with group namespaces all groups have the same name.
std::string memory_pool() {
  auto pool = text_of("/proc/sys/kernel/random/boot_id");
  if (group_memory_limit(kGroups, kGroupsMount) >= machine_memory()) return pool;
  std::error_code unknown;
  return pool + fs::read_symlink("/proc/self/ns/cgroup", unknown).string() + " " + text_of(kGroups);
}

}  // namespace eindb

#include "common/open_databases.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <mutex>
#include <new>
#include <vector>

#include "common/error.hpp"
#include "common/open_file.hpp"

namespace eindb {
namespace {

namespace fs = std::filesystem;

/// Suffixes of the files that SQLite creates beside a database.
constexpr std::array<const char*, 3> kSuffixes{"-wal", "-shm", "-journal"};

struct FileId {
  dev_t device = 0;
  ino_t inode = 0;
  friend bool operator==(const FileId&, const FileId&) = default;
};

FileId id_of(const struct stat& status) { return {.device = status.st_dev, .inode = status.st_ino}; }

/// Empty if there is no such file.
std::vector<FileId> ids_at(int directory, const std::string& path) {
  struct stat status {};
  if (::fstatat(directory, path.c_str(), &status, 0) != 0) return {};
  return {id_of(status)};
}

struct Database {
  std::string path;
  FileId id;
  std::vector<const void*> connections;
  std::vector<int> kept;  // descriptors to be closed after the last connection

  bool has_beside(const FileId& file) const {
    return std::any_of(kSuffixes.begin(), kSuffixes.end(), [&](const char* suffix) {
      const auto found = ids_at(AT_FDCWD, path + suffix);
      return !found.empty() && found.front() == file;
    });
  }
  bool has(const FileId& file) const { return file == id || has_beside(file); }
  /// Whether `name` is the path of one of its files, existing or not.
  bool has_name(int directory, const std::string& name) const {
    const auto file = fs::path(name).filename().string();
    const auto own = fs::path(path);
    if (!file.starts_with(own.filename().string())) return false;
    const auto rest = file.substr(own.filename().string().size());
    if (std::find(kSuffixes.begin(), kSuffixes.end(), rest) == kSuffixes.end()) return false;
    const auto parent = fs::path(name).parent_path().string();
    const auto ids = ids_at(directory, parent.empty() ? "." : parent);
    return !ids.empty() && ids == ids_at(AT_FDCWD, own.parent_path().string());
  }
};

struct Databases {
  std::mutex mutex;  // guards the members below
  std::vector<Database> open;

  Database* find(const FileId& file) {
    const auto found = std::find_if(open.begin(), open.end(), [&](const Database& each) { return each.has(file); });
    return found == open.end() ? nullptr : &*found;
  }
};

/// Never destroyed, since connections may be closed by later destructors. In static memory, since connections are also
/// closed when no memory is left.
Databases& databases() {
  alignas(Databases) static std::array<std::byte, sizeof(Databases)> room;
  static auto& all = *new (room.data()) Databases;
  return all;
}

[[noreturn]] void refuse(const std::string& what, const std::string& database) {
  throw Error(ErrorKind::Permission, what + ": it belongs to the database " + database + ", which is open here",
              std::nullopt, "name another file; VACUUM INTO 'FILE' makes a copy of a database");
}

/// The path of the open database that the file belongs to; empty if there is none.
std::string owner_of(int directory, const std::string& path) {
  const auto ids = ids_at(directory, path);
  auto& all = databases();
  const std::lock_guard lock(all.mutex);
  for (const auto& each : all.open)
    if ((!ids.empty() && each.has(ids.front())) || each.has_name(directory, path)) return each.path;
  return {};
}

}  // namespace

void database_opened(const void* connection, const std::string& path) {
  const auto ids = path.empty() ? std::vector<FileId>() : ids_at(AT_FDCWD, path);
  if (ids.empty()) return;
  auto& all = databases();
  const std::lock_guard lock(all.mutex);
  const auto known = std::find_if(all.open.begin(), all.open.end(),
                                  [&](const Database& each) { return each.path == path && each.id == ids.front(); });
  if (known != all.open.end()) known->connections.push_back(connection);
  else all.open.push_back({.path = path, .id = ids.front(), .connections = {connection}, .kept = {}});
}

void database_closed(const void* connection) noexcept {
  std::vector<int> kept;
  auto& all = databases();
  {
    const std::lock_guard lock(all.mutex);
    for (auto each = all.open.begin(); each != all.open.end(); ++each) {
      if (std::erase(each->connections, connection) == 0) continue;
      if (!each->connections.empty()) return;
      kept.swap(each->kept);
      all.open.erase(each);
      break;
    }
  }
  for (const int descriptor : kept) close_file(descriptor);
}

bool is_of_open_database(int directory, const std::string& path) { return !owner_of(directory, path).empty(); }

void refuse_open_database(int directory, const std::string& path, const std::string& what) {
  if (const auto owner = owner_of(directory, path); !owner.empty()) refuse(what, owner);
}

void refuse_as_database(const std::string& path) {
  std::error_code error;
  const auto name = fs::weakly_canonical(path, error);
  const auto ids = ids_at(AT_FDCWD, path);
  auto& all = databases();
  const std::lock_guard lock(all.mutex);
  for (const auto& each : all.open) {
    if (each.has_name(AT_FDCWD, path) || (!ids.empty() && each.has_beside(ids.front())))
      refuse("cannot open " + path, each.path);
    if (!error && !ids.empty() && each.id == ids.front() && name != each.path) {
      throw Error(ErrorKind::Permission,
                  "cannot open " + path + ": the same database is open here by another name, " + each.path,
                  std::nullopt, "use one name for it: the log of a database lies beside it, by its name");
    }
  }
}

// ---- Files ---------------------------------------------------------------------------------------------------------

bool close_file(int descriptor) noexcept {
  struct stat status {};
  // A file without a name is not a database, and no other process can open it to make it one.
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink == 0)
    return ::close(descriptor) == 0;
  auto& all = databases();
  const std::lock_guard lock(all.mutex);  // held while closing, so that nobody locks the file in between
  try {
    if (auto* owner = all.find(id_of(status))) {
      owner->kept.push_back(descriptor);
      return true;
    }
  } catch (...) {
    return true;  // no memory to decide, so it stays open
  }
  return ::close(descriptor) == 0;
}

int open_file(int directory, const std::string& path, int flags, mode_t mode) {
  const auto what = "cannot open " + path;
  refuse_open_database(directory, path, what);
  const int file = ::openat(directory, path.c_str(), flags | O_CLOEXEC, mode);
  struct stat status {};
  // A file created by this call is not a database. The checks below may throw, which would leave it behind.
  if (file < 0 || (flags & O_EXCL) != 0) return file;
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink == 0) return file;
  // Another path may have become this file in the meantime.
  auto& all = databases();
  const std::lock_guard lock(all.mutex);
  auto* owner = all.find(id_of(status));
  if (owner == nullptr) return file;
  owner->kept.push_back(file);
  refuse(what, owner->path);
}

}  // namespace eindb

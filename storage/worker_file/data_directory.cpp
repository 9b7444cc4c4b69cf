#include "storage/worker_file/data_directory.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "common/error.hpp"
#include "common/open_databases.hpp"
#include "common/open_file.hpp"

namespace eindb {

namespace fs = std::filesystem;

FileDescriptor lock_data_directory(const std::string& directory) {
  refuse_open_database(AT_FDCWD, directory, "cannot use " + directory + " for data");
  std::error_code error;
  fs::create_directory(directory, error);
  std::error_code unknown;
  if (const bool found = fs::is_directory(directory, unknown); !found) {
    if (unknown) error = unknown;
    throw Error(ErrorKind::Io, "cannot use " + directory + " for data: " + error.message(), std::nullopt,
                "give a directory, or a new one inside a directory that is there");
  }
  const auto path = directory + "/lock";
  FileDescriptor file(open_file(path, O_RDWR | O_CREAT, 0600));
  if (!file) throw Error(ErrorKind::Io, "cannot open " + path + ": " + std::strerror(errno));
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0)
    throw Error(ErrorKind::Busy, directory + " belongs to another worker that runs", std::nullopt,
                "each worker has a data directory of its own");
  return file;
}

std::int64_t file_bytes(const std::string& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  return error ? 0 : static_cast<std::int64_t>(size);
}

std::int64_t data_bytes(const std::string& directory) {
  std::int64_t bytes = 0;
  for (const char* file : {"/shard.db", "/shard.db-wal", "/shard.db-shm", "/reserve"})
    bytes += file_bytes(directory + file);
  return bytes;
}

std::int64_t shared_data_bytes(const std::string& folder) {
  auto bytes = data_bytes(fs::path(folder).parent_path().string());
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) bytes += data_bytes(entry.path().string());
  return bytes;
}

}  // namespace eindb

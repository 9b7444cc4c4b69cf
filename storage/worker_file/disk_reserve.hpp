#pragma once

#include <cstdint>
#include <string>

namespace eindb {

/// Room on a disk that is kept by a file of no content, for what has to be possible when there is no other: to remove
/// something takes room, too. Not thread-safe.
class DiskReserve {
 public:
  DiskReserve(std::string path, std::int64_t bytes) : path_(std::move(path)), bytes_(bytes) {}

  /// Whether the file is there, as it may be from an earlier process.
  bool is_held() const noexcept;
  /// Makes it. False if the disk has no room for it.
  bool hold() noexcept;
  /// Removes it.
  void release() noexcept;

 private:
  const std::string path_;
  const std::int64_t bytes_;
};

/// What a process without privileges can still write on the disk of this directory; 0 if that cannot be told.
std::int64_t free_disk_bytes(const std::string& directory) noexcept;

}  // namespace eindb

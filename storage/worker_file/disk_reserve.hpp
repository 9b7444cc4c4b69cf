#pragma once

#include <cstdint>
#include <string>

namespace eindb {

/// Disk space reserved by an empty file, for operations that must succeed on a full disk: even removing needs space.
/// Not thread-safe.
class DiskReserve {
 public:
  DiskReserve(std::string path, std::int64_t bytes) : path_(std::move(path)), bytes_(bytes) {}

  /// Whether the file exists; an earlier process may have created it.
  bool is_held() const noexcept;
  /// Creates it. False if the disk has no space for it.
  bool hold() noexcept;
  /// Removes it.
  void release() noexcept;

 private:
  const std::string path_;
  const std::int64_t bytes_;
};

/// Bytes that an unprivileged process can still write on the disk of this directory; 0 if unknown.
std::int64_t free_disk_bytes(const std::string& directory) noexcept;

}  // namespace eindb

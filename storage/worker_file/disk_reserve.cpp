#include "storage/worker_file/disk_reserve.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <exception>

#include "common/file_descriptor.hpp"
#include "common/open_file.hpp"

namespace eindb {

bool DiskReserve::is_held() const noexcept {
  struct stat file {};
  return ::stat(path_.c_str(), &file) == 0 && file.st_size >= bytes_;
}

bool DiskReserve::hold() noexcept {
  if (is_held()) return true;
  try {
    const FileDescriptor file(open_file(path_, O_RDWR | O_CREAT, 0600));
    if (file && ::posix_fallocate(file.get(), 0, bytes_) == 0) return true;
  } catch (const std::exception&) {  // a link to a forbidden file
    return false;
  }
  release();
  return false;
}

void DiskReserve::release() noexcept { ::unlink(path_.c_str()); }

std::int64_t free_disk_bytes(const std::string& directory) noexcept {
  struct statvfs disk {};
  if (::statvfs(directory.c_str(), &disk) != 0) return 0;
  return static_cast<std::int64_t>(disk.f_bavail) * static_cast<std::int64_t>(disk.f_frsize);
}

}  // namespace eindb

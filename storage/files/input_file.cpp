#include "storage/files/input_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/open_file.hpp"

namespace eindb {
namespace {

[[noreturn]] void cannot_read(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::Io, "cannot read " + path + ": " + why, std::nullopt, "check the path");
}

}  // namespace

InputFile::InputFile(const FilePath& path) : path_(path.text()) {
  const auto place = path.place();
  // A pipe without a writer would block; it is refused below.
  const int flags = O_RDONLY | O_NONBLOCK | (place.is_confined() ? O_NOFOLLOW : 0);
  descriptor_ = open_file(place.directory(), place.name, flags);
  if (descriptor_ < 0) cannot_read(path_, std::strerror(errno));
  measure();
}

InputFile::InputFile(std::string name, int descriptor) : path_(std::move(name)), descriptor_(descriptor) {
  CHECK(descriptor >= 0, "a file that is taken over is open");
  measure();
}

void InputFile::measure() {
  struct stat status {};
  const bool known = ::fstat(descriptor_, &status) == 0;
  if (known && S_ISREG(status.st_mode)) {
    size_ = status.st_size;
    return;
  }
  const std::string failure = std::strerror(errno);
  close_file(descriptor_);
  if (!known) cannot_read(path_, failure);
  cannot_read(path_, S_ISDIR(status.st_mode) ? "it is a directory" : "it is not a regular file");
}

InputFile::~InputFile() { close_file(descriptor_); }

std::string InputFile::path_of_descriptor() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

// Not all file systems have locks; there nobody holds one.
bool InputFile::try_lock_shared() const { return ::flock(descriptor_, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

std::size_t InputFile::read_some(std::int64_t offset, std::span<std::byte> target) const {
  CHECK(offset >= 0 && std::cmp_less_equal(target.size(), std::numeric_limits<std::int64_t>::max() - offset),
        "a read lies within the 63 bits of a file");
  std::size_t done = 0;
  while (done < target.size()) {
    const auto got =
        ::pread(descriptor_, target.data() + done, target.size() - done, offset + static_cast<std::int64_t>(done));
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) cannot_read(path_, std::strerror(errno));
    done += static_cast<std::size_t>(got);
  }
  return done;
}

void InputFile::read(std::int64_t offset, std::span<std::byte> target) const {
  const auto got = read_some(offset, target);
  if (got == target.size()) return;
  throw Error(ErrorKind::Corrupt, path_ + " ends at byte " + std::to_string(offset + static_cast<std::int64_t>(got)) +
                                      ", inside its values");
}

}  // namespace eindb

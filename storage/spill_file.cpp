#include "storage/spill_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "common/error.hpp"

namespace eindb {
namespace {

/// A descriptor of a file that has no name any more, or -1.
int open_unnamed(const std::string& directory) {
  const int unnamed = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (unnamed >= 0) return unnamed;
  // Some file systems know no O_TMPFILE.
  auto name = directory + "/eindb-spill-XXXXXX";
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

}  // namespace

std::string temporary_directory() {
  const char* directory = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): nobody sets variables here
  return directory != nullptr && *directory != '\0' ? directory : "/tmp";
}

SpillFile::SpillFile(const std::string& directory) : directory_(directory), descriptor_(open_unnamed(directory)) {
  if (descriptor_ >= 0) return;
  directory_ = temporary_directory();
  descriptor_ = open_unnamed(directory_);
  if (descriptor_ < 0) fail("make");
}

SpillFile::~SpillFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

SpillFile::SpillFile(SpillFile&& other) noexcept
    : directory_(std::move(other.directory_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(std::exchange(other.size_, 0)) {}

SpillFile& SpillFile::operator=(SpillFile&& other) noexcept {
  std::swap(directory_, other.directory_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  return *this;
}

void SpillFile::fail(const char* what) const {
  throw Error(ErrorKind::Io,
              std::string("cannot ") + what + " a temporary file in " + directory_ + ": " + std::strerror(errno),
              std::nullopt, "make room there, raise memory_limit, or set TMPDIR to another directory");
}

void SpillFile::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto written = ::pwrite(descriptor_, bytes.data(), bytes.size(), size_);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write");
    size_ += written;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void SpillFile::read_at(std::int64_t offset, std::span<std::byte> target) const {
  while (!target.empty()) {
    const auto got = ::pread(descriptor_, target.data(), target.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = EIO;
    if (got <= 0) fail("read");
    offset += got;
    target = target.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace eindb

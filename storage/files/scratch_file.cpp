#include "storage/files/scratch_file.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/open_file.hpp"

namespace eindb {
namespace {

/// A descriptor of a file without a name, or -1.
int open_unnamed(const std::string& directory) {
  const int unnamed = open_file(directory, O_TMPFILE | O_RDWR, 0600);
  if (unnamed >= 0) return unnamed;
  // Some file systems know no O_TMPFILE.
  auto name = directory + "/eindb-XXXXXX";
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

}  // namespace

std::string temporary_directory() {
  const char* chosen = ::secure_getenv("TMPDIR");
  for (const char* directory : {chosen, "/var/tmp"})
    if (directory != nullptr && *directory != '\0' && ::access(directory, W_OK | X_OK) == 0) return directory;
  return "/tmp";
}

std::int64_t free_bytes(const std::string& directory) {
  std::error_code failure;
  const auto space = std::filesystem::space(directory, failure);
  return failure ? 0 : static_cast<std::int64_t>(std::min<std::uintmax_t>(space.available, INT64_MAX));
}

ScratchFile::ScratchFile() : ScratchFile(temporary_directory()) {}

ScratchFile::ScratchFile(const std::string& directory)
    : directory_(directory.empty() ? temporary_directory() : directory), descriptor_(open_unnamed(directory_)) {
  if (descriptor_ >= 0) return;
  directory_ = temporary_directory();
  descriptor_ = open_unnamed(directory_);
  if (descriptor_ < 0) fail("make");
}

ScratchFile::~ScratchFile() {
  if (descriptor_ >= 0) close_file(descriptor_);
}

ScratchFile::ScratchFile(ScratchFile&& other) noexcept
    : directory_(std::move(other.directory_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(std::exchange(other.size_, 0)) {}

ScratchFile& ScratchFile::operator=(ScratchFile&& other) noexcept {
  std::swap(directory_, other.directory_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  return *this;
}

// If the database has a directory of its own, TMPDIR is not mentioned.
void ScratchFile::fail(const char* what) const {
  const bool of_system = directory_ == temporary_directory();
  throw Error(ErrorKind::Io,
              std::string("cannot ") + what + " a temporary file in " + directory_ + ": " + std::strerror(errno),
              std::nullopt,
              of_system ? "make room there, raise memory_limit, or set TMPDIR to another directory"
                        : "make room there, where the database lies, or raise memory_limit");
}

void ScratchFile::append(std::span<const std::byte> bytes) {
  write_at(size_, bytes);
  size_ += static_cast<std::int64_t>(bytes.size());
}

void ScratchFile::write_at(std::int64_t offset, std::span<const std::byte> bytes) {
  CHECK(descriptor_ >= 0 && offset >= 0, "a scratch file is written until it is handed on");
  while (!bytes.empty()) {
    const auto written = ::pwrite(descriptor_, bytes.data(), bytes.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write");
    offset += written;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void ScratchFile::resize(std::int64_t size) {
  CHECK(descriptor_ >= 0 && size >= 0, "a scratch file that has a length is not handed on yet");
  if (::ftruncate(descriptor_, size) != 0) fail("write");
  size_ = size;
}

void ScratchFile::read_at(std::int64_t offset, std::span<std::byte> target) const {
  CHECK(descriptor_ >= 0 && offset >= 0, "a scratch file is read where it was written");
  while (!target.empty()) {
    const auto got = ::pread(descriptor_, target.data(), target.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = EIO;
    if (got <= 0) fail("read");
    offset += got;
    target = target.subspan(static_cast<std::size_t>(got));
  }
}

std::unique_ptr<InputFile> ScratchFile::read(std::string name) {
  CHECK(descriptor_ >= 0, "a scratch file is handed on once");
  return std::make_unique<InputFile>(std::move(name), std::exchange(descriptor_, -1));
}

}  // namespace eindb

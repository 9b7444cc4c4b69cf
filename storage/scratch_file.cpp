#include "storage/scratch_file.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb {
namespace {

std::string scratch_directory() {
  const char* chosen = ::secure_getenv("TMPDIR");
  for (const char* directory : {chosen, "/var/tmp"})
    if (directory != nullptr && *directory != '\0' && ::access(directory, W_OK | X_OK) == 0) return directory;
  return "/tmp";
}

}  // namespace

ScratchFile::ScratchFile() : directory_(scratch_directory()) {
  auto name = directory_ + "/eindb-XXXXXX";
  descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0) fail();
  ::unlink(name.c_str());
}

ScratchFile::~ScratchFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void ScratchFile::fail() const {
  throw Error(ErrorKind::Io, "cannot write a temporary file in " + directory_ + ": " + std::strerror(errno),
              std::nullopt, "set TMPDIR to a directory that has space");
}

void ScratchFile::write_at(std::int64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto written = ::pwrite(descriptor_, bytes.data(), bytes.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail();
    offset += written;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void ScratchFile::resize(std::int64_t size) {
  if (::ftruncate(descriptor_, size) != 0) fail();
}

std::unique_ptr<InputFile> ScratchFile::read(std::string name) {
  CHECK(descriptor_ >= 0, "a scratch file is handed on once");
  return std::make_unique<InputFile>(std::move(name), std::exchange(descriptor_, -1));
}

}  // namespace eindb

#include "storage/files/output_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/open_databases.hpp"
#include "common/open_file.hpp"

namespace eindb {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCopiedAtOnce = 1 << 20;

[[noreturn]] void cannot_write(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::Io, "cannot write " + path + ": " + why, std::nullopt,
              "check that the directory exists, can be written and has space");
}

FileDescriptor open_directory(const FilePath::Place& file) {
  const auto parent = fs::path(file.name).parent_path();
  return FileDescriptor(open_file(file.directory(), parent.empty() ? "." : parent.string(), O_RDONLY | O_DIRECTORY));
}

/// Copies the permissions of the replaced file, if the system allows it.
void keep_mode(int descriptor, mode_t mode) {
  if (::fchmod(descriptor, mode & 07777U) != 0) errno = 0;
}

/// Whether the path names a descriptor that this process has open. Even if that is a regular file, it must not be
/// replaced, since the descriptor would continue with the old one.
bool names_descriptor(const std::string& path) {
  return path == "/dev/stdout" || path == "/dev/stderr" || path.starts_with("/dev/fd/") || path.starts_with("/proc/");
}

/// Keeps other processes and threads from replacing files of a directory that they, too, require to be unchanged. Waits
/// a second at most: other programs may lock a directory for reasons of their own, and for as long as they like.
class DirectoryLock {
 public:
  explicit DirectoryLock(int directory) : directory_(directory) {
    for (int tries = 0; tries < 100 && ::flock(directory_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ~DirectoryLock() { ::flock(directory_, LOCK_UN); }
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  int directory_;
};

}  // namespace

OutputFile::OutputFile(const FilePath& path, Naming naming) : path_(path.text()), target_(path.place()) {
  refuse_open_database(target_.directory(), target_.name, "cannot write " + path_);
  struct stat status {};
  const bool confined = target_.is_confined();
  const bool exists =
      ::fstatat(target_.directory(), target_.name.c_str(), &status, confined ? AT_SYMLINK_NOFOLLOW : 0) == 0;
  if (exists) found_ = state_of(status);
  if (exists && S_ISDIR(status.st_mode)) cannot_write(path_, "it is a directory");
  if (exists && confined && !S_ISREG(status.st_mode)) {
    throw Error(ErrorKind::Permission, "cannot write " + path_ + ": it is no regular file", std::nullopt,
                "give another name");
  }
  if (exists && (!S_ISREG(status.st_mode) || names_descriptor(path_))) {
    open_directly();
    return;
  }
  std::error_code error;
  if (const auto resolved = fs::canonical(path_, error); !confined && !error) target_.name = resolved.string();
  open_temporary(naming);
  if (exists) keep_mode(descriptor_, status.st_mode);
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) close_file(descriptor_);
  if (!temporary_.empty()) ::unlinkat(target_.directory(), temporary_.c_str(), 0);
}

OutputFile::FileState OutputFile::state_of(const struct stat& status) {
  return {.exists = true,
          .device = status.st_dev,
          .inode = status.st_ino,
          .size = status.st_size,
          .changed = std::int64_t{status.st_ctim.tv_sec} * 1'000'000'000 + status.st_ctim.tv_nsec};
}

void OutputFile::open_directly() {
  descriptor_ = open_file(path_, O_WRONLY | O_APPEND);
  if (descriptor_ < 0) fail();
}

void OutputFile::open_temporary(Naming naming) {
  if (naming == Naming::Late && open_nameless()) return;
  for (int n = 0; descriptor_ < 0; ++n) {
    temporary_ = temporary_name(n);
    descriptor_ = open_file(target_.directory(), temporary_, O_RDWR | O_CREAT | O_EXCL, 0666);
    if (descriptor_ < 0 && errno != EEXIST) {
      temporary_.clear();
      fail();
    }
  }
}

std::string OutputFile::temporary_name(int n) const {
  return target_.name + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(n);
}

bool OutputFile::open_nameless() {
  const auto parent = fs::path(target_.name).parent_path();
  descriptor_ = open_file(target_.directory(), parent.empty() ? "." : parent.string(), O_TMPFILE | O_RDWR, 0666);
  nameless_ = descriptor_ >= 0;
  return nameless_;
}

bool OutputFile::take_name(const std::string& name) {
  CHECK(nameless_ && descriptor_ >= 0, "only an open file without a name is given one");
  const auto path = path_of_descriptor();
  if (::linkat(AT_FDCWD, path.c_str(), target_.directory(), name.c_str(), AT_SYMLINK_FOLLOW) != 0) {
    if (errno != EEXIST) fail();
    return false;
  }
  nameless_ = false;
  return true;
}

// Only a file with a name can replace another, so it briefly appears in the directory.
void OutputFile::name_temporary() {
  for (int n = 0; temporary_.empty(); ++n)
    if (auto name = temporary_name(n); take_name(name)) temporary_ = std::move(name);
}

std::string OutputFile::path_of_descriptor() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

void OutputFile::fail() const { cannot_write(path_, std::strerror(errno)); }

void OutputFile::append(std::span<const std::byte> bytes) {
  CHECK(descriptor_ >= 0, "a file is written before it is committed");
  while (!bytes.empty()) {
    const auto written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail();
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void OutputFile::write_at(std::int64_t offset, std::span<const std::byte> bytes) {
  CHECK(is_seekable() && offset >= 0, "bytes get a place in a file that has places");
  while (!bytes.empty()) {
    const auto written = ::pwrite(descriptor_, bytes.data(), bytes.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail();
    offset += written;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void OutputFile::read_at(std::int64_t offset, std::span<std::byte> target) const {
  CHECK(is_seekable() && offset >= 0, "what is read back has a place in the file");
  while (!target.empty()) {
    const auto got = ::pread(descriptor_, target.data(), target.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail();
    CHECK(got > 0, "only what was written is read back");
    offset += got;
    target = target.subspan(static_cast<std::size_t>(got));
  }
}

std::int64_t OutputFile::next_written(std::int64_t offset) const {
  const auto next = ::lseek(descriptor_, offset, SEEK_DATA);  // no other function uses the descriptor's position
  if (next >= 0) return next;
  return errno == ENXIO ? ::lseek(descriptor_, 0, SEEK_END) : offset;
}

void OutputFile::resize(std::int64_t size) {
  CHECK(is_seekable() && size >= 0, "a file gets a length before it is committed");
  if (::ftruncate(descriptor_, size) != 0) fail();
}

void OutputFile::copy(const InputFile& source, const Cancellation* cancellation) {
  std::vector<std::byte> buffer(kCopiedAtOnce);
  std::int64_t offset = 0;
  for (;;) {
    if (cancellation != nullptr) cancellation->check();
    const auto got = std::span(buffer).first(source.read_some(offset, buffer));
    if (got.empty()) break;
    const bool zeros = std::all_of(got.begin(), got.end(), [](std::byte one) { return one == std::byte{}; });
    if (!zeros) write_at(offset, got);
    offset += static_cast<std::int64_t>(got.size());
  }
  resize(offset);
}

void OutputFile::commit() {
  CHECK(descriptor_ >= 0, "a file is committed once");
  if (is_seekable() && ::fsync(descriptor_) != 0) fail();
  const auto directory = open_directory(target_);  // opened now, so that nothing fails once the file has its name
  const bool is_named = nameless_ && take_name(target_.name);
  if (nameless_) name_temporary();
  if (!close_file(std::exchange(descriptor_, -1))) fail();
  if (!temporary_.empty()) replace_target(directory);
  else if (!is_named) return;
  // Makes the name durable. If the file system does not support that, the name is as durable as the file system makes
  // it.
  if (directory) ::fsync(directory.get());
}

void OutputFile::check_unchanged() const {
  struct stat status {};
  const int flags = target_.is_confined() ? AT_SYMLINK_NOFOLLOW : 0;
  const bool exists = ::fstatat(target_.directory(), target_.name.c_str(), &status, flags) == 0;
  if ((exists ? state_of(status) : FileState{}) == found_) return;
  throw Error(ErrorKind::Conflict,
              "cannot write " + path_ + ": it has been changed meanwhile, and is left as it is now", std::nullopt,
              "run the statement again");
}

void OutputFile::replace_target(const FileDescriptor& directory) {
  CHECK(descriptor_ < 0 && !nameless_, "what takes the target's name is closed and has one of its own");
  std::optional<DirectoryLock> lock;
  if (is_unchanged_required_ && directory) lock.emplace(directory.get());
  if (is_unchanged_required_) check_unchanged();
  refuse_open_database(target_.directory(), target_.name, "cannot write " + path_);
  if (::renameat(target_.directory(), temporary_.c_str(), target_.directory(), target_.name.c_str()) != 0) fail();
  temporary_.clear();
}

}  // namespace eindb

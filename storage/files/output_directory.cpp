#include "storage/files/output_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/open_file.hpp"
#include "storage/files/directory_path.hpp"

namespace eindb {
namespace {

/// Closes a file of its own that was written.
class WrittenFile {
 public:
  explicit WrittenFile(int descriptor) : descriptor_(descriptor) {}
  ~WrittenFile() {
    if (descriptor_ >= 0) close_file(descriptor_);
  }
  WrittenFile(const WrittenFile&) = delete;
  WrittenFile& operator=(const WrittenFile&) = delete;
  int get() const { return descriptor_; }
  bool close() { return close_file(std::exchange(descriptor_, -1)); }

 private:
  int descriptor_;
};

}  // namespace

OutputDirectory::OutputDirectory(const FilePath& path) : path_(path.text()), target_(path.place()) {
  while (target_.name.size() > 1 && target_.name.ends_with('/')) target_.name.pop_back();
  for (int n = 0; temporary_.empty(); ++n) {
    auto name = target_.name + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(n);
    if (::mkdirat(target_.directory(), name.c_str(), 0777) == 0) temporary_ = std::move(name);
    else if (errno != EEXIST) fail();
  }
  directory_ = open_below(target_.directory(), temporary_);
  if (directory_) return;
  const auto cause = errno;
  remove_tree(target_.directory(), temporary_);
  errno = cause;
  fail();
}

OutputDirectory::~OutputDirectory() {
  if (!temporary_.empty()) remove_tree(target_.directory(), temporary_);
}

void OutputDirectory::fail() const {
  throw Error(ErrorKind::Io, "cannot write " + path_ + ": " + std::strerror(errno), std::nullopt,
              "check that the directory above it exists, can be written and has space");
}

void OutputDirectory::write(const std::string& name, std::span<const std::byte> bytes) {
  auto names = components_below(name);
  const auto last = std::move(names.back());
  names.pop_back();
  auto at = FileDescriptor(open_file(directory_.get(), ".", O_RDONLY | O_DIRECTORY));
  for (const auto& part : names) {
    if (!at || (::mkdirat(at.get(), part.c_str(), 0777) != 0 && errno != EEXIST)) fail();
    at = open_below(at.get(), part);
  }
  if (!at) fail();
  WrittenFile file(open_file(at.get(), last, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666));
  if (file.get() < 0) fail();
  while (!bytes.empty()) {
    const auto written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail();
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  if (!file.close()) fail();
}

// Exchanges the temporary directory and the target, or, where the file system has no such call, moves the target to the
// name `old` first.
void OutputDirectory::exchange(const std::string& old) {
  const int directory = target_.directory();
  const auto* temporary = temporary_.c_str();
  const auto* target = target_.name.c_str();
  if (::renameat2(directory, temporary, directory, target, RENAME_EXCHANGE) == 0) return;
  if (errno != EINVAL && errno != ENOSYS && errno != EXDEV) fail();
  if (::renameat(directory, target, directory, old.c_str()) != 0) fail();
  if (::renameat(directory, temporary, directory, target) != 0) {
    const auto cause = errno;
    ::renameat(directory, old.c_str(), directory, target);
    errno = cause;
    fail();
  }
  ::renameat(directory, old.c_str(), directory, temporary);
}

void OutputDirectory::commit(bool replaces) {
  CHECK(!temporary_.empty(), "a directory is committed once");
  // One call for all files, however many chunks there are.
  if (::syncfs(directory_.get()) != 0) fail();
  const auto parent = std::filesystem::path(target_.name).parent_path();
  const FileDescriptor above(
      open_file(target_.directory(), parent.empty() ? "." : parent.string(), O_RDONLY | O_DIRECTORY));
  const auto old = temporary_ + "-old";
  if (::renameat(target_.directory(), temporary_.c_str(), target_.directory(), target_.name.c_str()) == 0) {
    temporary_.clear();
  } else {
    if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR) fail();
    if (errno == ENOTDIR || !replaces)
      throw Error(ErrorKind::Conflict, "cannot write " + path_ + ": there is something of that name", std::nullopt,
                  "write to another path");
    refuse_tree_of_database(target_.directory(), target_.name, path_);
    exchange(old);  // from now on the temporary directory is the old one, which the destructor removes
  }
  if (above) ::fsync(above.get());
}

}  // namespace eindb

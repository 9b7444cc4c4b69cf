#include "engine/files/transfer_directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/open_file.hpp"
#include "storage/files/scratch_file.hpp"

namespace eindb {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = ".eindb-transfer-";

[[noreturn]] void fail_io(const std::string& what) {
  throw Error(ErrorKind::Io, what + ": " + std::strerror(errno), std::nullopt,
              "check that the server may write beside the database, and that there is space");
}

// Locks the directory for the lifetime of this process. -1: another process has the lock, or the directory is gone.
int lock_directory(const fs::path& directory) {
  const int descriptor = open_file(directory.string(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (descriptor < 0 || ::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
  ::close(descriptor);
  return -1;
}

void remove_abandoned(const fs::path& parent) {
  std::error_code error;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end; entry.increment(error)) {
    if (!entry->path().filename().string().starts_with(kPrefix)) continue;
    const int lock = lock_directory(entry->path());
    if (lock < 0) continue;
    std::error_code ignored;  // this process cannot remove another user's files
    fs::remove_all(entry->path(), ignored);
    ::close(lock);
  }
}

}  // namespace

// ---- TransferFile --------------------------------------------------------------------------------------------------

TransferFile::~TransferFile() {
  if (descriptor_ >= 0) close_file(descriptor_);
  ::unlink(path_.c_str());
}

void TransferFile::fail(const char* what) const { fail_io(what); }

void TransferFile::open(int flags) {
  if (descriptor_ >= 0) return;
  descriptor_ = open_file(path_, flags | O_NOFOLLOW, 0600);
  if (descriptor_ < 0) fail("cannot open what is copied");
}

void TransferFile::append(std::string_view bytes) {
  open(O_WRONLY | O_CREAT | O_EXCL);
  while (!bytes.empty()) {
    const auto count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("cannot keep what is copied");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

std::string_view TransferFile::read(std::span<char> buffer) {
  CHECK(!buffer.empty(), "there is room for what is read: nothing is the end");
  open(O_RDONLY);
  for (;;) {
    const auto count = ::read(descriptor_, buffer.data(), buffer.size());
    if (count >= 0) return {buffer.data(), static_cast<std::size_t>(count)};
    if (errno != EINTR) fail("cannot read what is copied");
  }
}

// ---- TransferDirectory ---------------------------------------------------------------------------------------------

class TransferDirectory::Impl {
 public:
  explicit Impl(fs::path parent) : parent_(std::move(parent)) { remove_abandoned(parent_); }
  ~Impl() {
    if (lock_ < 0) return;
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    ::close(lock_);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  std::unique_ptr<TransferFile> make() {
    const std::lock_guard guard(mutex_);
    if (lock_ < 0) make_directory();
    CHECK(lock_ >= 0 && !path_.empty(), "files lie in a directory that is locked");
    return std::make_unique<TransferFile>((path_ / std::to_string(++files_)).string());
  }

 private:
  // Another server may remove the directory as abandoned before it is locked; then the loop makes a new one.
  void make_directory() {
    while (lock_ < 0) {
      auto name = (parent_ / (std::string(kPrefix) + "XXXXXX")).string();
      if (::mkdtemp(name.data()) == nullptr) fail_io("cannot make a directory for what is copied");
      path_ = name;
      const int lock = lock_directory(path_);
      if (lock >= 0 && ::access(path_.c_str(), F_OK) == 0) lock_ = lock;
      else if (lock >= 0) ::close(lock);
    }
  }

  const fs::path parent_;
  std::mutex mutex_;  // guards the members below
  fs::path path_;
  int lock_ = -1;  // descriptor of the locked directory, once it exists
  std::uint64_t files_ = 0;
};

TransferDirectory::TransferDirectory(const std::string& database) {
  auto parent = fs::path(database).parent_path();
  if (parent.empty()) parent = ".";
  const bool usable = database != ":memory:" && ::access(parent.c_str(), W_OK) == 0;
  impl_ = std::make_unique<Impl>(usable ? parent : fs::path(temporary_directory()));
}
TransferDirectory::~TransferDirectory() = default;
std::unique_ptr<TransferFile> TransferDirectory::make() { return impl_->make(); }

}  // namespace eindb

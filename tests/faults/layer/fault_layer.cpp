// Wrappers of the C library's functions for files, linked before it or loaded by LD_PRELOAD. If a program is started
// with
//
//     EINDB_FAULT="under=/a/directory first=7 count=1 operations=write,sync error=28 kept=512 path=-wal$ unreadable=1
//     report=/a/file"
//
// (all parts except `under` are optional), this fault is armed from the start, and its outcome is written to `report`
// at the end.

#include "tests/faults/layer/fault_layer.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <string_view>
#include <unordered_map>

namespace eindb::faults {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, kOperations> kNames = {
    "open", "read", "write", "sync", "truncate", "unlink", "rename", "link", "lock", "map", "size", "access", "path"};

/// The C library's own function of that name.
template <class Function>
Function* behind(Function*, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}
#define BEHIND(name)                                     \
  ([]() {                                                \
    static const auto function = behind(&::name, #name); \
    return function;                                     \
  }())

int usual_error(Operation operation) { return operation == Operation::Map ? ENOMEM : EIO; }

struct OpenFile {
  std::string path;
  int file = -1;
  bool is_directory = false;
};

class Layer {
 public:
  bool is_watching() const { return watching_; }

  void watch(const std::string& directory) {
    const std::lock_guard lock(mutex_);
    directory_ = directory + "/";
    descriptors_.clear();
    watching_ = true;
  }

  void arm(const Fault& fault) {
    const std::lock_guard lock(mutex_);
    fault_ = fault;
    report_ = {};
  }

  FaultReport disarm() {
    const std::lock_guard lock(mutex_);
    fault_.reset();
    return report_;
  }

  void start_recording() {
    Recording recording;
    std::map<std::string, int> numbers;
    for (const auto& entry : fs::recursive_directory_iterator(directory_)) {
      if (!entry.is_regular_file()) continue;
      const auto path = entry.path().string();
      const auto file = static_cast<int>(numbers.size());
      numbers[path] = file;
      recording.before.push_back({file, path, contents_of(path)});
    }
    const std::lock_guard lock(mutex_);  // not earlier, since looking at the directory goes through the layer too
    files_ = static_cast<int>(numbers.size());
    numbers_ = std::move(numbers);
    recording_ = std::move(recording);
  }

  void mark(std::int64_t which) {
    const std::lock_guard lock(mutex_);
    note({.kind = FileEvent::Kind::Mark, .offset = which});
  }

  Recording take_recording() {
    const std::lock_guard lock(mutex_);
    auto taken = std::move(*recording_);
    recording_.reset();
    return taken;
  }

  // Call the following functions with the mutex held.
  std::mutex& mutex() { return mutex_; }

  bool is_watched(const std::string& path) const {
    return watching_ && (path.starts_with(directory_) || path + "/" == directory_);
  }

  /// Whether this operation must fail; errno is then set.
  bool fails(Operation operation, const std::string& path) {
    if (!fault_ || (fault_->operations & bit(operation)) == 0) return false;
    if ((path + '$').find(fault_->path_part) == std::string::npos) return false;
    ++report_.seen;
    if (report_.seen < fault_->first || report_.failed >= fault_->count) return false;
    const int error = fault_->error != 0 ? fault_->error : usual_error(operation);
    if (report_.failed++ == 0) {
      report_.operation = operation;
      report_.path = path;
      report_.error = error;
    }
    errno = error;
    return true;
  }

  /// The bytes that a failing write leaves in the file; only the first one leaves any.
  std::int64_t kept_bytes() const { return report_.failed == 1 ? fault_->kept_bytes : 0; }

  bool maps_unreadably() {
    const std::lock_guard lock(mutex_);
    return fault_ && fault_->maps_unreadably;
  }

  OpenFile* find(int descriptor) {
    const auto found = descriptors_.find(descriptor);
    return found == descriptors_.end() ? nullptr : &found->second;
  }
  void forget(int descriptor) { descriptors_.erase(descriptor); }
  void copy(int from, int to) {
    if (const auto* file = find(from)) descriptors_[to] = *file;
    else forget(to);
  }

  void opened(int descriptor, const std::string& path, int flags) {
    OpenFile file{path};
    struct stat status {};
    file.is_directory = BEHIND(fstat)(descriptor, &status) == 0 && S_ISDIR(status.st_mode);
    if (recording_ && !file.is_directory) file.file = number_of(path, flags);
    descriptors_[descriptor] = std::move(file);
  }

  void wrote(const OpenFile& file, const void* bytes, std::int64_t size, std::int64_t offset) {
    if (!recording_ || file.file < 0) return;
    const auto* first = static_cast<const std::byte*>(bytes);
    note({.kind = FileEvent::Kind::Write, .file = file.file, .offset = offset, .bytes = {first, first + size}});
  }

  void note(FileEvent event) {
    if (recording_) recording_->events.push_back(std::move(event));
  }
  void unlinked(const std::string& name) {
    if (numbers_.erase(name) > 0) note({.kind = FileEvent::Kind::Unlink, .name = name});
  }
  void linked(const std::string& name, int file) {
    if (file < 0) return;
    numbers_[name] = file;
    note({.kind = FileEvent::Kind::Link, .file = file, .name = name});
  }
  void renamed(const std::string& from, const std::string& to) {
    const auto moved = numbers_.extract(from);
    if (moved.empty()) return;
    numbers_[to] = moved.mapped();
    note({.kind = FileEvent::Kind::Rename, .file = moved.mapped(), .name = from, .other = to});
  }

 private:
  static std::vector<std::byte> contents_of(const std::string& path) {
    std::vector<std::byte> bytes(fs::file_size(path));
    const int descriptor = BEHIND(open)(path.c_str(), O_RDONLY | O_CLOEXEC);
    const auto got = BEHIND(pread)(descriptor, bytes.data(), bytes.size(), 0);
    BEHIND(close)(descriptor);
    bytes.resize(static_cast<std::size_t>(std::max<std::int64_t>(got, 0)));
    return bytes;
  }

  int number_of(const std::string& path, int flags) {
    const bool nameless = (flags & O_TMPFILE) == O_TMPFILE;
    const auto known = numbers_.find(path);
    if (!nameless && known != numbers_.end()) {
      if ((flags & O_TRUNC) != 0) note({.kind = FileEvent::Kind::Truncate, .file = known->second});
      return known->second;
    }
    if (!nameless) {
      numbers_[path] = files_;
      note({.kind = FileEvent::Kind::Create, .file = files_, .name = path});
    }
    return files_++;
  }

  std::atomic<bool> watching_ = false;
  std::mutex mutex_;  // guards what follows
  std::string directory_ = "/nowhere/";
  std::optional<Fault> fault_;
  FaultReport report_;
  std::unordered_map<int, OpenFile> descriptors_;
  std::optional<Recording> recording_;
  int files_ = 0;
  std::map<std::string, int> numbers_;  // of files with names
};

/// Never destroyed, since files are closed until the very end of the process.
Layer& layer() {
  static auto& only = *new Layer;
  return only;
}

std::string link_target(const std::string& path) {
  std::array<char, PATH_MAX> target{};
  const auto size = BEHIND(readlink)(path.c_str(), target.data(), target.size());
  return size < 0 ? std::string() : std::string(target.data(), static_cast<std::size_t>(size));
}

std::string path_of(int descriptor) { return link_target("/proc/self/fd/" + std::to_string(descriptor)); }

std::string absolute(int directory, const char* path) {
  if (*path == '/') return fs::path(path).lexically_normal().string();
  const auto base = directory == AT_FDCWD ? link_target("/proc/self/cwd") : path_of(directory);
  auto name = (fs::path(base) / path).lexically_normal().string();
  while (name.size() > 1 && name.ends_with('/')) name.pop_back();
  return name;
}

/// An operation on a path: fails, or is done by `action` and then reported by `then`, which gets its result.
template <class Action, class Then>
auto by_path(Operation operation, int directory, const char* path, Action&& action, Then&& then) -> decltype(action()) {
  auto& all = layer();
  if (!all.is_watching() || path == nullptr) return action();
  const int saved = errno;
  const auto name = absolute(directory, path);
  errno = saved;
  const std::lock_guard lock(all.mutex());
  if (!all.is_watched(name)) return action();
  if (all.fails(operation, name)) return -1;
  const auto result = action();
  if (result >= 0) then(all, name, result);
  return result;
}
template <class Action>
auto by_path(Operation operation, int directory, const char* path, Action&& action) -> decltype(action()) {
  return by_path(operation, directory, path, action, [](Layer&, const std::string&, auto) {});
}

/// The same for an operation on a descriptor.
template <class Action, class Then>
auto by_descriptor(Operation operation, int descriptor, Action&& action, Then&& then) -> decltype(action()) {
  auto& all = layer();
  if (!all.is_watching()) return action();
  std::unique_lock lock(all.mutex());
  const auto* file = all.find(descriptor);
  if (file == nullptr) {
    lock.unlock();
    return action();
  }
  if (all.fails(operation, file->path)) return -1;
  const auto result = action();
  if (result >= 0) then(all, *file, result);
  return result;
}
template <class Action>
auto by_descriptor(Operation operation, int descriptor, Action&& action) -> decltype(action()) {
  return by_descriptor(operation, descriptor, action, [](Layer&, const OpenFile&, auto) {});
}

template <class Action>
int open_watched(int directory, const char* path, int flags, Action&& action) {
  auto& all = layer();
  if (!all.is_watching()) return action();
  const int saved = errno;
  const auto name = absolute(directory, path);
  errno = saved;
  const std::lock_guard lock(all.mutex());
  const bool watched = all.is_watched(name);
  if (watched && all.fails(Operation::Open, name)) return -1;
  const int descriptor = action();
  if (descriptor < 0) return descriptor;
  all.forget(descriptor);
  if (watched) all.opened(descriptor, name, flags);
  return descriptor;
}

template <class Action>
ssize_t write_watched(int descriptor, const void* bytes, std::size_t size, std::optional<std::int64_t> offset,
                      Action&& action) {
  auto& all = layer();
  if (!all.is_watching()) return action(size);
  std::unique_lock lock(all.mutex());
  const auto* file = all.find(descriptor);
  if (file == nullptr) {
    lock.unlock();
    return action(size);
  }
  if (all.fails(Operation::Write, file->path)) {
    size = std::min(size, static_cast<std::size_t>(all.kept_bytes()));
    if (size == 0) return -1;
  }
  const auto written = action(size);
  if (written <= 0) return written;
  const auto at = offset ? *offset : BEHIND(lseek)(descriptor, 0, SEEK_CUR) - written;
  all.wrote(*file, bytes, written, at);
  return written;
}

// Syncs do not wait for the disk; the recording determines the loss at a crash.
template <class Action>
int sync_watched(int descriptor, Action&& action) {
  auto& all = layer();
  if (!all.is_watching()) return action();
  std::unique_lock lock(all.mutex());
  const auto* file = all.find(descriptor);
  if (file == nullptr) {
    lock.unlock();
    return action();
  }
  if (all.fails(Operation::Sync, file->path)) return -1;
  const auto kind = file->is_directory ? FileEvent::Kind::SyncNames : FileEvent::Kind::Sync;
  all.note({.kind = kind, .file = file->file, .name = file->path});
  return 0;
}

template <class Action>
int unlink_watched(int directory, const char* path, Action&& action) {
  return by_path(Operation::Unlink, directory, path, action,
                 [](Layer& all, const std::string& name, int) { all.unlinked(name); });
}

bool creates(int flags) { return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }

// ---- By the environment
// -----------------------------------------------------------------------------------------------

/// Created on first use, which may precede the construction of the library's variables.
std::string& report_path() {
  static auto& path = *new std::string;
  return path;
}

void take(Fault& fault, std::string_view key, const std::string& value) {
  if (key == "under") watch(value);
  else if (key == "first") fault.first = std::stoll(value);
  else if (key == "count") fault.count = std::stoll(value);
  else if (key == "error") fault.error = std::stoi(value);
  else if (key == "kept") fault.kept_bytes = std::stoll(value);
  else if (key == "unreadable") fault.maps_unreadably = value == "1";
  else if (key == "path") fault.path_part = value;
  else if (key == "report") report_path() = value;
  else if (key == "operations") {
    fault.operations = 0;
    for (std::size_t n = 0; n < kOperations; ++n)
      if (("," + value + ",").find("," + std::string(kNames[n]) + ",") != std::string::npos)
        fault.operations |= Operations{1} << n;
  }
}

[[gnu::constructor]] void begin_by_environment() {
  const char* text = ::getenv("EINDB_FAULT");
  if (text == nullptr) return;
  Fault fault;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    if (equals != std::string::npos) take(fault, word.substr(0, equals), word.substr(equals + 1));
  }
  arm(fault);
}

[[gnu::destructor]] void report_by_environment() {
  if (report_path().empty()) return;
  const auto report = disarm();
  if (auto* file = std::fopen(report_path().c_str(), "we")) {
    std::fprintf(file, "seen=%lld failed=%lld operation=%s path=%s\n", static_cast<long long>(report.seen),
                 static_cast<long long>(report.failed), to_string(report.operation).c_str(), report.path.c_str());
    std::fclose(file);
  }
}

}  // namespace

std::string to_string(Operation operation) { return kNames.at(static_cast<std::size_t>(operation)); }
void watch(const std::string& directory) { layer().watch(directory); }
void arm(const Fault& fault) { layer().arm(fault); }
FaultReport disarm() { return layer().disarm(); }
void start_recording() { layer().start_recording(); }
void mark(std::int64_t which) { layer().mark(which); }
Recording take_recording() { return layer().take_recording(); }

// ---- In front of the C library --------------------------------------------------------------------------------------

namespace {

mode_t mode_of(int flags, va_list arguments) {
  return creates(flags) ? static_cast<mode_t>(va_arg(arguments, unsigned)) : 0;
}

}  // namespace

// The functions have other names in C++, since their declarations in the system's headers differ between releases.
// On systems where file offsets have 64 bits, the functions with 64 in their names are aliases.
#define IN_FRONT(name) asm(#name)
#define THE_SAME(name64, name) asm(#name64) __attribute__((alias(#name)))

extern "C" {

int front_open(const char* path, int flags, ...) IN_FRONT(open);
int front_open64(const char* path, int flags, ...) THE_SAME(open64, open);
int front_open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const auto mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_watched(AT_FDCWD, path, flags, [&] { return BEHIND(open)(path, flags, mode); });
}

int front_openat(int directory, const char* path, int flags, ...) IN_FRONT(openat);
int front_openat64(int directory, const char* path, int flags, ...) THE_SAME(openat64, openat);
int front_openat(int directory, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const auto mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_watched(directory, path, flags, [&] { return BEHIND(openat)(directory, path, flags, mode); });
}

int front_close(int descriptor) IN_FRONT(close);
int front_close(int descriptor) {
  if (!layer().is_watching()) return BEHIND(close)(descriptor);
  const std::lock_guard lock(layer().mutex());
  layer().forget(descriptor);
  return BEHIND(close)(descriptor);
}

ssize_t front_read(int descriptor, void* target, size_t size) IN_FRONT(read);
ssize_t front_read(int descriptor, void* target, size_t size) {
  return by_descriptor(Operation::Read, descriptor, [&] { return BEHIND(read)(descriptor, target, size); });
}

ssize_t front_pread(int descriptor, void* target, size_t size, off_t offset) IN_FRONT(pread);
ssize_t front_pread64(int descriptor, void* target, size_t size, off_t offset) THE_SAME(pread64, pread);
ssize_t front_pread(int descriptor, void* target, size_t size, off_t offset) {
  return by_descriptor(Operation::Read, descriptor, [&] { return BEHIND(pread)(descriptor, target, size, offset); });
}

ssize_t front_write(int descriptor, const void* bytes, size_t size) IN_FRONT(write);
ssize_t front_write(int descriptor, const void* bytes, size_t size) {
  return write_watched(descriptor, bytes, size, std::nullopt,
                       [&](size_t part) { return BEHIND(write)(descriptor, bytes, part); });
}

ssize_t front_pwrite(int descriptor, const void* bytes, size_t size, off_t offset) IN_FRONT(pwrite);
ssize_t front_pwrite64(int descriptor, const void* bytes, size_t size, off_t offset) THE_SAME(pwrite64, pwrite);
ssize_t front_pwrite(int descriptor, const void* bytes, size_t size, off_t offset) {
  return write_watched(descriptor, bytes, size, offset,
                       [&](size_t part) { return BEHIND(pwrite)(descriptor, bytes, part, offset); });
}

int front_fsync(int descriptor) IN_FRONT(fsync);
int front_fsync(int descriptor) {
  return sync_watched(descriptor, [&] { return BEHIND(fsync)(descriptor); });
}

int front_fdatasync(int descriptor) IN_FRONT(fdatasync);
int front_fdatasync(int descriptor) {
  return sync_watched(descriptor, [&] { return BEHIND(fdatasync)(descriptor); });
}

int front_ftruncate(int descriptor, off_t size) IN_FRONT(ftruncate);
int front_ftruncate64(int descriptor, off_t size) THE_SAME(ftruncate64, ftruncate);
int front_ftruncate(int descriptor, off_t size) {
  return by_descriptor(
      Operation::Truncate, descriptor, [&] { return BEHIND(ftruncate)(descriptor, size); },
      [&](Layer& all, const OpenFile& file, int) {
        if (file.file >= 0) all.note({.kind = FileEvent::Kind::Truncate, .file = file.file, .offset = size});
      });
}

int front_unlink(const char* path) IN_FRONT(unlink);
int front_unlink(const char* path) {
  return unlink_watched(AT_FDCWD, path, [&] { return BEHIND(unlink)(path); });
}

int front_unlinkat(int directory, const char* path, int flags) IN_FRONT(unlinkat);
int front_unlinkat(int directory, const char* path, int flags) {
  return unlink_watched(directory, path, [&] { return BEHIND(unlinkat)(directory, path, flags); });
}

int front_remove(const char* path) IN_FRONT(remove);
int front_remove(const char* path) {
  return unlink_watched(AT_FDCWD, path, [&] { return BEHIND(remove)(path); });
}

int front_renameat(int from, const char* old_path, int to, const char* new_path) IN_FRONT(renameat);
int front_renameat(int from, const char* old_path, int to, const char* new_path) {
  return by_path(
      Operation::Rename, from, old_path, [&] { return BEHIND(renameat)(from, old_path, to, new_path); },
      [&](Layer& all, const std::string& name, int) { all.renamed(name, absolute(to, new_path)); });
}

int front_rename(const char* old_path, const char* new_path) IN_FRONT(rename);
int front_rename(const char* old_path, const char* new_path) {
  return front_renameat(AT_FDCWD, old_path, AT_FDCWD, new_path);
}

int front_linkat(int from, const char* old_path, int to, const char* new_path, int flags) IN_FRONT(linkat);
int front_linkat(int from, const char* old_path, int to, const char* new_path, int flags) {
  return by_path(
      Operation::Link, to, new_path, [&] { return BEHIND(linkat)(from, old_path, to, new_path, flags); },
      [&](Layer& all, const std::string& name, int) {
        // Counts only the links of files without a name, which are linked by their paths in /proc.
        constexpr std::string_view kDescriptor = "/proc/self/fd/";
        const std::string old(old_path);
        if (!old.starts_with(kDescriptor)) return;
        if (const auto* file = all.find(std::stoi(old.substr(kDescriptor.size())))) all.linked(name, file->file);
      });
}

int front_fcntl(int descriptor, int command, ...) IN_FRONT(fcntl);
int front_fcntl64(int descriptor, int command, ...) THE_SAME(fcntl64, fcntl);
int front_fcntl(int descriptor, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  const auto action = [&] { return BEHIND(fcntl)(descriptor, command, argument); };
  const bool takes_lock = command == F_SETLK && static_cast<const struct flock*>(argument)->l_type != F_UNLCK;
  if (takes_lock || command == F_GETLK) return by_descriptor(Operation::Lock, descriptor, action);
  const int result = action();
  if ((command == F_DUPFD || command == F_DUPFD_CLOEXEC) && result >= 0 && layer().is_watching()) {
    const std::lock_guard lock(layer().mutex());
    layer().copy(descriptor, result);
  }
  return result;
}

int front_flock(int descriptor, int operation) IN_FRONT(flock);
int front_flock(int descriptor, int operation) {
  const auto action = [&] { return BEHIND(flock)(descriptor, operation); };
  return (operation & LOCK_UN) != 0 ? action() : by_descriptor(Operation::Lock, descriptor, action);
}

void* front_mmap(void* address, size_t size, int protection, int flags, int descriptor, off_t offset) IN_FRONT(mmap);
void* front_mmap64(void* address, size_t size, int protection, int flags, int descriptor, off_t offset)
    THE_SAME(mmap64, mmap);
void* front_mmap(void* address, size_t size, int protection, int flags, int descriptor, off_t offset) {
  const auto map = [&](int file) { return BEHIND(mmap)(address, size, protection, flags, file, offset); };
  if (descriptor < 0 || by_descriptor(Operation::Map, descriptor, [] { return 0; }) == 0) return map(descriptor);
  if (!layer().maps_unreadably()) return MAP_FAILED;
  const int empty = ::memfd_create("empty", MFD_CLOEXEC);
  void* const mapped = map(empty);
  BEHIND(close)(empty);
  return mapped;
}

int front_fstat(int descriptor, struct stat* status) IN_FRONT(fstat);
int front_fstat64(int descriptor, struct stat* status) THE_SAME(fstat64, fstat);
int front_fstat(int descriptor, struct stat* status) {
  return by_descriptor(Operation::Size, descriptor, [&] { return BEHIND(fstat)(descriptor, status); });
}

int front_stat(const char* path, struct stat* status) IN_FRONT(stat);
int front_stat64(const char* path, struct stat* status) THE_SAME(stat64, stat);
int front_stat(const char* path, struct stat* status) {
  return by_path(Operation::Size, AT_FDCWD, path, [&] { return BEHIND(stat)(path, status); });
}

int front_fstatat(int directory, const char* path, struct stat* status, int flags) IN_FRONT(fstatat);
int front_fstatat64(int directory, const char* path, struct stat* status, int flags) THE_SAME(fstatat64, fstatat);
int front_fstatat(int directory, const char* path, struct stat* status, int flags) {
  return by_path(Operation::Size, directory, path, [&] { return BEHIND(fstatat)(directory, path, status, flags); });
}

int front_lstat(const char* path, struct stat* status) IN_FRONT(lstat);
int front_lstat64(const char* path, struct stat* status) THE_SAME(lstat64, lstat);
int front_lstat(const char* path, struct stat* status) {
  return by_path(Operation::Path, AT_FDCWD, path, [&] { return BEHIND(lstat)(path, status); });
}

ssize_t front_readlink(const char* path, char* target, size_t size) IN_FRONT(readlink);
ssize_t front_readlink(const char* path, char* target, size_t size) {
  return by_path(Operation::Path, AT_FDCWD, path, [&] { return BEHIND(readlink)(path, target, size); });
}

int front_access(const char* path, int mode) IN_FRONT(access);
int front_access(const char* path, int mode) {
  return by_path(Operation::Access, AT_FDCWD, path, [&] { return BEHIND(access)(path, mode); });
}

}  // extern "C"

}  // namespace eindb::faults

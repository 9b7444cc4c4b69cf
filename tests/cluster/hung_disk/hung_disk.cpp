// Simulates a hanging disk for a program that has this library in LD_PRELOAD: writes and syncs below the folder
// EINDB_HUNG_FOLDER wait while the file EINDB_HUNG_WHILE exists. Reads come from memory.
#include <dlfcn.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

constexpr useconds_t kPauseMicroseconds = 10'000;

bool is_in_folder(int file) {
  const char* folder = std::getenv("EINDB_HUNG_FOLDER");
  if (folder == nullptr) return false;
  std::array<char, 64> link{};
  std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", file);
  std::array<char, 4096> path{};
  const auto size = ::readlink(link.data(), path.data(), path.size());
  return size > 0 && std::string_view(path.data(), static_cast<std::size_t>(size)).starts_with(folder);
}

void wait_for_disk(int file) {
  const char* hung = std::getenv("EINDB_HUNG_WHILE");
  if (hung == nullptr || ::access(hung, F_OK) != 0 || !is_in_folder(file)) return;
  while (::access(hung, F_OK) == 0) ::usleep(kPauseMicroseconds);
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

// These replace the system's functions.
#pragma GCC visibility push(default)
extern "C" {

ssize_t pwrite(int file, const void* bytes, size_t size, off_t offset) {
  static const auto real = next<decltype(&pwrite)>("pwrite");
  wait_for_disk(file);
  return real(file, bytes, size, offset);
}

ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t offset) {
  static const auto real = next<decltype(&pwrite64)>("pwrite64");
  wait_for_disk(file);
  return real(file, bytes, size, offset);
}

int fsync(int file) {
  static const auto real = next<decltype(&fsync)>("fsync");
  wait_for_disk(file);
  return real(file);
}

int fdatasync(int file) {
  static const auto real = next<decltype(&fdatasync)>("fdatasync");
  wait_for_disk(file);
  return real(file);
}

}  // extern "C"
#pragma GCC visibility pop

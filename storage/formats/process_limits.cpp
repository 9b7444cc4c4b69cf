#include "storage/formats/process_limits.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "common/checked_math.hpp"
#include "common/sanitizers.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kOpeningBytes = 24 << 20;
constexpr rlim_t kOpeningSeconds = 2;

constexpr bool kLimitsMemory = !kSanitized;

/// The memory of this process that RLIMIT_DATA limits: the sixth number of statm, in pages. Avoids stdio, whose locks
/// other threads of the parent may hold.
std::int64_t data_bytes() {
  std::array<char, 256> text{};
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const auto size = ::read(file, text.data(), text.size() - 1);
  ::close(file);
  const char* at = text.data();
  std::int64_t pages = 0;
  for (int n = 0; n < 6 && size > 0; ++n) {
    char* end = nullptr;
    pages = std::strtoll(at, &end, 10);
    at = end;
  }
  return pages * ::sysconf(_SC_PAGESIZE);
}

void set_soft_limit(int resource, rlim_t value) {
  struct rlimit limit {};
  if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) return;
  limit.rlim_cur = std::min(value, limit.rlim_max);
  ::setrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
}

}  // namespace

ProcessLimits::ProcessLimits() : base_(data_bytes()) {}

void ProcessLimits::begin_opening() const {
  set_soft_limit(RLIMIT_CPU, kOpeningSeconds);
  allow_memory(0);
}

void ProcessLimits::end_opening(std::int64_t bytes) const {
  set_soft_limit(RLIMIT_CPU, RLIM_INFINITY);
  allow_memory(bytes);
}

void ProcessLimits::allow_memory(std::int64_t bytes) const {
  if (!kLimitsMemory) return;
  set_soft_limit(RLIMIT_DATA, static_cast<rlim_t>(checked_add(base_ + kOpeningBytes, bytes)));
}

}  // namespace eindb

// The messages on the socket, in this machine's byte order; isolated_process.cpp documents errors. The answer to the
// fork is type (1 byte), rank (4 bytes), extents (8 bytes each); the answer to a request is the elements. A request is
// begin and extents, 8 bytes per number; for a scalar it is one byte.

#include "storage/formats/isolated_reader.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <new>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "storage/encoding/tile_codec.hpp"

namespace eindb {
namespace {

constexpr rlim_t kOpeningBytes = 24 << 20;
constexpr rlim_t kOpeningSeconds = 2;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kLimitsMemory = false;  // sanitizers reserve unlimited memory
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
constexpr bool kLimitsMemory = false;
#else
constexpr bool kLimitsMemory = true;
#endif
#else
constexpr bool kLimitsMemory = true;
#endif

/// The file may be intact, and the library have failed for lack of memory.
constexpr const char* kMemoryHint = "restore the file from a copy; if it is sound, the machine's memory may be short";

/// The memory of this process that RLIMIT_DATA limits: the sixth number of statm, in pages. Avoids stdio, whose locks
/// other threads of the parent may hold.
rlim_t data_bytes() {
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
  return static_cast<rlim_t>(pages) * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

void set_soft_limit(int resource, rlim_t value) {
  struct rlimit limit {};
  if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) return;
  limit.rlim_cur = std::min(value, limit.rlim_max);
  ::setrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
}

/// The code of the child.
class ReaderProcess {
 public:
  explicit ReaderProcess(const IsolatedChild& child) : child_(child) {}

  template <class Act>
  auto answer(const Act& act) const {
    return child_.answer([&] {
      errno = 0;
      try {
        return act();
      } catch (const Error& error) {
        if (errno != ENOMEM || !error.hint().empty()) throw;
        throw Error(error.kind(), error.message(), std::nullopt, kMemoryHint);
      } catch (const std::bad_alloc&) {
        throw Error(ErrorKind::Corrupt, "the file wants more memory than its values take", std::nullopt, kMemoryHint);
      }
    });
  }

  void run(const IsolatedReader::Open& open) const {
    set_soft_limit(RLIMIT_CPU, kOpeningSeconds);
    if (kLimitsMemory) set_soft_limit(RLIMIT_DATA, base_ + kOpeningBytes);
    const auto reader = answer([&] {
      auto opened = open();
      child_.send_value<std::uint8_t>(0);
      child_.send_value(static_cast<std::uint8_t>(opened->dtype()));
      child_.send_value(static_cast<std::uint32_t>(opened->shape().rank()));
      for (const auto extent : opened->shape().extents()) child_.send_value(extent);
      return opened;
    });
    if (!reader) ::_exit(1);
    set_soft_limit(RLIMIT_CPU, RLIM_INFINITY);
    allow_memory(**reader, 0);
    while (serve(**reader)) {
    }
    ::_exit(0);  // without the library's cleanup of open objects
  }

 private:
  void allow_memory(const BlockReader& reader, std::int64_t block_bytes) const {
    if (!kLimitsMemory) return;
    const auto needed = checked_add(reader.working_bytes(), checked_multiply(3, block_bytes));
    set_soft_limit(RLIMIT_DATA, base_ + kOpeningBytes + static_cast<rlim_t>(needed));
  }

  bool serve(BlockReader& reader) const {
    const auto rank = reader.shape().rank();
    std::vector<std::int64_t> numbers(2 * rank);
    const auto bytes = std::as_writable_bytes(std::span(numbers));
    // A scalar has no coordinates, so one byte requests it.
    std::byte scalar{};
    if (!child_.receive(rank > 0 ? bytes : std::span(&scalar, 1))) return false;
    const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(rank);
    const auto done = answer([&] {
      const std::vector<std::int64_t> begin(numbers.begin(), middle);
      const Shape extents(std::vector<std::int64_t>(middle, numbers.end()));
      allow_memory(reader,
                   checked_multiply(extents.element_count(), static_cast<std::int64_t>(size_of(reader.dtype()))));
      const auto tile = reader.read_block(begin, extents);
      child_.send_value<std::uint8_t>(0);
      child_.send(tile.bytes());
      return true;
    });
    return done.has_value();
  }

  const IsolatedChild& child_;
  rlim_t base_ = data_bytes();
};

Error death_of_reader(const std::string& path, int status) {
  std::string how = "its reader stopped";
  if (WIFSIGNALED(status)) how = WTERMSIG(status) == SIGXCPU ? "its reader found no end" : "its reader crashed";
  return {ErrorKind::Corrupt, path + " is damaged: " + how, std::nullopt, kMemoryHint};
}

}  // namespace

IsolatedReader::IsolatedReader(const std::string& path, std::mutex& library, const Open& open,
                               const Cancellation* cancellation)
    : process_(
          library, [&](const IsolatedChild& child) { ReaderProcess(child).run(open); },
          [path](int status) { return death_of_reader(path, status); }, cancellation) {
  process_.receive_status();
  receive_shape();
}

void IsolatedReader::receive_shape() {
  const auto dtype = dtype_from_code(process_.receive_value<std::uint8_t>());
  const auto rank = process_.receive_value<std::uint32_t>();
  if (!dtype || rank > kMaxStoredRank) process_.fail();
  std::vector<std::int64_t> extents(rank);
  process_.receive(std::as_writable_bytes(std::span(extents)));
  const bool negative = std::any_of(extents.begin(), extents.end(), [](std::int64_t extent) { return extent < 0; });
  if (negative || !try_product(extents)) process_.fail();
  dtype_ = *dtype;
  shape_ = Shape(std::move(extents));
}

Tile IsolatedReader::read_block(const std::vector<std::int64_t>& begin, const Shape& extents) {
  CHECK(begin.size() == shape_.rank() && extents.rank() == shape_.rank(), "a block has the rank of its array");
  std::vector<std::int64_t> request(begin);
  request.insert(request.end(), extents.extents().begin(), extents.extents().end());
  std::span<const std::byte> bytes = std::as_bytes(std::span(request));
  const std::byte scalar{};
  if (request.empty()) bytes = std::span(&scalar, 1);
  process_.send(bytes);
  process_.receive_status();
  auto tile = Tile::uninitialized(dtype_, extents);
  process_.receive(tile.mutable_bytes());
  return tile;
}

}  // namespace eindb

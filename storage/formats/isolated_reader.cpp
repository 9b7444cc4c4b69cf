// What goes through the socket, in this machine's byte order. From the child, an answer to the fork and to each
// request:
//
//     1 byte    0: done, 1: an error
//     done:     to the fork: type (1 byte), rank (4 bytes), extents (8 bytes each); to a request: the elements
//     an error: kind (1 byte); message and hint, each as length (4 bytes) and text
//
// A request is begin and extents, 8 bytes per number.

#include "storage/formats/isolated_reader.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "storage/tile_codec.hpp"

namespace eindb {
namespace {

constexpr rlim_t kOpeningBytes = 24 << 20;
constexpr rlim_t kOpeningSeconds = 2;
constexpr std::uint32_t kLongestText = 1 << 20;
constexpr int kPollMilliseconds = 50;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kLimitsMemory = false;  // sanitizers take memory as they please
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
constexpr bool kLimitsMemory = false;
#else
constexpr bool kLimitsMemory = true;
#endif
#else
constexpr bool kLimitsMemory = true;
#endif

// ---- The child -----------------------------------------------------------------------------------------------------

/// The memory of this process that RLIMIT_DATA counts: the sixth number of statm, in pages. Without stdio, whose locks
/// other threads of the parent may have held.
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

class Child {
 public:
  explicit Child(int socket) : socket_(socket) {}

  [[noreturn]] void run(const IsolatedReader::Open& open) {
    const auto reader = answer([&] {
      auto opened = open();
      send_value<std::uint8_t>(0);
      send_value(static_cast<std::uint8_t>(opened->dtype()));
      send_value(static_cast<std::uint32_t>(opened->shape().rank()));
      for (const auto extent : opened->shape().extents()) send_value(extent);
      return opened;
    });
    if (!reader) ::_exit(1);
    set_soft_limit(RLIMIT_CPU, RLIM_INFINITY);
    allow_memory(**reader, 0);
    while (serve(**reader)) {
    }
    ::_exit(0);
  }

 private:
  void allow_memory(const BlockReader& reader, std::int64_t block_bytes) const {
    if (!kLimitsMemory) return;
    const auto needed = checked_add(reader.working_bytes(), checked_multiply(3, block_bytes));
    set_soft_limit(RLIMIT_DATA, base_ + kOpeningBytes + static_cast<rlim_t>(needed));
  }

  bool serve(BlockReader& reader) {
    const auto rank = reader.shape().rank();
    std::vector<std::int64_t> numbers(2 * rank);
    const auto bytes = std::as_writable_bytes(std::span(numbers));
    // A scalar has no coordinates: one byte asks for it.
    std::byte scalar{};
    if (!receive(rank > 0 ? bytes : std::span(&scalar, 1))) return false;
    const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(rank);
    const auto done = answer([&] {
      const std::vector<std::int64_t> begin(numbers.begin(), middle);
      const Shape extents(std::vector<std::int64_t>(middle, numbers.end()));
      allow_memory(reader,
                   checked_multiply(extents.element_count(), static_cast<std::int64_t>(size_of(reader.dtype()))));
      const auto tile = reader.read_block(begin, extents);
      send_value<std::uint8_t>(0);
      send(tile.bytes());
      return true;
    });
    return done.has_value();
  }

  /// Runs `act`; sends its Error, if it throws.
  template <class Act>
  auto answer(const Act& act) -> std::optional<decltype(act())> {
    try {
      return act();
    } catch (const Error& error) {
      send_error(error.kind(), error.message(), error.hint());
    } catch (const std::bad_alloc&) {
      send_error(ErrorKind::Corrupt, "the file wants more memory than its values take", "");
    } catch (const std::exception& error) {
      send_error(ErrorKind::Internal, error.what(), "");
    }
    return std::nullopt;
  }

  void send_error(ErrorKind kind, const std::string& message, const std::string& hint) {
    send_value<std::uint8_t>(1);
    send_value(static_cast<std::uint8_t>(kind));
    for (const auto* text : {&message, &hint}) {
      const auto size = std::min<std::size_t>(text->size(), kLongestText);
      send_value(static_cast<std::uint32_t>(size));
      send(std::as_bytes(std::span(*text)).first(size));
    }
  }

  template <class T>
  void send_value(T value) {
    send(std::as_bytes(std::span(&value, 1)));
  }

  void send(std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) ::_exit(1);  // nobody listens any more
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    }
  }

  bool receive(std::span<std::byte> target) const {
    while (!target.empty()) {
      const auto got = ::recv(socket_, target.data(), target.size(), 0);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      target = target.subspan(static_cast<std::size_t>(got));
    }
    return true;
  }

  int socket_;
  rlim_t base_ = data_bytes();
};

/// Nothing of the parent's is touched from here on but the socket: no files closed, no destructors run.
[[noreturn]] void run_child(int socket, pid_t parent, const IsolatedReader::Open& open) noexcept {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(signal, SIG_IGN);
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGXCPU}) ::signal(signal, SIG_DFL);
  // What glibc has to say about a damaged heap is not for the user's terminal.
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) ::dup2(nowhere, STDERR_FILENO);
  set_soft_limit(RLIMIT_CORE, 0);
  set_soft_limit(RLIMIT_CPU, kOpeningSeconds);
  if (kLimitsMemory) set_soft_limit(RLIMIT_DATA, data_bytes() + kOpeningBytes);
  Child(socket).run(open);
}

}  // namespace

// ---- The parent ----------------------------------------------------------------------------------------------------

IsolatedReader::IsolatedReader(std::string path, std::mutex& library, const Open& open,
                               const Cancellation* cancellation)
    : path_(std::move(path)), cancellation_(cancellation) {
  try {
    start(library, open);
    receive_status();
    receive_shape();
  } catch (...) {
    stop();
    throw;
  }
}

IsolatedReader::~IsolatedReader() { stop(); }

void IsolatedReader::start(std::mutex& library, const Open& open) {
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0) {
    const auto parent = ::getpid();
    std::unique_lock lock(library);
    child_ = ::fork();
    lock.unlock();  // in the child too: it has its own copy
    if (child_ == 0) run_child(ends[1], parent, open);
    socket_ = ends[0];
    ::close(ends[1]);
  }
  if (child_ < 0) throw Error(ErrorKind::Io, "cannot start a process to read " + path_ + ": " + std::strerror(errno));
}

void IsolatedReader::stop() {
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  if (child_ <= 0) return;
  ::kill(child_, SIGKILL);
  while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
}

void IsolatedReader::receive_shape() {
  const auto dtype = dtype_from_code(receive_value<std::uint8_t>());
  const auto rank = receive_value<std::uint32_t>();
  if (!dtype || rank > kMaxStoredRank) child_died();
  std::vector<std::int64_t> extents(rank);
  receive(std::as_writable_bytes(std::span(extents)));
  const bool negative = std::any_of(extents.begin(), extents.end(), [](std::int64_t extent) { return extent < 0; });
  if (negative || !try_product(extents)) child_died();
  dtype_ = *dtype;
  shape_ = Shape(std::move(extents));
}

Tile IsolatedReader::read_block(const std::vector<std::int64_t>& begin, const Shape& extents) {
  std::vector<std::int64_t> request(begin);
  request.insert(request.end(), extents.extents().begin(), extents.extents().end());
  std::span<const std::byte> bytes = std::as_bytes(std::span(request));
  const std::byte scalar{};
  if (request.empty()) bytes = std::span(&scalar, 1);
  // A request fits the socket's buffer: the child has answered all before.
  if (::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size())) child_died();
  receive_status();
  auto tile = Tile::uninitialized(dtype_, extents);
  receive(tile.mutable_bytes());
  return tile;
}

void IsolatedReader::receive_status() {
  if (receive_value<std::uint8_t>() == 0) return;
  const auto kind = std::min(receive_value<std::uint8_t>(), static_cast<std::uint8_t>(ErrorKind::Internal));
  auto message = receive_text();
  throw Error(static_cast<ErrorKind>(kind), std::move(message), std::nullopt, receive_text());
}

template <class T>
T IsolatedReader::receive_value() {
  T value{};
  receive(std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

std::string IsolatedReader::receive_text() {
  std::string text(std::min(receive_value<std::uint32_t>(), kLongestText), '\0');
  receive(std::as_writable_bytes(std::span(text)));
  return text;
}

void IsolatedReader::wait_for_bytes() {
  for (;;) {
    if (cancellation_ != nullptr) cancellation_->check();
    struct pollfd waited {
      .fd = socket_, .events = POLLIN, .revents = 0
    };
    const int ready = ::poll(&waited, 1, kPollMilliseconds);
    if (ready > 0) return;
    if (ready < 0 && errno != EINTR) child_died();
  }
}

void IsolatedReader::receive(std::span<std::byte> target) {
  while (!target.empty()) {
    wait_for_bytes();
    const auto got = ::recv(socket_, target.data(), target.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) child_died();
    target = target.subspan(static_cast<std::size_t>(got));
  }
}

void IsolatedReader::child_died() {
  int status = 0;
  if (child_ > 0) {
    ::kill(child_, SIGKILL);  // it may be alive and talk nonsense
    while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    child_ = -1;
  }
  std::string how = "its reader stopped";
  if (WIFSIGNALED(status)) how = WTERMSIG(status) == SIGXCPU ? "its reader found no end" : "its reader crashed";
  throw Error(ErrorKind::Corrupt, path_ + " is damaged: " + how);
}

}  // namespace eindb

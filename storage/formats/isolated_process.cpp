// The messages on the socket, in this machine's byte order. With a sanitizer, a byte says first that the child's
// allocator works. The child answers the fork and each request:
//
//     1 byte    0: done, 1: an error
//      done:     the result follows
//     an error: kind (1 byte); message and hint, each as length (4 bytes) and text

#include "storage/formats/isolated_process.hpp"

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
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "common/sanitizers.hpp"

namespace eindb {
namespace {

constexpr std::uint32_t kLongestText = 1 << 20;
constexpr int kPollMilliseconds = 50;
constexpr int kForks = 10;                    // with a sanitizer, until one has an allocator without locked locks
constexpr int kAllocatorMilliseconds = 5000;  // in which a child with a usable allocator has long answered

/// Allocates more blocks of each size than a thread may keep for itself, so that every lock of the allocator is taken.
[[maybe_unused]] void use_allocator() {
  for (std::size_t size = 16; size <= std::size_t{1} << 18U; size += std::max<std::size_t>(16, size / 4)) {
    std::vector<std::unique_ptr<std::byte[]>> blocks;
    for (std::size_t bytes = 0; bytes < std::size_t{1} << 18U; bytes += size) {
      blocks.push_back(std::make_unique<std::byte[]>(size));
    }
  }
}

/// Whether the child says that its allocator works. glibc's malloc is unlocked in a child. The allocators of sanitizers
/// stay as another thread of the parent held them at the fork; such a child waits forever, and a new one is needed.
bool allocator_works(int socket) {
  struct pollfd waited {
    .fd = socket, .events = POLLIN, .revents = 0
  };
  std::byte said{};
  return ::poll(&waited, 1, kAllocatorMilliseconds) > 0 && ::recv(socket, &said, 1, 0) == 1;
}

/// Touches none of the parent's resources except the socket: closes no files, runs no destructors.
[[noreturn]] void run_child(int socket, pid_t parent, const IsolatedProcess::Serve& serve) noexcept {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(signal, SIG_IGN);
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGXCPU}) ::signal(signal, SIG_DFL);
  // Keeps glibc's messages about a damaged heap off the user's terminal.
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) ::dup2(nowhere, STDERR_FILENO);
  struct rlimit no_core {};
  ::setrlimit(RLIMIT_CORE, &no_core);
  IsolatedChild child(socket);
  if constexpr (kSanitized) {
    use_allocator();
    child.send_value<std::uint8_t>(0);
  }
  serve(child);
  ::_exit(0);
}

Error no_process(int reason) {
  if (reason == ENOMEM) return out_of_memory("another process");
  return {ErrorKind::Io, std::string("cannot start a process: ") + std::strerror(reason), std::nullopt,
          "raise the number of processes, or of open files, that the system allows (ulimit -u, ulimit -n)"};
}

}  // namespace

// ---- The child -----------------------------------------------------------------------------------------------------

void IsolatedChild::send(std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) ::_exit(1);  // the parent is gone
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
}

bool IsolatedChild::receive(std::span<std::byte> target) const {
  while (!target.empty()) {
    const auto got = ::recv(socket_, target.data(), target.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    target = target.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

void IsolatedChild::send_error() const {
  const auto error = caught_error();
  send_value<std::uint8_t>(1);
  send_value(static_cast<std::uint8_t>(error.kind()));
  for (const auto* text : {&error.message(), &error.hint()}) {
    const auto size = std::min<std::size_t>(text->size(), kLongestText);
    send_value(static_cast<std::uint32_t>(size));
    send(std::as_bytes(std::span(*text)).first(size));
  }
}

// ---- The parent ----------------------------------------------------------------------------------------------------

IsolatedProcess::IsolatedProcess(std::mutex& library, const Serve& serve, Died died, const Cancellation* cancellation)
    : died_(std::move(died)), cancellation_(cancellation) {
  CHECK(died_ != nullptr, "the end of a child has an error to its name");
  start(library, serve);
}

IsolatedProcess::~IsolatedProcess() { stop(); }

void IsolatedProcess::start(std::mutex& library, const Serve& serve) {
  CHECK(serve != nullptr, "a process is started to serve");
  for (int n = 0; n < kForks; ++n) {
    fork_child(library, serve);
    if (!kSanitized || allocator_works(socket_)) return;
    stop();
  }
  throw no_process(EAGAIN);
}

void IsolatedProcess::fork_child(std::mutex& library, const Serve& serve) {
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) throw no_process(errno);
  const auto parent = ::getpid();
  std::unique_lock lock(library);
  child_ = ::fork();
  const int reason = errno;
  lock.unlock();  // in the child too, which has its own copy
  if (child_ == 0) run_child(ends[1], parent, serve);
  socket_ = ends[0];
  ::close(ends[1]);
  if (child_ > 0) return;
  stop();
  throw no_process(reason);
}

void IsolatedProcess::stop() {
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  if (child_ <= 0) return;
  ::kill(child_, SIGKILL);
  while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
}

void IsolatedProcess::fail() {
  int status = 0;
  if (child_ > 0) {
    ::kill(child_, SIGKILL);  // it may be alive and violate the protocol
    while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    child_ = -1;
  }
  throw died_(status);
}

void IsolatedProcess::wait_for(short events) {
  for (;;) {
    if (cancellation_ != nullptr) cancellation_->check();
    struct pollfd waited {
      .fd = socket_, .events = events, .revents = 0
    };
    const int ready = ::poll(&waited, 1, kPollMilliseconds);
    if (ready > 0) return;
    if (ready < 0 && errno != EINTR) fail();
  }
}

void IsolatedProcess::send(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    wait_for(POLLOUT);
    const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (sent < 0) fail();
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
}

void IsolatedProcess::receive(std::span<std::byte> target) {
  while (!target.empty()) {
    wait_for(POLLIN);
    const auto got = ::recv(socket_, target.data(), target.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) fail();
    target = target.subspan(static_cast<std::size_t>(got));
  }
}

void IsolatedProcess::receive_status() {
  if (receive_value<std::uint8_t>() == 0) return;
  const auto kind = std::min(receive_value<std::uint8_t>(), static_cast<std::uint8_t>(ErrorKind::Internal));
  auto message = receive_text();
  throw Error(static_cast<ErrorKind>(kind), std::move(message), std::nullopt, receive_text());
}

std::string IsolatedProcess::receive_text() {
  std::string text(std::min(receive_value<std::uint32_t>(), kLongestText), '\0');
  receive(std::as_writable_bytes(std::span(text)));
  return text;
}

}  // namespace eindb

#include "storage/sqlite/mapped_reads.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "common/error.hpp"

namespace eindb {
namespace {

// ---- In the signal handler: no allocation but a thread's first, no lock -------------------------------------------

std::atomic<std::uint64_t> unreadable_pages = 0;
// Where the library is loaded at run time, as an interpreter does, a thread's first use allocates. It may: a load from
// a mapped file has raised the signal, so that the thread is neither in the allocator nor in the loader. The model that
// never allocates, initial-exec, would keep libeindb.so from being loaded at run time.
thread_local std::uint64_t met_by_this_thread = 0;
struct sigaction handler_before {};

/// Lines of /proc/self/maps: "7f0000000000-7f0000010000 r--s 00000000 08:01 1234 /path".
class Mappings {
 public:
  Mappings() : descriptor_(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {}
  ~Mappings() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Mappings(const Mappings&) = delete;
  Mappings& operator=(const Mappings&) = delete;

  /// Whether the address lies in a file that is mapped shared and read-only.
  bool is_of_read_file(std::uintptr_t address) {
    for (;;) {
      const auto begin = number();
      const auto end = number();
      const bool is_read = next() == 'r' && next() == '-' && next() == '-' && next() == 's';
      if (end == 0) return false;
      if (begin <= address && address < end) return is_read;
      while (size_ >= 0 && next() != '\n') continue;
    }
  }

 private:
  /// Parses a hexadecimal number and consumes the character after it.
  std::uintptr_t number() {
    std::uintptr_t value = 0;
    for (;;) {
      const char c = next();
      if (c >= '0' && c <= '9') value = value * 16 + static_cast<std::uintptr_t>(c - '0');
      else if (c >= 'a' && c <= 'f') value = value * 16 + static_cast<std::uintptr_t>(c - 'a' + 10);
      else return value;
    }
  }

  /// The next character; 0 at the end.
  char next() {
    if (at_ >= size_) {
      size_ = descriptor_ < 0 ? -1 : ::read(descriptor_, buffer_.data(), buffer_.size());
      at_ = 0;
      if (size_ <= 0) size_ = -1;
    }
    return size_ < 0 ? '\0' : buffer_[static_cast<std::size_t>(at_++)];
  }

  int descriptor_;
  std::array<char, 4096> buffer_{};
  ssize_t at_ = 0;
  ssize_t size_ = 0;
};

bool put_zeros_at(void* address) {
  const auto page_bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto offset = reinterpret_cast<std::uintptr_t>(address) % page_bytes;
  auto* page = static_cast<char*>(address) - offset;
  return ::mmap(page, page_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

bool survive(const siginfo_t& info) {
  if (info.si_code <= 0) return false;  // sent by kill()
  Mappings mappings;
  return mappings.is_of_read_file(reinterpret_cast<std::uintptr_t>(info.si_addr)) && put_zeros_at(info.si_addr);
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
  const int saved = errno;
  const bool survived = survive(*info);
  errno = saved;
  if (survived) {
    ++unreadable_pages;
    ++met_by_this_thread;
  } else if ((handler_before.sa_flags & SA_SIGINFO) != 0) {
    handler_before.sa_sigaction(signal, info, context);
  } else if (handler_before.sa_handler != SIG_DFL && handler_before.sa_handler != SIG_IGN) {
    handler_before.sa_handler(signal);
  } else {
    ::sigaction(signal, &handler_before, nullptr);  // ends the process when the access is retried
  }
}

// ---- Outside the signal handler ------------------------------------------------------------------------------------

struct Connection {
  std::uint64_t pages_seen = 0;  // when its file was no longer mapped
  bool may_meet_zeros = false;   // its file is still mapped, although a part is unreadable
  bool has_spoilt_transaction = false;
  bool has_ended_spoilt_transaction = false;  // in the call that has just returned
};

std::mutex mutex;  // guards connections, which is empty until a page is unreadable
std::map<sqlite3*, Connection> connections;

/// False while a statement uses pages of the mapping.
bool stop_mapping(sqlite3* handle) {
  sqlite3_int64 limit = 0;
  sqlite3_file_control(handle, "main", SQLITE_FCNTL_MMAP_SIZE, &limit);
  limit = -1;  // queries the limit
  return sqlite3_file_control(handle, "main", SQLITE_FCNTL_MMAP_SIZE, &limit) != SQLITE_OK || limit == 0;
}

}  // namespace

void survive_unreadable_pages() {
  static const bool done = [] {
    struct sigaction action {};
    action.sa_sigaction = &on_bus_error;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    return ::sigaction(SIGBUS, &action, &handler_before) == 0;
  }();
  static_cast<void>(done);
}

void begin_mapped_reads(sqlite3* handle) noexcept {
  const auto pages = unreadable_pages.load();
  if (pages == 0) return;
  const std::lock_guard lock(mutex);
  connections[handle] = Connection();
  connections[handle].pages_seen = pages;
}

bool has_read_in_vain(sqlite3* handle, bool has_failed) noexcept {
  const auto pages = unreadable_pages.load();
  if (pages == 0) return false;
  const bool has_met = std::exchange(met_by_this_thread, 0) > 0;
  const std::lock_guard lock(mutex);
  auto& connection = connections[handle];
  connection.may_meet_zeros = connection.may_meet_zeros || has_met;
  const bool writes = sqlite3_txn_state(handle, "main") == SQLITE_TXN_WRITE;
  // A commit that failed has rolled back.
  const bool has_ended = std::exchange(connection.has_ended_spoilt_transaction, false);
  const bool in_vain =
      connection.may_meet_zeros || (writes && connection.has_spoilt_transaction) || (has_failed && has_ended);
  if (connection.pages_seen == pages || stop_mapping(handle)) {
    connection.pages_seen = pages;
    connection.may_meet_zeros = false;
  }
  if (in_vain && writes) connection.has_spoilt_transaction = true;
  return in_vain;
}

void read_in_vain(const std::string& name) {
  throw Error(ErrorKind::Io, name + ": a page of it cannot be read (" + std::strerror(EIO) + ")", std::nullopt,
              "look after the disk, then run the statement again");
}

bool has_spoilt_transaction(sqlite3* handle) noexcept {
  if (unreadable_pages == 0) return false;
  const std::lock_guard lock(mutex);
  return met_by_this_thread > 0 || connections[handle].has_spoilt_transaction;
}

void forget_spoilt_transaction(sqlite3* handle) noexcept {
  if (unreadable_pages == 0) return;
  const std::lock_guard lock(mutex);
  auto& connection = connections[handle];
  connection.has_ended_spoilt_transaction = std::exchange(connection.has_spoilt_transaction, false);
}

}  // namespace eindb

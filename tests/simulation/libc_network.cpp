// The C library's functions for sockets, and for waiting for them, in a program with a virtual network
// (virtual_network.hpp). Files are real.
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstring>

#include "tests/simulation/libc_function.hpp"
#include "tests/simulation/virtual_network.hpp"

namespace sim = eindb::simulation;

namespace {

bool is_virtual(int file) { return sim::is_virtual() && sim::is_known(file); }

int port_of(const sockaddr* address) {
  sockaddr_in in{};
  std::memcpy(&in, address, sizeof in);
  return ntohs(in.sin_port);
}

int write_address(int port, sockaddr* address, socklen_t* length) {
  if (port == 0) {
    errno = ENOTCONN;
    return -1;
  }
  if (address == nullptr) return 0;
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_port = htons(static_cast<std::uint16_t>(port));
  in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::memcpy(address, &in, std::min<std::size_t>(*length, sizeof in));
  *length = sizeof in;
  return 0;
}

long result_of(long result) {
  if (result >= 0) return result;
  errno = static_cast<int>(-result);
  return -1;
}

long argument_of(long value) { return value; }
long argument_of(const void* value) { return reinterpret_cast<long>(value); }

template <class... Arguments>
long call(long number, Arguments... arguments) {
  return result_of(sim::system_call(number, argument_of(arguments)...));
}

}  // namespace

extern "C" {

int socket(int domain, int type, int protocol) noexcept {
  if (sim::is_virtual() && domain == AF_INET) return sim::open_socket();
  if (sim::is_virtual() && domain == AF_UNIX) {  // nodes are on different hosts
    errno = EAFNOSUPPORT;
    return -1;
  }
  return static_cast<int>(call(SYS_socket, domain, type, protocol));
}

int bind(int file, const sockaddr* address, socklen_t length) noexcept {
  if (is_virtual(file)) return sim::bind_socket(file, port_of(address));
  return static_cast<int>(call(SYS_bind, file, address, length));
}

int listen(int file, int backlog) noexcept {
  return is_virtual(file) ? sim::listen_at(file) : static_cast<int>(call(SYS_listen, file, backlog));
}

int connect(int file, const sockaddr* address, socklen_t length) {
  if (is_virtual(file)) {
    const int result = sim::connect_to(file, port_of(address));
    if (result == 0 || errno != EINPROGRESS || !sim::wait_for(file, POLLOUT)) return result;
    errno = sim::error_of(file);
    return errno == 0 ? 0 : -1;
  }
  return static_cast<int>(call(SYS_connect, file, address, length));
}

int accept(int file, sockaddr* address, socklen_t* length) {
  if (!is_virtual(file)) return static_cast<int>(call(SYS_accept, file, address, length));
  const int accepted = sim::accept_from(file);
  if (accepted >= 0) write_address(sim::port_of(accepted, true), address, length);
  return accepted;
}

int getsockname(int file, sockaddr* address, socklen_t* length) noexcept {
  if (is_virtual(file)) return write_address(sim::port_of(file, false), address, length);
  return static_cast<int>(call(SYS_getsockname, file, address, length));
}

int getpeername(int file, sockaddr* address, socklen_t* length) noexcept {
  if (is_virtual(file)) return write_address(sim::port_of(file, true), address, length);
  return static_cast<int>(call(SYS_getpeername, file, address, length));
}

int setsockopt(int file, int level, int name, const void* value, socklen_t length) noexcept {
  if (!is_virtual(file)) return static_cast<int>(call(SYS_setsockopt, file, level, name, value, length));
  if (level == SOL_SOCKET && name == SO_RCVTIMEO) {
    timeval time{};
    std::memcpy(&time, value, sizeof time);
    sim::set_patience(file, time.tv_sec * sim::kSecond + time.tv_usec * sim::kMicrosecond);
  }
  return 0;
}

int getsockopt(int file, int level, int name, void* value, socklen_t* length) noexcept {
  if (!is_virtual(file)) return static_cast<int>(call(SYS_getsockopt, file, level, name, value, length));
  const int error = name == SO_ERROR ? sim::error_of(file) : 0;
  std::memcpy(value, &error, sizeof error);
  return 0;
}

int shutdown(int file, int how) noexcept {
  return is_virtual(file) ? 0 : static_cast<int>(call(SYS_shutdown, file, how));
}

int ioctl(int file, unsigned long request, ...) noexcept {
  va_list arguments;
  va_start(arguments, request);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  if (!is_virtual(file)) return static_cast<int>(call(SYS_ioctl, file, static_cast<long>(request), argument));
  int is_set = 0;
  if (request == FIONBIO) {
    std::memcpy(&is_set, argument, sizeof is_set);
    sim::set_waiting(file, is_set == 0);
  }
  return 0;
}

ssize_t recv(int file, void* bytes, size_t count, int flags) {
  if (!is_virtual(file)) return call(SYS_recvfrom, file, bytes, count, flags, 0, 0);
  ssize_t done = 0;
  do {
    const iovec vector{static_cast<char*>(bytes) + done, count - static_cast<std::size_t>(done)};
    const auto got = sim::receive(file, &vector, 1, (flags & MSG_PEEK) != 0);
    if (got > 0) done += got;
    const bool may_wait = got < 0 && errno == EAGAIN && (flags & MSG_DONTWAIT) == 0 && sim::wait_for(file, POLLIN);
    if (got > 0 || may_wait) continue;
    return done > 0 ? done : got;
  } while (done == 0 || ((flags & MSG_WAITALL) != 0 && static_cast<std::size_t>(done) < count));
  return done;
}

ssize_t recvmsg(int file, msghdr* message, int flags) {
  if (!is_virtual(file)) return call(SYS_recvmsg, file, message, flags);
  return sim::receive(file, message->msg_iov, message->msg_iovlen, (flags & MSG_PEEK) != 0);
}

ssize_t send(int file, const void* bytes, size_t count, int flags) {
  if (!is_virtual(file)) return call(SYS_sendto, file, bytes, count, flags, 0, 0);
  const iovec vector{const_cast<void*>(bytes), count};
  for (;;) {
    const auto sent = sim::send(file, &vector, 1);
    if (sent >= 0 || errno != EAGAIN || (flags & MSG_DONTWAIT) != 0 || !sim::wait_for(file, POLLOUT)) return sent;
  }
}

ssize_t sendmsg(int file, const msghdr* message, int flags) {
  if (!is_virtual(file)) return call(SYS_sendmsg, file, message, flags);
  return sim::send(file, message->msg_iov, message->msg_iovlen);
}

ssize_t read(int file, void* bytes, size_t count) {
  if (!is_virtual(file)) return call(SYS_read, file, bytes, count);
  if (sim::is_event(file)) return sim::read_event(file, bytes);
  return ::recv(file, bytes, count, 0);
}

ssize_t write(int file, const void* bytes, size_t count) {
  if (!is_virtual(file)) return call(SYS_write, file, bytes, count);
  if (sim::is_event(file)) return sim::write_event(file, bytes);
  return ::send(file, bytes, count, 0);
}

int close(int file) { return is_virtual(file) ? sim::close_file(file) : static_cast<int>(call(SYS_close, file)); }

int eventfd(unsigned value, int flags) noexcept {
  return sim::is_virtual() ? sim::open_event(value) : static_cast<int>(call(SYS_eventfd2, value, flags));
}

int epoll_create1(int flags) noexcept {
  return sim::is_virtual() ? sim::open_epoll() : static_cast<int>(call(SYS_epoll_create1, flags));
}

int epoll_ctl(int epoll, int operation, int file, epoll_event* event) noexcept {
  if (is_virtual(epoll)) return sim::control_epoll(epoll, operation, file, event);
  return static_cast<int>(call(SYS_epoll_ctl, epoll, operation, file, event));
}

int epoll_wait(int epoll, epoll_event* events, int most, int milliseconds) {
  if (is_virtual(epoll)) return sim::wait_for_epoll(epoll, events, most, milliseconds);
  return static_cast<int>(call(SYS_epoll_wait, epoll, events, most, milliseconds));
}

// A caller without timer descriptors waits for its timers in epoll_wait.
int timerfd_create(clockid_t clock, int flags) noexcept {
  if (!sim::is_virtual()) return static_cast<int>(call(SYS_timerfd_create, clock, flags));
  errno = EINVAL;
  return -1;
}

int poll(pollfd* files, nfds_t count, int milliseconds) {
  if (sim::is_virtual()) return sim::poll_files(files, count, milliseconds);
  return static_cast<int>(call(SYS_poll, files, count, milliseconds));
}

}  // extern "C"

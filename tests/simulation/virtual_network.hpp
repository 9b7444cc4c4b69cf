#pragma once

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/simulation/virtual_threads.hpp"

namespace eindb::simulation {

/// One life of a process on a machine; a restarted process at the same place is another host.
struct Host {
  int place = 0;
  bool is_alive = true;
  bool is_silent = false;  ///< its machine has ended with it
};

/// The properties of a link from one place to another.
struct Link {
  Time delay = 200 * kMicrosecond;
  Time jitter = 200 * kMicrosecond;
  std::uint64_t loses_once_in = 0;  ///< lost segments are sent again after a while; 0: none is lost
  bool is_cut = false;              ///< nothing passes until it is repaired; then the data sent meanwhile does
};

/// Starts the host in place of the one that was at its place before.
void boot(Host& host);
/// The link in one direction; the opposite direction has its own.
Link& link(int from, int to);
/// Sets how much data per connection the system buffers until it is received.
void set_socket_buffer(std::size_t bytes);
/// Ends the process as if it were killed: its sockets are closed. `is_silent`: the machine ends too, and peers notice
/// nothing until they send to the host that is started at the place.
void crash(Host& host, bool is_silent);

// Functions for libc_network.cpp, with the results of the C library and errno. Only for descriptors known here.
bool is_known(int file);
int open_socket();
int open_event(unsigned value);
int open_epoll();
int close_file(int file);
int bind_socket(int file, int port);
int listen_at(int file);
int connect_to(int file, int port);
int accept_from(int file);
int error_of(int file);
/// Sets whether operations on a socket wait, as they do by default; receiving waits at most `patience`.
void set_waiting(int file, bool waits);
void set_patience(int file, Time patience);
/// Waits for `events` of poll() if operations on the socket wait; false if they do not, or after the limit.
bool wait_for(int file, short events);
/// The socket's own port or the peer's; 0: none.
int port_of(int file, bool of_peer);
ssize_t receive(int file, const iovec* vectors, std::size_t count, bool peeks);
ssize_t send(int file, const iovec* vectors, std::size_t count);
ssize_t read_event(int file, void* to);
ssize_t write_event(int file, const void* from);
bool is_event(int file);
int control_epoll(int epoll, int operation, int file, const epoll_event* event);
int wait_for_epoll(int epoll, epoll_event* events, int most, int milliseconds);
int poll_files(pollfd* files, std::size_t count, int milliseconds);

}  // namespace eindb::simulation

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

/// One life of a process on a machine: what starts again at the same place is another host.
struct Host {
  int place = 0;
  bool is_alive = true;
  bool is_silent = false;  ///< it has ended with its machine
};

/// How what is sent gets from one place to another.
struct Link {
  Time delay = 200 * kMicrosecond;
  Time jitter = 200 * kMicrosecond;
  std::uint64_t loses_once_in = 0;  ///< a segment is sent again after a while; 0: none is lost
  bool is_cut = false;              ///< nothing gets through until it is mended; then what was sent does
};

/// The host is there, in place of the one that was at its place before.
void boot(Host& host);
/// Of the way from one place to another, which is another one than the way back.
Link& link(int from, int to);
/// How much the system keeps of what is sent on a connection and not received yet.
void set_socket_buffer(std::size_t bytes);
/// The process has ended, as if it was killed: its sockets are gone. `is_silent`: so is the machine, and peers hear
/// nothing until they say something to the host that is started at the place.
void crash(Host& host, bool is_silent);

// What libc_network.cpp calls; as the functions of the C library, with errno. Only descriptors that are known here.
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
/// A socket whose operations wait, as all do until they are told not to; those that receive for this time at most.
void set_waiting(int file, bool waits);
void set_patience(int file, Time patience);
/// Waits until `events` of poll(), where operations on the socket wait: false if it does not, or not any longer.
bool wait_for(int file, short events);
/// Its own port or the peer's; 0: none.
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

#include "cluster/local_socket.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "cluster/address.hpp"

namespace eindb {
namespace {

using boost::asio::ip::tcp;

// The size of the socket's send buffer: bytes that were sent and not received yet.
constexpr int kSocketBytes = 1 << 20;
constexpr int kMostWaiting = 128;

struct LocalName {
  sockaddr_un address{};
  socklen_t size = 0;
};

// Begins with a zero byte, as abstract names do.
LocalName name_of(const tcp::endpoint& endpoint) {
  const auto text = "eindb " + text_of(endpoint);
  LocalName name;
  name.address.sun_family = AF_UNIX;
  const auto count = std::min(text.size(), sizeof(name.address.sun_path) - 1);
  std::copy_n(text.begin(), count, name.address.sun_path + 1);
  name.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + count);
  return name;
}

const sockaddr* as_address(const LocalName& name) { return reinterpret_cast<const sockaddr*>(&name.address); }

FileDescriptor local_socket() {
  FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket) ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDBUF, &kSocketBytes, sizeof kSocketBytes);
  return socket;
}

}  // namespace

FileDescriptor listen_on_host(const tcp::endpoint& endpoint) {
  if (endpoint.address().is_unspecified()) return {};
  auto socket = local_socket();
  const auto name = name_of(endpoint);
  if (!socket || ::bind(socket.get(), as_address(name), name.size) != 0) return {};
  if (::listen(socket.get(), kMostWaiting) != 0) return {};
  return socket;
}

FileDescriptor connect_on_host(const tcp::endpoint& endpoint) {
  auto socket = local_socket();
  const auto name = name_of(endpoint);
  if (!socket || ::connect(socket.get(), as_address(name), name.size) != 0) return {};
  return is_of_same_user(socket.get()) ? std::move(socket) : FileDescriptor();
}

bool is_of_same_user(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}

}  // namespace eindb

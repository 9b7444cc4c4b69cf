#include "server/monitoring/service_manager.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace eindb {

void tell_service_manager(std::string_view state) noexcept {
  const char* const name = std::getenv("NOTIFY_SOCKET");
  const std::string_view path = name == nullptr ? "" : name;
  sockaddr_un address{};
  if (path.empty() || path.size() >= sizeof address.sun_path) return;
  address.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), address.sun_path);
  if (path.front() == '@') address.sun_path[0] = '\0';  // Linux's abstract socket names
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return;
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  ::sendto(socket, state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), bytes);
  ::close(socket);
}

}  // namespace eindb

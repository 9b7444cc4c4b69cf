#pragma once

#include <string_view>

namespace eindb {

/// Tells whoever manages the program as a service how it is, as systemd's sd_notify(3) does: "READY=1" when it serves,
/// "STOPPING=1" when it is about to end. Without such a manager, which gives a socket's name in $NOTIFY_SOCKET, and
/// where it does not listen, nothing happens.
void tell_service_manager(std::string_view state) noexcept;

}  // namespace eindb

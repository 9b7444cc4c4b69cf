#pragma once

#include <string_view>

namespace eindb {

/// Reports a state to the service manager, as systemd's sd_notify(3) does: "READY=1" when the program serves,
/// "STOPPING=1" when it is about to end. Does nothing if $NOTIFY_SOCKET names no socket or nobody listens there.
void tell_service_manager(std::string_view state) noexcept;

}  // namespace eindb

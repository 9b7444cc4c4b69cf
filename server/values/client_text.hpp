#pragma once

#include <string_view>

namespace eindb {

/// Throws CodedError{22021} for invalid UTF-8 and for zero bytes in values of COPY and of parameters. Fast for ASCII.
void check_client_text(std::string_view text);

}  // namespace eindb

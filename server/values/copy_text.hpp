#pragma once

#include <string_view>

namespace eindb {

/// Throws Error{Value} for invalid UTF-8 and for zero bytes. Fast for ASCII.
void check_copy_text(std::string_view text);

}  // namespace eindb

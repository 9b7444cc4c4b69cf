#pragma once

#include <string_view>

namespace eindb {

/// Throws Error{Value} for bytes that are no UTF-8, or 0. Fast for ASCII.
void check_copy_text(std::string_view text);

}  // namespace eindb

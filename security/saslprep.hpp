#pragma once

#include <string>
#include <string_view>

namespace eindb {

/// The bytes of a password, the same ones that clients compute: ASCII as it is; other text by SASLprep (RFC 4013), so
/// that it does not matter how a keyboard composes an é. What SASLprep refuses, and what is no UTF-8, is taken as it
/// is, as PostgreSQL and its clients do.
std::string prepare_password(std::string_view password);

}  // namespace eindb

#pragma once

#include <string>
#include <string_view>

namespace eindb {

/// The bytes of a password, equal to those that clients compute. ASCII is unchanged; other text is normalised by
/// SASLprep (RFC 4013), so that different encodings of é are equal. Text that SASLprep forbids, or that is invalid
/// UTF-8, is unchanged, as in PostgreSQL and its clients.
std::string prepare_password(std::string_view password);

}  // namespace eindb

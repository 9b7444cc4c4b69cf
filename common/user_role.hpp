#pragma once

#include <cstdint>
#include <string_view>

namespace eindb {

/// What a user of a database may do in it.
enum class UserRole : std::uint8_t { ReadOnly, ReadWrite };

/// "read only", "read write".
constexpr std::string_view describe(UserRole role) { return role == UserRole::ReadOnly ? "read only" : "read write"; }

}  // namespace eindb

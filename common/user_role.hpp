#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace eindb {

/// The role of a user in a database. Each role may do all that the roles before it may. An Admin manages the users.
enum class UserRole : std::uint8_t { ReadOnly, ReadWrite, Admin };

/// "read only", "read write", "admin".
constexpr std::string_view describe(UserRole role) {
  constexpr std::array<std::string_view, 3> kNames{"read only", "read write", "admin"};
  return kNames[static_cast<std::size_t>(role)];
}

/// The role that describe() describes so.
constexpr std::optional<UserRole> parse_user_role(std::string_view description) {
  for (const auto role : {UserRole::ReadOnly, UserRole::ReadWrite, UserRole::Admin})
    if (description == describe(role)) return role;
  return std::nullopt;
}

}  // namespace eindb

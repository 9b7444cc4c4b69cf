#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace eindb {

/// The role of a user in a database. Each role has the rights of those before it; an Admin also manages users.
enum class UserRole : std::uint8_t { ReadOnly, ReadWrite, Admin };

/// "read only", "read write", "admin".
constexpr std::string_view describe(UserRole role) {
  constexpr std::array<std::string_view, 3> kNames{"read only", "read write", "admin"};
  return kNames[static_cast<std::size_t>(role)];
}

/// The inverse of describe(); nullopt for other texts.
constexpr std::optional<UserRole> parse_user_role(std::string_view description) {
  for (const auto role : {UserRole::ReadOnly, UserRole::ReadWrite, UserRole::Admin})
    if (description == describe(role)) return role;
  return std::nullopt;
}

}  // namespace eindb

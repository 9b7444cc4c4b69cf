#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace eindb {

/// The role of a user in a database. Each role has the rights of those before it; an Admin also manages users. A user
/// who is Restricted sees and changes only the tables and tensors that were granted.
enum class UserRole : std::uint8_t { Restricted, ReadOnly, ReadWrite, Admin };

/// "restricted", "read only", "read write", "admin".
constexpr std::string_view describe(UserRole role) {
  constexpr std::array<std::string_view, 4> kNames{"restricted", "read only", "read write", "admin"};
  return kNames[static_cast<std::size_t>(role)];
}

/// The inverse of describe(); nullopt for other texts.
constexpr std::optional<UserRole> parse_user_role(std::string_view description) {
  for (const auto role : {UserRole::Restricted, UserRole::ReadOnly, UserRole::ReadWrite, UserRole::Admin})
    if (description == describe(role)) return role;
  return std::nullopt;
}

}  // namespace eindb

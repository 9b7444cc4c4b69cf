#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "common/letter_case.hpp"

namespace eindb {

/// A right that a user may be granted on a table, view or tensor. The values are bits of Rights.
enum class Right : std::uint8_t { Select = 1, Insert = 2, Update = 4, Delete = 8 };

/// A set of rights, as bits.
using Rights = std::uint8_t;
constexpr Rights kNoRights = 0;
constexpr Rights kAllRights = 15;

constexpr bool includes(Rights rights, Right right) { return (rights & static_cast<Rights>(right)) != 0; }
constexpr const char* name_of(Right right) {
  switch (right) {
    case Right::Select: return "SELECT";
    case Right::Insert: return "INSERT";
    case Right::Update: return "UPDATE";
    case Right::Delete: return "DELETE";
  }
  return "";
}

/// Rights on one table.
struct TableGrant {
  std::string user;
  Rights rights = kNoRights;
};

/// The rights of one user who sees only what was granted: of every table, view and tensor of the database, those that
/// the user has. Names ignore the case of ASCII letters.
class TableRights {
 public:
  explicit TableRights(std::string user) : user_(std::move(user)) {}

  const std::string& user() const { return user_; }
  void set(std::string_view table, Rights rights) { tables_[to_lower(table)] = rights; }
  /// Whether the database has a table, view or tensor of this name.
  bool protects(std::string_view table) const { return tables_.contains(to_lower(table)); }
  /// False for tables that the database does not have.
  bool has(std::string_view table, Right right) const {
    const auto found = tables_.find(to_lower(table));
    return found != tables_.end() && includes(found->second, right);
  }

 private:
  std::string user_;
  std::map<std::string, Rights> tables_;
};

}  // namespace eindb

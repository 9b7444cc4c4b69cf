#pragma once

#include <memory>
#include <string>

#include "common/table_rights.hpp"
#include "engine/settings/client_policy.hpp"
#include "parser/ast.hpp"
#include "storage/files/file_path.hpp"

namespace eindb {

/// The permissions of a session's statements: everything for whoever opened the file, less for clients of a server. All
/// statements are checked here, except SQL, which SqliteAuthorizer checks. Every refusal is an Error{Permission} with
/// an alternative. Used by the session's thread.
class Permissions {
 public:
  /// Null: everything is allowed.
  explicit Permissions(std::shared_ptr<const ClientPolicy> policy) : policy_(std::move(policy)) {}

  /// Sets the user of the next statements. Only for a server's sessions; until the first call the user has the least
  /// rights.
  void act_for(ClientUser user) { user_ = std::move(user); }
  const ClientUser& user() const { return user_; }
  /// Whether the user sees and changes only what was granted.
  bool is_restricted() const { return policy_ != nullptr && user_.role == UserRole::Restricted; }
  /// Sets the rights that a user who is_restricted() has in the next statement; null: none.
  void set_rights(std::shared_ptr<const TableRights> rights) { rights_ = std::move(rights); }
  /// Null if everything is allowed.
  const ClientPolicy* policy() const { return policy_.get(); }

  /// The file of a COPY. For clients it lies in ClientPolicy::files, and only users who may write the database may
  /// write it.
  FilePath file_to_read(const std::string& path) const;
  FilePath file_to_write(const std::string& path) const;
  /// Call before the setting changes.
  void check_setting(const std::string& name) const;

  /// Call before a statement reads or changes a tensor, or a table otherwise than by SQL.
  void check_right(const std::string& table, Right right) const;
  /// Call before a statement changes more than rows and cells.
  void check_not_restricted() const;
  void check_grants() const;
  void check_creates_users() const;
  void check_drains_workers() const;
  /// A copy of the database has the passwords of its users.
  void check_backs_up() const;
  /// Also checks a user's change of the own password.
  void check_alters(const ast::AlterUser& alter) const;
  /// `is_last`: with no users left, the server would no longer ask for a password.
  void check_drops_user(bool is_last) const;
  /// Whether a session that cannot write the database may still change a password, because it is the user's own.
  bool may_write_password() const;

 private:
  bool is_admin() const { return policy_ == nullptr || user_.role == UserRole::Admin; }
  FilePath file(const std::string& path) const;

  std::shared_ptr<const ClientPolicy> policy_;
  ClientUser user_;
  std::shared_ptr<const TableRights> rights_;
};

}  // namespace eindb

#pragma once

#include <memory>
#include <string>

#include "engine/settings/client_policy.hpp"
#include "parser/ast.hpp"
#include "storage/files/file_path.hpp"

namespace eindb {

/// What statements of a session may do beside what the database's own file allows: everything for whoever opened the
/// file, less for clients of a server. All that statements ask is asked here; what SQL may is SqliteAuthorizer's.
/// Every refusal is Error{Permission} with what to do instead. Used by the session's thread.
class Permissions {
 public:
  /// Null: everything.
  explicit Permissions(std::shared_ptr<const ClientPolicy> policy) : policy_(std::move(policy)) {}

  /// For whom the next statements run. Of a server's sessions only; before that nobody's, who may least.
  void act_for(ClientUser user) { user_ = std::move(user); }
  const ClientUser& user() const { return user_; }
  /// Null where everything is allowed.
  const ClientPolicy* policy() const { return policy_.get(); }

  /// The file of a COPY; of clients one in ClientPolicy::files, which only those write who may write the database.
  FilePath file_to_read(const std::string& path) const;
  FilePath file_to_write(const std::string& path) const;
  /// Before a value is given to the setting.
  void check_setting(const std::string& name) const;

  void check_creates_users() const;
  void check_drains_workers() const;
  /// Also where it is their own password that somebody changes.
  void check_alters(const ast::AlterUser& alter) const;
  /// `is_last`: without the user nobody would need a password any more.
  void check_drops_user(bool is_last) const;
  /// Whether a session that cannot write the database may change the password all the same: it is their own.
  bool may_write_password() const;

 private:
  bool is_admin() const { return policy_ == nullptr || user_.role == UserRole::Admin; }
  FilePath file(const std::string& path) const;

  std::shared_ptr<const ClientPolicy> policy_;
  ClientUser user_;
};

}  // namespace eindb

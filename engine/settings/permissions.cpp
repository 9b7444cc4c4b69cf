#include "engine/settings/permissions.hpp"

#include "common/error.hpp"
#include "common/letter_case.hpp"

namespace eindb {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& remedy) {
  throw Error(ErrorKind::Permission, what, std::nullopt, remedy);
}

[[noreturn]] void only_admins() {
  refuse("only users with the role ADMIN manage users", "an ADMIN can, or whoever opens the file in the shell");
}

}  // namespace

FilePath Permissions::file(const std::string& path) const {
  if (policy_ == nullptr) return path;
  if (policy_->files == nullptr)
    refuse("the server has no files for clients", "COPY ... FROM STDIN and TO STDOUT, or \\copy in psql");
  return {path, policy_->files};
}

FilePath Permissions::file_to_read(const std::string& path) const {
  if (is_restricted())
    refuse("a user who is RESTRICTED reads no files of the server", "COPY ... FROM STDIN, or \\copy in psql");
  return file(path);
}

FilePath Permissions::file_to_write(const std::string& path) const {
  if (policy_ != nullptr && (user_.role == UserRole::ReadOnly || is_restricted()))
    refuse(
        "a user who is " + std::string(is_restricted() ? "RESTRICTED" : "READ ONLY") + " writes no files of the server",
        "COPY ... TO STDOUT, or \\copy in psql");
  return file(path);
}

void Permissions::check_setting(const std::string& name) const {
  if (policy_ != nullptr && equal_ignoring_case(name, "machine_file"))
    refuse("clients do not name files of the server", "eindb calibrate on the server leaves the figures for all");
}

void Permissions::check_right(const std::string& table, Right right) const {
  if (!is_restricted() || (rights_ != nullptr && rights_->has(table, right))) return;
  refuse("permission denied for table " + table,
         std::string("an ADMIN can GRANT ") + name_of(right) + " ON " + table + " TO " + user_.name);
}

void Permissions::check_not_restricted() const {
  if (is_restricted())
    refuse("a user who is RESTRICTED changes rows and cells alone, where that is granted",
           "an ADMIN or a user who is READ WRITE can");
}

void Permissions::check_grants() const {
  if (!is_admin())
    refuse("only users with the role ADMIN grant and revoke", "an ADMIN can, or whoever opens the file in the shell");
}

void Permissions::check_creates_users() const {
  if (!is_admin()) only_admins();
}

void Permissions::check_drains_workers() const {
  if (!is_admin())
    refuse("only users with the role ADMIN drain workers", "an ADMIN can, or whoever opens the file in the shell");
}

void Permissions::check_backs_up() const {
  if (!is_admin()) refuse("only users with the role ADMIN copy the whole database", "COPY writes tensors and tables");
}

void Permissions::check_alters(const ast::AlterUser& alter) const {
  const bool own_password = equal_ignoring_case(alter.name.text, user_.name) && !alter.role;
  if (!is_admin() && !own_password) only_admins();
}

void Permissions::check_drops_user(bool is_last) const {
  if (!is_admin()) only_admins();
  if (policy_ != nullptr && is_last)
    refuse("without its last user the database would be open to all", "drop it in the shell, where the file is");
}

bool Permissions::may_write_password() const { return policy_ != nullptr && !policy_->read_only; }

}  // namespace eindb

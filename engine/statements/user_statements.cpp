#include <algorithm>

#include "common/check.hpp"
#include "common/coded_error.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "common/nearest_name.hpp"
#include "engine/results/rows.hpp"
#include "engine/statements/statements.hpp"
#include "security/scram_verifier.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"

namespace eindb {
namespace {

/// The size in bytes of the secret that determines the salts of unknown users.
constexpr std::size_t kSecretBytes = 32;

void check_name(const ast::Identifier& name) {
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7F; };
  if (std::any_of(name.text.begin(), name.text.end(), is_control))
    throw Error(ErrorKind::Value, "the name of a user is one line of text", name.span, "use another name");
  if (name.text.size() <= kMaxNameLength) return;
  throw Error(ErrorKind::Value, "the name of a user has " + std::to_string(name.text.size()) + " bytes", name.span,
              "use at most " + std::to_string(kMaxNameLength));
}

/// Whether the text is "md5" and 32 digits, PostgreSQL's format before SCRAM. Such a user could not log in.
bool is_md5(std::string_view text) {
  return text.size() == 35 && text.starts_with("md5") &&
         text.find_first_not_of("0123456789abcdef", 3) == std::string_view::npos;
}

/// The verifier of a password, which is slow to compute. A text that already is a verifier is kept.
std::string verifier_text(const ast::Password& password) {
  if (password.text.empty())
    throw Error(ErrorKind::Value, "the password is empty", password.word_span, "anybody would guess it");
  if (is_md5(password.text)) {
    throw Error(ErrorKind::Unsupported, "passwords are not kept as MD5", password.word_span,
                "give the password itself, or a verifier of SCRAM-SHA-256");
  }
  if (!looks_like_verifier(password.text)) return make_verifier(password.text).text();
  if (parse_verifier(password.text)) return password.text;
  throw Error(ErrorKind::Value, "the password begins as a verifier does, but is none", password.word_span,
              "a verifier is SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey, the last three in base64");
}

StoredUser find_user(const ast::Identifier& name, UserCatalog& users) {
  if (auto user = users.find(name.text)) return std::move(*user);
  std::vector<std::string> names;
  for (const auto& user : users.list()) names.push_back(user.name);
  const auto nearest = nearest_name(name.text, names);
  throw Error(ErrorKind::UnknownName, "there is no user " + name.text, name.span,
              nearest ? "did you mean " + *nearest + "?" : "SHOW USERS lists them");
}

void store(const StoredUser& user, UserCatalog& users) {
  if (!users.secret()) users.set_secret(random_bytes(kSecretBytes));
  users.put(user);
}

/// A READ ONLY user's session cannot write anything; this writes the own password through another connection.
void write_own_password(const std::string& verifier, const std::string& name, DatabaseFile& read_only) {
  if (read_only.connection().in_transaction()) {
    throw Error(ErrorKind::Unsupported, "a user who is READ ONLY changes the password outside of transactions",
                std::nullopt, "COMMIT first");
  }
  DatabaseFile database(read_only.path());
  SqliteTransaction transaction(database.connection());
  UserCatalog users(database.connection());
  auto user = users.find(name);
  if (!user) throw Error(ErrorKind::UnknownName, "the user was dropped");
  user->verifier = verifier;
  users.put(*user);
  transaction.commit();
}

}  // namespace

Result execute_statement(const ast::CreateUser& create, OpenDatabase& database, const SessionUser& user) {
  with_place(create.name.span, [&] { user.permissions.check_creates_users(); });
  check_name(create.name);
  auto verifier = verifier_text(create.password);  // before the transaction, so that others can write meanwhile
  SqliteTransaction transaction(database.connection());
  if (const auto known = database.users.find(create.name.text)) {
    throw Error(ErrorKind::DuplicateName, "user " + known->name + " exists already", create.name.span,
                "ALTER USER changes the password or the role");
  }
  store({.name = create.name.text, .verifier = std::move(verifier), .role = create.role}, database.users);
  transaction.commit();
  return status_result("CREATE USER");
}

Result execute_statement(const ast::AlterUser& alter, OpenDatabase& database, const SessionUser& user) {
  with_place(alter.name.span, [&] { user.permissions.check_alters(alter); });
  std::string verifier;
  if (alter.password) verifier = verifier_text(*alter.password);
  if (database.file.is_read_only() && user.permissions.may_write_password()) {
    CHECK(!verifier.empty() && equal_ignoring_case(alter.name.text, user.permissions.user().name),
          "who cannot write the database gives themselves a password");
    write_own_password(verifier, user.permissions.user().name, database.file);
    return status_result("ALTER USER");
  }
  SqliteTransaction transaction(database.connection());
  auto altered = find_user(alter.name, database.users);
  if (alter.password) altered.verifier = std::move(verifier);
  if (alter.role) altered.role = *alter.role;
  store(altered, database.users);
  transaction.commit();
  return status_result("ALTER USER");
}

Result execute_statement(const ast::DropUser& drop, OpenDatabase& database, const SessionUser& user) {
  SqliteTransaction transaction(database.connection());
  if (!drop.if_exists) find_user(drop.name, database.users);
  const bool is_last = database.users.find(drop.name.text) && database.users.list().size() == 1;
  with_place(drop.name.span, [&] { user.permissions.check_drops_user(is_last); });
  database.users.drop(drop.name.text);
  database.grants.forget_user(drop.name.text);
  transaction.commit();
  return status_result("DROP USER");
}

namespace {

/// The objects of GRANT and REVOKE, by the names that they were made with.
std::vector<std::string> granted_objects(const ast::Grant& grant, OpenDatabase& database) {
  using On = ast::Grant::On;
  auto& grants = database.grants;
  auto all = grant.on == On::Tensors || grant.on == On::AllTensors ? grants.tensors() : grants.tables();
  if (grant.on == On::AllTensors) return all;
  // Clients know a tensor as a table.
  if (grant.on != On::Tensors)
    for (auto& name : grants.tensors()) all.push_back(std::move(name));
  if (grant.on == On::AllTables) return all;
  std::vector<std::string> objects;
  for (const auto& name : grant.objects) {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const std::string& known) { return equal_ignoring_case(known, name.text); });
    if (found != all.end()) {
      objects.push_back(*found);
      continue;
    }
    const auto nearest = nearest_name(name.text, std::span<const std::string>(all));
    throw CodedError(
        "42P01", ErrorKind::UnknownName,
        std::string("there is no ") + (grant.on == On::Tensors ? "tensor " : "table or tensor ") + name.text,
        nearest ? "did you mean " + *nearest + "?" : "", name.span);
  }
  return objects;
}

/// Rights would change nothing for a user who has another role, which would surprise whoever revokes some.
StoredUser restricted_user(const ast::Identifier& name, UserCatalog& users) {
  auto user = find_user(name, users);
  if (user.role == UserRole::Restricted) return user;
  throw CodedError("0A000", ErrorKind::Unsupported,
                   "rights on tables are for users who are RESTRICTED: " + user.name + " is " +
                       to_upper(std::string(describe(user.role))) + ", which decides alone",
                   "ALTER USER " + user.name + " RESTRICTED first", name.span);
}

}  // namespace

Result execute_statement(const ast::Grant& grant, OpenDatabase& database, const SessionUser& user) {
  user.permissions.check_grants();
  SqliteTransaction transaction(database.connection());
  const auto objects = granted_objects(grant, database);
  auto& grants = database.grants;
  for (const auto& name : grant.users) {
    const auto grantee = restricted_user(name, database.users);
    for (const auto& object : objects) {
      if (grant.revokes) grants.revoke(object, grantee.name, grant.rights);
      else grants.grant(object, grantee.name, grant.rights);
    }
  }
  transaction.commit();
  return status_result(grant.revokes ? "REVOKE" : "GRANT");
}

Result execute_statement(const ast::ShowUsers&, OpenDatabase& database) {
  std::vector<Row> rows;
  for (const auto& user : database.users.list()) rows.push_back({user.name, std::string(describe(user.role))});
  return listed_result({{"name", ColumnType::Text}, {"role", ColumnType::Text}}, std::move(rows));
}

}  // namespace eindb

#include <array>
#include <string>
#include <string_view>

#include "catalog/tensor_info.hpp"
#include "common/coded_error.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "engine/results/rows.hpp"
#include "engine/statements/statements.hpp"

namespace eindb {
namespace {

/// Names of schemas that have a meaning of their own, and what begins those that SQLite and eindb make.
constexpr std::array<std::string_view, 6> kSchemasOfOthers{"main",    "temp",       "public",
                                                           "pg_temp", "pg_catalog", "information_schema"};
constexpr std::array<std::string_view, 4> kPrefixesOfOthers{"eindb_", "sqlite_", "vacuum_", "pg_"};

bool is_of_others(const std::string& name) {
  const auto folded = to_lower(name);
  for (const auto schema : kSchemasOfOthers)
    if (folded == schema) return true;
  for (const auto prefix : kPrefixesOfOthers)
    if (folded.starts_with(prefix)) return true;
  return false;
}

void check_new_schema(const ast::Identifier& name, const SqliteConnection& connection) {
  const auto& text = name.text;
  if (text.empty() || text.size() > kMaxNameLength || text.find_first_of(std::string_view(".\0", 2)) != text.npos) {
    throw Error(ErrorKind::Value,
                "the name of an attached database has 1 to " + std::to_string(kMaxNameLength) + " bytes and no point",
                name.span, "as in ATTACH 'other.db' AS other");
  }
  if (is_of_others(text))
    throw Error(ErrorKind::Value, "the schema " + text + " has a meaning of its own", name.span, "use another name");
  if (connection.has_schema(text))
    throw Error(ErrorKind::DuplicateName, "a database is attached as " + text + " already", name.span,
                "DETACH " + text + " first, or use another name");
}

// As SQLite, which keeps what it has read of all files of a transaction.
void refuse_in_transaction(const std::string& words, const ast::Identifier& name, const SqliteConnection& connection) {
  if (connection.in_transaction())
    throw CodedError("25001", ErrorKind::Value, words + " cannot run inside a transaction",
                     "COMMIT or ROLLBACK it first", name.span);
}

}  // namespace

// A client of a server would otherwise read any file that the server can read.
Result execute_statement(const ast::AttachDatabase& attach, SessionState& session) {
  if (session.user.permissions.policy() != nullptr) {
    throw Error(ErrorKind::Permission, "ATTACH is not allowed on a server, whose sessions work on one database",
                attach.path_span,
                "open the other file by itself; COPY X TO 'x.npy' there and COPY X FROM 'x.npy' here bring a tensor");
  }
  auto& database = session.database;
  refuse_in_transaction("ATTACH", attach.name, database.connection());
  check_new_schema(attach.name, database.connection());
  with_place(attach.path_span, [&] { database.file.attach(attach.path, attach.name.text); });
  return status_result("ATTACH");
}

Result execute_statement(const ast::DetachDatabase& detach, OpenDatabase& database) {
  auto& connection = database.connection();
  if (!connection.attached_schema(detach.name.text)) {
    if (connection.has_schema(detach.name.text))
      throw Error(ErrorKind::ReadOnly, "the schema " + detach.name.text + " is no attached database", detach.name.span,
                  "ATTACH 'file' AS name attaches one, which DETACH name lets go");
    std::string known;
    for (const auto& each : connection.attached()) known += (known.empty() ? "" : ", ") + each.schema;
    throw Error(ErrorKind::UnknownName, "no database is attached as " + detach.name.text, detach.name.span,
                known.empty() ? "none is attached at all" : "those that are attached: " + known);
  }
  refuse_in_transaction("DETACH", detach.name, connection);
  database.compiled.clear();
  with_place(detach.name.span, [&] { connection.detach(detach.name.text); });
  return status_result("DETACH");
}

}  // namespace eindb

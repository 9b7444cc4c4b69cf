#include <algorithm>
#include <string>

#include "common/coded_error.hpp"
#include "common/error.hpp"
#include "engine/results/rows.hpp"
#include "engine/statements/statements.hpp"
#include "storage/files/output_file.hpp"
#include "storage/shards/sharded_contents.hpp"
#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {
namespace {

/// Whether a part of the database lies at workers, whether or not they are there.
bool has_workers(OpenDatabase& database) {
  if (ShardedContents::of(database.connection()) != nullptr) return true;
  const auto tensors = database.catalog.list();
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const auto& each) { return each.info.is_sharded() && !each.info.is_foreign(); });
}

std::string in_quotes(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "''" : std::string(1, c);
  return out + "'";
}

}  // namespace

// VACUUM INTO reads one state of the database, while others go on to write. It fills the file under another name, which
// becomes that of the copy once it is complete.
Result execute_statement(const ast::Backup& backup, SessionState& session) {
  auto& database = session.database;
  session.user.permissions.check_backs_up();
  if (database.connection().in_transaction())
    throw CodedError("25001", ErrorKind::Value, "BACKUP cannot run inside a transaction", "COMMIT or ROLLBACK it first",
                     backup.path_span);
  if (has_workers(database))
    throw Error(ErrorKind::Unsupported, "a part of this database lies at its workers, which BACKUP does not copy",
                backup.path_span,
                "docs/cluster.md tells how all of it is copied; COPY tensor TO 'file' writes a single tensor");
  const auto admission = session.admit(0);
  with_place(backup.path_span, [&] {
    OutputFile file(session.statement.file_to_write(backup.path), OutputFile::Naming::Early);
    if (!file.is_seekable() || file.replaces_bytes())
      throw Error(ErrorKind::Io, "'" + backup.path + "' exists already", std::nullopt, "name a new file");
    file.require_unchanged_target();
    database.connection().execute("VACUUM main INTO " + in_quotes(file.path_of_descriptor()));
    file.commit();
  });
  return status_result("BACKUP");
}

}  // namespace eindb

#include "engine/settings/client_policy.hpp"

#include "common/error.hpp"
#include "storage/files/files_directory.hpp"
#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {

std::shared_ptr<const FilesDirectory> open_files_directory(const std::string& path, const std::string& database) {
  auto directory = std::make_shared<const FilesDirectory>(path);
  if (!directory->contains(database)) return directory;
  throw Error(ErrorKind::Value, "the database lies in " + path + ", where clients could overwrite it", std::nullopt,
              "give a directory of its own with --files-dir");
}

void limit_sql_memory(std::int64_t bytes) { SqliteConnection::limit_memory_of_all(bytes); }
bool is_sql_memory_short() { return SqliteConnection::is_memory_short(); }

}  // namespace eindb

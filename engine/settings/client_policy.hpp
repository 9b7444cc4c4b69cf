#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/user_role.hpp"
#include "engine/settings/settings.hpp"

namespace eindb {

class FilesDirectory;

/// The restrictions of a server for all its clients. Immutable.
struct ClientPolicy {
  std::shared_ptr<const FilesDirectory> files;  ///< the directory for COPY; null: clients may use no file of the server
  bool read_only = false;                       ///< no client may change the database, not even the own password
  Settings::Bounds settings = Settings::of_machine();
  /// A session's part of the server's memory. It bounds the uses of memory that admission does not count: plans, pages
  /// of the database, and the tiles that rows of SQL are read from.
  std::int64_t memory_share = std::int64_t{512} << 20U;
};

/// The user that statements run for.
struct ClientUser {
  std::string name;
  UserRole role = UserRole::ReadOnly;
  std::int32_t number = 0;  ///< of the client's connection

  friend bool operator==(const ClientUser&, const ClientUser&) = default;
};

/// The directory for ClientPolicy::files. Error{Io} if it does not exist. Error{Value} if the database lies in it,
/// since a COPY could then overwrite the database.
std::shared_ptr<const FilesDirectory> open_files_directory(const std::string& path, const std::string& database);

/// Limits the memory that SQL of all sessions in the process uses for values, sorting and pages, which no admission
/// counts. A statement that exceeds it fails with Error{MemoryLimit}.
void limit_sql_memory(std::int64_t bytes);
/// Whether more than half of this limit is in use.
bool is_sql_memory_short();

}  // namespace eindb

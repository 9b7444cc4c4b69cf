#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/user_role.hpp"
#include "engine/settings/settings.hpp"

namespace eindb {

class FilesDirectory;

/// What a server allows its clients, whoever they are. Immutable.
struct ClientPolicy {
  std::shared_ptr<const FilesDirectory> files;  ///< that COPY reads and writes; null: no file of the server at all
  bool read_only = false;                       ///< nobody changes the database, not even their password
  Settings::Bounds settings = Settings::of_machine();
  /// A session's part of the server's memory: by it what no admission counts is measured, plans, pages of the database
  /// and tiles that rows of SQL are read from.
  std::int64_t memory_share = std::int64_t{512} << 20U;
};

/// For whom statements run.
struct ClientUser {
  std::string name;
  UserRole role = UserRole::ReadOnly;
  std::int32_t number = 0;  ///< of the client's connection

  friend bool operator==(const ClientUser&, const ClientUser&) = default;
};

/// The directory for ClientPolicy::files. Error{Io} if it is not there; Error{Value} if the database lies in it: a COPY
/// could then replace the database itself.
std::shared_ptr<const FilesDirectory> open_files_directory(const std::string& path, const std::string& database);

/// What SQL of all sessions of the process may take for values, sorting and pages: no admission counts it. A statement
/// that would take more fails with Error{MemoryLimit}.
void limit_sql_memory(std::int64_t bytes);
/// Whether more than half of that is taken.
bool is_sql_memory_short();

}  // namespace eindb

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {

/// The comments on tensors, tables, views, indices and columns, in a table of the database:
///
///     eindb_comments(object TEXT COLLATE NOCASE, column TEXT COLLATE NOCASE, text TEXT)
///
/// `column` is empty for a comment on the object itself. Names are those of one namespace. Changes happen inside the
/// caller's SqliteTransaction. Threads: like its connection, which must outlive it.
class CommentCatalog {
 public:
  explicit CommentCatalog(SqliteConnection& connection) : connection_(connection) {}

  bool exists();
  /// Replaces the comment; nullopt removes it.
  void put(const std::string& object, const std::string& column, const std::optional<std::string>& text);
  /// Call when the object or its column got another name.
  void rename(const std::string& object, const std::string& new_name);
  void rename_column(const std::string& object, const std::string& column, const std::string& new_name);
  /// Call when a tensor is dropped.
  void forget(const std::string& object);
  /// Removes the comments on tables, views, indices and their columns that are no more.
  void forget_missing();

 private:
  SqliteConnection& connection_;
};

}  // namespace eindb

#include "catalog/comment_catalog.hpp"

#include "common/check.hpp"

namespace eindb {

bool CommentCatalog::exists() { return connection_.has_table("eindb_comments", {"object", "column", "text"}); }

void CommentCatalog::put(const std::string& object, const std::string& column, const std::optional<std::string>& text) {
  CHECK(connection_.in_transaction(), "the catalog changes inside a transaction");
  if (!text) {
    if (!exists()) return;
    connection_.prepare("DELETE FROM main.eindb_comments WHERE object = ? AND \"column\" = ?")
        .bind(1, object)
        .bind(2, column)
        .run();
    return;
  }
  connection_.execute(
      "CREATE TABLE IF NOT EXISTS main.eindb_comments (object TEXT NOT NULL COLLATE NOCASE,"
      " \"column\" TEXT NOT NULL COLLATE NOCASE, text TEXT NOT NULL, PRIMARY KEY (object, \"column\"))");
  connection_.prepare("INSERT OR REPLACE INTO main.eindb_comments VALUES (?, ?, ?)")
      .bind(1, object)
      .bind(2, column)
      .bind(3, *text)
      .run();
}

void CommentCatalog::rename(const std::string& object, const std::string& new_name) {
  CHECK(connection_.in_transaction(), "the catalog changes inside a transaction");
  if (!exists()) return;
  connection_.prepare("UPDATE main.eindb_comments SET object = ? WHERE object = ?")
      .bind(1, new_name)
      .bind(2, object)
      .run();
}

void CommentCatalog::rename_column(const std::string& object, const std::string& column, const std::string& new_name) {
  CHECK(connection_.in_transaction(), "the catalog changes inside a transaction");
  if (!exists()) return;
  connection_.prepare("UPDATE main.eindb_comments SET \"column\" = ? WHERE object = ? AND \"column\" = ?")
      .bind(1, new_name)
      .bind(2, object)
      .bind(3, column)
      .run();
}

void CommentCatalog::forget(const std::string& object) {
  if (!exists()) return;
  connection_.prepare("DELETE FROM main.eindb_comments WHERE object = ?").bind(1, object).run();
}

// Tensors are dropped by the catalog, which forgets their comments itself. Views keep their columns as long as they are
// there; to ask for them would compile the view, which may read what is dropped, or a tensor that SQL does not see yet.
void CommentCatalog::forget_missing() {
  CHECK(connection_.in_transaction(), "the catalog changes inside a transaction");
  if (!exists()) return;
  const bool has_tensors = connection_.has_table("eindb_tensors", {"name"});
  const std::string of_tensor =
      has_tensors ? " AND object NOT IN (SELECT name COLLATE NOCASE FROM main.eindb_tensors)" : "";
  connection_.execute(
      "DELETE FROM main.eindb_comments WHERE object NOT IN (SELECT name COLLATE NOCASE FROM main.sqlite_schema)" +
      of_tensor);
  connection_.execute(
      "DELETE FROM main.eindb_comments WHERE \"column\" <> '' AND CASE WHEN object IN (SELECT name COLLATE NOCASE"
      " FROM main.sqlite_schema WHERE type = 'view') THEN FALSE ELSE NOT EXISTS (SELECT 1 FROM"
      " pragma_table_xinfo(object, 'main') AS c WHERE c.name = \"column\" COLLATE NOCASE) END" +
      of_tensor);
}

}  // namespace eindb

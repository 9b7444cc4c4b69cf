#pragma once

#include <string>
#include <string_view>

#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {

/// `sql` with the schema in the place of each $.
std::string in_schema(std::string_view schema, std::string_view sql);

/// A query that is kept compiled: a statement may look up thousands of tensors. At rest again when it goes out of
/// scope.
class KeptQuery {
 public:
  KeptQuery(SqliteConnection& connection, std::string_view sql) : statement_(connection.kept(sql)) {}
  ~KeptQuery() { statement_.reset(); }
  KeptQuery(const KeptQuery&) = delete;
  KeptQuery& operator=(const KeptQuery&) = delete;
  SqliteStatement* operator->() const { return &statement_; }

 private:
  SqliteStatement& statement_;
};

}  // namespace eindb

#pragma once

#include <memory>
#include <set>
#include <string>

#include "sqlite/database.hpp"
#include "sqlite/virtual_table.hpp"

namespace eindb_sqlite {

/// The tensors of the file as tables of the host: virtual tables that have their names, and their rows from eindb's own
/// SQL, which is given the conditions on indices, the columns and the order that the host asks for.
///
/// A table or view of the host hides the tensor of its name. A tensor that has the name of a module of SQLite's, such
/// as json_each, is left out. Owned by the functions of the extension. Threads: those of the host's connection.
class TensorTables {
 public:
  explicit TensorTables(std::shared_ptr<Database> database) : database_(std::move(database)) {}

  /// Adds the tables of new tensors and removes those of dropped ones; how many there are then. One that has other
  /// columns now is found when it is next read.
  std::size_t refresh();

 private:
  std::shared_ptr<Database> database_;
  std::set<std::string> shown_;
};

}  // namespace eindb_sqlite

#pragma once

#include <string_view>
#include <vector>

#include "parser/token.hpp"

namespace eindb {

/// Follows SQL token by token and tells whether a table is expected at the current point: behind FROM, JOIN, and a
/// comma or parenthesis in a list of tables.
class TablePosition {
 public:
  void see(const Token& token);
  bool takes_table() const;

  /// Whether the word ends the list of tables of a SELECT, or begins another list.
  static bool ends_tables(const Token& token);

 private:
  std::vector<bool> in_tables_{false};  // per open parenthesis, whether a list of tables has begun
  Token last_;
};

/// Whether the name is that of a file whose format its extension tells, if perhaps of one that is not read.
bool has_file_extension(std::string_view name);

}  // namespace eindb

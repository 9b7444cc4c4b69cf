#pragma once

#include <set>
#include <string>

#include "common/source_span.hpp"
#include "engine/session/open_database.hpp"
#include "parser/ast.hpp"

namespace eindb {

/// The views that read what a DROP removes. SQLite keeps no list of them: they are those that can be compiled before
/// and cannot afterwards. Made in the transaction of the DROP, before anything is dropped.
class ViewsOfDropped {
 public:
  ViewsOfDropped(OpenDatabase& database, ast::DropBehavior behavior);

  /// To be called when all is dropped: drops the views as well, or refuses if there are any (2BP01), as the DROP says.
  void settle(SourceSpan place);

 private:
  OpenDatabase& database_;
  ast::DropBehavior behavior_;
  std::set<std::string> broken_before_;
};

/// Compiles a query of all columns of the table or view. Throws what SQLite says against it.
void check_readable(const std::string& quoted_name, OpenDatabase& database);

}  // namespace eindb

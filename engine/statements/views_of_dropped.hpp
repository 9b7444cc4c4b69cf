#pragma once

#include <set>
#include <string>

#include "common/source_span.hpp"
#include "engine/session/session_state.hpp"
#include "parser/ast.hpp"

namespace eindb {

/// The views that read what a DROP removes. SQLite keeps no list of them: they are those that can be compiled before
/// and cannot afterwards. Made in the transaction of the DROP, before anything is dropped.
class ViewsOfDropped {
 public:
  ViewsOfDropped(SessionState& session, ast::DropBehavior behavior);

  /// To be called when all is dropped: drops the views as well, or refuses if there are any (2BP01), as the DROP says.
  void settle(SourceSpan place);

 private:
  SessionState& session_;
  ast::DropBehavior behavior_;
  std::set<std::string> broken_before_;
};

}  // namespace eindb

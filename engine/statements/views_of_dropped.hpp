#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "common/source_span.hpp"
#include "engine/session/session_state.hpp"
#include "parser/ast.hpp"

namespace eindb {

/// The views that read what a statement drops or renames. SQLite keeps no list of them: they are those that can be
/// compiled before and cannot afterwards. Made in the transaction of the statement, before anything is changed.
class ViewsOfDropped {
 public:
  enum class Change : std::uint8_t { Drops, Renames };

  ViewsOfDropped(SessionState& session, ast::DropBehavior behavior, Change change = Change::Drops);

  /// To be called when all is done: drops the views as well, or refuses if there are any (2BP01), as `behavior` says.
  void settle(SourceSpan place);

 private:
  SessionState& session_;
  ast::DropBehavior behavior_;
  Change change_;
  std::set<std::string> broken_before_;
};

}  // namespace eindb

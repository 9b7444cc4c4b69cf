#pragma once

#include "engine/session.hpp"

namespace eindb {

/// The handling of Ctrl-C. It cancels a running statement, and clears the line while a user types. In a script it ends
/// the program if no statement is running, or the second time during one statement.
///
/// Signal handlers have no context argument, so the state is global to the process, within interrupts.cpp.
class Interrupts {
 public:
  /// Installs the handler of SIGINT. `interactive`: a user types statements.
  static void install(bool interactive);
  /// Whether Ctrl-C was pressed since the last clear().
  static bool pending() noexcept;
  /// Throws Error{Cancelled} if it was; for work between statements.
  static void check(const char* what);
  static void clear() noexcept;

  /// Ctrl-C cancels the statements of `session` for as long as this lives. Within another scope, what was pressed since
  /// that began stays pending.
  class Scope {
   public:
    explicit Scope(Session& session);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Session* outer_;
  };
};

}  // namespace eindb

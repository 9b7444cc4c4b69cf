#pragma once

#include "engine/session.hpp"

namespace eindb {

/// What Ctrl-C does. While a statement runs it cancels it; while a person types it clears the line; in a script that
/// runs no statement, and on the second time in one statement of a script, it ends the program.
///
/// Signal handlers take no context, so the state is one per process; it is in interrupts.cpp and nowhere else.
class Interrupts {
 public:
  /// Takes over SIGINT. `interactive`: a person types statements.
  static void install(bool interactive);
  /// Whether Ctrl-C was pressed since the last clear().
  static bool pending() noexcept;
  static void clear() noexcept;

  /// Ctrl-C cancels the statements of `session` for as long as this lives.
  class Scope {
   public:
    explicit Scope(Session& session);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
  };
};

}  // namespace eindb

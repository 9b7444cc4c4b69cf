#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace eindb {

/// Statements about the session rather than the database. The server executes them itself, since clients write them in
/// more forms than eindb's language has.
namespace command {

/// BEGIN, START TRANSACTION, with any modes.
struct Begin {};
/// COMMIT, END.
struct Commit {};
/// ROLLBACK, ABORT; not ROLLBACK TO.
struct Rollback {};
/// SET [SESSION | LOCAL] name = | TO value, SET NAMES value, SET TIME ZONE value. Without a value: DEFAULT.
struct Set {
  std::string name;
  std::optional<std::string> value;
};
/// SHOW name; SHOW TRANSACTION ISOLATION LEVEL.
struct Show {
  std::string name;
};
/// RESET name; without a name RESET ALL.
struct Reset {
  std::optional<std::string> name;
};
/// DEALLOCATE [PREPARE] name; without a name DEALLOCATE ALL.
struct Deallocate {
  std::optional<std::string> name;
};
/// DISCARD ALL: resets the session to its initial state.
struct Discard {};
/// SHOW SESSIONS: lists the connected clients and their activity.
struct ShowSessions {};
/// KILL [QUERY] session cancels the session's statement; KILL CONNECTION session ends the session.
struct Kill {
  std::int32_t session = 0;
  bool connection = false;
};
/// Commands without an effect here, answered with `tag`: CLOSE ALL, LISTEN, UNLISTEN, SET TRANSACTION ...
struct Nothing {
  std::string tag;
};

}  // namespace command

using ClientCommand =
    std::variant<command::Begin, command::Commit, command::Rollback, command::Set, command::Show, command::ShowSessions,
                 command::Kill, command::Reset, command::Deallocate, command::Discard, command::Nothing>;

/// Parses a command, without its semicolon. nullopt for statements that the engine runs, and for commands with an
/// unknown continuation.
std::optional<ClientCommand> parse_client_command(std::string_view text);

}  // namespace eindb

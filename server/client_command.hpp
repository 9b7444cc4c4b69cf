#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace eindb {

/// Statements about the session rather than the database, which the server carries out itself: clients write them in
/// more ways than eindb's own language has.
namespace command {

/// BEGIN, START TRANSACTION, with whatever modes.
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
/// DISCARD ALL: the session is as it was in the beginning.
struct Discard {};
/// SHOW SESSIONS: who is connected, and what they do.
struct ShowSessions {};
/// KILL [QUERY] session: cancels what the session runs; KILL CONNECTION session ends it.
struct Kill {
  std::int32_t session = 0;
  bool connection = false;
};
/// What has nothing to do here, and answers with `tag`: CLOSE ALL, LISTEN, UNLISTEN, SET TRANSACTION ...
struct Nothing {
  std::string tag;
};

}  // namespace command

using ClientCommand =
    std::variant<command::Begin, command::Commit, command::Rollback, command::Set, command::Show, command::ShowSessions,
                 command::Kill, command::Reset, command::Deallocate, command::Discard, command::Nothing>;

/// The command that the statement is, without its semicolon; nullopt for all that the engine is to run, also where a
/// command goes on in a way that is not known here.
std::optional<ClientCommand> parse_client_command(std::string_view text);

}  // namespace eindb

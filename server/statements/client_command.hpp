#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "server/login/client_parameters.hpp"
#include "server/statements/table_command.hpp"

namespace eindb {

/// Statements about the session rather than the database. The server executes them itself, since clients write them in
/// more forms than eindb's language has.
namespace command {

/// BEGIN, START TRANSACTION, with any modes.
struct Begin {
  TransactionModes modes;
  bool starts = false;  ///< START TRANSACTION
};
/// COMMIT, END.
struct Commit {
  bool chain = false;  ///< AND CHAIN: another transaction with the same modes follows
};
/// ROLLBACK, ABORT; not ROLLBACK TO.
struct Rollback {
  bool chain = false;
};
/// SET TRANSACTION, or SET SESSION CHARACTERISTICS AS TRANSACTION for the transactions that follow.
struct SetTransaction {
  TransactionModes modes;
  bool session = false;
};
/// SAVEPOINT name, RELEASE [SAVEPOINT] name, ROLLBACK TO [SAVEPOINT] name.
struct Savepoint {
  std::string name;
};
struct Release {
  std::string name;
};
struct RollbackTo {
  std::string name;
};
/// FETCH or MOVE [direction] [FROM | IN] cursor. All directions are one of these, with a number of rows: PRIOR is
/// Backward 1, LAST is Absolute -1.
struct Fetch {
  enum class Direction : std::uint8_t { Forward, Backward, Absolute, Relative };
  static constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();

  std::string cursor;
  Direction direction = Direction::Forward;
  std::int64_t count = 1;  ///< not negative for Forward and Backward; kAll: all rows
  bool moves = false;      ///< MOVE: gives no rows
};
/// CLOSE cursor; without a name CLOSE ALL.
struct CloseCursor {
  std::optional<std::string> name;
};
/// SET [SESSION | LOCAL] name = | TO value, SET NAMES value, SET TIME ZONE value. Without a value: DEFAULT.
struct Set {
  std::string name;
  std::optional<std::string> value;
  bool local = false;  ///< up to the end of the transaction
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
/// Commands without an effect here, answered with `tag`: LISTEN, UNLISTEN.
struct Nothing {
  std::string tag;
};

}  // namespace command

using ClientCommand =
    std::variant<command::Begin, command::Commit, command::Rollback, command::SetTransaction, command::Savepoint,
                 command::Release, command::RollbackTo, command::Fetch, command::CloseCursor, command::Set,
                 command::Show, command::ShowSessions, command::Kill, command::Reset, command::Deallocate,
                 command::Discard, command::Nothing, command::DropTables, command::TruncateTables, command::Vacuum,
                 command::LockTables, command::AddConstraint, command::AlterColumn, command::AddColumns>;

/// Parses a command, without its semicolon. nullopt for statements that the engine runs, and for commands with an
/// unknown continuation.
std::optional<ClientCommand> parse_client_command(std::string_view text);

}  // namespace eindb

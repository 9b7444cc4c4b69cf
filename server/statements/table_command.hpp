#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/statement_text.hpp"

namespace eindb {

/// Statements of PostgreSQL over whole tables that SQLite has no single statement for. The server runs them as several
/// of SQLite's, in one transaction. Names are without their schema, which can only be `public`.
namespace command {

/// DROP TABLE | VIEW of several names, or with CASCADE, which drops the views that need what is dropped.
struct DropTables {
  std::string kind;  ///< "TABLE" or "VIEW"
  bool if_exists = false;
  std::vector<std::string> names;
  bool cascades = false;
};
/// TRUNCATE of several tables, or with RESTART IDENTITY.
struct TruncateTables {
  std::vector<std::string> tables;
  bool restarts = false;  ///< columns that count begin with 1 again
  bool cascades = false;
};
/// VACUUM and ANALYZE of tables, or with options.
struct Vacuum {
  bool vacuums = false;
  bool full = false;
  bool analyzes = false;
  std::vector<std::string> tables;  ///< empty: all
};
/// LOCK TABLE.
struct LockTables {
  std::vector<std::string> tables;
  bool admits_writers = false;  ///< ACCESS SHARE, ROW SHARE
};
/// ALTER TABLE ADD [CONSTRAINT name] PRIMARY KEY | UNIQUE | CHECK | FOREIGN KEY.
struct AddConstraint {
  bool if_exists = false;
  std::string table;
  std::string definition;         ///< as the client has it
  std::vector<std::string> keys;  ///< of a PRIMARY KEY: its columns
  bool refers = false;            ///< FOREIGN KEY
};

/// ALTER TABLE ADD [COLUMN] of several columns, or of one that SQLite does not add to a table.
struct AddColumns {
  struct Column {
    bool if_not_exists = false;
    std::string name;
    std::string definition;  ///< as the client has it, with the name
    bool is_simple = false;  ///< whether SQLite adds it to a table that is there
    bool is_key = false;     ///< PRIMARY KEY
    bool refers = false;     ///< REFERENCES
  };
  bool if_exists = false;
  std::string table;
  std::vector<Column> columns;
};

/// ALTER TABLE ALTER COLUMN SET | DROP NOT NULL | DEFAULT.
struct AlterColumn {
  bool if_exists = false;
  std::string table;
  std::string column;
  bool of_default = false;           ///< DEFAULT; otherwise NOT NULL
  std::optional<std::string> value;  ///< what is set, as CREATE TABLE takes it: NOT NULL, DEFAULT 3; nullopt: DROP
};

}  // namespace command

using TableCommand = std::variant<command::DropTables, command::TruncateTables, command::Vacuum, command::LockTables,
                                  command::AddConstraint, command::AlterColumn, command::AddColumns>;

/// Whether the first word is one that such a command may begin with.
bool may_be_table_command(std::string_view text);

/// Parses the tokens of a statement, without its semicolon. nullopt for all other statements, and for those that
/// SQLite takes as they are.
std::optional<TableCommand> parse_table_command(std::span<const Token> tokens);

}  // namespace eindb

#include "server/login/sqlstate.hpp"

#include <algorithm>
#include <array>

#include "common/coded_error.hpp"
#include "server/copy/copy_error.hpp"

namespace eindb {
namespace {

/// How SQLite's message about SQL that it refuses begins, or what it ends with, and PostgreSQL's code for that.
struct SqliteMessage {
  std::string_view part;
  std::string_view sqlstate;
};

constexpr std::array kBeginnings{
    SqliteMessage{"UNIQUE constraint failed", "23505"},               // unique_violation
    SqliteMessage{"NOT NULL constraint failed", "23502"},             // not_null_violation
    SqliteMessage{"FOREIGN KEY constraint failed", "23503"},          // foreign_key_violation
    SqliteMessage{"CHECK constraint failed", "23514"},                // check_violation
    SqliteMessage{"no such table: ", "42P01"},                        // undefined_table
    SqliteMessage{"no such view: ", "42P01"},                         // undefined_table
    SqliteMessage{"no such column: ", "42703"},                       // undefined_column
    SqliteMessage{"no such function: ", "42883"},                     // undefined_function
    SqliteMessage{"unknown function: ", "42883"},                     // undefined_function, in DEFAULT
    SqliteMessage{"wrong number of arguments to function", "42883"},  // undefined_function
    SqliteMessage{"no such index: ", "42704"},                        // undefined_object
    SqliteMessage{"no such trigger: ", "42704"},                      // undefined_object
    SqliteMessage{"no such collation sequence: ", "42704"},           // undefined_object
    SqliteMessage{"unknown database ", "3F000"},                      // invalid_schema_name
    SqliteMessage{"ambiguous column name: ", "42702"},                // ambiguous_column
    SqliteMessage{"duplicate column name: ", "42701"},                // duplicate_column
    SqliteMessage{"there is already ", "42P07"},                      // duplicate_table
    SqliteMessage{"misuse of ", "42803"},                             // grouping_error
    SqliteMessage{"foreign key mismatch", "42830"},                   // invalid_foreign_key
    SqliteMessage{"ON CONFLICT clause does not match", "42P10"},      // invalid_column_reference
    SqliteMessage{"datatype mismatch", "42804"},                      // datatype_mismatch
    SqliteMessage{"integer overflow", "22003"},                       // numeric_value_out_of_range
    SqliteMessage{"string or blob too big", "54000"},                 // program_limit_exceeded
    SqliteMessage{"near \"", "42601"},                                // syntax_error
    SqliteMessage{"incomplete input", "42601"},                       // syntax_error
    SqliteMessage{"unrecognized token: ", "42601"},                   // syntax_error
};

constexpr std::array kEndings{
    SqliteMessage{" already exists", "42P07"},                 // duplicate_table
    SqliteMessage{" because it is a view", "42809"},           // wrong_object_type
    SqliteMessage{" values were supplied", "42601"},           // syntax_error
    SqliteMessage{" result columns", "42601"},                 // syntax_error: in the parts of a UNION
    SqliteMessage{" has more than one primary key", "42P16"},  // invalid_table_definition
};

std::string_view sqlstate_of_sqlite(std::string_view message) {
  const auto* const begins = std::find_if(kBeginnings.begin(), kBeginnings.end(),
                                          [&](const SqliteMessage& known) { return message.starts_with(known.part); });
  if (begins != kBeginnings.end()) return begins->sqlstate;
  const auto* const ends = std::find_if(kEndings.begin(), kEndings.end(),
                                        [&](const SqliteMessage& known) { return message.ends_with(known.part); });
  if (ends != kEndings.end()) return ends->sqlstate;
  // "table t has no column named c"
  if (message.starts_with("table ") && message.find(" has no column named ") != std::string_view::npos) return "42703";
  return "42000";  // syntax_error_or_access_rule_violation
}

}  // namespace

std::string_view sqlstate_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::Syntax: return "42601";         // syntax_error
    case ErrorKind::UnknownName: return "42P01";    // undefined_table
    case ErrorKind::DuplicateName: return "42P07";  // duplicate_table
    case ErrorKind::Label: return "42P10";          // invalid_column_reference
    case ErrorKind::Shape: return "2202E";          // array_subscript_error
    case ErrorKind::Type: return "42804";           // datatype_mismatch
    case ErrorKind::Value: return "22023";          // invalid_parameter_value
    case ErrorKind::NullValue: return "22004";      // null_value_not_allowed
    case ErrorKind::Unsupported: return "0A000";    // feature_not_supported
    case ErrorKind::Io: return "58030";             // io_error
    case ErrorKind::Corrupt: return "XX001";        // data_corrupted
    case ErrorKind::ReadOnly: return "25006";       // read_only_sql_transaction
    case ErrorKind::Busy: return "55P03";           // lock_not_available
    case ErrorKind::Conflict: return "40001";       // serialization_failure
    case ErrorKind::Cancelled: return "57014";      // query_canceled
    case ErrorKind::MemoryLimit: return "53200";    // out_of_memory
    case ErrorKind::WorkerLost: return "58000";     // system_error
    case ErrorKind::Permission: return "42501";     // insufficient_privilege
    case ErrorKind::Sql: return "42000";            // syntax_error_or_access_rule_violation
    case ErrorKind::Internal: break;
  }
  return "XX000";  // internal_error
}

std::string_view sqlstate_of(const Error& error) {
  if (const auto* coded = dynamic_cast<const CodedError*>(&error)) return coded->sqlstate();
  const auto* copied = dynamic_cast<const CopyError*>(&error);
  if (copied != nullptr && !copied->sqlstate().empty()) return copied->sqlstate();
  return error.kind() == ErrorKind::Sql ? sqlstate_of_sqlite(error.message()) : sqlstate_of(error.kind());
}

}  // namespace eindb

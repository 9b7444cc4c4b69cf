#include "server/login/sqlstate.hpp"

#include "common/coded_error.hpp"
#include "server/copy/copy_error.hpp"

namespace eindb {

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
  return copied != nullptr && !copied->sqlstate().empty() ? copied->sqlstate() : sqlstate_of(error.kind());
}

}  // namespace eindb

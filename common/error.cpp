#include "common/error.hpp"

#include "common/check.hpp"

namespace eindb {

std::string_view describe(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::Syntax: return "syntax error";
    case ErrorKind::UnknownName: return "unknown name";
    case ErrorKind::DuplicateName: return "duplicate name";
    case ErrorKind::Label: return "label error";
    case ErrorKind::Shape: return "shape error";
    case ErrorKind::Type: return "type error";
    case ErrorKind::Value: return "invalid value";
    case ErrorKind::NullValue: return "null value";
    case ErrorKind::Unsupported: return "not supported";
    case ErrorKind::Io: return "input/output error";
    case ErrorKind::Corrupt: return "corrupt data";
    case ErrorKind::ReadOnly: return "read-only";
    case ErrorKind::Busy: return "busy";
    case ErrorKind::Conflict: return "conflict";
    case ErrorKind::Cancelled: return "cancelled";
    case ErrorKind::MemoryLimit: return "memory limit";
    case ErrorKind::WorkerLost: return "worker lost";
    case ErrorKind::Permission: return "not permitted";
    case ErrorKind::Sql: return "SQL error";
    case ErrorKind::Internal: return "internal error";
  }
  return "error";
}

Error::Error(ErrorKind kind, std::string message, std::optional<SourceSpan> span, std::string hint)
    : std::runtime_error(message), kind_(kind), message_(std::move(message)), span_(span), hint_(std::move(hint)) {}

Error Error::at(SourceSpan span) const { return {kind_, message_, span_.value_or(span), hint_}; }

bool is_about_a_place(ErrorKind kind) {
  return kind != ErrorKind::Cancelled && kind != ErrorKind::MemoryLimit && kind != ErrorKind::Internal;
}

std::string render(const Error& error, std::string_view statement) {
  std::string out = std::string(describe(error.kind())) + ": " + error.message();
  if (error.span()) {
    const auto position = locate(statement, error.span()->begin);
    out += "\n  at line " + std::to_string(position.line) + ", column " + std::to_string(position.column) + ":\n" +
           excerpt(statement, *error.span());
  }
  if (!error.hint().empty()) out += "\n  hint: " + error.hint();
  return out;
}

void check_failed(const char* file, int line, std::string_view invariant) {
  std::string_view name(file);
  if (const auto slash = name.rfind('/'); slash != std::string_view::npos) name.remove_prefix(slash + 1);
  throw Error(
      ErrorKind::Internal,
      "broken invariant: " + std::string(invariant) + " (" + std::string(name) + ":" + std::to_string(line) + ")",
      std::nullopt, "this is a bug in eindb; the database is unchanged");
}

}  // namespace eindb

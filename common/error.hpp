#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "common/source_span.hpp"

namespace eindb {

/// The kind of an error, coarse enough to decide what to do about it (and to map to a SQLSTATE).
enum class ErrorKind {
  Syntax,         ///< the text is not a valid statement
  UnknownName,    ///< a tensor, label, function or setting does not exist
  DuplicateName,  ///< a name is already in use
  Label,          ///< labels do not fit: count, position, neither in the head nor aggregated
  Shape,          ///< extents do not fit, or a size overflows
  Type,           ///< element types do not fit
  Value,          ///< a value out of its range
  NullValue,      ///< NULL where a value is required
  Unsupported,    ///< meaningful, but not supported by this version
  Io,             ///< the operating system refused
  Corrupt,        ///< bytes from outside that are not what they claim to be
  ReadOnly,       ///< a write to something that cannot be written
  Busy,           ///< locked by someone else
  Conflict,       ///< the transaction's state is outdated: run it again
  Cancelled,      ///< stopped by the user or by a timeout
  MemoryLimit,    ///< does not fit the memory limit
  WorkerLost,     ///< a node of the cluster does not answer, or left
  Permission,     ///< not allowed for this user, or for any client of a server
  Sql,            ///< SQLite refused an ordinary SQL statement
  Internal,       ///< a broken invariant: a bug in eindb
};

/// Lower-case words for messages and logs: "syntax error", "unknown name", ...
std::string_view describe(ErrorKind kind);

/// A user's mistake or an external failure, thrown where it is detected and caught once, in engine/. `message` tells
/// what was wrong, `span` where in the statement, `hint` what would be right.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, std::string message, std::optional<SourceSpan> span = std::nullopt, std::string hint = {});

  ErrorKind kind() const { return kind_; }
  const std::string& message() const { return message_; }
  const std::optional<SourceSpan>& span() const { return span_; }
  const std::string& hint() const { return hint_; }

  /// The same error with the place `span`, unless it has one.
  Error at(SourceSpan span) const;

 private:
  ErrorKind kind_;
  std::string message_;
  std::optional<SourceSpan> span_;
  std::string hint_;
};

/// Whether errors of this kind refer to a place in the statement.
bool is_about_a_place(ErrorKind kind);

/// Runs `f` and gives an Error without a place the place `span`, unless its kind has none: cancellation, memory limits,
/// bugs.
template <class F>
decltype(auto) with_place(SourceSpan span, F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const Error& error) {
    if (!is_about_a_place(error.kind())) throw;
    throw error.at(span);
  }
}

/// The error formatted for users, with line, column, excerpt and hint; the excerpt is taken from `statement`.
std::string render(const Error& error, std::string_view statement);

}  // namespace eindb

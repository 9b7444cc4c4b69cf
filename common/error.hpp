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
  Syntax,         ///< the text is no statement
  UnknownName,    ///< a tensor, label, function, setting that does not exist
  DuplicateName,  ///< a name that exists already
  Label,          ///< labels do not fit: count, place, neither in the head nor aggregated
  Shape,          ///< extents do not fit, or a size overflows
  Type,           ///< element types do not fit
  Value,          ///< a value out of its range
  NullValue,      ///< NULL where a value is wanted
  Unsupported,    ///< meaningful, but beyond what this version does
  Io,             ///< the operating system refused
  Corrupt,        ///< bytes from outside that are not what they claim to be
  ReadOnly,       ///< a write to something that cannot be written
  Busy,           ///< locked by someone else
  Conflict,       ///< a transaction on a state that is no longer the last one: run it again
  Cancelled,      ///< stopped by the user or by a timeout
  MemoryLimit,    ///< does not fit the memory limit
  WorkerLost,     ///< a node of the cluster does not answer, or left
  Permission,     ///< not for this user, or for no client of a server
  Sql,            ///< SQLite refused an ordinary SQL statement
  Internal,       ///< a broken invariant: a bug in eindb
};

/// Lower-case words for messages and logs: "syntax error", "unknown name", ...
std::string_view describe(ErrorKind kind);

/// A user's mistake or a failure of the world around, thrown where it is found and caught once, in engine/.
/// `message` says what was wrong, `span` where in the statement, `hint` what would be right.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, std::string message, std::optional<SourceSpan> span = std::nullopt, std::string hint = {});

  ErrorKind kind() const { return kind_; }
  const std::string& message() const { return message_; }
  const std::optional<SourceSpan>& span() const { return span_; }
  const std::string& hint() const { return hint_; }

  /// The same error with a place, if it had none.
  Error at(SourceSpan span) const;

 private:
  ErrorKind kind_;
  std::string message_;
  std::optional<SourceSpan> span_;
  std::string hint_;
};

/// Whether errors of this kind are about something that stands in the statement.
bool is_about_a_place(ErrorKind kind);

/// Runs `f`; an Error that has no place yet gets `span`, unless it is about no place: a cancelled statement, a limit
/// of memory, a bug.
template <class F>
decltype(auto) with_place(SourceSpan span, F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const Error& error) {
    if (!is_about_a_place(error.kind())) throw;
    throw error.at(span);
  }
}

/// The error as a person reads it, with line, column, excerpt and hint taken from `statement`.
std::string render(const Error& error, std::string_view statement);

}  // namespace eindb

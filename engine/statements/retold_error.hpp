#pragma once

#include <optional>
#include <string>
#include <utility>

#include "common/coded_error.hpp"

namespace eindb {

/// Throws the error of a statement's part with another message, place and hint; it keeps its SQLSTATE if it has one.
[[noreturn]] inline void retell(const Error& error, std::string message, std::optional<SourceSpan> span,
                                std::string hint) {
  if (const auto* coded = dynamic_cast<const CodedError*>(&error))
    throw CodedError(coded->sqlstate(), error.kind(), std::move(message), std::move(hint), span);
  throw Error(error.kind(), std::move(message), span, std::move(hint));
}

/// As with_place(), but errors keep their SQLSTATE, as those of SQL and of settings have one.
template <class F>
decltype(auto) with_place_of_rows(SourceSpan span, F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const Error& error) {
    if (!is_about_a_place(error.kind())) throw;
    throw_at(error, error.span().value_or(span), error.hint());
  }
}

}  // namespace eindb

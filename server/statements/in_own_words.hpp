#pragma once

#include <utility>

#include "common/coded_error.hpp"
#include "common/error.hpp"
#include "server/statements/client_state.hpp"

namespace eindb {

/// Calls `f`, which has the session of `client` prepare, describe or run the translated text of `statement`, and
/// returns its result. Before that it makes pg_catalog visible if the statement may use it. An Error with a place in
/// the translated text is thrown on with the place in the client's text. Called by the client's thread.
template <class F>
decltype(auto) in_own_words(ClientState& client, const ClientStatement& statement, F&& f) {
  try {
    if (statement.translation.uses_catalog) client.show_catalog();
    else if (statement.translation.uses_functions) client.add_functions();
    return std::forward<F>(f)();
  } catch (const Error& error) {
    if (!error.span() || !statement.translation.text) throw;
    throw_at(error, statement.translation.original(*error.span()), error.hint());
  }
}

}  // namespace eindb

#pragma once

#include <cstdint>
#include <vector>

#include "engine/session.hpp"
#include "server/statements/client_state.hpp"
#include "server/values/row_writer.hpp"

namespace eindb {

/// Finds the types of a statement's parameters and the columns of its rows before it runs, and keeps them in the
/// statement. Used by one thread at a time.
class StatementDescriber {
 public:
  /// `client` must be logged in before a statement is described, and must outlive the object.
  explicit StatementDescriber(ClientState& client) : client_(client) {}

  /// Gives each parameter of `statement` a type: the one in `stated`, the client's list of type numbers, in which 0
  /// leaves the type open and further types may be missing; otherwise the one of a cast; otherwise the engine's. Called
  /// once for a statement that was prepared by name. Throws CodedError if there are too many parameters, and the errors
  /// of Session::describe() with the place in the client's text.
  void find_parameter_types(ClientStatement& statement, const std::vector<std::int32_t>& stated);
  /// The columns of the statement's rows, empty if it has none. They stay as they are after the first call. Throws the
  /// errors of Session::describe() with the place in the client's text.
  const std::vector<ClientColumn>& columns_of(ClientStatement& statement);

 private:
  StatementDescription describe(const ClientStatement& statement);
  const std::vector<ClientColumn>& keep_columns(ClientStatement& statement,
                                                const StatementDescription& description) const;

  ClientState& client_;
};

}  // namespace eindb

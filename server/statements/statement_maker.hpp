#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "engine/statement_text.hpp"
#include "server/statements/client_state.hpp"

namespace eindb {

/// Makes statements of one client from their texts: recognises the server's own commands and COPY from or to the
/// client, and has the engine prepare everything else, translated from PostgreSQL's dialect.
///
///     text --make()--> ClientStatement --StatementDescriber--> types and columns --StatementRunner--> rows
///
/// Used by one thread at a time.
class StatementMaker {
 public:
  /// `client` must be logged in before a statement is made, and must outlive the object.
  explicit StatementMaker(ClientState& client) : client_(client) {}

  /// The statement with this text, of which `outline` is the outline. It is empty if the text is. Throws Error with
  /// the place in `text`: the errors of parse_copy_statement() and of Session::prepare(), and Error if no session is
  /// available. `stated`: object ids of the types that the client states of parameters; 0 states none.
  std::shared_ptr<ClientStatement> make(std::string_view text, const StatementOutline& outline,
                                        std::span<const std::int32_t> stated = {});

 private:
  std::shared_ptr<ClientStatement> copied_rows(std::string_view text, const CopyStatement& copy);
  std::shared_ptr<ClientStatement> copied_file(std::string_view text, const CopyStatement::File& file);

  ClientState& client_;
};

}  // namespace eindb

#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/check.hpp"
#include "engine/session.hpp"
#include "engine/statement_text.hpp"
#include "server/copy/copy_statement.hpp"
#include "server/dialect/dialect.hpp"
#include "server/sessions/client_quota.hpp"
#include "server/statements/client_command.hpp"
#include "server/statements/cursor_declaration.hpp"
#include "server/statements/explained_query.hpp"
#include "server/values/data_type.hpp"
#include "server/values/result_format.hpp"
#include "server/values/row_writer.hpp"

namespace eindb {

/// A prepared statement of the protocol: a command of the server, a COPY from or to the client, a cursor's declaration,
/// or a statement for the engine. Made by StatementMaker. Used by the client's thread.
struct ClientStatement {
  bool empty() const { return !command && !copy && prepared == nullptr; }
  /// The text of the statement that is prepared, with spaces before it, so that places in it are those in the whole.
  std::string query() const {
    const auto begin = cursor ? cursor->query : explained ? explained->query : 0;
    CHECK(begin <= text.size(), "a query stands in the statement that it is a part of");
    return std::string(begin, ' ') + text.substr(begin);
  }

  std::string text;
  std::chrono::system_clock::time_point made;
  StatementOutline outline;  ///< of the text
  Translation translation;   ///< the text for the engine
  std::optional<ClientCommand> command;
  std::optional<CopyStatement> copy;
  /// For a COPY: the statement that returns the rows, or reads or writes the file.
  std::shared_ptr<const ClientStatement> copied;
  std::optional<CursorDeclaration> cursor;            ///< DECLARE; what is prepared is the query
  std::optional<ExplainedQuery> explained;            ///< EXPLAIN of SQL; likewise
  std::shared_ptr<const PreparedStatement> prepared;  ///< null for commands and copies, and for an empty statement
  std::vector<DataType> parameter_types;              ///< as the client stated them, or as the engine inferred them
  /// Once described, the columns stay fixed even if tables change, since clients rely on the description.
  std::optional<std::vector<ClientColumn>> columns;
  ResultFormat format = ResultFormat::Rows;  ///< of the description
  ClientQuota::Share share;                  ///< of the client's quota, if the statement is kept
};

}  // namespace eindb

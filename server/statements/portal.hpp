#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/session.hpp"
#include "server/protocol/frontend_message.hpp"
#include "server/rows/row_stream.hpp"
#include "server/sessions/client_quota.hpp"
#include "server/statements/client_statement.hpp"
#include "server/statements/kept_bytes.hpp"
#include "server/values/result_format.hpp"
#include "server/values/row_writer.hpp"

namespace eindb {

/// A statement with parameter values, and its remaining rows. Used by the client's thread.
struct Portal {
  std::shared_ptr<ClientStatement> statement;
  StatementInputs inputs;
  std::vector<frontend::Format> formats;
  std::optional<Result> result;  ///< set once it runs
  std::vector<ClientColumn> columns;
  ResultFormat format = ResultFormat::Rows;  ///< for a tensor
  std::unique_ptr<RowStream> stream;         ///< the remaining rows, once it runs; null: it returns none
  std::int64_t rows = 0;                     ///< number of rows sent
  ClientQuota::Share share;
  std::optional<KeptBytes> kept;  ///< rows that are kept for the client
};

/// The portal that `bind` makes of `statement`, with its share of `quota`. Throws CodedError if the number of values or
/// of formats is wrong, if a value cannot be read as its parameter's type, or if the quota is exhausted.
std::shared_ptr<Portal> bind_portal(const std::shared_ptr<ClientStatement>& statement, const frontend::Bind& bind,
                                    ClientQuota& quota);

/// Throws CodedError if the client gave neither one format for all columns of the portal nor one for each.
void check_result_formats(const Portal& portal);

/// The tag of CommandComplete for a portal that has run: "INSERT 0 3", "SELECT 10", "CREATE TENSOR".
std::string command_tag(const Portal& portal);

}  // namespace eindb

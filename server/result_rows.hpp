#pragma once

#include <memory>
#include <vector>

#include "server/client_state.hpp"
#include "server/rows/row_stream.hpp"

namespace eindb {

/// The columns that a client sees of the rows of a statement, before it runs. Tensors come in `format`.
std::vector<ClientColumn> described_columns(const StatementDescription& description, ResultFormat format);

/// The rows of a portal whose statement has run in `session`, and gave rows. Columns that were described are the
/// columns that come, and portal.format is then what they were described in: Error{Unsupported} if the statement has
/// others by now. Otherwise portal.columns is filled. Throws also what reading the first row throws.
std::unique_ptr<RowStream> open_rows(Portal& portal, Session& session);

}  // namespace eindb

#pragma once

#include <memory>
#include <vector>

#include "engine/session.hpp"
#include "server/rows/row_stream.hpp"
#include "server/statements/portal.hpp"

namespace eindb {

/// The columns of a statement's rows as the client sees them, before it runs. Tensors have the form `format`.
std::vector<ClientColumn> described_columns(const StatementDescription& description, ResultFormat format);

/// Gives the columns of a statement's rows the types that its translation knows of.
void name_types(std::vector<Column>& columns, const Translation& translation);

/// Opens the rows of a portal whose statement has run in `session` and returned rows. If its columns were described, in
/// portal.format, the rows have these columns; Error{Unsupported} if the statement now returns others. Otherwise fills
/// in portal.columns. Also throws the errors of reading the first row.
std::unique_ptr<RowStream> open_rows(Portal& portal, Session& session);

}  // namespace eindb

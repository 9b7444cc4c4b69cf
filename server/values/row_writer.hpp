#pragma once

#include <string>
#include <vector>

#include "engine/results/result.hpp"
#include "server/protocol/frontend_message.hpp"
#include "server/protocol/message_writer.hpp"
#include "server/values/data_type.hpp"

namespace eindb {

/// A column as a client sees it. Complex numbers are two of them, one for each part.
struct ClientColumn {
  std::string name;
  DataType type = DataType::Text;
};

/// The columns that clients see of a result with these. One that says nothing of its values (ColumnType::Any) is text.
std::vector<ClientColumn> client_columns(const std::vector<Column>& columns);

/// RowDescription. Formats as Bind gives them: none, one for all, or one for each column.
void write_row_description(MessageWriter& out, const std::vector<ClientColumn>& columns,
                           const std::vector<frontend::Format>& formats);

/// DataRow. Error{Type} where a value is none of its column's type; nothing is written then.
void write_row(MessageWriter& out, const Row& row, const std::vector<ClientColumn>& columns,
               const std::vector<frontend::Format>& formats);

}  // namespace eindb

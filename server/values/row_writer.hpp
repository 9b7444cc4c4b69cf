#pragma once

#include <string>
#include <vector>

#include "engine/results/result.hpp"
#include "server/protocol/frontend_message.hpp"
#include "server/protocol/message_writer.hpp"
#include "server/values/data_type.hpp"

namespace eindb {

/// A column as the client sees it. A complex number takes two columns, one for each part.
struct ClientColumn {
  std::string name;
  DataType type = DataType::Text;
  std::int32_t modifier = -1;  ///< of the type, as varchar(20) has one; -1: none
};

/// The client's columns for a result. Columns of unknown type (ColumnType::Any) become text.
std::vector<ClientColumn> client_columns(const std::vector<Column>& columns);

/// Writes RowDescription. `formats` as in Bind: none, one for all columns, or one for each.
void write_row_description(MessageWriter& out, const std::vector<ClientColumn>& columns,
                           const std::vector<frontend::Format>& formats);

/// Writes DataRow. Error{Type} if a value does not have its column's type; nothing is written then.
void write_row(MessageWriter& out, const Row& row, const std::vector<ClientColumn>& columns,
               const std::vector<frontend::Format>& formats);

}  // namespace eindb

#include "server/rows/cell_row_stream.hpp"

#include "common/check.hpp"

namespace eindb {

CellRowStream::CellRowStream(RowSource& rows, const std::vector<ClientColumn>& columns,
                             const std::vector<frontend::Format>& formats)
    : rows_(rows), columns_(columns), formats_(formats), next_(std::in_place) {
  advance();
}

bool CellRowStream::write(MessageWriter& out) {
  DCHECK(next_.has_value(), "a row is written that was read");
  write_row(out, *next_, columns_, formats_);
  advance();
  return true;
}

void CellRowStream::advance() {
  if (!rows_.next(*next_)) next_.reset();
}

}  // namespace eindb

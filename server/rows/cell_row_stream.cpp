#include "server/rows/cell_row_stream.hpp"

#include <utility>

#include "common/check.hpp"
#include "engine/results/row_bytes.hpp"

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

void CellRowStream::keep_rest(const std::function<void(std::size_t)>& count) {
  for (Row row; next_ && rows_.next(row);) {
    kept_.push_back(std::move(row));
    count(row_bytes(kept_.back()));
  }
}

void CellRowStream::advance() {
  if (!kept_.empty()) {
    *next_ = std::move(kept_.front());
    kept_.pop_front();
  } else if (!rows_.next(*next_)) {
    next_.reset();
  }
}

}  // namespace eindb

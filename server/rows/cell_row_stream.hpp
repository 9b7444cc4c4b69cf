#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "server/rows/row_stream.hpp"
#include "server/values/row_writer.hpp"

namespace eindb {

/// Rows of any cells: rows of SQL, and lists.
class CellRowStream final : public RowStream {
 public:
  /// Reads the first row. `rows`, `columns` and `formats` must outlive the stream; the last two may be filled in later.
  CellRowStream(RowSource& rows, const std::vector<ClientColumn>& columns,
                const std::vector<frontend::Format>& formats);

  bool at_end() const override { return !next_; }
  bool write(MessageWriter& out) override;
  void keep_rest(const std::function<void(std::size_t)>& count) override;

 private:
  void advance();

  RowSource& rows_;
  const std::vector<ClientColumn>& columns_;
  const std::vector<frontend::Format>& formats_;
  std::optional<Row> next_;
  std::deque<Row> kept_;  // after next_, and before what rows_ still has
};

}  // namespace eindb

#pragma once

#include <optional>
#include <vector>

#include "server/rows/row_stream.hpp"
#include "server/values/row_writer.hpp"

namespace eindb {

/// Rows of whatever cells there are: those of SQL, and lists.
class CellRowStream final : public RowStream {
 public:
  /// Reads the first row. `rows`, and `columns` and `formats`, which may be filled later, outlive the stream.
  CellRowStream(RowSource& rows, const std::vector<ClientColumn>& columns,
                const std::vector<frontend::Format>& formats);

  bool at_end() const override { return !next_; }
  bool write(MessageWriter& out) override;

 private:
  void advance();

  RowSource& rows_;
  const std::vector<ClientColumn>& columns_;
  const std::vector<frontend::Format>& formats_;
  std::optional<Row> next_;
};

}  // namespace eindb

#pragma once

#include <optional>

#include "engine/results/result.hpp"
#include "server/copy/copy_out.hpp"
#include "server/rows/row_stream.hpp"

namespace eindb {

/// Rows that COPY ... TO STDOUT sends.
class CopyRowStream final : public RowStream {
 public:
  /// Reads the first row, and writes what stands before it. The result, which has rows, outlives the stream. Throws as
  /// CopyEncoder and as the rows.
  CopyRowStream(const Result& result, const CopyFormatOptions& options, MessageWriter& out);

  bool at_end() const override { return !next_; }
  bool write(MessageWriter& out) override;
  void end(MessageWriter& out) override { copy_.end(out); }

 private:
  void advance();

  RowSource& rows_;
  std::optional<Row> next_;
  CopyOut copy_;
};

}  // namespace eindb

#pragma once

#include <optional>

#include "engine/results/result.hpp"
#include "server/copy/copy_out.hpp"
#include "server/rows/row_stream.hpp"

namespace eindb {

/// The rows of a COPY ... TO STDOUT.
class CopyRowStream final : public RowStream {
 public:
  /// Reads the first row and writes the header. `result` must have rows and outlive the stream. Throws the errors of
  /// CopyEncoder and of reading rows.
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

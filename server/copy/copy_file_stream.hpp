#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "engine/files/transfer_directory.hpp"
#include "server/rows/row_stream.hpp"

namespace eindb {

/// A file that COPY ... TO STDOUT sends as it is: one row, however many messages that takes.
class CopyFileStream final : public RowStream {
 public:
  /// Writes what stands before it. Throws Error{Io} if the file cannot be read.
  CopyFileStream(std::unique_ptr<TransferFile> file, MessageWriter& out);

  bool at_end() const override { return at_end_; }
  bool write(MessageWriter& out) override;
  void end(MessageWriter& out) override { out.empty('c'); }

 private:
  std::unique_ptr<TransferFile> file_;
  std::array<char, std::size_t{64} << 10U> buffer_;
  std::string_view next_;  // in the buffer
  bool at_end_ = false;
};

}  // namespace eindb

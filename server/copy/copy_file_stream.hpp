#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "engine/files/transfer_directory.hpp"
#include "server/rows/row_stream.hpp"

namespace eindb {

/// A file that COPY ... TO STDOUT sends unchanged: one row in any number of messages.
class CopyFileStream final : public RowStream {
 public:
  /// Writes the header of the response. Throws Error{Io} if the file cannot be read.
  CopyFileStream(std::unique_ptr<TransferFile> file, MessageWriter& out);

  bool at_end() const override { return at_end_; }
  bool write(MessageWriter& out) override;
  void end(MessageWriter& out) override { out.empty('c'); }

 private:
  std::unique_ptr<TransferFile> file_;
  std::array<char, std::size_t{64} << 10U> buffer_;
  std::string_view next_;  // unsent part of the buffer
  bool at_end_ = false;
};

}  // namespace eindb

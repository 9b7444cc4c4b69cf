#pragma once

#include <string>
#include <vector>

#include "engine/results/result.hpp"
#include "server/copy/copy_encoder.hpp"
#include "server/copy/copy_statement.hpp"
#include "server/protocol/message_writer.hpp"

namespace eindb {

/// The statement that returns the rows for COPY ... TO STDOUT: its query, or a SELECT from the table that it names.
std::string rows_of_copy(std::string_view statement, const CopyStatement& copy);

/// Writes the messages of COPY ... TO STDOUT: begin(), each row, end(). Not thread-safe.
class CopyOut {
 public:
  /// Throws the same errors as CopyEncoder.
  CopyOut(const CopyFormatOptions& options, const std::vector<Column>& columns);

  /// Writes CopyOutResponse, and the header.
  void begin(MessageWriter& out);
  /// After Error{Type} the output ends with an incomplete message.
  void row(MessageWriter& out, const Row& row);
  /// Writes CopyDone.
  void end(MessageWriter& out);

 private:
  void open(MessageWriter& out);

  CopyFormat format_;
  bool has_header_;
  std::size_t columns_;
  bool begun_ = false;  // the header of binary rows is written
  CopyEncoder encoder_;
};

}  // namespace eindb

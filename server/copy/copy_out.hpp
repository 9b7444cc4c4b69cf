#pragma once

#include <string>
#include <vector>

#include "engine/results/result.hpp"
#include "server/copy/copy_encoder.hpp"
#include "server/copy/copy_statement.hpp"
#include "server/protocol/message_writer.hpp"

namespace eindb {

/// The statement whose rows COPY ... TO STDOUT is about: its query, or a SELECT of the table that it names.
std::string rows_of_copy(std::string_view statement, const CopyStatement& copy);

/// Rows as the messages of COPY ... TO STDOUT: begin(), each row, end(). Not thread-safe.
class CopyOut {
 public:
  /// Errors as CopyEncoder's.
  CopyOut(const CopyFormatOptions& options, const std::vector<Column>& columns);

  /// CopyOutResponse, and the header.
  void begin(MessageWriter& out);
  /// Error{Type} leaves a message that is begun.
  void row(MessageWriter& out, const Row& row);
  /// CopyDone.
  void end(MessageWriter& out);

 private:
  void open(MessageWriter& out);

  CopyFormat format_;
  bool has_header_;
  std::size_t columns_;
  bool begun_ = false;  // what binary rows begin with has been written
  CopyEncoder encoder_;
};

}  // namespace eindb

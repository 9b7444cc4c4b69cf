#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/session.hpp"
#include "server/copy_decoder.hpp"
#include "server/copy_error.hpp"
#include "server/copy_statement.hpp"
#include "server/data_type.hpp"
#include "server/protocol/message_writer.hpp"

namespace eindb {

/// COPY ... FROM STDIN while it goes on: rows in the bytes of CopyData go into a tensor or a table, where all of them
/// are after finish(), and none before. Errors of rows are CopyError with the row's place. After an error it is not
/// used again. Uses the session between its calls, which runs nothing else meanwhile. Not thread-safe.
class CopyIn {
 public:
  virtual ~CopyIn() = default;
  /// CopyInResponse.
  virtual void begin(MessageWriter& out) const = 0;
  virtual void append(std::string_view bytes) = 0;
  /// What CommandComplete says: "COPY 7".
  virtual std::string finish() = 0;
};

/// Throws Error: of Session::load(), and where options name columns that are not there.
std::unique_ptr<CopyIn> begin_copy_in(const CopyStatement& statement, Session& session);

}  // namespace eindb

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/files/transfer_directory.hpp"
#include "engine/session.hpp"
#include "server/copy/copy_statement.hpp"
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

/// Rows, one by one. Throws Error: of Session::load(), and where options name columns that are not there.
std::unique_ptr<CopyIn> copy_rows_in(const CopyStatement& statement, Session& session);
/// A file as a whole, which `copy` reads when it has come: copy_of_file().
std::unique_ptr<CopyIn> copy_file_in(std::shared_ptr<const PreparedStatement> copy, std::unique_ptr<TransferFile> file,
                                     Session& session);

}  // namespace eindb

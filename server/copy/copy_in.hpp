#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/files/transfer_directory.hpp"
#include "engine/session.hpp"
#include "server/copy/copy_statement.hpp"
#include "server/protocol/message_writer.hpp"

namespace eindb {

/// A COPY ... FROM STDIN in progress. It loads the rows in CopyData into a tensor or a table: all after finish(), none
/// before. Errors of rows are CopyError with the row's place. Not usable after an error. It uses the session between
/// calls, which must run nothing else meanwhile. Not thread-safe.
class CopyIn {
 public:
  virtual ~CopyIn() = default;
  /// CopyInResponse.
  virtual void begin(MessageWriter& out) const = 0;
  virtual void append(std::string_view bytes) = 0;
  /// Ends the COPY and returns the tag of CommandComplete: "COPY 7".
  virtual std::string finish() = 0;
};

/// Loads rows. Throws the errors of Session::load(), and Error for unknown columns in options.
std::unique_ptr<CopyIn> copy_rows_in(const CopyStatement& statement, Session& session);
/// Receives a whole file, which `copy` (see copy_of_file()) then reads.
std::unique_ptr<CopyIn> copy_file_in(std::shared_ptr<const PreparedStatement> copy, std::unique_ptr<TransferFile> file,
                                     Session& session);

}  // namespace eindb

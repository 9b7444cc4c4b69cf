#pragma once

#include <memory>
#include <string>

#include "engine/files/transfer_directory.hpp"
#include "engine/session.hpp"
#include "server/copy/copy_in.hpp"
#include "server/copy/copy_statement.hpp"
#include "server/protocol/message_writer.hpp"
#include "server/rows/interim_output.hpp"
#include "server/statements/client_state.hpp"
#include "server/statements/command_runner.hpp"
#include "server/statements/progress_notices.hpp"

namespace eindb {

/// Runs the statements of one client, in the client's transaction. Cursors and portals keep their rows before a
/// statement that may change what they read.
///
///     Portal --begin()--> its result and a stream of its rows
///                    '--> for COPY FROM STDIN a CopyIn, which takes the client's rows --finish()--> the tag
///
/// Meanwhile the client receives notices and, if it asks for it, progress. The caller writes the rows and the tag. Used
/// by one thread at a time; statements are cancelled by ClientState::cancel(), from any thread.
class StatementRunner {
 public:
  /// `client` must be logged in before a statement runs. Files that a COPY moves lie in `transfers`. All arguments must
  /// outlive the object.
  StatementRunner(ClientState& client, CommandRunner& commands, TransferDirectory& transfers)
      : client_(client), commands_(commands), transfers_(transfers) {}

  /// Sends progress and notices while statements run, by `output`, which must outlive the object. Without it there is
  /// no progress, and notices come with the next output.
  void tell_progress_by(InterimOutput& output) { interim_ = &output; }

  /// Runs the statement of `portal`, which has not run and is not empty, up to its first row. Sets the portal's result
  /// and, if there are rows, its stream and columns. A COPY from the client instead returns what takes its rows; null
  /// for all other statements. Heads of a COPY to the client, notices and changed parameters are written to `out`,
  /// which must hold whole messages. Throws Error, with the place in the client's text, and CodedError if the
  /// transaction has failed; then `out` may hold a part of a message.
  std::unique_ptr<CopyIn> begin(Portal& portal, MessageWriter& out);
  /// Ends a COPY from the client after its last row and returns the tag of CommandComplete: "COPY 7". Progress is
  /// written to `out`, which must hold whole messages. Throws the errors of CopyIn::finish().
  std::string finish(CopyIn& copy, MessageWriter& out);

 private:
  void check_transaction(const ClientStatement& statement) const;
  void begin_rows(Portal& portal, MessageWriter& out);
  Result declare_cursor(const Portal& portal, MessageWriter& out);
  Result explain(const Portal& portal, MessageWriter& out);
  std::vector<SqlPlanStep> plan_of(const ClientStatement& statement, const StatementInputs& inputs);
  std::unique_ptr<CopyIn> begin_copy(Portal& portal, MessageWriter& out);
  std::unique_ptr<CopyIn> copy_from_client(const ClientStatement& statement);
  void copy_file_out(Portal& portal, MessageWriter& out);
  void copy_rows_out(Portal& portal, MessageWriter& out);
  Result execute(const ClientStatement& statement, const StatementInputs& inputs, MessageWriter& out);
  std::unique_ptr<ProgressNotices> tell_progress(MessageWriter& out);
  std::unique_ptr<StatementNotices> tell_notices(MessageWriter& out);

  ClientState& client_;
  CommandRunner& commands_;
  TransferDirectory& transfers_;
  InterimOutput* interim_ = nullptr;
};

}  // namespace eindb

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/error.hpp"
#include "server/client_state.hpp"
#include "server/copy/copy_in.hpp"
#include "server/login/cancel_key.hpp"
#include "server/login/client_handshake.hpp"
#include "server/monitoring/client_monitor.hpp"
#include "server/progress_notices.hpp"
#include "server/protocol/frame_reader.hpp"
#include "server/protocol/frontend_message.hpp"
#include "server/protocol/message_writer.hpp"
#include "server/protocol/protocol_error.hpp"
#include "server/rows/interim_output.hpp"
#include "server/sessions/client_sessions.hpp"

namespace eindb {

/// The server's side of one client's connection, as messages: what comes in is carried out one after the other, and
/// answered. It knows no socket, and blocks as long as statements run: for threads that may. Until a client has said
/// who it is, nothing blocks (blocks() is false): so requests to cancel are heard while statements keep all such
/// threads.
///
///     ClientHandshake --the client is let in--> Ready --Query----------------------------> rows, ReadyForQuery
///                                                 |  '--Parse, Bind, Describe, Execute --> answers; Sync:
///                                                 ReadyForQuery
///                                                 '--an error in these--> skipping, up to Sync
///
/// Rows stop when as much is written as a connection should hold at a time, and go on when run() is called again.
/// Used by one thread at a time, but for cancel().
class Backend {
 public:
  /// The end of a client that does nothing for too long.
  struct IdleLimit {
    std::chrono::milliseconds time;
    std::string_view sqlstate;
    std::string_view message;
  };

  enum class Next : std::uint8_t {
    Input,    ///< all that can be done is done
    Output,   ///< there is more to write when what is written has gone
    Encrypt,  ///< TLS begins after what is written, and then run() is called again
    LogIn,    ///< run() is to be called again, by a thread that may block
    Refuse,   ///< as Close, but not at once: who tries passwords is to wait
    Close     ///< after what is written the connection ends
  };

  /// `sessions`, and `monitor`, which is told what happens, outlive the backend; `address` is the client's, for
  /// LoginThrottle.
  Backend(ClientSessions& sessions, CancelKey key, ClientMonitor& monitor, std::string address = {});

  /// Works on the messages that are there. Never throws for what a client sends.
  Next run(FrameReader& frames, MessageWriter& out);
  /// Tells the client of long statements' progress by `output`, if it asks for that. `output` outlives the backend.
  void tell_progress_by(InterimOutput& output) { interim_ = &output; }
  /// Stops the statement that runs, if one does. Any thread.
  void cancel() noexcept { client_.cancel(); }
  /// The next run() does not begin its first statement: it was cancelled before there was a thread for it.
  void cancel_next() noexcept { cancel_next_ = true; }
  /// Whether run() may take long.
  bool blocks() const { return phase_ != Phase::First && phase_ != Phase::Encrypting; }
  /// Whether the client was let in.
  bool in_session() const { return seat_.has_value(); }
  /// Who it is, once it was let in.
  const std::string& user() const { return client_.identity.user; }
  /// Whether nothing of the client's is under way: it has its ReadyForQuery, and nothing has come since.
  bool at_rest() const { return at_rest_; }
  /// How long a client that is at rest may be so; nullopt: as long as it likes.
  std::optional<IdleLimit> idle_limit() const;
  /// What a CancelRequest asked for, instead of a session.
  const std::optional<CancelKey>& cancel_requested() const { return cancel_requested_; }

 private:
  // In First and Authentication there is a handshake_. Nothing is received from Encrypting on.
  enum class Phase : std::uint8_t { First, Authentication, Session, Encrypting, LoggingIn, Refused, Closing };

  // A script of Query, of which statements are still to run.
  struct Script {
    std::string text;
    std::vector<std::string_view> statements;  // in text
    std::size_t next = 0;
  };

  // Rows that are written, up to as many as Execute wants.
  struct Stream {
    std::shared_ptr<Portal> portal;
    std::int64_t most = 0;  // 0: all
  };

  void receive(const Frame& frame);
  void log_in();
  void follow(ClientHandshake::Next next);
  void begin_session(const AdmittedClient& admitted);
  void handle(const Frame& frame);
  void handle(const frontend::Query& query);
  void handle(const frontend::Parse& parse);
  void handle(const frontend::Bind& bind);
  void handle(const frontend::Describe& describe);
  void handle(const frontend::Execute& execute);
  void handle(const frontend::Close& close);
  void handle(const frontend::Sync& sync);
  void handle(const frontend::Flush& /*flush*/) {}
  void handle(const frontend::Terminate& /*terminate*/) { phase_ = Phase::Closing; }
  void handle(const frontend::FunctionCall& call);
  void handle(const frontend::Password& password);
  void handle_copy(const frontend::Message& message);
  // What comes behind the end of a COPY is left over from it.
  void handle(const frontend::CopyData& /*data*/) {}
  void handle(const frontend::CopyDone& /*done*/) {}
  void handle(const frontend::CopyFail& /*fail*/) {}

  template <class F>
  void in_own_words(const ClientStatement& statement, F&& f);
  std::shared_ptr<ClientStatement> make_statement(std::string_view text, const StatementOutline& outline);
  StatementDescription describe(const ClientStatement& statement);
  void find_parameter_types(ClientStatement& statement, const std::vector<std::int32_t>& said);
  void describe_statement(ClientStatement& statement);
  const std::vector<ClientColumn>& columns_of(ClientStatement& statement);
  const std::vector<ClientColumn>& keep_columns(ClientStatement& statement,
                                                const StatementDescription& description) const;
  std::vector<Column> command_columns(const ClientCommand& command);
  void run_script();
  std::shared_ptr<ClientStatement> copied_rows(std::string_view text, const CopyStatement& copy);
  std::shared_ptr<ClientStatement> copied_file(std::string_view text, const CopyStatement::File& file);
  void begin(Portal& portal);
  std::unique_ptr<ProgressNotices> tell_progress();
  std::unique_ptr<StatementNotices> tell_notices();
  Result execute(const ClientStatement& statement, const StatementInputs& inputs);
  void begin_rows(Portal& portal);
  void begin_copy(Portal& portal);
  void stream(std::shared_ptr<Portal> portal, std::int64_t most);
  void run_command(const ClientCommand& command, Portal& portal);
  void end_implicit();
  void check_transaction(const ClientStatement& statement) const;
  bool write_rows(Portal& portal, std::int64_t most);
  void complete(const Portal& portal);
  void continue_stream();
  void check_size(std::string_view statement) const;
  void kill(const command::Kill& kill) const;
  void set_parameter(const std::string& name, const std::optional<std::string>& value);
  void tell_name();
  void report_parameter(const std::string& name);
  void ready();
  template <class F>
  void answer_failure(std::string_view text, std::size_t offset, F&& f);
  void fail(const Error& error, std::string_view text, std::size_t offset = 0);
  void end(std::string_view sqlstate, std::string_view message, std::string_view hint = {});
  void recover();

  ClientSessions& sessions_;
  const CancelKey key_;
  ClientMonitor& monitor_;
  std::optional<ClientHandshake> handshake_;  // until the session begins
  std::optional<SessionSeats::Seat> seat_;    // from then on
  ClientState client_;
  Phase phase_ = Phase::First;
  bool in_query_ = false;  // of the simple kind: ReadyForQuery follows without a Sync
  bool skipping_ = false;  // messages, up to Sync
  bool at_rest_ = false;
  bool cancel_next_ = false;
  std::optional<Script> script_;
  std::optional<Stream> stream_;
  std::unique_ptr<CopyIn> copy_in_;  // while rows come from the client
  std::optional<CancelKey> cancel_requested_;
  InterimOutput* interim_ = nullptr;
  // While run() runs:
  FrameReader* frames_ = nullptr;
  MessageWriter* out_ = nullptr;
};

}  // namespace eindb

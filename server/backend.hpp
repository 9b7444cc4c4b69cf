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
#include "server/copy/copy_in.hpp"
#include "server/login/cancel_key.hpp"
#include "server/login/client_handshake.hpp"
#include "server/monitoring/client_monitor.hpp"
#include "server/protocol/frame_reader.hpp"
#include "server/protocol/frontend_message.hpp"
#include "server/protocol/message_writer.hpp"
#include "server/protocol/protocol_error.hpp"
#include "server/rows/interim_output.hpp"
#include "server/sessions/client_sessions.hpp"
#include "server/statements/client_state.hpp"
#include "server/statements/command_runner.hpp"
#include "server/statements/statement_describer.hpp"
#include "server/statements/statement_maker.hpp"
#include "server/statements/statement_runner.hpp"

namespace eindb {

/// The server's side of one client's connection at the level of messages: it executes incoming messages one by one and
/// answers them. It knows no socket. It blocks while statements run, so it needs a thread that may block. Before login
/// nothing blocks (blocks() is false), so that cancel requests are served even while statements occupy all such
/// threads.
///
///     ClientHandshake --the client is let in--> Ready --Query----------------------------> rows, ReadyForQuery
///                                                 |  '--Parse, Bind, Describe, Execute --> answers; Sync:
///                                                 ReadyForQuery
///                                                 '--an error in these--> skipping, up to Sync
///
/// Writing of rows pauses once the output holds as much as a connection should buffer, and continues in the next run().
/// Used by one thread at a time, except for cancel().
class Backend {
 public:
  /// The timeout of an inactive client, and the error that ends it.
  struct IdleLimit {
    std::chrono::milliseconds time;
    std::string_view sqlstate;
    std::string_view message;
  };

  enum class Next : std::uint8_t {
    Input,    ///< every complete message is handled
    Output,   ///< more output follows once this output is sent
    Encrypt,  ///< send the output, begin TLS, then call run() again
    LogIn,    ///< call run() again in a thread that may block
    Refuse,   ///< like Close, but delayed, to slow down guessing of passwords
    Close     ///< end the connection after the output is sent
  };

  /// `sessions` and `monitor` must outlive the backend. `monitor` receives the client's events; `address` is the
  /// client's, for LoginThrottle.
  Backend(ClientSessions& sessions, CancelKey key, ClientMonitor& monitor, std::string address = {});

  /// Begins the session of a client that was let in otherwise than by messages of the protocol, in a thread that may
  /// block; false if it cannot, with the error in `out`. Call before run(), and never for a client that logs in itself.
  bool admit(const AdmittedClient& client, FrameReader& frames, MessageWriter& out);
  /// Handles the messages received so far. Never throws because of a client's input.
  Next run(FrameReader& frames, MessageWriter& out);
  /// Sends the progress of long statements by `output`, if the client asks for it. `output` must outlive the backend.
  void tell_progress_by(InterimOutput& output) { runner_.tell_progress_by(output); }
  /// Cancels the running statement, if there is one. Thread-safe.
  void cancel() noexcept { client_.cancel(); }
  /// Makes the next run() cancel its first statement, for a cancel request that arrived before the statement got a
  /// thread.
  void cancel_next() noexcept { cancel_next_ = true; }
  /// Whether run() may take a long time.
  bool blocks() const { return phase_ != Phase::First && phase_ != Phase::Encrypting; }
  /// Whether the client is logged in.
  bool in_session() const { return seat_.has_value(); }
  /// The user's name, after login.
  const std::string& user() const { return client_.identity.user; }
  /// Whether the client has its ReadyForQuery and has sent nothing since.
  bool at_rest() const { return at_rest_; }
  /// The longest time that a client may be at rest; nullopt: unlimited.
  std::optional<IdleLimit> idle_limit() const;
  /// The key in a CancelRequest, which a client sends in place of a startup.
  const std::optional<CancelKey>& cancel_requested() const { return cancel_requested_; }

 private:
  // There is a handshake_ in First and Authentication. From Encrypting on nothing is received.
  enum class Phase : std::uint8_t { First, Authentication, Session, Encrypting, LoggingIn, Refused, Closing };

  // The text of a Query message with several statements, and its next statement.
  struct Script {
    std::string text;
    std::vector<std::string_view> statements;  // in text
    std::size_t next = 0;
  };

  // The portal whose rows are being written, and the number that Execute requested.
  struct Stream {
    std::shared_ptr<Portal> portal;
    std::int64_t most = 0;  // 0: all
  };

  template <class F>
  void end_if_it_fails(F&& f);
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
  // Messages of a COPY that arrive after its end are ignored.
  void handle(const frontend::CopyData& /*data*/) {}
  void handle(const frontend::CopyDone& /*done*/) {}
  void handle(const frontend::CopyFail& /*fail*/) {}

  std::shared_ptr<const ClientStatement> statement_of(const frontend::Message& message) const;
  void describe_statement(ClientStatement& statement);
  void run_script();
  void begin(Portal& portal);
  void stream(std::shared_ptr<Portal> portal, std::int64_t most);
  void end_implicit();
  bool write_rows(Portal& portal, std::int64_t most);
  void complete(const Portal& portal);
  void continue_stream();
  void check_size(std::string_view statement) const;
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
  std::optional<SessionSeats::Seat> seat_;    // from the beginning of the session on
  ClientState client_;
  CommandRunner commands_;
  StatementMaker maker_;
  StatementDescriber describer_;
  StatementRunner runner_;
  Phase phase_ = Phase::First;
  bool in_query_ = false;  // in a simple Query, after which ReadyForQuery follows without a Sync
  bool skipping_ = false;  // ignores messages up to Sync
  bool at_rest_ = false;
  bool cancel_next_ = false;
  std::optional<Script> script_;
  std::optional<Stream> stream_;
  std::unique_ptr<CopyIn> copy_in_;  // while a COPY takes rows from the client
  std::optional<CancelKey> cancel_requested_;
  // Set during run():
  FrameReader* frames_ = nullptr;
  MessageWriter* out_ = nullptr;
};

}  // namespace eindb

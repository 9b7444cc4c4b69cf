#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/error.hpp"
#include "server/client_state.hpp"
#include "server/protocol/frame_reader.hpp"
#include "server/protocol/frontend_message.hpp"
#include "server/protocol/message_writer.hpp"
#include "server/protocol/protocol_error.hpp"
#include "server/sasl_authentication.hpp"

namespace eindb {

/// Where clients' sessions come from, by what they may do, and whether a database without users lets anybody in.
struct ClientSessions {
  SessionPool read_write;
  SessionPool read_only;
  bool trusts = false;

  SessionPool& of(UserRole role) { return role == UserRole::ReadWrite ? read_write : read_only; }
};

/// By which a client asks, on another connection, to stop what it runs.
struct CancelKey {
  std::int32_t process = 0;
  std::int32_t secret = 0;
  friend bool operator==(const CancelKey&, const CancelKey&) = default;
};

/// The server's side of one client's connection, as messages: what comes in is carried out one after the other, and
/// answered. It knows no socket, and blocks as long as statements run: for threads that may.
///
///     First --Startup--> Authentication --the password is right--> Ready
///                        Ready --Query----------------------------> rows, ReadyForQuery
///                          |  '--Parse, Bind, Describe, Execute --> answers; Sync: ReadyForQuery
///                          '--an error in these--> skipping, up to Sync
///
/// Rows stop when as much is written as a connection should hold at a time, and go on when run() is called again.
/// Used by one thread at a time, but for cancel().
class Backend {
 public:
  enum class Next : std::uint8_t {
    Input,   ///< all that can be done is done
    Output,  ///< there is more to write when what is written has gone
    Refuse,  ///< as Close, but not at once: who tries passwords is to wait
    Close    ///< after what is written the connection ends
  };

  Backend(ClientSessions& sessions, CancelKey key) : sessions_(sessions), key_(key) {}

  /// Works on the messages that are there. Never throws for what a client sends.
  Next run(FrameReader& frames, MessageWriter& out);
  /// Stops the statement that runs, if one does. Any thread.
  void cancel() noexcept { client_.cancel(); }
  /// What a CancelRequest asked for, instead of a session.
  const std::optional<CancelKey>& cancel_requested() const { return cancel_requested_; }

 private:
  enum class Phase : std::uint8_t { First, Authentication, Session, Refused, Closing };

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
  void handle_first(const Frame& frame);
  void start(const frontend::Startup& startup);
  void authenticate(const Frame& frame);
  void begin_session(UserRole role);
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
  // What comes behind the end of a COPY is left over from it.
  void handle(const frontend::CopyData& /*data*/) {}
  void handle(const frontend::CopyDone& /*done*/) {}
  void handle(const frontend::CopyFail& /*fail*/) {}

  template <class F>
  void in_own_words(const ClientStatement& statement, F&& f);
  std::shared_ptr<ClientStatement> make_statement(std::string_view text);
  StatementDescription describe(const ClientStatement& statement);
  void find_parameter_types(ClientStatement& statement, const std::vector<std::int32_t>& said);
  void describe_statement(ClientStatement& statement);
  const std::vector<ClientColumn>& described_columns(ClientStatement& statement);
  void run_script();
  bool run_in_script(std::string_view text);
  void begin_rows(Portal& portal);
  void run_command(const ClientCommand& command, Portal& portal);
  void check_transaction(const ClientStatement& statement) const;
  bool write_rows(Portal& portal, std::int64_t most);
  void complete(const Portal& portal);
  void continue_stream();
  void set_parameter(const std::string& name, const std::optional<std::string>& value);
  void report_parameter(const std::string& name);
  void ready();
  void fail(const Error& error, std::string_view text);
  void fail(std::string_view severity, std::string_view sqlstate, std::string_view message);
  void recover();

  ClientSessions& sessions_;
  const CancelKey key_;
  ClientState client_;
  std::string user_;
  std::optional<Login> login_;
  std::optional<SaslAuthentication> authentication_;  // while it goes on
  Phase phase_ = Phase::First;
  bool in_query_ = false;  // of the simple kind: ReadyForQuery follows without a Sync
  bool skipping_ = false;  // messages, up to Sync
  std::optional<Script> script_;
  std::optional<Stream> stream_;
  std::optional<CancelKey> cancel_requested_;
  // While run() runs:
  FrameReader* frames_ = nullptr;
  MessageWriter* out_ = nullptr;
};

}  // namespace eindb

#include "server/backend.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "common/caught_error.hpp"
#include "common/check.hpp"
#include "common/coded_error.hpp"
#include "common/error.hpp"
#include "engine/script.hpp"
#include "engine/statement_text.hpp"
#include "server/login/error_response.hpp"
#include "server/login/sqlstate.hpp"
#include "server/statements/client_statement.hpp"
#include "server/statements/portal.hpp"
#include "server/values/row_writer.hpp"

namespace eindb {
namespace {

constexpr std::string_view kDuplicateStatement = "42P05";

// Returns 7 for "COPY 7".
std::int64_t rows_of_tag(std::string_view tag) {
  const auto number = tag.substr(tag.rfind(' ') + 1);
  std::int64_t rows = 0;
  std::from_chars(number.data(), number.data() + number.size(), rows);
  return rows;
}

ClientActivity activity_of(ClientState::Transaction transaction) {
  switch (transaction) {
    case ClientState::Transaction::None: return ClientActivity::Idle;
    case ClientState::Transaction::Open: return ClientActivity::InTransaction;
    case ClientState::Transaction::Failed: break;
  }
  return ClientActivity::InFailedTransaction;
}

}  // namespace

Backend::Backend(ClientSessions& sessions, CancelKey key, ClientMonitor& monitor, std::string address)
    : sessions_(sessions),
      key_(key),
      monitor_(monitor),
      handshake_(std::in_place, sessions, std::move(address)),
      client_(sessions.held_for_clients),
      commands_(client_, monitor),
      maker_(client_),
      describer_(client_),
      runner_(client_, commands_, sessions.transfers) {}

Backend::Next Backend::run(FrameReader& frames, MessageWriter& out) {
  frames_ = &frames;
  out_ = &out;
  bool full = false;
  end_if_it_fails([&] {
    if (phase_ == Phase::LoggingIn) log_in();
    if (phase_ == Phase::Encrypting) phase_ = Phase::First;
    while (phase_ < Phase::Encrypting) {
      full = out.size() > kPortionBytes;
      if (full) return;
      if (stream_) continue_stream();
      else if (script_ && copy_in_ == nullptr) run_script();
      else if (const auto frame = frames.next()) receive(*frame);
      else break;
    }
    if (phase_ == Phase::Session && copy_in_ == nullptr) client_.settle();
  });
  if (full) return Next::Output;
  DCHECK(out.is_whole(), "what is written are whole messages");
  cancel_next_ = false;
  switch (phase_) {
    case Phase::Encrypting: return Next::Encrypt;
    case Phase::LoggingIn: return Next::LogIn;
    case Phase::Refused: return Next::Refuse;
    case Phase::Closing: return Next::Close;
    default: return Next::Input;
  }
}

bool Backend::admit(const AdmittedClient& client, FrameReader& frames, MessageWriter& out) {
  CHECK(phase_ == Phase::First, "a session begins once");
  frames_ = &frames;
  out_ = &out;
  end_if_it_fails([&] {
    monitor_.introduce(client.user);
    frames.begin_session();
    begin_session(client);
  });
  return phase_ == Phase::Session;
}

// Ends the connection with the error that `f` throws.
template <class F>
void Backend::end_if_it_fails(F&& f) {
  try {
    std::forward<F>(f)();
  } catch (const ProtocolError& error) {
    end(error.sqlstate(), error.what());
  } catch (const Error& error) {
    end(sqlstate_of(error), error.message(), error.hint());
  } catch (...) {
    const auto error = caught_error("this connection");
    end(sqlstate_of(error), error.message(), error.hint());
  }
}

void Backend::receive(const Frame& frame) {
  DCHECK(frames_ != nullptr && out_ != nullptr, "messages are worked on while run() runs");
  if (handshake_) follow(handshake_->receive(frame, frames_->pending(), *out_));
  else handle(frame);
}

// ---- The start -----------------------------------------------------------------------------------------------------

void Backend::log_in() {
  CHECK(handshake_.has_value(), "a client logs in once");
  phase_ = Phase::Authentication;
  follow(handshake_->log_in(*out_));
}

void Backend::follow(ClientHandshake::Next next) {
  CHECK(handshake_.has_value(), "a handshake ends when the session begins");
  switch (next) {
    case ClientHandshake::Next::Input: return;
    case ClientHandshake::Next::Encrypt:
      CHECK(phase_ == Phase::First, "encryption begins before a client says who it is");
      phase_ = Phase::Encrypting;
      return;
    case ClientHandshake::Next::LogIn:
      CHECK(phase_ == Phase::First, "a client says once who it is");
      monitor_.introduce(handshake_->admitted().user);
      frames_->begin_session();
      phase_ = Phase::LoggingIn;
      return;
    case ClientHandshake::Next::Admit: return begin_session(handshake_->admitted());
    case ClientHandshake::Next::Refuse:
      monitor_.refuse_login(handshake_->refusal_reason());
      phase_ = Phase::Refused;
      return;
    case ClientHandshake::Next::Close:
      if (!handshake_->refusal_reason().empty()) monitor_.refuse_login(handshake_->refusal_reason());
      cancel_requested_ = handshake_->cancel_requested();
      phase_ = Phase::Closing;
      return;
  }
}

void Backend::begin_session(const AdmittedClient& admitted) {
  CHECK(phase_ < Phase::Session, "a session begins once");
  CHECK(!seat_, "a client takes one seat");
  seat_ = sessions_.seats.take(admitted.role == UserRole::Admin);
  if (!seat_) throw ProtocolError("there are as many clients as the server takes", "53300");
  client_.use(sessions_.of(admitted.role), {.name = admitted.user, .role = admitted.role, .number = key_.process});
  client_.identity.user = admitted.user;
  client_.identity.database = admitted.database;
  client_.identity.process_id = key_.process;
  client_.identity.registry = &monitor_.server().clients;
  client_.parameters = admitted.parameters;
  for (const auto& [name, value] : admitted.settings) commands_.set_parameter(name, value, *out_);
  monitor_.log_in({.user = admitted.user,
                   .database = admitted.database,
                   .application_name = client_.parameters.application_name(),
                   .role = admitted.role});
  handshake_.reset();  // also frees `admitted`
  frames_->limit(sessions_.limits.message_bytes);
  frames_->count_in(sessions_.held_for_clients);
  out_->begin('R').integer<std::int32_t>(0).end();  // AuthenticationOk
  for (const auto& [name, value] : client_.parameters.reported()) out_->begin('S').text(name).text(value).end();
  out_->begin('K').integer(key_.process).integer(key_.secret).end();
  phase_ = Phase::Session;
  ready();
}

std::optional<Backend::IdleLimit> Backend::idle_limit() const {
  const bool in_transaction = client_.transaction() != ClientState::Transaction::None;
  const auto& idle = client_.parameters.idle();
  const auto time = in_transaction ? idle.in_transaction : idle.session;
  if (!at_rest_ || time == time.zero()) return std::nullopt;
  if (in_transaction) return IdleLimit{time, "25P03", "the connection ends: it was idle in a transaction for too long"};
  return IdleLimit{time, "57P05", "the connection ends: it was idle for too long"};
}

// ---- Messages ------------------------------------------------------------------------------------------------------

void Backend::handle(const Frame& frame) {
  DCHECK(phase_ == Phase::Session && seat_, "statements are those of clients that were let in");
  at_rest_ = false;
  const auto message = frontend::parse(frame);
  if (skipping_ && !std::holds_alternative<frontend::Sync>(message) &&
      !std::holds_alternative<frontend::Terminate>(message))
    return;
  const auto statement = statement_of(message);  // kept, though the message may drop it
  std::string_view text = statement == nullptr ? std::string_view() : statement->text;
  if (const auto* parse = std::get_if<frontend::Parse>(&message)) text = parse->text;
  answer_failure(text, 0, [&] {
    if (copy_in_ != nullptr) handle_copy(message);
    else std::visit([&](const auto& kind) { handle(kind); }, message);
  });
}

// The statement that a Describe or an Execute is about, in whose text errors have their places; null if there is none.
std::shared_ptr<const ClientStatement> Backend::statement_of(const frontend::Message& message) const {
  const auto of_portal = [this](std::string_view name) -> std::shared_ptr<const ClientStatement> {
    const auto found = client_.portals.find(name);
    return found == client_.portals.end() ? nullptr : found->second->statement;
  };
  if (const auto* execute = std::get_if<frontend::Execute>(&message)) return of_portal(execute->portal);
  const auto* describe = std::get_if<frontend::Describe>(&message);
  if (describe == nullptr) return nullptr;
  if (describe->what != 'S') return of_portal(describe->name);
  const auto found = client_.statements.find(describe->name);
  return found == client_.statements.end() ? nullptr : found->second;
}

void Backend::check_size(std::string_view statement) const {
  const auto most = sessions_.limits.statement_bytes;
  if (statement.size() <= most) return;
  throw CodedError("54000", ErrorKind::Value,
                   "a statement of " + std::to_string(statement.size()) + " bytes is longer than the " +
                       std::to_string(most) + " that may come here");
}

void Backend::handle(const frontend::Query& query) {
  in_query_ = true;
  check_size(query.text);
  DCHECK(!script_ && !stream_, "a script ends before the next one begins");
  client_.portals.erase("");
  script_.emplace(Script{.text = std::string(query.text), .statements = {}, .next = 0});
  for (const auto& statement : split_statements(script_->text, kPostgresRules))
    script_->statements.push_back(statement.text);
  if (script_->statements.empty()) out_->empty('I');
}

void Backend::handle(const frontend::Parse& parse) {
  check_size(parse.text);
  if (!parse.name.empty() && client_.statements.contains(parse.name))
    throw CodedError(kDuplicateStatement, ErrorKind::DuplicateName,
                     "prepared statement \"" + std::string(parse.name) + "\" exists already");
  auto statement = maker_.make(parse.text, outline_of(parse.text), parse.parameter_types);
  statement->share = client_.statement_quota.take(parse.text.size());
  describer_.find_parameter_types(*statement, parse.parameter_types);
  client_.statements.insert_or_assign(std::string(parse.name), std::move(statement));
  out_->empty('1');
}

void Backend::handle(const frontend::Bind& bind) {
  const auto statement = client_.statement(bind.statement);
  if (!bind.portal.empty() && (client_.portals.contains(bind.portal) || client_.has_cursor(bind.portal)))
    throw CodedError("42P03", ErrorKind::DuplicateName, "portal \"" + std::string(bind.portal) + "\" exists already");
  auto portal = bind_portal(statement, bind, client_.portal_quota);
  client_.portals.insert_or_assign(std::string(bind.portal), std::move(portal));
  out_->empty('2');
}

void Backend::handle(const frontend::Describe& describe) {
  if (describe.what == 'S') return describe_statement(*client_.statement(describe.name));
  if (client_.has_cursor(describe.name)) {
    const auto cursor = client_.cursor(describe.name);
    return write_row_description(*out_, client_columns(cursor->columns()), cursor->formats());
  }
  const auto portal = client_.portal(describe.name);
  if (portal->statement->empty() || portal->statement->copy) return out_->empty('n');
  if (portal->columns.empty() && !portal->result) {
    portal->columns = describer_.columns_of(*portal->statement);
    portal->format = portal->statement->format;
  }
  if (portal->columns.empty()) return out_->empty('n');
  check_result_formats(*portal);
  write_row_description(*out_, portal->columns, portal->formats);
}

void Backend::handle(const frontend::Execute& execute) {
  const auto portal = client_.portal(execute.portal);
  if (portal->statement->empty()) return out_->empty('I');
  // All statements up to a Sync are one transaction. A single statement is one anyway.
  if (!portal->result && !portal->statement->command && frames_->next_type() != 'S') client_.begin_implicit();
  monitor_.begin_statement(portal->statement->text, portal->statement->outline.kind, portal->rows);
  if (!portal->result) begin(*portal);
  check_result_formats(*portal);
  stream(portal, std::max(0, execute.most_rows));
}

// Streams rows to the client, unless a COPY takes rows from the client.
void Backend::stream(std::shared_ptr<Portal> portal, std::int64_t most) {
  if (copy_in_ != nullptr) return;
  CHECK(!stream_, "the rows of one portal end, or wait, before those of another begin");
  CHECK(most >= 0, "rows are counted from 0");
  DCHECK(portal != nullptr && portal->result, "a portal gives rows when it has run");
  if (portal->statement->copy) most = 0;
  stream_ = Stream{std::move(portal), most};
}

// Flush and Sync are ignored: the client sent them before it knew that it has to send rows.
void Backend::handle_copy(const frontend::Message& message) {
  CHECK(copy_in_ != nullptr, "rows come while a COPY takes them");
  if (const auto* data = std::get_if<frontend::CopyData>(&message)) {
    copy_in_->append(data->bytes);
  } else if (std::holds_alternative<frontend::CopyDone>(message)) {
    const auto tag = runner_.finish(*copy_in_, *out_);
    copy_in_.reset();
    client_.look_at_transaction();
    out_->begin('C').text(tag).end();
    monitor_.end_statement(rows_of_tag(tag));
  } else if (const auto* fail = std::get_if<frontend::CopyFail>(&message)) {
    throw CodedError("57014", ErrorKind::Cancelled, "COPY from stdin failed: " + std::string(fail->reason));
  } else if (std::holds_alternative<frontend::Terminate>(message)) {
    phase_ = Phase::Closing;
  } else if (!std::holds_alternative<frontend::Sync>(message) && !std::holds_alternative<frontend::Flush>(message)) {
    throw CodedError("08P01", ErrorKind::Value, "COPY from stdin waits for rows, and another message came");
  }
}

void Backend::handle(const frontend::Close& close) {
  if (close.what == 'S') {
    if (const auto found = client_.statements.find(close.name); found != client_.statements.end())
      client_.statements.erase(found);
  } else if (const auto found = client_.portals.find(close.name); found != client_.portals.end()) {
    client_.portals.erase(found);
  } else if (client_.has_cursor(close.name)) {
    client_.close_cursor(std::string(close.name));
  }
  out_->empty('3');
}

void Backend::handle(const frontend::Sync& /*sync*/) {
  skipping_ = false;
  end_implicit();
  if (client_.transaction() == ClientState::Transaction::None) client_.portals.clear();
  ready();
}

void Backend::handle(const frontend::FunctionCall& /*call*/) {
  in_query_ = true;
  throw Error(ErrorKind::Unsupported, "functions are called by SELECT alone");
}

void Backend::handle(const frontend::Password& /*password*/) { throw ProtocolError("nobody asked for a password"); }

// ---- Statements ----------------------------------------------------------------------------------------------------

void Backend::describe_statement(ClientStatement& statement) {
  const auto& columns = describer_.columns_of(statement);
  out_->begin('t').integer(static_cast<std::int16_t>(statement.parameter_types.size()));
  for (const auto type : statement.parameter_types) out_->integer(static_cast<std::int32_t>(type));
  out_->end();
  if (columns.empty()) return out_->empty('n');
  write_row_description(*out_, columns, {});
}

void Backend::run_script() {
  CHECK(script_ && script_->next <= script_->statements.size(), "a script runs its statements in order");
  auto& script = *script_;
  if (script.next == script.statements.size()) {
    script_.reset();
    in_query_ = false;
    end_implicit();
    return ready();
  }
  const auto text = script.statements[script.next++];
  DCHECK(text.data() >= script.text.data() && text.data() + text.size() <= script.text.data() + script.text.size(),
         "a statement is a part of its script");
  const auto outline = outline_of(text);
  monitor_.begin_statement(text, outline.kind);
  answer_failure(script.text, static_cast<std::size_t>(text.data() - script.text.data()), [&] {
    auto portal = std::make_shared<Portal>();
    portal->statement = maker_.make(text, outline);
    if (portal->statement->empty()) return out_->empty('I');
    if (script.statements.size() > 1 && !portal->statement->command) client_.begin_implicit();
    portal->formats = client_.simple_formats(*portal->statement);
    begin(*portal);
    if (!portal->columns.empty()) write_row_description(*out_, portal->columns, portal->formats);
    stream(std::move(portal), 0);
  });
}

// The client gets its ReadyForQuery even if the commit fails.
void Backend::end_implicit() {
  try {
    client_.end_implicit();
  } catch (const Error& error) {
    fail(error, "");
    client_.fail();
  }
}

void Backend::begin(Portal& portal) {
  if (std::exchange(cancel_next_, false)) throw Error(ErrorKind::Cancelled, "the statement was cancelled");
  CHECK(copy_in_ == nullptr, "one COPY at a time takes rows");
  copy_in_ = runner_.begin(portal, *out_);
  if (copy_in_ != nullptr) copy_in_->begin(*out_);
}

// ---- Rows ----------------------------------------------------------------------------------------------------------

void Backend::continue_stream() {
  CHECK(stream_ && stream_->portal != nullptr, "rows go on that were begun");
  const auto portal = stream_->portal;
  const auto rows = portal->rows;
  answer_failure("", 0, [&] {
    if (write_rows(*portal, stream_->most)) stream_.reset();
    monitor_.sent_rows(portal->rows - rows);
  });
}

// Returns false if more remains to be written after the client has received this output.
bool Backend::write_rows(Portal& portal, std::int64_t most) {
  for (std::int64_t given = 0; portal.stream != nullptr && !portal.stream->at_end();) {
    if (most > 0 && given == most) {
      out_->empty('s');
      monitor_.end_statement(portal.rows);
      return true;
    }
    if (out_->size() > kPortionBytes || !portal.stream->write(*out_)) {
      DCHECK(most == 0 || given < most, "no more rows are given than were asked for");
      if (most > 0) stream_->most = most - given;
      return false;
    }
    ++given;
    ++portal.rows;
  }
  if (portal.stream != nullptr) portal.stream->end(*out_);
  complete(portal);
  return true;
}

void Backend::complete(const Portal& portal) {
  CHECK(portal.result.has_value(), "a statement is complete when it has run");
  commands_.apply_config_changes(*out_);
  out_->begin('C').text(command_tag(portal)).end();
  monitor_.end_statement(portal.stream == nullptr ? portal.result->rows_changed : portal.rows);
}

void Backend::ready() {
  DCHECK(!script_ && !stream_ && copy_in_ == nullptr, "a client is at rest when nothing of its runs");
  at_rest_ = true;
  monitor_.rest(activity_of(client_.transaction()));
  out_->begin('Z').bytes(std::string(1, static_cast<char>(client_.transaction()))).end();
}

// ---- Errors --------------------------------------------------------------------------------------------------------

// A failed statement is reported and the connection continues; a violation of the protocol ends the connection.
template <class F>
void Backend::answer_failure(std::string_view text, std::size_t offset, F&& f) {
  try {
    std::forward<F>(f)();
  } catch (const ProtocolError&) {
    throw;
  } catch (const Error& error) {
    fail(error, text, offset);
    recover();
  } catch (...) {
    fail(caught_error(), text, offset);
    recover();
  }
}

// `offset`: the position in `text` where the statement of the error begins.
void Backend::fail(const Error& error, std::string_view text, std::size_t offset) {
  out_->abandon();
  monitor_.fail(sqlstate_of(error), error.message(), text);
  write_error(*out_, error, text, offset);
}

void Backend::end(std::string_view sqlstate, std::string_view message, std::string_view hint) {
  out_->abandon();
  monitor_.abort(sqlstate, message);
  write_fatal(*out_, sqlstate, message, hint);
  phase_ = Phase::Closing;
}

// After an error: skips the remaining statements of a script, or the messages up to a Sync.
void Backend::recover() {
  client_.identity.changes->clear();
  stream_.reset();
  copy_in_.reset();
  script_.reset();
  client_.portals.erase("");
  client_.fail();
  if (!in_query_) {
    skipping_ = true;
    return;
  }
  in_query_ = false;
  ready();
}

}  // namespace eindb

#include "server/backend.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "common/source_span.hpp"
#include "engine/rows.hpp"
#include "engine/script.hpp"
#include "server/dialect_lexer.hpp"
#include "server/sqlstate.hpp"
#include "server/value_format.hpp"

namespace eindb {
namespace {

using frontend::Format;

// Written before it is sent on: about what a socket takes at once.
constexpr std::size_t kMostWritten = std::size_t{128} << 10U;
// A message of a session: a value may be 1 GiB, as in PostgreSQL.
constexpr std::size_t kMostMessageBytes = std::size_t{1} << 30U;
constexpr std::string_view kDuplicateStatement = "42P05";
constexpr std::string_view kUnknownStatement = "26000";
constexpr std::string_view kUnknownCursor = "34000";
constexpr std::string_view kFailedTransaction = "25P02";
constexpr std::string_view kWrongPassword = "28P01";

// An error that has a code of its own.
class CodedError : public Error {
 public:
  CodedError(std::string_view sqlstate, ErrorKind kind, std::string message)
      : Error(kind, std::move(message)), sqlstate_(sqlstate) {}
  std::string_view sqlstate() const { return sqlstate_; }

 private:
  std::string_view sqlstate_;
};

std::string first_word(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto* const begin = std::find_if(text.begin(), text.end(), is_letter);
  return to_upper(std::string(begin, std::find_if_not(begin, text.end(), is_letter)));
}

// What CommandComplete says: "INSERT 0 3", "SELECT 10", "CREATE TENSOR".
std::string tag_of(const Portal& portal) {
  const auto& result = *portal.result;
  auto word = first_word(portal.statement->text);
  if (word == "INSERT" && result.tensor == nullptr && result.status != "INSERT")
    return "INSERT 0 " + std::to_string(result.rows_changed);
  if (word == "UPDATE" || word == "DELETE") return word + " " + std::to_string(result.rows_changed);
  if (!portal.columns.empty()) return "SELECT " + std::to_string(portal.rows);
  if (result.status != "OK") return result.status;
  return word;
}

Result shown(const std::string& name, std::string value) {
  return listed_result({{name, ColumnType::Text}}, {{std::move(value)}});
}

}  // namespace

Backend::Next Backend::run(FrameReader& frames, MessageWriter& out) {
  frames_ = &frames;
  out_ = &out;
  try {
    while (phase_ < Phase::Refused) {
      if (out.size() > kMostWritten) return Next::Output;
      if (stream_) continue_stream();
      else if (script_) run_script();
      else if (const auto frame = frames.next()) receive(*frame);
      else break;
    }
    if (phase_ == Phase::Session) client_.settle();
  } catch (const ProtocolError& error) {
    fail("FATAL", error.sqlstate(), error.what());
    phase_ = Phase::Closing;
  } catch (const std::exception& error) {
    fail("FATAL", "XX000", error.what());
    phase_ = Phase::Closing;
  }
  if (phase_ == Phase::Refused) return Next::Refuse;
  return phase_ == Phase::Closing ? Next::Close : Next::Input;
}

void Backend::receive(const Frame& frame) {
  switch (phase_) {
    case Phase::First: return handle_first(frame);
    case Phase::Authentication: return authenticate(frame);
    default: return handle(frame);
  }
}

// ---- The start -----------------------------------------------------------------------------------------------------

void Backend::handle_first(const Frame& frame) {
  const auto first = frontend::parse_first(frame);
  if (const auto* startup = std::get_if<frontend::Startup>(&first)) return start(*startup);
  if (const auto* cancel = std::get_if<frontend::CancelRequest>(&first)) {
    cancel_requested_ = CancelKey{cancel->process, cancel->secret};
    phase_ = Phase::Closing;
    return;
  }
  // Neither TLS nor GSSAPI: one byte, and the client goes on in the clear or leaves. What it sent before the answer
  // might be somebody else's.
  if (frames_->pending() > 0) throw ProtocolError("a request for encryption has something behind it");
  out_->bytes("N");
}

void Backend::start(const frontend::Startup& startup) {
  std::vector<std::string_view> unknown;
  for (const auto& [name, value] : startup.parameters) {
    if (name == "user") user_ = value;
    else if (name == "database") client_.identity.database = value;
    else if (name.starts_with("_pq_.")) unknown.push_back(name);
    else if (ClientParameters::knows(name)) client_.parameters.set(name, value);
  }
  if (startup.minor > 0 || !unknown.empty()) {
    out_->begin('v').integer<std::int32_t>(0).integer(static_cast<std::int32_t>(unknown.size()));
    for (const auto name : unknown) out_->text(name);
    out_->end();
  }
  if (user_.empty()) throw ProtocolError("the user has no name", "28000");
  frames_->begin_session();
  auto session = sessions_.read_write.take();
  const bool has_users = session->session.has_users();
  if (has_users) login_ = session->session.find_login(user_);
  sessions_.read_write.give_back(std::move(session));
  if (!has_users && sessions_.trusts) return begin_session(UserRole::ReadWrite);
  if (!has_users) throw ProtocolError("the database has no users: nobody but on this machine is let in", "28000");
  authentication_.emplace(ScramExchange(login_->verifier));
  authentication_->offer(*out_);
  phase_ = Phase::Authentication;
}

void Backend::authenticate(const Frame& frame) {
  if (frame.type == 'X') {
    phase_ = Phase::Closing;
    return;
  }
  if (frame.type != 'p') throw ProtocolError("a password is asked for");
  const auto outcome = authentication_->receive(frame.body, *out_);
  if (outcome == SaslAuthentication::Outcome::Continues) return;
  authentication_.reset();
  if (outcome == SaslAuthentication::Outcome::Succeeded && login_->known) return begin_session(login_->role);
  fail("FATAL", kWrongPassword, "password authentication failed for user \"" + user_ + "\"");
  phase_ = Phase::Refused;
}

void Backend::begin_session(UserRole role) {
  client_.use(sessions_.of(role));
  client_.identity.user = user_;
  client_.identity.process_id = key_.process;
  if (client_.identity.database.empty()) client_.identity.database = user_;
  frames_->limit(kMostMessageBytes);
  out_->begin('R').integer<std::int32_t>(0).end();  // AuthenticationOk
  for (const auto& [name, value] : client_.parameters.reported()) out_->begin('S').text(name).text(value).end();
  out_->begin('K').integer(key_.process).integer(key_.secret).end();
  phase_ = Phase::Session;
  ready();
}

// ---- Messages ------------------------------------------------------------------------------------------------------

void Backend::handle(const Frame& frame) {
  const auto message = frontend::parse(frame);
  if (skipping_ && !std::holds_alternative<frontend::Sync>(message) &&
      !std::holds_alternative<frontend::Terminate>(message))
    return;
  std::string_view text;
  if (const auto* parse = std::get_if<frontend::Parse>(&message)) text = parse->text;
  try {
    std::visit([&](const auto& kind) { handle(kind); }, message);
  } catch (const Error& error) {
    fail(error, text);
    recover();
  } catch (const std::bad_alloc&) {
    fail(Error(ErrorKind::MemoryLimit, "the machine has no memory left for this"), text);
    recover();
  }
}

void Backend::handle(const frontend::Query& query) {
  in_query_ = true;
  client_.portals.erase("");
  script_.emplace(Script{.text = std::string(query.text), .statements = {}, .next = 0});
  for (const auto& statement : split_statements(script_->text)) script_->statements.push_back(statement.text);
  if (script_->statements.empty()) out_->empty('I');
}

void Backend::handle(const frontend::Parse& parse) {
  if (!parse.name.empty() && client_.statements.contains(parse.name))
    throw CodedError(kDuplicateStatement, ErrorKind::DuplicateName,
                     "prepared statement \"" + std::string(parse.name) + "\" exists already");
  auto statement = make_statement(parse.text);
  find_parameter_types(*statement, parse.parameter_types);
  client_.statements.insert_or_assign(std::string(parse.name), std::move(statement));
  out_->empty('1');
}

void Backend::handle(const frontend::Bind& bind) {
  const auto found = client_.statements.find(bind.statement);
  if (found == client_.statements.end())
    throw CodedError(kUnknownStatement, ErrorKind::UnknownName,
                     "there is no prepared statement \"" + std::string(bind.statement) + "\"");
  if (!bind.portal.empty() && client_.portals.contains(bind.portal))
    throw CodedError("42P03", ErrorKind::DuplicateName, "portal \"" + std::string(bind.portal) + "\" exists already");
  const auto& statement = *found->second;
  const auto needed = statement.prepared == nullptr ? 0 : statement.prepared->parameter_count;
  if (bind.values.size() != needed)
    throw CodedError("08P01", ErrorKind::Value,
                     "the statement takes " + std::to_string(needed) + " parameters, but " +
                         std::to_string(bind.values.size()) + " are given");
  auto portal = std::make_shared<Portal>();
  portal->statement = found->second;
  if (statement.columns) portal->columns = *statement.columns;
  portal->formats = bind.result_formats;
  for (std::size_t n = 0; n < needed; ++n) {
    const auto& value = bind.values[n];
    portal->inputs.parameters.push_back(
        value ? read_value(*value, statement.parameter_types[n], format_of(bind.parameter_formats, n))
              : ParameterInput());
  }
  client_.portals.insert_or_assign(std::string(bind.portal), std::move(portal));
  out_->empty('2');
}

void Backend::handle(const frontend::Describe& describe) {
  if (describe.what == 'S') {
    const auto found = client_.statements.find(describe.name);
    if (found == client_.statements.end())
      throw CodedError(kUnknownStatement, ErrorKind::UnknownName,
                       "there is no prepared statement \"" + std::string(describe.name) + "\"");
    return describe_statement(*found->second);
  }
  const auto found = client_.portals.find(describe.name);
  if (found == client_.portals.end())
    throw CodedError(kUnknownCursor, ErrorKind::UnknownName,
                     "there is no portal \"" + std::string(describe.name) + "\"");
  auto& portal = *found->second;
  if (portal.statement->prepared == nullptr && !portal.statement->command) return out_->empty('n');
  if (portal.columns.empty() && !portal.result) portal.columns = described_columns(*portal.statement);
  if (portal.columns.empty()) return out_->empty('n');
  write_row_description(*out_, portal.columns, portal.formats);
}

void Backend::handle(const frontend::Execute& execute) {
  const auto found = client_.portals.find(execute.portal);
  if (found == client_.portals.end())
    throw CodedError(kUnknownCursor, ErrorKind::UnknownName,
                     "there is no portal \"" + std::string(execute.portal) + "\"");
  const auto portal = found->second;
  if (portal->statement->prepared == nullptr && !portal->statement->command) return out_->empty('I');
  // Statements up to a Sync are one transaction; a single one is that by itself.
  if (!portal->result && !portal->statement->command && frames_->next_type() != 'S') client_.begin_implicit();
  if (!portal->result) begin_rows(*portal);
  stream_ = Stream{portal, std::max(0, execute.most_rows)};
}

void Backend::handle(const frontend::Close& close) {
  if (close.what == 'S') {
    if (const auto found = client_.statements.find(close.name); found != client_.statements.end())
      client_.statements.erase(found);
  } else if (const auto found = client_.portals.find(close.name); found != client_.portals.end()) {
    client_.portals.erase(found);
  }
  out_->empty('3');
}

void Backend::handle(const frontend::Sync& /*sync*/) {
  skipping_ = false;
  client_.end_implicit();
  if (client_.transaction() == ClientState::Transaction::None) client_.portals.clear();
  ready();
}

void Backend::handle(const frontend::FunctionCall& /*call*/) {
  in_query_ = true;
  throw Error(ErrorKind::Unsupported, "functions are called by SELECT alone");
}

void Backend::handle(const frontend::Password& /*password*/) { throw ProtocolError("nobody asked for a password"); }

// ---- Statements ----------------------------------------------------------------------------------------------------

// Runs `f`, whose errors speak of the translated text.
template <class F>
void Backend::in_own_words(const ClientStatement& statement, F&& f) {
  try {
    if (statement.translation.uses_catalog) client_.show_catalog();
    std::forward<F>(f)();
  } catch (const Error& error) {
    if (!error.span() || !statement.translation.text) throw;
    throw Error(error.kind(), error.message(), statement.translation.original(*error.span()), error.hint());
  }
}

StatementDescription Backend::describe(const ClientStatement& statement) {
  std::vector<ColumnType> parameters;
  for (const auto type : statement.parameter_types) parameters.push_back(column_type(type));
  StatementDescription description;
  in_own_words(statement, [&] { description = client_.session().describe(*statement.prepared, parameters); });
  return description;
}

std::shared_ptr<ClientStatement> Backend::make_statement(std::string_view text) {
  auto statement = std::make_shared<ClientStatement>();
  statement->text = text;
  statement->command = parse_client_command(text);
  if (statement->command || split_statements(text).empty()) return statement;
  statement->translation = translate_dialect(text);
  in_own_words(*statement,
               [&] { statement->prepared = client_.session().prepare(statement->translation.text_of(text)); });
  return statement;
}

// What the client leaves open is what the statement takes.
void Backend::find_parameter_types(ClientStatement& statement, const std::vector<std::int32_t>& said) {
  if (statement.prepared == nullptr || statement.prepared->parameter_count == 0) return;
  auto& types = statement.parameter_types;
  for (const auto type : said) types.push_back(static_cast<DataType>(type));
  types.resize(statement.prepared->parameter_count, DataType::Unspecified);
  for (const auto& [number, type] : statement.translation.parameter_types)
    if (number <= types.size() && types[number - 1] == DataType::Unspecified) types[number - 1] = type;
  if (std::find(types.begin(), types.end(), DataType::Unspecified) == types.end()) return;
  const auto description = describe(statement);
  for (std::size_t n = 0; n < types.size(); ++n)
    if (types[n] == DataType::Unspecified) types[n] = data_type(description.parameters[n]);
  statement.columns = client_columns(description.columns);
}

const std::vector<ClientColumn>& Backend::described_columns(ClientStatement& statement) {
  if (statement.columns) return *statement.columns;
  const auto* show = statement.command ? std::get_if<command::Show>(&*statement.command) : nullptr;
  StatementDescription description;
  if (statement.prepared != nullptr) description = describe(statement);
  else if (show != nullptr && ClientParameters::knows(show->name))
    description.columns = {{show->name, ColumnType::Text}};
  else if (show != nullptr) description = client_.session().describe(*client_.session().prepare("SHOW " + show->name));
  return statement.columns.emplace(client_columns(description.columns));
}

void Backend::describe_statement(ClientStatement& statement) {
  const auto& columns = described_columns(statement);
  out_->begin('t').integer(static_cast<std::int16_t>(statement.parameter_types.size()));
  for (const auto type : statement.parameter_types) out_->integer(static_cast<std::int32_t>(type));
  out_->end();
  if (columns.empty()) return out_->empty('n');
  write_row_description(*out_, columns, {});
}

void Backend::run_script() {
  auto& script = *script_;
  if (script.next == script.statements.size()) {
    script_.reset();
    in_query_ = false;
    try {
      client_.end_implicit();
    } catch (const Error& error) {
      fail(error, "");
      client_.fail();
    }
    return ready();
  }
  const auto text = script.statements[script.next++];
  try {
    auto portal = std::make_shared<Portal>();
    portal->statement = make_statement(text);
    if (script.statements.size() > 1 && !portal->statement->command) client_.begin_implicit();
    begin_rows(*portal);
    if (!portal->columns.empty()) write_row_description(*out_, portal->columns, {});
    stream_ = Stream{std::move(portal), 0};
  } catch (const Error& error) {
    const auto offset = static_cast<std::size_t>(text.data() - script.text.data());
    const auto span = error.span() ? std::optional(SourceSpan{error.span()->begin + offset, error.span()->end + offset})
                                   : std::nullopt;
    fail(Error(error.kind(), error.message(), span, error.hint()), script.text);
    recover();
  }
}

void Backend::check_transaction(const ClientStatement& statement) const {
  if (client_.transaction() != ClientState::Transaction::Failed) return;
  if (statement.command && (std::holds_alternative<command::Commit>(*statement.command) ||
                            std::holds_alternative<command::Rollback>(*statement.command)))
    return;
  throw CodedError(kFailedTransaction, ErrorKind::Value,
                   "the transaction has failed: statements are ignored up to its end");
}

void Backend::begin_rows(Portal& portal) {
  const auto& statement = *portal.statement;
  check_transaction(statement);
  if (statement.command) {
    run_command(*statement.command, portal);
  } else {
    in_own_words(statement, [&] { portal.result = client_.session().execute(*statement.prepared, portal.inputs); });
    client_.look_at_transaction();
  }
  if (portal.result->rows == nullptr) return;
  portal.next_row.emplace();
  if (!portal.result->rows->next(*portal.next_row)) portal.next_row.reset();
  // What was described is what comes.
  const auto& columns = portal.result->columns;
  if (portal.columns.empty()) portal.columns = client_columns(columns);
  else if (portal.columns.size() != client_column_count(columns))
    throw CodedError("0A000", ErrorKind::Unsupported, "cached plan must not change result type");
}

void Backend::run_command(const ClientCommand& command, Portal& portal) {
  const auto done = [&](std::string tag) { portal.result = status_result(std::move(tag)); };
  struct Visitor {
    Backend& self;
    decltype(done)& finish;
    Portal& target;

    void operator()(const command::Begin&) const {
      self.client_.begin();
      finish("BEGIN");
    }
    void operator()(const command::Commit&) const { finish(self.client_.commit() ? "COMMIT" : "ROLLBACK"); }
    void operator()(const command::Rollback&) const {
      self.client_.rollback();
      finish("ROLLBACK");
    }
    void operator()(const command::Set& set) const {
      self.set_parameter(set.name, set.value);
      finish("SET");
    }
    void operator()(const command::Show& show) const {
      auto& client = self.client_;
      const bool known = ClientParameters::knows(show.name);
      target.result =
          known ? shown(show.name, client.parameters.show(show.name)) : client.session().execute("SHOW " + show.name);
    }
    void operator()(const command::Reset& reset) const {
      if (reset.name) {
        self.set_parameter(*reset.name, std::nullopt);
      } else {
        self.client_.parameters.reset_all();
        self.client_.session().execute("RESET ALL");
      }
      finish("RESET");
    }
    void operator()(const command::Deallocate& deallocate) const {
      auto& statements = self.client_.statements;
      if (!deallocate.name) {
        statements.clear();
        self.client_.session().execute("DEALLOCATE ALL");
      } else if (statements.erase(*deallocate.name) == 0) {
        self.client_.session().execute("DEALLOCATE " + *deallocate.name);
      }
      finish(deallocate.name ? "DEALLOCATE" : "DEALLOCATE ALL");
    }
    void operator()(const command::Discard&) const {
      self.client_.discard();
      finish("DISCARD ALL");
    }
    void operator()(const command::Nothing& nothing) const { finish(nothing.tag); }
  };
  // A command may end portals, this one among them, when it ends a transaction: it has no rows.
  std::visit(Visitor{*this, done, portal}, command);
}

// SET name TO value, whatever kind of value it is.
void Backend::set_parameter(const std::string& name, const std::optional<std::string>& value) {
  if (!ClientParameters::knows(name)) {
    client_.session().execute(value ? "SET " + name + " = " + quote_string(*value) : "RESET " + name);
    return;
  }
  const bool reported = value ? client_.parameters.set(name, *value) : client_.parameters.reset(name);
  if (reported) report_parameter(name);
}

void Backend::report_parameter(const std::string& name) {
  for (const auto& [reported, value] : client_.parameters.reported())
    if (equal_ignoring_case(reported, name)) out_->begin('S').text(reported).text(value).end();
}

// ---- Rows ----------------------------------------------------------------------------------------------------------

void Backend::continue_stream() {
  try {
    if (write_rows(*stream_->portal, stream_->most)) stream_.reset();
  } catch (const Error& error) {
    fail(error, "");
    recover();
  }
}

// False: there is more to write when this has gone.
bool Backend::write_rows(Portal& portal, std::int64_t most) {
  for (std::int64_t given = 0; portal.next_row; ++given) {
    if (most > 0 && given == most) {
      out_->empty('s');
      return true;
    }
    if (out_->size() > kMostWritten) {
      if (most > 0) stream_->most = most - given;
      return false;
    }
    write_row(*out_, *portal.next_row, portal.columns, portal.formats);
    ++portal.rows;
    if (!portal.result->rows->next(*portal.next_row)) portal.next_row.reset();
  }
  complete(portal);
  return true;
}

void Backend::complete(const Portal& portal) { out_->begin('C').text(tag_of(portal)).end(); }

void Backend::ready() { out_->begin('Z').bytes(std::string(1, static_cast<char>(client_.transaction()))).end(); }

// ---- Errors --------------------------------------------------------------------------------------------------------

void Backend::fail(const Error& error, std::string_view text) {
  const auto* coded = dynamic_cast<const CodedError*>(&error);
  const auto sqlstate = coded != nullptr ? coded->sqlstate() : sqlstate_of(error.kind());
  out_->begin('E').bytes("S").text("ERROR").bytes("V").text("ERROR").bytes("C").text(sqlstate).bytes("M").text(
      error.message());
  if (!error.hint().empty()) out_->bytes("H").text(error.hint());
  if (error.span() && error.span()->begin <= text.size()) {
    const auto before = text.substr(0, error.span()->begin);
    const auto characters = std::count_if(before.begin(), before.end(), [](char c) { return (c & 0xC0) != 0x80; });
    out_->bytes("P").text(std::to_string(characters + 1));
  }
  out_->text("").end();
}

void Backend::fail(std::string_view severity, std::string_view sqlstate, std::string_view message) {
  out_->begin('E')
      .bytes("S")
      .text(severity)
      .bytes("V")
      .text(severity)
      .bytes("C")
      .text(sqlstate)
      .bytes("M")
      .text(message)
      .text("")
      .end();
}

// After an error: the rest of a script, or of the messages up to a Sync, is left out.
void Backend::recover() {
  stream_.reset();
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

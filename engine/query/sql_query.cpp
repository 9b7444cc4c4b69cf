#include "engine/query/sql_query.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "common/check.hpp"
#include "common/coded_error.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "engine/query/pipeline.hpp"
#include "engine/query/sql_checks.hpp"
#include "engine/query/stored_query.hpp"
#include "engine/results/column_types.hpp"
#include "engine/session/cell_count.hpp"
#include "engine/sql/attached_tables.hpp"
#include "engine/sql/missing_table.hpp"
#include "engine/sql/tensor_parts.hpp"
#include "parser/parser.hpp"
#include "parser/statement_outline.hpp"
#include "parser/token.hpp"

namespace eindb {
namespace {

/// The most bytes of tiles that one tensor keeps in memory during a scan, and the divisor that bounds them by the
/// memory limit.
constexpr std::int64_t kKeptBytes = std::int64_t{64} << 20U;
constexpr std::int64_t kMemoryShare = 8;

/// The most names that are tried as tensors for a pragma about a table, as no error tells which name is a tensor.
constexpr std::size_t kPragmaNames = 64;

// ---- Tensors as tables ---------------------------------------------------------------------------------------------

/// Registers tensors for PRAGMA table_info(A) and SELECT ... FROM pragma_table_info('A'): SQLite gives no error for a
/// missing table there.
void show_for_pragmas(std::string_view sql, TensorTables& tensors) {
  const auto names = names_in(sql, kPragmaNames);
  const auto is_pragma = [](std::string_view name) {
    return name.size() >= 6 && equal_ignoring_case(name.substr(0, 6), "pragma");
  };
  if (std::none_of(names.begin(), names.end(), is_pragma)) return;
  for (const auto& name : names) tensors.show(name);
}

/// The names that SQLite would not find as they are meant, because databases are attached.
std::vector<NameForSqlite> attached_names_in(const ast::Sql& sql, OpenDatabase& database) {
  return names_for_sqlite(
      sql, {.catalog = database.catalog,
            .connection = database.connection(),
            .is_of_program = [&](const std::string& name) { return database.attached.find(name) != nullptr; },
            .is_of_sqlite = [&](const std::string& name) { return database.tensor_tables.names_module(name); }});
}

/// SQL that computes SELECT COUNT(*) of a tensor from its shape; nullopt for any other SQL.
std::optional<std::string> count_of_tensor(std::string_view sql, OpenDatabase& database) {
  const auto count = cell_count(sql);
  if (!count || !database.find_tensor(count->table) || is_ordinary(count->table, database.connection()))
    return std::nullopt;
  return count->sql();
}

// ---- Parts of tensors ----------------------------------------------------------------------------------------------

// The labels of a tensor that SQL sees under this name; nullopt for a table.
std::optional<std::vector<std::string>> labels_of(const std::string& name, OpenDatabase& database) {
  if (const auto* attached = database.attached.find(name)) return attached->labels();
  const auto tensor = database.catalog.find(name);
  if (!tensor || is_ordinary(name, database.connection())) return std::nullopt;
  return tensor->labels;
}

// ---- Parameters ----------------------------------------------------------------------------------------------------

void bind_value(SqliteStatement& statement, int n, const ParameterValue& value) {
  if (std::holds_alternative<std::monostate>(value)) statement.bind_null(n);
  else if (const auto* integer = std::get_if<std::int64_t>(&value)) statement.bind(n, *integer);
  else if (const auto* real = std::get_if<double>(&value)) statement.bind(n, number_for_sql(*real));
  else if (const auto* text = std::get_if<std::string>(&value)) statement.bind(n, std::string_view(*text));
  else if (const auto* bytes = std::get_if<std::vector<std::byte>>(&value)) statement.bind_value(n, *bytes);
}

// The value of a loop variable such as :t; of the innermost loop if several have the name.
std::optional<std::int64_t> loop_variable(std::string_view parameter, const StatementContext& statement) {
  if (!parameter.starts_with(':')) return std::nullopt;
  const auto& variables = statement.loop_variables();
  const auto found = std::find_if(variables.rbegin(), variables.rend(),
                                  [&](const auto& variable) { return variable.name == parameter.substr(1); });
  return found == variables.rend() ? std::nullopt : std::optional(found->value);
}

/// Refuses $1::int, which is one name for SQLite. The span is in SQLite's text, as that of SQLite's errors.
void refuse_misread_parameter(const SqliteStatement& statement, const RewrittenSql& text) {
  for (int n = 1; n <= statement.parameter_count(); ++n) {
    const auto name = statement.parameter_name(n);
    if (name.find("::") == std::string::npos) continue;
    throw Error(ErrorKind::Syntax, "unknown parameter " + name, find_name(text.text, name),
                "parameters are written $1");
  }
}

// ---- Statements that are kept
// ----------------------------------------------------------------------------------------

/// The text, and what else the translation of SQL inside of another statement depends on.
std::string kept_key(const std::string& text, SessionState& session) {
  if (!runs_inner_sql(session)) return text;
  auto key = std::string(1, '\0') + std::to_string(session.database.schema_version());
  for (const auto& type : session.statement.stated_types()) key += ',' + type;
  for (const auto& variable : session.statement.loop_variables()) key += ':' + variable.name;
  return key + '\0' + text;
}

// ---- Queries in parentheses ----------------------------------------------------------------------------------------

std::vector<std::string> table_names(std::size_t count, OpenDatabase& database) {
  std::vector<std::string> names;
  for (std::size_t n = 0; n < count; ++n)
    names.push_back(std::string(kQueryTable) + std::to_string(++database.query_tables));
  return names;
}

}  // namespace

double number_for_sql(double value) {
  if (!std::isnan(value)) return value;
  throw CodedError("0A000", ErrorKind::Unsupported, "NaN as a value of SQL is not supported: it would be NULL",
                   "tensors hold NaN; tables hold NULL");
}

Cell cell_of(SqliteValue value) {
  return std::visit([](auto& held) { return Cell(std::move(held)); }, value);
}

// Runs something whose errors have spans in the SQL that has queries for parts of tensors.
template <class Run>
auto PreparedSql::placed(const Run& run) const {
  try {
    return run();
  } catch (const Error& error) {
    if (!with_parts_ || !error.span()) throw;
    throw_at(error, with_parts_->in_statement(*error.span()), error.hint());
  }
}

void PreparedSql::open(bool writes) {
  CHECK(transaction_ == nullptr && snapshot_ == nullptr, "a statement holds one state of the database");
  auto& database = session_->database.file;
  if (writes) transaction_ = std::make_unique<SqliteTransaction>(database.connection());
  snapshot_ = std::make_unique<ReadSnapshot>(database, static_cast<std::size_t>(session_->user.settings.threads()));
}

void PreparedSql::show_query(const ast::Query& query, const std::string& name, bool run) {
  CHECK(snapshot_ != nullptr, "queries inside SQL see the state that the statement sees");
  const auto planned = plan_query(query, *session_);
  CHECK(planned.result_count() == 1, "a query inside SQL has one result");
  has_complex_result_ = has_complex_result_ || is_complex(planned.output().dtype);
  std::shared_ptr<ResultTiles> tiles;
  if (run) tiles = collect(planned, *session_, *snapshot_).front();
  HeldTileReader::Tile cells;
  if (planned.holds_cells()) cells = [tiles](std::int64_t id) { return tiles->get(id); };
  tables_.emplace_back(session_->database.connection(),
                       TensorTable{.name = name,
                                   .labels = planned.query.results.front().label_names,
                                   .dtype = planned.output().dtype,
                                   .grid = grid_to_read(planned, 0, *session_),
                                   .tiles = std::make_shared<HeldTileReader>(
                                       [tiles](std::int64_t id) { return tiles->get_values(id); },
                                       [tiles](std::int64_t from) { return tiles->next(from); }, std::move(cells)),
                                   .names = planned.query.results.front().index_names});
}

void PreparedSql::compile(bool keep) {
  CHECK(compiled_ == nullptr, "a statement is compiled once");
  if (runs_inner_sql(*session_)) translate_inner();
  auto& tensors = session_->database.tensor_tables;
  show_for_pragmas(text_.text, tensors);
  const auto counted = count_of_tensor(text_.text, session_->database);
  // Each round makes one more tensor visible, or translates the text, once.
  for (;;) {
    try {
      auto made = session_->database.connection().prepare_user(counted ? *counted : text_for_sqlite()).statement;
      if (!made) return;
      refuse_misread_parameter(*made, text_);
      const auto bracket = translated_ ? std::nullopt : misleading_bracket(text_, session_->database);
      if (bracket) throw Error(*bracket);
      refuse_foreign_schema(text_for_sqlite(), session_->database);
      refuse_misused_complex();
      // A kept statement has no types of its columns: one that is translated and gives rows is not kept.
      const bool may_return = keep && snapshot_ == nullptr && (!translated_ || made->column_count() == 0);
      auto compiled = compiled_sql(key_, std::move(*made));
      compiled_ = may_return ? session_->database.compiled.lend(std::move(compiled))
                             : CompiledStatements::lend_once(std::move(compiled));
      return;
    } catch (const Error& error) {
      if (!show_missing(error, tensors) && !show_stored_query(error) && !translate(error)) refuse(error);
    }
  }
}

// A view's query is evaluated for the statement that reads it.
bool PreparedSql::show_stored_query(const Error& of_sqlite) {
  const auto stored = missing_query(of_sqlite);
  if (!stored) return false;
  const auto outline = outline_of(text_.text);
  const bool runs = use_ == SqlUse::Run && !outline.explains;
  if (snapshot_ == nullptr) open(outline.writes && runs);
  try {
    show_query(stored->query, stored->name, runs);
  } catch (const Error& error) {
    throw Error(error.kind(), "the query of a view: " + error.message(), std::nullopt, error.hint());
  }
  return true;
}

// SQL that SQLite reads keeps SQLite's meaning. A server's clients have their SQL translated before it comes here.
bool PreparedSql::translate(const Error& of_sqlite) {
  if (translated_ || session_->user.permissions.policy() != nullptr || !may_be_postgres_sql(of_sqlite)) return false;
  try {
    translated_ = translate_postgres_sql(text_.text, *session_);
  } catch (const Error& error) {
    // The hint for a function that neither knows names functions of eindb.
    if (of_sqlite.message().starts_with("no such function: ")) return false;
    throw explained(error, text_, session_->database);
  }
  return translated_.has_value();
}

void PreparedSql::translate_inner() {
  try {
    translated_ = translate_inner_sql(text_.text, *session_);
  } catch (const Error& error) {
    if (!error.span()) throw;
    throw_at(error, text_.in_statement(*error.span()), error.hint());
  }
}

// SQL that SQLite would read, but not as it is meant.
void PreparedSql::translate_all() {
  try {
    translated_ = translate_postgres_sql(text_.text, *session_);
  } catch (const Error& error) {
    throw explained(error, text_, session_->database);
  }
}

void PreparedSql::refuse(const Error& of_sqlite) const {
  if (translated_) throw explained(translated_->in_original(of_sqlite), text_, session_->database);
  // A bracket may be why a name is unknown; what SQLite cannot read at all is better told by its own error.
  const auto bracket =
      of_sqlite.message().starts_with("near ") ? std::nullopt : misleading_bracket(text_, session_->database);
  throw explained(bracket ? *bracket : of_sqlite, text_, session_->database);
}

bool PreparedSql::may_read_complex() const {
  const auto& database = session_->database;
  if (has_complex_result_ || database.tensor_tables.shows_complex()) return true;
  const auto names = database.attached.names();
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return is_complex(database.attached.find(name)->dtype()); });
}

// The val of a complex tensor is text, of which SQLite's arithmetic would read the real part alone. The error's span is
// in SQLite's text, as for errors of SQLite.
void PreparedSql::refuse_misused_complex() const {
  if (!may_read_complex()) return;
  const auto misuse = infer_types(text_for_sqlite(), session_->database.sql_names.names(), {}).misuse;
  if (!misuse) return;
  throw Error(
      ErrorKind::Type, misuse->operation + " is not defined for complex numbers, which SQL has as texts", misuse->span,
      "the parts are numbers, in the columns re and im: SUM(re), SUM(im); EINSUM computes with complex numbers");
}

std::optional<SourceSpan> PreparedSql::place_of_parameter(int number) const {
  const auto place = find_name(text_.text, compiled_->statement.parameter_name(number));
  return place ? std::optional(text_.in_statement(*place)) : std::nullopt;
}

void PreparedSql::bind_parameters() {
  const auto count = has_statement() ? compiled_->parameters.size() : 0;
  DCHECK(count == 0 || count == static_cast<std::size_t>(compiled_->statement.parameter_count()),
         "every parameter of a compiled statement is known");
  for (std::size_t n = 0; n < count; ++n) {
    const int position = static_cast<int>(n) + 1;
    const auto number = compiled_->parameters[n];
    const auto name = [&] { return compiled_->statement.parameter_name(position); };
    if (const auto round = number ? std::nullopt : loop_variable(name(), session_->statement)) {
      compiled_->statement.bind(position, *round);
      continue;
    }
    if (!number) {
      throw Error(ErrorKind::Syntax, "unknown parameter " + name(), place_of_parameter(position),
                  "parameters are written $1");
    }
    if (*number > session_->statement.parameters().size()) {
      throw Error(ErrorKind::Value, "no value is given for parameter " + name(), place_of_parameter(position),
                  "PREPARE the statement and EXECUTE it with values");
    }
    const auto& value = session_->statement.parameters()[*number - 1];
    if (std::holds_alternative<std::complex<double>>(value))
      throw Error(ErrorKind::Type, "SQL knows no complex numbers", place_of_parameter(position),
                  "give the parts one by one");
    bind_value(compiled_->statement, position, value);
  }
}

bool PreparedSql::step() {
  DCHECK(has_statement(), "rows come of a statement that was compiled");
  return placed([&] { return next_row(); });
}

bool PreparedSql::next_row() {
  try {
    const auto columns = compiled_->statement.column_count();
    const bool row = compiled_->statement.step();
    // SQLite compiles the statement again if another program changed the schema in between.
    if (compiled_->statement.column_count() != columns)
      throw Error(ErrorKind::Busy, "the schema was changed while the statement began", std::nullopt, "run it again");
    snapshot_.reset();  // a statement with rows to come keeps the state by itself
    return row;
  } catch (const CodedError& error) {  // of a function, which says all that there is to say
    throw;
  } catch (const Error& error) {
    throw explained(translated_ ? translated_->in_original(error) : error, text_, session_->database);
  }
}

void PreparedSql::commit() {
  if (transaction_ == nullptr) return;
  CHECK(has_statement(), "a statement that writes was compiled");
  compiled_->statement.reset();
  transaction_->commit();
  transaction_.reset();
}

std::string PreparedSql::column_name(int number) const {
  auto name = text_.restored(compiled_->statement.column_name(number));
  return with_parts_ ? with_parts_->restored(std::move(name)) : name;
}

bool PreparedSql::gives_rows() const {
  CHECK(has_statement(), "a statement that was compiled has rows or none");
  return compiled_->statement.column_count() > 0 && outline_of(text_.text).kind != StatementKind::Alter;
}

std::vector<Column> PreparedSql::columns() {
  if (!has_statement() || !gives_rows()) return {};
  return types({}).columns;
}

// Types are inferred unless the tables declare those of all columns and no parameter is Unknown. They are also inferred
// for a union of SELECTs, as SQLite reports only the types of the first SELECT.
const CompiledSql::KnownTypes& PreparedSql::types(const std::vector<ValueType>& given) {
  CHECK(has_statement(), "types are those of a statement that was compiled");
  if (compiled_->types && compiled_->types->given == given) return *compiled_->types;
  auto& statement = compiled_->statement;
  CompiledSql::KnownTypes known{.given = given, .parameters = given, .columns = {}};
  bool open = std::find(given.begin(), given.end(), ValueType::Unknown) != given.end();
  for (int n = 0; n < statement.column_count(); ++n) {
    const bool stated = translated_ && static_cast<std::size_t>(n) < translated_->column_types.size();
    auto declared = stated ? translated_->column_types[static_cast<std::size_t>(n)] : statement.declared_type(n);
    open = open || declared.empty();
    known.columns.push_back({column_name(n), declared_column_type(declared), std::move(declared)});
  }
  const bool compound = !translated_ && joins_rows(text_.text);
  if (open || compound) {
    auto inferred = infer_types(text_for_sqlite(), session_->database.sql_names.names(), given);
    known.parameters = std::move(inferred.parameters);
    inferred.columns.resize(known.columns.size(), ValueType::Unknown);
    for (std::size_t n = 0; n < known.columns.size(); ++n) {
      auto& column = known.columns[n];
      const auto type = column_type(inferred.columns[n]);
      if (compound && column.type != type) column.declared_type.clear();
      if (column.declared_type.empty()) column.type = type;
    }
  }
  compiled_->types = std::move(known);
  return *compiled_->types;
}

StatementDescription PreparedSql::describe(std::span<const ColumnType> parameters) {
  StatementDescription description;
  if (!has_statement()) return description;
  std::vector<ValueType> given;
  for (const auto type : parameters) given.push_back(value_type(type));
  const auto& known = types(given);
  if (gives_rows()) description.columns = known.columns;
  for (const auto type : known.parameters) description.parameters.push_back(column_type(type));
  description.reads_only = compiled_->statement.is_read_only();
  return description;
}

void PreparedSql::make(const ast::Sql& sql) {
  check_schema_targets(sql, session_->database);
  check_names_of_sqlite(sql, session_->database);
  const auto files = file_tables(sql);
  const bool reads_rows = may_be_kept(sql.text);
  if (outline_of(sql.text).kind == StatementKind::Alter) show_sources_of_views(*session_, tables_);
  const bool keep = sql.queries.empty() && files.empty() && reads_rows;
  // Rights are checked when a statement is compiled, and may have been revoked since.
  const bool shared = keep && !session_->user.permissions.is_restricted();
  if (!keep) session_->database.may_have_temporary = true;
  if (sql.queries.empty() && !reads_rows) {
    session_->database.compiled.clear();
    session_->database.sql_names.clear();
  }
  auto names = table_names(sql.queries.size() + files.size(), session_->database);
  if (outline_of(sql.text).stores_text)
    for (std::size_t n = 0; n < sql.queries.size(); ++n) names[n] = stored_query_name(sql, sql.queries[n]);
  text_ = rewrite_queries(sql, names, files, attached_names_in(sql, session_->database));
  const std::vector<std::string> of_queries(names.begin(), names.end() - static_cast<std::ptrdiff_t>(files.size()));
  show_files(sql, files, std::span(names).subspan(sql.queries.size()));
  if (!sql.queries.empty()) show_queries(sql, of_queries);
  if (session_->user.permissions.policy() == nullptr && may_have_serial(text_.text)) translate_all();
  compile(shared);
}

// A view of the database is there for other sessions, too, and for this one without what it has attached.
void PreparedSql::check_stored_query(const PlannedQuery& planned, const ast::Sql& sql,
                                     const ast::EmbeddedQuery& embedded) {
  if (outline_of(sql.text).temporary) return;
  for (const auto& vertex : planned.query.graph.vertices()) {
    if (!vertex.stored || vertex.stored->attached) continue;
    if (!session_->database.catalog.get(vertex.stored->name).is_foreign()) continue;
    throw refused_in_view(vertex.stored->name, embedded.span);
  }
}

void PreparedSql::show_queries(const ast::Sql& sql, const std::vector<std::string>& names) {
  const auto outline = outline_of(sql.text);
  if (outline.stores_text) {
    for (const auto& embedded : sql.queries) check_stored_query(plan_query(embedded.query, *session_), sql, embedded);
    return;
  }
  CHECK(names.size() == sql.queries.size(), "every query inside SQL has a table of its own");
  const bool runs = use_ == SqlUse::Run;
  open(outline.writes && runs);
  for (std::size_t n = 0; n < names.size(); ++n) show_query(sql.queries[n].query, names[n], runs && !outline.explains);
}

// A table may have the name of a file.
std::vector<FileInSql> PreparedSql::file_tables(const ast::Sql& sql) {
  auto files = files_in(sql);
  std::erase_if(files, [&](const FileInSql& file) { return is_ordinary(file.path, session_->database.connection()); });
  return files;
}

void PreparedSql::show_files(const ast::Sql& sql, const std::vector<FileInSql>& files,
                             std::span<const std::string> names) {
  const bool stores_text = !files.empty() && outline_of(sql.text).stores_text;
  for (std::size_t n = 0; n < files.size(); ++n) {
    const SourceSpan place{files[n].span.begin + sql.span.begin, files[n].span.end + sql.span.begin};
    if (stores_text || session_->show_file == nullptr)
      throw Error(ErrorKind::Unsupported, "a view or trigger cannot read a file, which may change or go", place,
                  "CREATE TABLE t AS SELECT * FROM '" + files[n].path + "' first");
    with_place(place, [&] {
      files_.push_back(session_->show_file(session_->statement.file_to_read(files[n].path), names[n], *session_));
    });
  }
}

PreparedSql prepare_sql(const ast::Sql& sql, SessionState& session, SqlUse use) {
  session.database.tensor_tables.refresh();
  session.database.tensor_tables.keep(std::min(kKeptBytes, session.user.memory() / kMemoryShare));
  session.database.forget_compiled_if_changed();
  PreparedSql prepared(session, use);
  prepared.key_ = kept_key(sql.text, session);
  if (sql.queries.empty() && !session.user.permissions.is_restricted())
    prepared.compiled_ = session.database.compiled.take(prepared.key_);
  if (prepared.has_statement()) {
    prepared.text_ = rewrite_queries(sql, {}, {}, attached_names_in(sql, session.database));
  } else {
    prepared.with_parts_ =
        with_queries_for_parts(sql, [&](const std::string& name) { return labels_of(name, session.database); });
    prepared.placed([&] {
      if (prepared.with_parts_) prepared.make(std::get<ast::Sql>(parse_statement(prepared.with_parts_->text).node));
      else prepared.make(sql);
    });
  }
  if (use == SqlUse::Run) prepared.placed([&] { prepared.bind_parameters(); });
  return prepared;
}

}  // namespace eindb

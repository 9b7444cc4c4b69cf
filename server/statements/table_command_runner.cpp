#include "server/statements/table_command_runner.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/check.hpp"
#include "common/coded_error.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "common/quote_identifier.hpp"
#include "engine/results/rows.hpp"
#include "engine/statement_text.hpp"
#include "server/dialect/dialect.hpp"
#include "server/statements/table_definition.hpp"

namespace eindb {
namespace {

constexpr std::string_view kUnknownTable = "42P01";
constexpr std::string_view kDependentObjects = "2BP01";

std::string text_at(const Row& row, std::size_t column) {
  const auto* text = std::get_if<std::string>(&row.at(column));
  return text == nullptr ? std::string() : *text;
}

std::vector<Row> rows_of(Session& session, const std::string& query) {
  const auto result = session.execute(query);
  std::vector<Row> rows;
  if (result.rows == nullptr) return rows;
  for (Row row; result.rows->next(row);) rows.push_back(row);
  return rows;
}

std::vector<std::string> texts_of(Session& session, const std::string& query) {
  std::vector<std::string> texts;
  for (const auto& row : rows_of(session, query)) texts.push_back(text_at(row, 0));
  return texts;
}

bool exists(Session& session, const std::string& table) { return session.columns_of("", table).has_value(); }

void require_table(Session& session, const std::string& table) {
  if (!exists(session, table))
    throw CodedError(kUnknownTable, ErrorKind::UnknownName, "relation \"" + table + "\" does not exist");
}

/// Begins the transaction that all parts of the command are in.
Session& enter_writing(ClientState& client) {
  client.begin_implicit();
  client.enter_transaction(true);
  CHECK(client.in_transaction(), "the parts of a command are in one transaction");
  client.keep_rows();
  return client.session();
}

/// The views that can be read.
std::set<std::string> views_that_work(Session& session) {
  std::set<std::string> names;
  for (const auto& name : texts_of(session, "SELECT name FROM sqlite_schema WHERE type = 'view'")) {
    try {
      rows_of(session, "SELECT * FROM " + quote_identifier(name) + " LIMIT 0");
      names.insert(name);
    } catch (const Error&) {  // it was broken before
    }
  }
  return names;
}

/// Other tables whose foreign keys refer to the table.
std::vector<std::string> referring_tables(Session& session, const std::string& table) {
  return texts_of(session,
                  "SELECT DISTINCT s.name FROM sqlite_schema s, pragma_foreign_key_list(s.name) f WHERE s.type = "
                  "'table' AND f.\"table\" = " +
                      quote_string(table) + " COLLATE NOCASE AND s.name <> " + quote_string(table) + " COLLATE NOCASE");
}

bool is_among(const std::string& name, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& other) { return equal_ignoring_case(name, other); });
}

/// The tables with those first that refer to others; in a circle as they were given.
std::vector<std::string> referring_first(Session& session, std::vector<std::string> tables) {
  std::vector<std::string> order;
  while (!tables.empty()) {
    const auto free = std::find_if(tables.begin(), tables.end(), [&](const std::string& table) {
      const auto others = referring_tables(session, table);
      return std::none_of(others.begin(), others.end(), [&](const auto& other) { return is_among(other, tables); });
    });
    const auto next = free == tables.end() ? tables.begin() : free;
    order.push_back(*next);
    tables.erase(next);
  }
  return order;
}

/// DROP TABLE deletes the rows in SQLite, and those that refer to them, so nothing else may refer to the tables.
std::vector<std::string> referring_first(Session& session, const command::DropTables& drop) {
  for (const auto& table : drop.names)
    for (const auto& other : referring_tables(session, table))
      if (!is_among(other, drop.names))
        throw CodedError(drop.cascades ? "0A000" : kDependentObjects, ErrorKind::Unsupported,
                         "cannot drop table " + table + ": a foreign key of table " + other + " refers to it",
                         "drop both: DROP TABLE " + table + ", " + other);
  return referring_first(session, drop.names);
}

/// The error of a statement that the client has not written tells no place.
template <class F>
void without_place(F&& run) {
  try {
    std::forward<F>(run)();
  } catch (const Error& error) {
    throw_at(error, std::nullopt, error.hint());
  }
}

/// The COMMENT ON statements that give the table, its columns and its indices the comments that they have.
std::vector<std::string> comments_on(Session& session, const std::string& table) {
  if (rows_of(session, "SELECT 1 FROM sqlite_schema WHERE name = 'eindb_comments'").empty()) return {};
  std::vector<std::string> statements;
  for (const auto& row :
       rows_of(session,
               "SELECT c.object, c.\"column\", c.text, s.type FROM eindb_comments c JOIN sqlite_schema s ON s.name "
               "= c.object COLLATE NOCASE WHERE s.type IN ('table', 'index') AND s.tbl_name = " +
                   quote_string(table) + " COLLATE NOCASE")) {
    const auto column = text_at(row, 1);
    const auto name = quote_identifier(text_at(row, 0)) + (column.empty() ? "" : "." + quote_identifier(column));
    statements.push_back("COMMENT ON " + (column.empty() ? to_upper(text_at(row, 3)) : "COLUMN") + " " + name + " IS " +
                         quote_string(text_at(row, 2)));
  }
  return statements;
}

/// Copies a table's rows into a new table of the same name that `definition` creates, with its indices and triggers.
void make_anew(Session& session, const std::string& table, const std::string& definition) {
  CHECK(session.in_transaction() && !definition.empty(), "a table is made anew in a transaction, with a definition");
  const auto name = quote_identifier(table);
  const auto kept = quote_identifier(table + " (rows)");
  const auto parts = texts_of(session,
                              "SELECT sql FROM sqlite_schema WHERE type IN ('index', 'trigger') AND sql IS NOT NULL "
                              "AND tbl_name = " +
                                  quote_string(table) + " COLLATE NOCASE ORDER BY rowid");
  const auto comments = comments_on(session, table);
  const auto grants = session.grants_on(table);
  std::string columns;
  for (const auto& column : texts_of(session, "SELECT name FROM pragma_table_info(" + quote_string(table) + ")"))
    columns += (columns.empty() ? "" : ", ") + quote_identifier(column);
  session.execute("CREATE TABLE " + kept + " AS SELECT " + columns + " FROM " + name);
  session.execute("DROP TABLE " + name);
  session.execute(definition);
  session.execute("INSERT INTO " + name + " (" + columns + ") SELECT " + columns + " FROM " + kept);
  session.execute("DROP TABLE " + kept);
  for (const auto& part : parts) session.execute(part);
  for (const auto& comment : comments) session.execute(comment);
  session.restore_grants(table, grants);
}

/// The CREATE TABLE statement of the table; empty for what is no ordinary table.
std::string definition_of(Session& session, const std::string& table) {
  const auto found =
      texts_of(session, "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = " + quote_string(table) +
                            " COLLATE NOCASE");
  return found.empty() ? std::string() : found.front();
}

void refuse_referred(Session& session, const std::string& table) {
  if (const auto referring = referring_tables(session, table); !referring.empty())
    throw Error(ErrorKind::Unsupported,
                "the table " + referring.front() + " refers to " + table + ", which cannot be made anew now",
                std::nullopt, "say it in CREATE TABLE, or before others refer to the table");
}

// SQLite has no foreign keys over rows that were there before.
void check_references(Session& session, const std::string& table) {
  for (const auto& other :
       texts_of(session, "SELECT \"table\" FROM pragma_foreign_key_list(" + quote_string(table) + ")"))
    require_table(session, other);
  const auto wrong = rows_of(session, "SELECT 1 FROM pragma_foreign_key_check(" + quote_string(table) + ") LIMIT 1");
  if (wrong.empty()) return;
  throw CodedError("23503", ErrorKind::Value,
                   "insert or update on table \"" + table +
                       "\" violates the foreign key constraint: a row has no row "
                       "that it refers to");
}

/// The definition of a column behind `ALTER TABLE name ADD`, as SQLite takes it.
std::string translated_addition(ClientState& client, const std::string& table, const std::string& definition) {
  const auto head = "ALTER TABLE " + quote_identifier(table) + " ADD ";
  const auto translated = client.translate(head + definition).text;
  return translated && translated->starts_with(head) ? translated->substr(head.size()) : definition;
}

void refuse_second_key(Session& session, const std::string& table) {
  if (!rows_of(session, "SELECT 1 FROM pragma_table_info(" + quote_string(table) + ") WHERE pk > 0").empty())
    throw CodedError("42P16", ErrorKind::Value, "multiple primary keys for table \"" + table + "\" are not allowed");
}

bool has_column(Session& session, const std::string& table, const std::string& column) {
  return is_among(column, texts_of(session, "SELECT name FROM pragma_table_xinfo(" + quote_string(table) + ")"));
}

void add_column(ClientState& client, const std::string& table, const command::AddColumns::Column& column) {
  auto& session = client.session();
  if (has_column(session, table, column.name)) {
    if (column.if_not_exists) return;
    throw CodedError("42701", ErrorKind::DuplicateName,
                     "column \"" + column.name + "\" of relation \"" + table + "\" already exists");
  }
  if (column.is_key) refuse_second_key(session, table);
  const auto definition = translated_addition(client, table, column.definition);
  if (column.is_simple) {
    session.execute("ALTER TABLE " + quote_identifier(table) + " ADD " + definition);
  } else {
    refuse_referred(session, table);
    make_anew(session, table,
              with_new_column(definition_of(session, table), definition + (column.is_key ? " NOT NULL" : "")));
  }
  if (column.refers) check_references(session, table);
}

void delete_rows(Session& session, const std::string& table, bool restarts) {
  session.execute("DELETE FROM " + quote_identifier(table));
  if (!restarts) return;
  if (!rows_of(session, "SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'").empty())
    session.execute("DELETE FROM sqlite_sequence WHERE name = " + quote_string(table) + " COLLATE NOCASE");
}

}  // namespace

Result run_table_command(const command::DropTables& drop, ClientState& client) {
  CHECK(!drop.names.empty(), "a DROP names what it drops");
  auto& session = enter_writing(client);
  const bool tables = drop.kind == "TABLE";
  const auto views = views_that_work(session);
  for (const auto& name : tables ? referring_first(session, drop) : drop.names)
    without_place([&] {
      session.execute("DROP " + drop.kind + (drop.if_exists ? " IF EXISTS " : " ") + quote_identifier(name));
    });
  const auto left = views.empty() ? views : views_that_work(session);
  for (const auto& view : views) {
    if (left.contains(view) || (!tables && is_among(view, drop.names))) continue;
    if (!drop.cascades)
      throw CodedError(kDependentObjects, ErrorKind::Value,
                       "cannot drop " + to_lower(drop.kind) + " " + drop.names.front() + ": view " + view + " reads it",
                       "DROP ... CASCADE drops the view too");
    session.execute("DROP VIEW IF EXISTS " + quote_identifier(view));
  }
  return status_result("DROP " + drop.kind);
}

// SQLite deletes the rows one by one, and those that refer to them.
Result run_table_command(const command::TruncateTables& truncate, ClientState& client) {
  auto& session = enter_writing(client);
  for (const auto& table : truncate.tables)
    for (const auto& other : referring_tables(session, table))
      if (!is_among(other, truncate.tables))
        throw CodedError("0A000", ErrorKind::Unsupported,
                         "cannot truncate table " + table + ": a foreign key of table " + other + " refers to it",
                         "name it, too: TRUNCATE " + table + ", " + other);
  for (const auto& table : referring_first(session, truncate.tables))
    without_place([&] { delete_rows(session, table, truncate.restarts); });
  return status_result("TRUNCATE TABLE");
}

// The room of deleted rows is used again without VACUUM of a table; all of it at once goes to the file's next users.
Result run_table_command(const command::Vacuum& vacuum, ClientState& client) {
  if (vacuum.vacuums && client.transaction() != ClientState::Transaction::None)
    throw CodedError("25001", ErrorKind::Value, "VACUUM cannot run inside a transaction block",
                     "COMMIT or ROLLBACK before");
  auto& session = client.session();
  for (const auto& table : vacuum.tables) require_table(session, table);
  if (vacuum.vacuums && (vacuum.full || vacuum.tables.empty())) session.execute("VACUUM");
  if (vacuum.analyzes) {
    enter_writing(client);
    if (vacuum.tables.empty()) session.execute("ANALYZE main");
    for (const auto& table : vacuum.tables)
      if (!definition_of(session, table).empty()) session.execute("ANALYZE " + quote_identifier(table));
  }
  return status_result(vacuum.vacuums ? "VACUUM" : "ANALYZE");
}

// A transaction keeps other writers off once it writes; its readers see the state at its beginning anyway.
Result run_table_command(const command::LockTables& lock, ClientState& client) {
  client.require_transaction("LOCK TABLE");
  const bool entered = client.in_transaction();
  client.enter_transaction(!lock.admits_writers);
  auto& session = client.session();
  for (const auto& table : lock.tables) {
    require_table(session, table);
    if (entered && !lock.admits_writers) session.execute("DELETE FROM " + quote_identifier(table) + " WHERE 0");
  }
  return status_result("LOCK TABLE");
}

Result run_table_command(const command::AddColumns& add, ClientState& client) {
  auto& session = enter_writing(client);
  const auto created = definition_of(session, add.table);
  if (created.empty() && add.if_exists && !exists(session, add.table)) return status_result("ALTER TABLE");
  require_table(session, add.table);
  if (created.empty()) throw Error(ErrorKind::Unsupported, add.table + " is no ordinary table, and gets no columns");
  for (const auto& column : add.columns) without_place([&] { add_column(client, add.table, column); });
  return status_result("ALTER TABLE");
}

Result run_table_command(const command::AddConstraint& add, ClientState& client) {
  auto& session = enter_writing(client);
  const auto created = definition_of(session, add.table);
  if (created.empty() && add.if_exists && !exists(session, add.table)) return status_result("ALTER TABLE");
  require_table(session, add.table);
  if (created.empty()) throw Error(ErrorKind::Unsupported, add.table + " is no ordinary table, and has no constraints");
  if (!add.keys.empty()) refuse_second_key(session, add.table);
  std::string definition;
  without_place([&] { definition = translated_addition(client, add.table, add.definition); });
  refuse_referred(session, add.table);
  make_anew(session, add.table, with_constraint(created, definition, add.keys));
  if (add.refers) check_references(session, add.table);
  return status_result("ALTER TABLE");
}

/// The DEFAULT as CREATE TABLE would have it for the column, which must hold it.
std::string default_for(Session& session, const command::AlterColumn& alter) {
  CHECK(alter.of_default && alter.value, "a DEFAULT that is set has a value");
  const auto types = texts_of(session, "SELECT type FROM pragma_table_info(" + quote_string(alter.table) +
                                           ") WHERE name = " + quote_string(alter.column) + " COLLATE NOCASE");
  return default_for_column(types.empty() ? std::string() : types.front(), *alter.value);
}

// Rows are copied, so that NULL where it may not be is an error.
Result run_table_command(const command::AlterColumn& alter, ClientState& client) {
  auto& session = enter_writing(client);
  const auto created = definition_of(session, alter.table);
  if (created.empty() && alter.if_exists && !exists(session, alter.table)) return status_result("ALTER TABLE");
  require_table(session, alter.table);
  if (created.empty()) throw Error(ErrorKind::Unsupported, alter.table + " is no ordinary table");
  auto value = alter.value;
  if (alter.of_default && value) without_place([&] { value = default_for(session, alter); });
  const auto definition = with_column(created, alter.column, alter.of_default, value);
  refuse_referred(session, alter.table);
  without_place([&] { make_anew(session, alter.table, definition); });
  return status_result("ALTER TABLE");
}

}  // namespace eindb

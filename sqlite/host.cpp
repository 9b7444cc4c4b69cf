#include "sqlite/host.hpp"

namespace eindb_sqlite {

HostStatement::HostStatement(sqlite3* host, const std::string& sql) : host_(host) {
  const char* rest = nullptr;
  const int code = sqlite3_prepare_v2(host, sql.c_str(), static_cast<int>(sql.size()), &statement_, &rest);
  if (code != SQLITE_OK) throw HostError(sqlite3_errmsg(host), code);
  if (statement_ == nullptr) throw HostError("there is no statement in: " + sql);
  if (std::string_view(rest).find_first_not_of(" \n\t") == std::string_view::npos) return;
  sqlite3_finalize(statement_);
  throw HostError("there is more than one statement in: " + sql);
}

HostStatement& HostStatement::bind(int parameter, std::string_view text) {
  const int code = sqlite3_bind_text64(statement_, parameter, text.data(), text.size(), SQLITE_STATIC,
                                       SQLITE_UTF8);  // until it ends
  if (code != SQLITE_OK) throw HostError(sqlite3_errmsg(host_), code);
  return *this;
}

bool HostStatement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  throw HostError(sqlite3_errmsg(host_), code);
}

std::string HostStatement::column_name(int column) const {
  const char* name = sqlite3_column_name(statement_, column);
  return name == nullptr ? "" : name;
}

std::string HostStatement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (text == nullptr) return "";
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::string quoted(std::string_view name, char mark) {
  std::string out(1, mark);
  for (const char c : name) {
    out += c;
    if (c == mark) out += c;
  }
  return out + mark;
}

bool equal_names(std::string_view a, std::string_view b) {
  return a.size() == b.size() && sqlite3_strnicmp(a.data(), b.data(), static_cast<int>(a.size())) == 0;
}

std::string file_of(sqlite3* host) {
  const char* name = sqlite3_db_filename(host, "main");
  return name == nullptr ? "" : name;
}

bool has_table(sqlite3* host, std::string_view name) {
  HostStatement schemas(host, "SELECT name FROM pragma_database_list");
  while (schemas.step()) {
    const auto schema =
        quoted(schemas.text(0)) + (schemas.text(0) == "temp" ? ".sqlite_temp_schema" : ".sqlite_schema");
    HostStatement found(host,
                        "SELECT 1 FROM " + schema + " WHERE type IN ('table', 'view') AND name = ?1 COLLATE NOCASE");
    if (found.bind(1, name).step()) return true;
  }
  return false;
}

// SQLite has told of interrupts since 3.41 alone. In all versions a statement that begins while another one runs is
// interrupted with it.
bool is_interrupted(sqlite3* host) noexcept {
  sqlite3_stmt* statement = nullptr;
  bool interrupted = sqlite3_prepare_v2(host, "SELECT 1", -1, &statement, nullptr) == SQLITE_INTERRUPT;
  if (statement != nullptr) interrupted = sqlite3_step(statement) == SQLITE_INTERRUPT;
  sqlite3_finalize(statement);
  return interrupted;
}

}  // namespace eindb_sqlite

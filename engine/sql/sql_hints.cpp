#include "engine/sql/sql_hints.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "common/nearest_name.hpp"
#include "engine/sql/sql_text.hpp"
#include "parser/macro.hpp"
#include "parser/table_position.hpp"
#include "parser/token_value.hpp"
#include "parser/tokenizer.hpp"
#include "tensor/scalar_expression.hpp"

namespace eindb {
namespace {

/// The most names that are looked up as tensors to find their columns.
constexpr std::size_t kNames = 64;

bool has_word(std::string_view sql, std::string_view word, std::size_t within) {
  Tokenizer tokenizer(sql);
  auto token = tokenizer.next();
  for (std::size_t n = 0; n < within && !token.is(Token::Kind::End); ++n, token = tokenizer.next())
    if (token.is_word(word)) return true;
  return false;
}

std::string hint_for_syntax(std::string_view sql) {
  if (has_word(sql, "EINSUM", std::string_view::npos))
    return "in SQL a query stands in parentheses and names its result: SELECT * FROM (EINSUM Z[i] = SUM(X[i,j]))";
  if (has_word(sql, "TENSOR", 3))
    return "CREATE TENSOR makes tensors, INSERT INTO TENSOR X VALUES (key..., value) sets cells, DROP TENSOR drops "
           "them";
  return {};
}

/// Whether the text stands in double quotes, which SQL keeps for names.
bool stands_in_double_quotes(std::string_view text, std::string_view sql) {
  Tokenizer tokenizer(sql);
  for (auto token = tokenizer.next(); !token.is(Token::Kind::End); token = tokenizer.next())
    if (token.is(Token::Kind::QuotedName) && token.text.front() == '"' && unquote(token) == text) return true;
  return false;
}

/// None for a view that cannot be read, which may be what the error is about.
std::vector<std::string> columns_of_table(const std::string& name, const SqlNames& names) {
  std::vector<std::string> columns;
  try {
    for (auto& column : names.columns("", name).value_or(std::vector<TypedColumn>()))
      columns.push_back(std::move(column.name));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Sql) throw;
  }
  return columns;
}

/// `written` may have a table before the column, as in t.n.
std::string hint_for_column(const std::string& written, std::string_view sql, Catalog& catalog, const SqlNames& names) {
  const auto column = written.substr(written.rfind('.') + 1);
  std::vector<std::string> columns;
  std::string listed;
  for (const auto& name : names_in(sql, kNames)) {
    const auto tensor = catalog.find(name);
    if (!tensor) {
      for (auto& known : columns_of_table(name, names)) columns.push_back(std::move(known));
      continue;
    }
    if (equal_ignoring_case(name, column)) return tensor->name + " is a tensor: SELECT val FROM " + tensor->name;
    std::string own;
    for (const auto& label : tensor->labels) own += label + ", ";
    if (listed.find(tensor->name + " has") == std::string::npos)
      listed += (listed.empty() ? "" : "; ") + tensor->name + " has the columns " + own + "val";
    columns.insert(columns.end(), tensor->labels.begin(), tensor->labels.end());
    columns.emplace_back("val");
  }
  const auto nearest = nearest_name(column, columns);
  auto hint = nearest ? "did you mean " + *nearest + "?" : listed;
  if (!stands_in_double_quotes(written, sql)) return hint;
  return hint + (hint.empty() ? "" : nearest ? " " : "; ") + "a text stands in single quotes: " + quote_string(written);
}

std::string hint_for_table(const std::string& table, Catalog& catalog) {
  const auto dot = table.rfind('.');
  if (dot == std::string::npos) return {};
  for (const std::string_view schema : {"pg_catalog.", "information_schema."})
    if (to_lower(table).starts_with(schema))
      return "it has tables that clients of the server ask for: SHOW TENSORS and sqlite_schema list the database's own";
  if (catalog.has_schema(table.substr(0, table.find('.')))) return {};
  if (!has_file_extension(table) && table.find('/') == std::string::npos)
    return "no database is attached as " + table.substr(0, dot) + ": ATTACH 'file' AS " + table.substr(0, dot);
  return "COPY X FROM '" + table + "' reads a file into a tensor";
}

std::string hint_for_function_of_ours(const std::string& function, MacroCatalog& macros) {
  if (equal_ignoring_case(function, "einsum"))
    return "in SQL a query stands in parentheses: SELECT * FROM (EINSUM 'ij,jk->ik' (X, Y))";
  if (to_lower(function).starts_with("percentile"))
    return "percentile_cont(0.5) WITHIN GROUP (ORDER BY x), percentile_disc likewise, or median(x)";
  if (!find_scalar_function(function) && find_builtin_macro(function, 0) == nullptr && !macros.find(function))
    return {};
  return "a function of EINSUM: SELECT * FROM (EINSUM Z[i] = " + function + "(...))";
}

}  // namespace

std::string hint_for_sql(std::string_view message, std::string_view sql, Catalog& catalog, MacroCatalog& macros,
                         const SqlNames& names) {
  const auto after = [&](std::string_view begin) { return std::string(message.substr(begin.size())); };
  constexpr std::string_view kColumn = "no such column: ";
  constexpr std::string_view kTable = "no such table: ";
  constexpr std::string_view kFunction = "no such function: ";
  if (message.starts_with("near \"")) return hint_for_syntax(sql);
  if (message.starts_with(kTable)) return hint_for_table(after(kTable), catalog);
  if (message.starts_with(kFunction)) return hint_for_function_of_ours(after(kFunction), macros);
  if (!message.starts_with(kColumn)) return {};
  return hint_for_column(after(kColumn), sql, catalog, names);
}

}  // namespace eindb

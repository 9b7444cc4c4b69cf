#include "engine/sql/sql_hints.hpp"

#include <algorithm>
#include <vector>

#include "common/nearest_name.hpp"
#include "engine/sql/sql_text.hpp"
#include "parser/macro.hpp"
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

std::string hint_for_column(const std::string& column, std::string_view sql, Catalog& catalog) {
  std::vector<std::string> columns;
  std::string listed;
  for (const auto& name : names_in(sql, kNames)) {
    const auto tensor = catalog.find(name);
    if (!tensor) continue;
    if (equal_ignoring_case(name, column)) return tensor->name + " is a tensor: SELECT val FROM " + tensor->name;
    std::string own;
    for (const auto& label : tensor->labels) own += label + ", ";
    if (listed.find(tensor->name + " has") == std::string::npos)
      listed += (listed.empty() ? "" : "; ") + tensor->name + " has the columns " + own + "val";
    columns.insert(columns.end(), tensor->labels.begin(), tensor->labels.end());
    columns.emplace_back("val");
  }
  const auto nearest = nearest_name(column, columns);
  return nearest ? "did you mean " + *nearest + "?" : listed;
}

std::string hint_for_table(const std::string& table) {
  const auto dot = table.rfind('.');
  if (dot == std::string::npos || table.starts_with("main.") || table.starts_with("temp.")) return {};
  return "COPY X FROM '" + table + "' reads a file into a tensor";
}

std::string hint_for_function_of_ours(const std::string& function) {
  if (!find_scalar_function(function) && find_builtin_macro(function, 0) == nullptr) return {};
  return "a function of EINSUM: SELECT * FROM (EINSUM Z[i] = " + function + "(...))";
}

}  // namespace

std::string hint_for_sql(std::string_view message, std::string_view sql, Catalog& catalog) {
  const auto after = [&](std::string_view begin) { return std::string(message.substr(begin.size())); };
  constexpr std::string_view kColumn = "no such column: ";
  constexpr std::string_view kTable = "no such table: ";
  constexpr std::string_view kFunction = "no such function: ";
  if (message.starts_with("near \"")) return hint_for_syntax(sql);
  if (message.starts_with(kTable)) return hint_for_table(after(kTable));
  if (message.starts_with(kFunction)) return hint_for_function_of_ours(after(kFunction));
  if (!message.starts_with(kColumn)) return {};
  const auto column = after(kColumn);
  return hint_for_column(column.substr(column.rfind('.') + 1), sql, catalog);
}

}  // namespace eindb

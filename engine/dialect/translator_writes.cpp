#include <algorithm>
#include <utility>

#include "common/check.hpp"
#include "common/letter_case.hpp"
#include "common/quote_identifier.hpp"
#include "engine/dialect/translator.hpp"

namespace eindb::dialect {
namespace {

const Column* find_column(const std::vector<Column>& columns, std::string_view name) {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const Column& column) { return equal_ignoring_case(column.name, name); });
  return found == columns.end() ? nullptr : &*found;
}

}  // namespace

void Translator::not_stored(const Value& value, const Column& column) const {
  const auto name = [](SqlType type, const std::string& declared) {
    const auto element = type == SqlType::Array ? element_of(declared) : SqlType::Any;
    return element == SqlType::Any ? std::string(name_of(type)) : std::string(name_of(element)) + "[]";
  };
  refuse("42804",
         "column \"" + column.name + "\" is of type " + name(column.type, column.declared) +
             " but expression is of type " + name(value.type, value.declared),
         value.location, hint_for(value.type, "You will need to rewrite or cast the expression."));
}

// Elements are converted as values are that are stored.
Value Translator::stored_array(Value value, const Column& column) {
  const auto to = element_of(column.declared);
  if (value.type == SqlType::Unknown || value.type == SqlType::Any) return to_array(std::move(value), to);
  const auto from = element_of(value.declared);
  const bool fits = from == SqlType::Any || to == SqlType::Any || from == to || to == SqlType::Text ||
                    (is_number(from) && is_number(to)) || (is_moment(from) && is_moment(to));
  if (value.type != SqlType::Array || !fits) not_stored(value, column);
  return from == to && from != SqlType::Any ? value : to_array(std::move(value), to);
}

Value Translator::stored(Value value, const Column& column) {
  if (value.type == SqlType::Complex) not_stored(value, column);
  if (column.type == SqlType::Array) return stored_array(std::move(value), column);
  if (column.type == SqlType::Json) {
    const bool is_constant = value.literal.has_value() || value.is_null;
    value = checked(value.type == SqlType::Unknown ? settle(std::move(value), column.type) : std::move(value));
    if (!is_constant) value.text = SqlText("pg_json(", value.location) + value.text + ")";
    value.parameter = 0;
    return value;
  }
  if (column.type == SqlType::Any || column.type == SqlType::Bytea) {
    const bool fits = column.type == SqlType::Any || value.type == SqlType::Bytea || value.type == SqlType::Any;
    if (value.type != SqlType::Unknown && !fits) not_stored(value, column);
    return value.type == SqlType::Unknown ? settle(std::move(value), column.type) : checked(std::move(value));
  }
  const auto from = value.type;
  if (from == SqlType::Unknown) {
    value = settle(std::move(value), column.type);
  } else {
    // A value whose type is not known yet is read as the column's type when the statement runs.
    const bool fits = from == SqlType::Any || from == column.type || column.type == SqlType::Text ||
                      (is_number(from) && is_number(column.type)) || (is_moment(from) && is_moment(column.type)) ||
                      (column.type == SqlType::Time && (is_moment(from) && from != SqlType::Date));
    if (!fits) not_stored(value, column);
    value = coerce(std::move(value), column.type, Coercion::Assignment);
  }
  const auto open = column.declared.find('(');
  auto name = to_lower(column.declared.substr(0, open));
  while (name.ends_with(' ')) name.pop_back();
  value.parameter = 0;
  return fit(std::move(value), name, modifiers_of(column.declared), Coercion::Assignment);
}

SqlText Translator::target(const PgQuery__RangeVar& node, Scope& scope) {
  if (with_queries_.contains(to_lower(node.relname)))
    refuse("42P01", "relation \"" + std::string(node.relname) + "\" cannot be the target: it is a WITH query",
           node.location, "give the WITH query another name");
  return table(node, scope);
}

SqlText Translator::returning(std::span<PgNode* const> targets, const Scope& scope) {
  if (targets.empty()) return {};
  Query out;
  std::vector<SqlText> texts;
  results(targets, scope, nullptr, out, texts, false);
  if (out.known) columns_ = std::move(out.columns);
  return SqlText(" RETURNING ") + joined(texts);
}

// SQLite has no DEFAULT among values: a column that has it in all rows is left out.
std::vector<bool> Translator::defaults_of(const PgQuery__InsertStmt& node) const {
  if (node.select_stmt == nullptr) return {};
  const auto& select = *node.select_stmt->select_stmt;
  std::vector<std::size_t> counts;
  int location = -1;
  for (const auto* list : nodes(select.n_values_lists, select.values_lists)) {
    CHECK(list->node_case == PG_QUERY__NODE__NODE_LIST, "VALUES has lists");
    counts.resize(std::max(counts.size(), list->list->n_items));
    for (std::size_t n = 0; n < list->list->n_items; ++n) {
      if (list->list->items[n]->node_case != PG_QUERY__NODE__NODE_SET_TO_DEFAULT) continue;
      location = list->list->items[n]->set_to_default->location;
      ++counts[n];
    }
  }
  std::vector<bool> defaults;
  for (const auto count : counts) {
    defaults.push_back(count > 0);
    if (count > 0 && count < select.n_values_lists)
      refuse("0A000", "DEFAULT beside other values of its column is not supported", location,
             "insert the rows with the default by a statement of their own");
  }
  const bool all =
      location >= 0 && std::all_of(defaults.begin(), defaults.end(), [](bool is_default) { return is_default; });
  if (all && select.n_values_lists > 1)
    refuse("0A000", "several rows of nothing but DEFAULT are not supported", location,
           "INSERT INTO ... DEFAULT VALUES inserts one such row");
  if (location < 0) defaults.clear();
  return defaults;
}

// GENERATED ALWAYS AS IDENTITY takes no value but DEFAULT; `columns` are those that get values.
void Translator::check_counted(const PgQuery__InsertStmt& node, std::span<const Column> columns) const {
  if (node.override == PG_QUERY__OVERRIDING_KIND__OVERRIDING_SYSTEM_VALUE) return;
  for (const auto& column : columns)
    if (column.always_counts)
      refuse("428C9", "cannot insert a non-DEFAULT value into column \"" + column.name + "\"", -1,
             "the column is GENERATED ALWAYS AS IDENTITY: leave it out, or write OVERRIDING SYSTEM VALUE");
}

SqlText Translator::insert(const PgQuery__InsertStmt& node) {
  if (node.override == PG_QUERY__OVERRIDING_KIND__OVERRIDING_USER_VALUE)
    unsupported("OVERRIDING USER VALUE", -1, "leave the column out");
  SqlText out;
  if (node.with_clause != nullptr) out = with(*node.with_clause, around_);
  Scope scope(around_);
  out += SqlText("INSERT INTO ") + target(*node.relation, scope);
  const auto all = scope.sources().back().columns;
  const auto defaults = defaults_of(node);
  const bool only_defaults =
      !defaults.empty() && std::all_of(defaults.begin(), defaults.end(), [](bool is_default) { return is_default; });
  if (node.n_cols > 0 && !defaults.empty() && defaults.size() != node.n_cols)
    refuse("42601", "INSERT has other numbers of expressions and target columns", -1);
  std::vector<Column> columns;
  if (node.n_cols > 0) {
    std::vector<SqlText> names;
    std::vector<std::string> seen;
    for (const auto* each : nodes(node.n_cols, node.cols)) {
      const auto& target = *each->res_target;
      const auto* column = find_column(all, target.name);
      if (target.n_indirection > 0) unsupported("a part of a column as a target", target.location);
      if (column == nullptr && scope.sources().back().known)
        refuse(
            "42703",
            "column \"" + std::string(target.name) + "\" of relation \"" + node.relation->relname + "\" does not exist",
            target.location);
      if (std::find_if(seen.begin(), seen.end(),
                       [&](const auto& name) { return equal_ignoring_case(name, target.name); }) != seen.end())
        refuse("42701", "column \"" + std::string(target.name) + "\" specified more than once", target.location);
      seen.emplace_back(target.name);
      if (!defaults.empty() && defaults[seen.size() - 1]) continue;
      columns.push_back(column != nullptr ? *column : Column{.name = target.name});
      names.emplace_back(quote_identifier(columns.back().name), target.location);
    }
    if (!names.empty()) out += SqlText(" (") + joined(names) + ")";
  } else {
    std::size_t place = 0;
    for (const auto& column : all) {
      if (column.hidden) continue;
      const bool is_default = place < defaults.size() && defaults[place];
      ++place;
      if (!is_default) columns.push_back(column);
    }
  }
  if (node.select_stmt == nullptr || only_defaults) {
    out += " DEFAULT VALUES";
  } else {
    const bool any_columns = !scope.sources().back().known && node.n_cols == 0;
    defaults_ = defaults;
    const auto rows = query(*node.select_stmt->select_stmt, around_, any_columns ? nullptr : &columns);
    const bool countable = rows.known && !any_columns;
    check_counted(
        node, std::span(columns).first(rows.known ? std::min(columns.size(), rows.columns.size()) : columns.size()));
    if (countable && rows.columns.size() > columns.size())
      refuse("42601", "INSERT has more expressions than target columns", -1);
    if (countable && rows.columns.size() < columns.size() && node.n_cols > 0)
      refuse("42601", "INSERT has more target columns than expressions", -1);
    if (countable && node.n_cols == 0 && (rows.columns.size() < columns.size() || !defaults.empty())) {
      // Without a list the first columns are meant, where SQLite demands a value for each.
      std::vector<SqlText> names;
      for (std::size_t n = 0; n < rows.columns.size(); ++n) names.emplace_back(quote_identifier(columns[n].name));
      out += SqlText(" (") + joined(names) + ")";
    }
    // SQLite would read ON CONFLICT behind a SELECT as the condition of a join.
    const auto& select = *node.select_stmt->select_stmt;
    const bool ambiguous =
        node.on_conflict_clause != nullptr && select.n_values_lists == 0 && select.where_clause == nullptr;
    out += ambiguous ? SqlText(" SELECT * FROM (") + rows.text + ") WHERE TRUE" : SqlText(" ") + rows.text;
  }
  if (node.on_conflict_clause != nullptr) out += conflict(*node.on_conflict_clause, scope, all);
  return out + returning(nodes(node.n_returning_list, node.returning_list), scope);
}

SqlText Translator::conflict(const PgQuery__OnConflictClause& node, const Scope& scope,
                             const std::vector<Column>& columns) {
  SqlText out(" ON CONFLICT", node.location);
  if (node.infer != nullptr) {
    if (is_set(node.infer->conname))
      refuse("0A000", "ON CONFLICT ON CONSTRAINT is not supported", node.location,
             "name the columns: ON CONFLICT (id)");
    std::vector<SqlText> keys;
    for (const auto* each : nodes(node.infer->n_index_elems, node.infer->index_elems)) {
      if (each->node_case != PG_QUERY__NODE__NODE_INDEX_ELEM || each->index_elem->expr != nullptr)
        unsupported("ON CONFLICT of an expression", node.location, "name columns that are UNIQUE");
      keys.emplace_back(quote_identifier(each->index_elem->name));
    }
    out += SqlText(" (") + joined(keys) + ")";
    if (node.infer->where_clause != nullptr)
      out += SqlText(" WHERE ") + condition(*node.infer->where_clause, scope, "WHERE");
  }
  if (node.action == PG_QUERY__ON_CONFLICT_ACTION__ONCONFLICT_NOTHING) return out + " DO NOTHING";
  Scope both = scope;
  both.add({.name = "excluded", .columns = columns, .known = true});
  // Names without a table are the target's.
  for (const auto& column : columns) both.sources().back().joined.push_back(column.name);
  out += SqlText(" DO UPDATE SET ") + assignments(nodes(node.n_target_list, node.target_list), both, columns);
  if (node.where_clause != nullptr) out += SqlText(" WHERE ") + condition(*node.where_clause, both, "WHERE");
  return out;
}

SqlText Translator::assignments(std::span<PgNode* const> targets, const Scope& scope,
                                const std::vector<Column>& columns) {
  std::vector<SqlText> out;
  const bool known = scope.sources().front().known;
  for (const auto* each : targets) {
    const auto& target = *each->res_target;
    if (target.n_indirection > 0) unsupported("a part of a column as a target", target.location);
    const auto* source = target.val;
    if (source->node_case == PG_QUERY__NODE__NODE_MULTI_ASSIGN_REF) {
      const auto& part = *source->multi_assign_ref;
      if (part.source->node_case != PG_QUERY__NODE__NODE_ROW_EXPR)
        unsupported("an assignment of a query's row", target.location, "assign each column: a = (SELECT ...)");
      const auto& row = *part.source->row_expr;
      if (row.n_args != static_cast<std::size_t>(part.ncolumns))
        refuse("42601", "number of columns does not match number of values", target.location);
      source = row.args[part.colno - 1];
    }
    const bool again = std::any_of(targets.begin(), targets.end(), [&](const PgNode* other) {
      return other != each && equal_ignoring_case(other->res_target->name, target.name);
    });
    if (again)
      refuse("42601", "multiple assignments to same column \"" + std::string(target.name) + "\"", target.location);
    const auto* column = find_column(columns, target.name);
    const Column unknown{.name = target.name};
    if (column == nullptr && known)
      refuse("42703", "column \"" + std::string(target.name) + "\" does not exist", target.location);
    if (column == nullptr) column = &unknown;
    if (column->always_counts)
      refuse("428C9", "column \"" + column->name + "\" can only be updated to DEFAULT", target.location,
             "the column is GENERATED ALWAYS AS IDENTITY");
    auto value = stored(checked(expression(*source, scope)), *column);
    out.push_back(SqlText(quote_identifier(column->name) + " = ", target.location) + value.text);
  }
  return joined(out);
}

SqlText Translator::update(const PgQuery__UpdateStmt& node) {
  SqlText out;
  if (node.with_clause != nullptr) out = with(*node.with_clause, around_);
  Scope scope(around_);
  out += SqlText("UPDATE ") + target(*node.relation, scope);
  const auto columns = scope.sources().back().columns;
  const auto from = sources(nodes(node.n_from_clause, node.from_clause), scope);
  out += SqlText(" SET ") + assignments(nodes(node.n_target_list, node.target_list), scope, columns);
  if (!from.empty()) out += SqlText(" FROM ") + from;
  if (node.where_clause != nullptr) out += SqlText(" WHERE ") + condition(*node.where_clause, scope, "WHERE");
  if (has_aggregate_) refuse("42803", "aggregate functions are not allowed in UPDATE", -1);
  return out + returning(nodes(node.n_returning_list, node.returning_list), scope);
}

SqlText Translator::remove(const PgQuery__DeleteStmt& node) {
  SqlText out;
  if (node.with_clause != nullptr) out = with(*node.with_clause, around_);
  Scope scope(around_);
  out += SqlText("DELETE FROM ") + target(*node.relation, scope);
  if (node.n_using_clause > 0) {
    // Rows for which the other tables have one that fits.
    Scope both = scope;
    const auto others = sources(nodes(node.n_using_clause, node.using_clause), both);
    out += SqlText(" WHERE EXISTS (SELECT 1 FROM ") + others;
    if (node.where_clause != nullptr) out += SqlText(" WHERE ") + condition(*node.where_clause, both, "WHERE");
    out += ")";
  } else if (node.where_clause != nullptr) {
    out += SqlText(" WHERE ") + condition(*node.where_clause, scope, "WHERE");
  }
  if (has_aggregate_) refuse("42803", "aggregate functions are not allowed in WHERE", -1);
  return out + returning(nodes(node.n_returning_list, node.returning_list), scope);
}

}  // namespace eindb::dialect

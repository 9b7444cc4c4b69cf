#include <algorithm>
#include <utility>

#include "common/check.hpp"
#include "common/coded_error.hpp"
#include "common/letter_case.hpp"
#include "common/quote_identifier.hpp"
#include "engine/dialect/translator.hpp"

namespace eindb::dialect {
namespace {

bool is_star(const PgNode& node) {
  if (node.node_case != PG_QUERY__NODE__NODE_COLUMN_REF) return false;
  const auto& fields = *node.column_ref;
  return fields.n_fields > 0 && fields.fields[fields.n_fields - 1]->node_case == PG_QUERY__NODE__NODE_A_STAR;
}

}  // namespace

std::vector<std::string> names_of(std::span<PgNode* const> nodes) {
  std::vector<std::string> names;
  for (const auto* node : nodes) names.push_back(text_of(*node));
  return names;
}

SqlText name_list(const std::vector<std::string>& names) {
  SqlText out = "(";
  for (std::size_t n = 0; n < names.size(); ++n) out += SqlText((n == 0 ? "" : ", ") + quote_identifier(names[n]));
  return out + ")";
}

SqlText Translator::statement(const PgNode& node) {
  switch (node.node_case) {
    case PG_QUERY__NODE__NODE_SELECT_STMT: {
      auto rows = query(*node.select_stmt, around_);
      if (rows.known) columns_ = std::move(rows.columns);
      return rows.text;
    }
    case PG_QUERY__NODE__NODE_INSERT_STMT: return insert(*node.insert_stmt);
    case PG_QUERY__NODE__NODE_UPDATE_STMT: return update(*node.update_stmt);
    case PG_QUERY__NODE__NODE_DELETE_STMT: return remove(*node.delete_stmt);
    case PG_QUERY__NODE__NODE_CREATE_STMT: return create_table(*node.create_stmt);
    case PG_QUERY__NODE__NODE_CREATE_TABLE_AS_STMT: return create_table_as(*node.create_table_as_stmt);
    case PG_QUERY__NODE__NODE_VIEW_STMT: return create_view(*node.view_stmt);
    case PG_QUERY__NODE__NODE_INDEX_STMT: return create_index(*node.index_stmt);
    case PG_QUERY__NODE__NODE_ALTER_TABLE_STMT: return alter_table(*node.alter_table_stmt);
    case PG_QUERY__NODE__NODE_CREATE_SEQ_STMT:
      refuse("0A000", "sequences are not supported", -1, "a column that is serial PRIMARY KEY counts");
    case PG_QUERY__NODE__NODE_CREATE_SCHEMA_STMT:
      refuse("0A000", "schemas are not supported", -1, "all tables and tensors are in the schema public");
    case PG_QUERY__NODE__NODE_CREATE_ENUM_STMT:
    case PG_QUERY__NODE__NODE_COMPOSITE_TYPE_STMT:
    case PG_QUERY__NODE__NODE_CREATE_DOMAIN_STMT:
    case PG_QUERY__NODE__NODE_CREATE_RANGE_STMT:
      refuse("0A000", "types of one's own are not supported", -1, "a column of type text with a CHECK");
    case PG_QUERY__NODE__NODE_CREATE_FUNCTION_STMT:
      refuse("0A000", "functions with types and languages are not supported", -1,
             "a function of EINSUM is an expression: CREATE FUNCTION f(x, y) AS x + 2 * y");
    case PG_QUERY__NODE__NODE_CREATE_EXTENSION_STMT:
      refuse("0A000", "extensions are not supported", -1, "what is there is there without them");
    case PG_QUERY__NODE__NODE_CREATEDB_STMT:
      refuse("0A000", "databases are not made by statements", -1, "a database is a file: eindb serve FILE");
    case PG_QUERY__NODE__NODE_DO_STMT:
      refuse("0A000", "DO is not supported: there is no procedural language", -1, "REPEAT repeats statements");
    case PG_QUERY__NODE__NODE_NOTIFY_STMT: refuse("0A000", "NOTIFY is not supported", -1, "clients ask again");
    default: return without_schema();
  }
}

SqlText Translator::condition_of(const PgNode& select) {
  CHECK(select.node_case == PG_QUERY__NODE__NODE_SELECT_STMT, "a condition stands in a SELECT");
  const auto& node = *select.select_stmt;
  const Scope scope(around_);
  if (node.n_target_list != 1) refuse("42601", "a condition is one value", -1);
  return condition(*node.target_list[0]->res_target->val, scope, "WHEN");
}

Translator::Query Translator::query(const PgQuery__SelectStmt& node, const Scope* outer,
                                    const std::vector<Column>* targets, bool keeps_open) {
  if (node.into_clause != nullptr) unsupported("SELECT INTO", -1, "CREATE TABLE name AS SELECT ...");
  const auto with_before = with_queries_;
  SqlText ctes;
  if (node.with_clause != nullptr) ctes = with(*node.with_clause, outer);
  const bool had_aggregate = std::exchange(has_aggregate_, false);
  auto* const outer_sets = std::exchange(sets_, nullptr);
  auto out = node.op != PG_QUERY__SET_OPERATION__SETOP_NONE ? compound(node, outer, targets)
             : node.n_values_lists > 0                      ? values(node, outer, targets)
                                                            : select(node, outer, targets, keeps_open);
  has_aggregate_ = had_aggregate;
  sets_ = outer_sets;
  for (auto& column : out.columns) column.sql.clear();  // names are enough for those who read the rows
  out.text = ctes + out.text;
  if (!out.open.empty()) out.head = ctes + out.head;
  with_queries_ = with_before;
  return out;
}

SqlText Translator::with(const PgQuery__WithClause& node, const Scope* outer) {
  SqlText out = node.recursive ? "WITH RECURSIVE " : "WITH ";
  bool first = true;
  for (const auto* each : nodes(node.n_ctes, node.ctes)) {
    CHECK(each->node_case == PG_QUERY__NODE__NODE_COMMON_TABLE_EXPR, "WITH has a list of queries");
    const auto& cte = *each->common_table_expr;
    if (cte.search_clause != nullptr || cte.cycle_clause != nullptr)
      unsupported("SEARCH or CYCLE", cte.location, "count the depth in a column, and bound it in the recursive SELECT");
    if (cte.ctequery->node_case != PG_QUERY__NODE__NODE_SELECT_STMT)
      refuse("0A000", "a WITH query that changes rows is not supported", cte.location,
             "run the INSERT, UPDATE or DELETE as a statement of its own, in a transaction");
    const auto& body = *cte.ctequery->select_stmt;
    auto names = names_of(nodes(cte.n_aliascolnames, cte.aliascolnames));
    const auto key = to_lower(cte.ctename);
    const bool recursive = node.recursive && body.op == PG_QUERY__SET_OPERATION__SETOP_UNION;
    if (recursive) {
      // The first SELECT gives the columns that the second one reads.
      auto columns = query(*body.larg, outer).columns;
      for (std::size_t n = 0; n < names.size() && n < columns.size(); ++n) columns[n].name = names[n];
      with_queries_[key] = {columns, true};
    }
    auto inner = query(body, outer);
    if (inner.known && names.size() > inner.columns.size())
      refuse("42P10",
             "WITH query \"" + std::string(cte.ctename) + "\" has " + std::to_string(inner.columns.size()) +
                 " columns available but " + std::to_string(names.size()) + " columns specified",
             cte.location);
    if (!inner.known && !names.empty()) {
      inner = {.text = inner.text, .columns = {}};
      for (const auto& name : names) inner.columns.push_back({.name = name});
    }
    for (std::size_t n = 0; n < names.size(); ++n) inner.columns[n].name = names[n];
    names.clear();
    for (const auto& column : inner.columns) names.push_back(column.name);
    with_queries_[key] = {inner.columns, inner.known};
    if (!std::exchange(first, false)) out += ", ";
    out += SqlText(quote_identifier(cte.ctename), cte.location) + (inner.known ? name_list(names) : SqlText()) + " AS ";
    if (cte.ctematerialized == PG_QUERY__CTEMATERIALIZE__CTEMaterializeAlways) out += "MATERIALIZED ";
    if (cte.ctematerialized == PG_QUERY__CTEMATERIALIZE__CTEMaterializeNever) out += "NOT MATERIALIZED ";
    out += SqlText("(") + inner.text + ")";
  }
  return out + " ";
}

Translator::Query Translator::values(const PgQuery__SelectStmt& node, const Scope* outer,
                                     const std::vector<Column>* targets) {
  Query out;
  const Scope scope(outer);
  const auto defaults = std::exchange(defaults_, {});
  std::vector<std::vector<Value>> rows;
  for (const auto* list : nodes(node.n_values_lists, node.values_lists)) {
    CHECK(list->node_case == PG_QUERY__NODE__NODE_LIST, "VALUES has lists");
    auto& row = rows.emplace_back();
    for (std::size_t n = 0; n < list->list->n_items; ++n) {
      const auto* item = list->list->items[n];
      if (n < defaults.size() && defaults[n]) continue;
      row.push_back(checked(expression(*item, scope)));
      if (targets != nullptr && row.size() <= targets->size())
        row.back() = stored(std::move(row.back()), (*targets)[row.size() - 1]);
    }
    if (row.size() != rows.front().size())
      refuse("42601", "VALUES lists must all be the same length", row.empty() ? -1 : row.back().location);
  }
  const auto width = rows.front().size();
  for (std::size_t n = 0; n < width; ++n) {
    std::vector<Value> column;
    for (auto& row : rows) column.push_back(std::move(row[n]));
    const auto type = targets != nullptr ? column[0].type : unify(column, "VALUES");
    for (std::size_t r = 0; r < rows.size(); ++r) rows[r][n] = std::move(column[r]);
    out.columns.push_back({.name = "column" + std::to_string(n + 1), .type = type});
  }
  out.text = "VALUES ";
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::vector<SqlText> texts;
    for (const auto& value : rows[r]) texts.push_back(value.text);
    out.text += SqlText(r == 0 ? "(" : ", (") + joined(texts) + ")";
  }
  const bool plain = node.n_sort_clause == 0 && node.limit_count == nullptr && node.limit_offset == nullptr;
  if (!plain) out.text = SqlText("SELECT * FROM (") + out.text + ")";
  out.text += order_and_limit(node, scope, out, true);
  return out;
}

void Translator::close_results(Query& query, const std::vector<Column>& other) {
  if (query.open.empty()) return;
  for (auto& [column, place, value] : query.open) {
    auto& made = query.columns[column];
    const auto type = column < other.size() ? other[column].type : SqlType::Unknown;
    value = type == SqlType::Unknown ? as_result(std::move(value)) : settle(std::move(value), type);
    made.type = value.type;
    query.list[place] = value.text + SqlText(" AS " + quote_identifier(made.name));
  }
  query.text = query.head + joined(query.list) + query.tail;
  query.open.clear();
}

Translator::Query Translator::compound(const PgQuery__SelectStmt& node, const Scope* outer,
                                       const std::vector<Column>* targets) {
  auto left = query(*node.larg, outer, nullptr, true);
  auto right = query(*node.rarg, outer, nullptr, true);
  const bool known = left.known && right.known;
  if (known && left.columns.size() != right.columns.size())
    refuse("42601", "each UNION, INTERSECT or EXCEPT query must have the same number of columns", -1);
  close_results(left, known ? right.columns : std::vector<Column>());
  close_results(right, known ? left.columns : std::vector<Column>());
  const auto operand = [&](const PgQuery__SelectStmt& part, const Query& query) {
    // SQLite has one precedence for all of them and no parentheses around parts.
    const bool simple = part.op == PG_QUERY__SET_OPERATION__SETOP_NONE && part.n_sort_clause == 0 &&
                        part.limit_count == nullptr && part.limit_offset == nullptr && part.with_clause == nullptr &&
                        part.n_values_lists == 0;
    return simple ? query.text : SqlText("SELECT * FROM (") + query.text + ")";
  };
  Query out{.text = {}, .columns = {}, .known = known};
  for (std::size_t n = 0; known && n < left.columns.size(); ++n) {
    std::vector<Value> both(2);
    both[0] = {.text = "", .type = left.columns[n].type};
    both[1] = {.text = "", .type = right.columns[n].type};
    const auto type = unify(both, "UNION");
    if (!both[0].text.empty() || !both[1].text.empty()) {
      const auto is_integer = [](SqlType t) { return t == SqlType::Integer || t == SqlType::Numeric; };
      if (!is_integer(left.columns[n].type) && !is_number(left.columns[n].type))
        unsupported("UNION of columns of types " + std::string(name_of(left.columns[n].type)) + " and " +
                        std::string(name_of(right.columns[n].type)),
                    -1, "cast both to one type");
    }
    const bool alike = left.columns[n].declared == right.columns[n].declared;
    out.columns.push_back(
        {.name = left.columns[n].name, .type = type, .declared = alike ? left.columns[n].declared : std::string()});
  }
  std::string_view word = node.op == PG_QUERY__SET_OPERATION__SETOP_UNION       ? " UNION "
                          : node.op == PG_QUERY__SET_OPERATION__SETOP_INTERSECT ? " INTERSECT "
                                                                                : " EXCEPT ";
  if (node.all && node.op != PG_QUERY__SET_OPERATION__SETOP_UNION)
    refuse("0A000", "INTERSECT ALL and EXCEPT ALL are not supported", -1,
           "without ALL they are: rows that are equal are one row then");
  if (node.all) word = " UNION ALL ";
  out.text = operand(*node.larg, left) + SqlText(word) + operand(*node.rarg, right);
  if (targets != nullptr && known) {
    // Rows of a compound are converted behind it.
    std::vector<SqlText> converted;
    std::vector<std::string> names;
    for (std::size_t n = 0; n < out.columns.size(); ++n) {
      names.push_back("c" + std::to_string(n));
      Value value{.text = quote_identifier(names.back()), .type = out.columns[n].type};
      if (n < targets->size()) value = stored(std::move(value), (*targets)[n]);
      converted.push_back(value.text);
    }
    out.text =
        SqlText("WITH rows") + name_list(names) + " AS (" + out.text + ") SELECT " + joined(converted) + " FROM rows";
    if (node.n_sort_clause > 0 || node.limit_count != nullptr)
      unsupported("ORDER BY or LIMIT of a UNION that is inserted", -1, "put the UNION in parentheses: FROM (...) AS s");
    return out;
  }
  const Scope scope(outer);
  out.text += order_and_limit(node, scope, out, true);
  return out;
}

Translator::Query Translator::select(const PgQuery__SelectStmt& node, const Scope* outer,
                                     const std::vector<Column>* targets, bool keeps_open) {
  Query out;
  Scope scope(outer);
  const auto first_use = uses_.size();
  auto from = sources(nodes(node.n_from_clause, node.from_clause), scope);
  forget_uses(scope, first_use);
  groups_.push_back({&scope, group_keys(node, scope)});
  std::vector<SqlText> texts;
  std::vector<SqlText> sets;
  sets_ = &sets;
  const bool is_distinct_on =
      node.n_distinct_clause > 0 && node.distinct_clause[0]->node_case != PG_QUERY__NODE__NODE__NOT_SET;
  results(nodes(node.n_target_list, node.target_list), scope, targets, out, texts, keeps_open && !is_distinct_on);
  sets_ = nullptr;
  if (!sets.empty()) {
    if (node.n_group_clause > 0 || has_aggregate_)
      unsupported("a set-returning function beside groups", -1, "call it in a query around this one");
    from = (from.empty() ? SqlText() : from + ", ") + "json_each(" + sets[0] + ") AS \"pg_set\"";
  }
  if (texts.empty()) texts.emplace_back("1");  // EXISTS (SELECT FROM t)
  out.text = "SELECT ";
  if (node.n_distinct_clause > 0 && !is_distinct_on) out.text += "DISTINCT ";
  if (is_distinct_on) texts.push_back(places_of_groups(node, scope));
  const auto head = std::exchange(out.text, {});
  if (!from.empty()) out.text += SqlText(" FROM ") + from;
  if (node.where_clause != nullptr) {
    const bool had = std::exchange(has_aggregate_, false);
    const auto first_of_where = uses_.size();
    out.text += SqlText(" WHERE ") + condition(*node.where_clause, scope, "WHERE");
    forget_uses(scope, first_of_where);
    if (has_aggregate_) refuse("42803", "aggregate functions are not allowed in WHERE", -1);
    has_aggregate_ = had;
  }
  if (node.n_group_clause > 0) out.text += grouping(node, scope);
  if (node.having_clause != nullptr) {
    const auto having = condition(*node.having_clause, scope, "HAVING");
    if (node.n_group_clause == 0 && !has_aggregate_)
      unsupported("HAVING without groups and aggregates", -1, "write the condition in WHERE");
    out.text += SqlText(" HAVING ") + having;
  }
  const bool has_limit = node.limit_count != nullptr && node.limit_count->node_case == PG_QUERY__NODE__NODE_A_CONST &&
                         node.limit_count->a_const->val_case == PG_QUERY__A__CONST__VAL_IVAL &&
                         node.limit_count->a_const->ival->ival <= 1;
  out.has_one_row = has_limit || (has_aggregate_ && node.n_group_clause == 0) || node.n_from_clause == 0;
  if (node.n_window_clause > 0) {
    std::vector<SqlText> windows;
    for (const auto* each : nodes(node.n_window_clause, node.window_clause)) {
      CHECK(each->node_case == PG_QUERY__NODE__NODE_WINDOW_DEF, "WINDOW has definitions");
      auto definition = *each->window_def;
      definition.name = nullptr;
      windows.push_back(SqlText(quote_identifier(each->window_def->name) + " AS ") + window(definition, scope));
    }
    out.text += SqlText(" WINDOW ") + joined(windows);
  }
  if (!is_distinct_on) out.text += order_and_limit(node, scope, out, false);
  if (!out.open.empty()) {
    out.head = head;
    out.tail = out.text;
  }
  out.text = head + joined(texts) + out.text;
  if (!out.open.empty()) out.list = std::move(texts);
  if (node.n_distinct_clause > 0 && !is_distinct_on) check_distinct_order(node, scope, out);
  if (node.n_group_clause > 0 || has_aggregate_) check_grouping(scope, first_use);
  groups_.pop_back();
  forget_uses(scope, first_use);
  if (!is_distinct_on) return out;
  std::vector<SqlText> names;
  for (const auto& column : out.columns) {
    const auto same = std::count_if(out.columns.begin(), out.columns.end(),
                                    [&](const Column& other) { return equal_ignoring_case(other.name, column.name); });
    if (same > 1)
      unsupported("DISTINCT ON with two columns of one name", -1, "give the columns names of their own: AS");
    if (!column.hidden) names.emplace_back(quote_identifier(column.name));
  }
  out.text =
      SqlText("SELECT ") + joined(names) + " FROM (" + out.text + ") WHERE pg_row = 1 ORDER BY pg_place" + limit(node);
  return out;
}

// Columns for DISTINCT ON: the place of a row in its group, and among all rows.
SqlText Translator::places_of_groups(const PgQuery__SelectStmt& node, const Scope& scope) {
  if (node.n_group_clause > 0 || has_aggregate_)
    unsupported("DISTINCT ON beside groups", -1, "group in a query inside: FROM (SELECT ... GROUP BY ...) AS s");
  std::vector<SqlText> keys;
  for (const auto* key : nodes(node.n_distinct_clause, node.distinct_clause)) {
    if (key->node_case == PG_QUERY__NODE__NODE_A_CONST)
      unsupported("a position in DISTINCT ON", key->a_const->location, "write the expression");
    keys.push_back(checked(expression(*key, scope)).text);
  }
  check_distinct_on(node, scope);
  for (const auto* each : nodes(node.n_sort_clause, node.sort_clause)) {
    const auto& key = *each->sort_by->node;
    const bool is_name = key.node_case == PG_QUERY__NODE__NODE_COLUMN_REF && key.column_ref->n_fields == 1;
    // Positions and names of results mean something else in a window.
    if (key.node_case == PG_QUERY__NODE__NODE_A_CONST ||
        (is_name && !scope.find("", text_of(*key.column_ref->fields[0]))))
      unsupported("a position or a name of a result in the ORDER BY of DISTINCT ON", -1, "write the expression");
  }
  const auto order =
      node.n_sort_clause == 0
          ? SqlText()
          : SqlText(" ORDER BY ") + sorting(nodes(node.n_sort_clause, node.sort_clause), scope, nullptr, false);
  return SqlText("row_number() OVER (PARTITION BY ") + joined(keys) + order + ") AS pg_row, row_number() OVER (" +
         order + ") AS pg_place";
}

void Translator::star(const PgQuery__ColumnRef& node, const Scope& scope, bool convert, Query& out,
                      std::vector<SqlText>& texts) {
  const auto of = node.n_fields >= 2 ? text_of(*node.fields[node.n_fields - 2]) : std::string();
  bool found = false;
  bool known = true;
  bool renamed = false;
  std::vector<SqlText> each_text;
  std::vector<Column> columns;
  for (std::size_t n = 0; n < scope.sources().size(); ++n) {
    const auto& source = scope.sources()[n];
    if (!of.empty() && !equal_ignoring_case(source.name, of)) continue;
    found = true;
    known = known && source.known;
    if (!source.known) uses_.push_back({.scope = &scope, .source = n, .name = "*", .location = node.location});
    if (convert && source.is_function)
      unsupported("* of a function whose columns are not known here", node.location, "name the columns");
    for (auto column : source.columns) {
      const bool merged = of.empty() && std::any_of(source.joined.begin(), source.joined.end(), [&](const auto& name) {
                            return equal_ignoring_case(name, column.name);
                          });
      if (column.hidden || merged) continue;
      uses_.push_back({.scope = &scope, .source = n, .name = column.name, .location = node.location});
      renamed = renamed || !column.sql.empty();
      const auto own = (source.name.empty() ? "" : quote_identifier(source.name) + ".") + quote_identifier(column.name);
      auto text = SqlText(column.sql.empty() ? own : column.sql, node.location);
      if (!column.sql.empty() && !convert) text += SqlText(" AS " + quote_identifier(column.name));
      each_text.push_back(std::move(text));
      column.sql.clear();
      column.key = false;
      columns.push_back(std::move(column));
    }
  }
  if (!found && of.empty()) refuse("42601", "SELECT * with no tables specified is not valid", node.location);
  if (!found) refuse("42P01", "missing FROM-clause entry for table \"" + of + "\"", node.location);
  if (!known && renamed) unsupported("* of these sources together", node.location, "name the columns");
  out.known = out.known && known;
  out.columns.insert(out.columns.end(), columns.begin(), columns.end());
  if (known && (convert || renamed)) {
    texts.insert(texts.end(), each_text.begin(), each_text.end());
    return;
  }
  // Left to SQLite, so that it is found out if the tables have other columns by the time that it runs.
  texts.emplace_back((of.empty() ? "" : quote_identifier(of) + ".") + "*", node.location);
}

// A parameter has the type that the client states when the statement is there, and is a text otherwise.
Value Translator::as_result(Value value) {
  value = settle(std::move(value), SqlType::Text);
  if (value.parameter != 0) value.type = SqlType::Any;
  return value;
}

void Translator::results(std::span<PgNode* const> targets, const Scope& scope, const std::vector<Column>* columns,
                         Query& out, std::vector<SqlText>& texts, bool keeps_open) {
  for (const auto* each : targets) {
    CHECK(each->node_case == PG_QUERY__NODE__NODE_RES_TARGET, "a SELECT has a list of results");
    const auto& target = *each->res_target;
    if (is_star(*target.val)) {
      const auto first = texts.size();
      star(*target.val->column_ref, scope, columns != nullptr, out, texts);
      for (auto n = first; columns != nullptr && out.known && n < texts.size() && n < columns->size(); ++n)
        texts[n] = stored({.text = texts[n], .type = out.columns[n].type}, (*columns)[n]).text;
      continue;
    }
    auto value = checked(expression(*target.val, scope));
    const auto name = is_set(target.name) ? std::string(target.name) : value.name;
    const auto index = texts.size();
    if (columns != nullptr && out.known && index < columns->size()) value = stored(std::move(value), (*columns)[index]);
    else if (value.type == SqlType::Unknown && keeps_open)
      out.open.push_back({.column = out.columns.size(), .place = index, .value = value});
    else if (value.type == SqlType::Unknown) value = as_result(std::move(value));
    const bool own_name = target.val->node_case == PG_QUERY__NODE__NODE_COLUMN_REF && name == value.name &&
                          value.text.str().ends_with(quote_identifier(name));
    texts.push_back(own_name ? value.text : value.text + SqlText(" AS " + quote_identifier(name)));
    // Intervals are sorted by their length, so that a key needs their text.
    out.columns.push_back({.name = name,
                           .type = value.type,
                           .declared = value.declared,
                           .sql = value.type == SqlType::Interval ? value.text.str() : std::string()});
  }
}

SortDirection direction_of(const PgQuery__SortBy& sort) {
  if (sort.sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_USING)
    throw CodedError("0A000", ErrorKind::Unsupported, "ORDER BY ... USING is not supported", "write ASC or DESC");
  const bool descends = sort.sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_DESC;
  const bool nulls_first = sort.sortby_nulls == PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_DEFAULT
                               ? descends
                               : sort.sortby_nulls == PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_FIRST;
  return {descends, nulls_first};
}

SqlText Translator::sorting(std::span<PgNode* const> keys, const Scope& scope, const Query* rows, bool of_compound) {
  std::vector<SqlText> texts;
  const auto refuse_complex = [&](SqlType type, int location) {
    if (type == SqlType::Complex)
      refuse("42883", "could not identify an ordering operator for type complex", location, hint_for(type));
  };
  for (const auto* each : keys) {
    CHECK(each->node_case == PG_QUERY__NODE__NODE_SORT_BY, "ORDER BY has keys");
    const auto& sort = *each->sort_by;
    const auto [descends, nulls_first] = direction_of(sort);
    SqlText key;
    const auto& node = *sort.node;
    const bool is_name =
        node.node_case == PG_QUERY__NODE__NODE_COLUMN_REF && node.column_ref->n_fields == 1 && !is_star(node);
    const auto name = is_name ? text_of(*node.column_ref->fields[0]) : std::string();
    const bool of_result = rows != nullptr && is_name &&
                           std::any_of(rows->columns.begin(), rows->columns.end(),
                                       [&](const Column& column) { return equal_ignoring_case(column.name, name); });
    if (rows != nullptr && node.node_case == PG_QUERY__NODE__NODE_A_CONST) {
      if (node.a_const->val_case != PG_QUERY__A__CONST__VAL_IVAL)
        refuse("42601", "non-integer constant in ORDER BY", node.a_const->location);
      const auto position = node.a_const->ival->ival;
      if (position < 1 || (rows->known && static_cast<std::size_t>(position) > rows->columns.size()))
        refuse("42P10", "ORDER BY position " + std::to_string(position) + " is not in select list",
               node.a_const->location);
      key = SqlText(std::to_string(position));
      const auto* const column = rows->known ? &rows->columns[static_cast<std::size_t>(position) - 1] : nullptr;
      if (column != nullptr) refuse_complex(column->type, node.a_const->location);
      if (column != nullptr && column->type == SqlType::Interval) {
        if (of_compound)
          unsupported("ORDER BY an interval behind UNION", node.a_const->location, "put the UNION in FROM (...) AS s");
        const auto text = column->sql.empty() ? quote_identifier(column->name) : column->sql;
        key = SqlText("pg_interval_span(" + text + ")", node.a_const->location);
      }
    } else if (of_result) {
      key = SqlText(quote_identifier(name), node.column_ref->location);
      const auto column = std::find_if(rows->columns.begin(), rows->columns.end(),
                                       [&](const Column& c) { return equal_ignoring_case(c.name, name); });
      refuse_complex(column->type, sort.location);
      if (column->type == SqlType::Interval && of_compound)
        unsupported("ORDER BY an interval behind UNION", sort.location, "put the UNION in FROM (...) AS s");
      if (column->type == SqlType::Interval) key = SqlText("pg_interval_span(") + key + ")";
    } else {
      if (of_compound)
        refuse("0A000", "invalid UNION/INTERSECT/EXCEPT ORDER BY clause", sort.location,
               "Only result column names can be used, not expressions or functions.");
      auto value = checked(expression(node, scope));
      refuse_complex(value.type, sort.location);
      if (value.type == SqlType::Interval) value.text = SqlText("pg_interval_span(") + value.text + ")";
      key = value.text;
    }
    texts.push_back(key + (descends ? " DESC" : " ASC") + (nulls_first ? " NULLS FIRST" : " NULLS LAST"));
  }
  return joined(texts);
}

SqlText Translator::order_and_limit(const PgQuery__SelectStmt& node, const Scope& scope, const Query& rows,
                                    bool of_compound) {
  SqlText out;
  if (node.n_sort_clause > 0)
    out += SqlText(" ORDER BY ") + sorting(nodes(node.n_sort_clause, node.sort_clause), scope, &rows, of_compound);
  return out + limit(node);
}

SqlText Translator::limit(const PgQuery__SelectStmt& node) {
  SqlText out;
  if (node.limit_option == PG_QUERY__LIMIT_OPTION__LIMIT_OPTION_WITH_TIES)
    refuse("0A000", "WITH TIES is not supported", -1, "use rank() OVER (ORDER BY ...) and a condition on it");
  const Scope none(nullptr);
  const auto count = [&](const PgNode& bound, std::string_view what) {
    auto value = expression(bound, none);
    if (value.is_null) return SqlText(what == "LIMIT" ? "-1" : "0");
    value = coerce(std::move(value), SqlType::Integer, Coercion::Implicit);
    return SqlText(what == "LIMIT" ? "pg_limit(" : "pg_offset(") + value.text + ")";
  };
  if (node.limit_count != nullptr) out += SqlText(" LIMIT ") + count(*node.limit_count, "LIMIT");
  else if (node.limit_offset != nullptr) out += " LIMIT -1";
  if (node.limit_offset != nullptr) out += SqlText(" OFFSET ") + count(*node.limit_offset, "OFFSET");
  return out;
}

}  // namespace eindb::dialect

// GROUP BY, and which columns of a SELECT its groups determine.
#include <protobuf-c/protobuf-c.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "common/letter_case.hpp"
#include "common/quote_identifier.hpp"
#include "engine/dialect/translator.hpp"

namespace eindb::dialect {
namespace {

bool is_position(const PgNode& node) {
  return node.node_case == PG_QUERY__NODE__NODE_A_CONST && node.a_const->val_case == PG_QUERY__A__CONST__VAL_IVAL;
}

/// The name of a column without a table; empty for other expressions.
std::string bare_name(const PgNode& node) {
  if (node.node_case != PG_QUERY__NODE__NODE_COLUMN_REF || node.column_ref->n_fields != 1) return {};
  const auto& field = *node.column_ref->fields[0];
  return field.node_case == PG_QUERY__NODE__NODE_STRING ? text_of(field) : std::string();
}

bool ends_with_star(const PgNode& node) {
  if (node.node_case != PG_QUERY__NODE__NODE_COLUMN_REF || node.column_ref->n_fields == 0) return false;
  return node.column_ref->fields[node.column_ref->n_fields - 1]->node_case == PG_QUERY__NODE__NODE_A_STAR;
}

/// The table and the name of a column that is written with or without its table.
std::pair<std::string, std::string> qualified_name(const PgQuery__ColumnRef& column) {
  const auto fields = nodes(column.n_fields, column.fields);
  const auto table = fields.size() > 1 ? text_of(*fields[fields.size() - 2]) : std::string();
  return {table, text_of(*fields.back())};
}

/// Compares syntax trees without the places that they come from. Columns are compared by `same_column`.
class TreeComparison {
 public:
  using SameColumn = std::function<bool(const PgQuery__ColumnRef&, const PgQuery__ColumnRef&)>;
  explicit TreeComparison(SameColumn same_column) : same_column_(std::move(same_column)) {}

  bool same(const ProtobufCMessage& a, const ProtobufCMessage& b) const {
    if (a.descriptor != b.descriptor) return false;
    if (a.descriptor == &pg_query__column_ref__descriptor)
      return same_column_(reinterpret_cast<const PgQuery__ColumnRef&>(a),
                          reinterpret_cast<const PgQuery__ColumnRef&>(b));
    const auto* const fields = a.descriptor->fields;
    return std::all_of(fields, fields + a.descriptor->n_fields, [&](const ProtobufCFieldDescriptor& field) {
      return std::string_view(field.name) == "location" || same_field(field, a, b);
    });
  }

 private:
  template <class T>
  static const T& at(const ProtobufCMessage& message, unsigned offset) {
    return *reinterpret_cast<const T*>(reinterpret_cast<const char*>(&message) + offset);
  }

  bool same_field(const ProtobufCFieldDescriptor& field, const ProtobufCMessage& a, const ProtobufCMessage& b) const {
    if (field.label == PROTOBUF_C_LABEL_REPEATED) return same_list(field, a, b);
    if ((field.flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0) {
      const auto chosen = at<std::uint32_t>(a, field.quantifier_offset);
      if (chosen != at<std::uint32_t>(b, field.quantifier_offset)) return false;
      if (chosen != field.id) return true;
    }
    switch (field.type) {
      case PROTOBUF_C_TYPE_MESSAGE: return same_part(at<Part>(a, field.offset), at<Part>(b, field.offset));
      case PROTOBUF_C_TYPE_STRING:
        return std::string_view(at<const char*>(a, field.offset)) == at<const char*>(b, field.offset);
      case PROTOBUF_C_TYPE_INT64:
      case PROTOBUF_C_TYPE_UINT64: return at<std::uint64_t>(a, field.offset) == at<std::uint64_t>(b, field.offset);
      default: return at<std::uint32_t>(a, field.offset) == at<std::uint32_t>(b, field.offset);
    }
  }

  using Part = const ProtobufCMessage*;
  bool same_part(Part a, Part b) const { return a == nullptr || b == nullptr ? a == b : same(*a, *b); }

  bool same_list(const ProtobufCFieldDescriptor& field, const ProtobufCMessage& a, const ProtobufCMessage& b) const {
    const auto count = at<std::size_t>(a, field.quantifier_offset);
    if (count != at<std::size_t>(b, field.quantifier_offset)) return false;
    CHECK(field.type == PROTOBUF_C_TYPE_MESSAGE || count == 0, "lists of the syntax tree have nodes");
    const auto* const of_a = at<const Part*>(a, field.offset);
    const auto* const of_b = at<const Part*>(b, field.offset);
    for (std::size_t n = 0; n < count; ++n)
      if (!same_part(of_a[n], of_b[n])) return false;
    return true;
  }

  SameColumn same_column_;
};

}  // namespace

// A number is the place of a result, and a name is a column of the tables before it is one of a result.
std::vector<const PgNode*> Translator::group_keys(const PgQuery__SelectStmt& node, const Scope& scope) const {
  std::vector<const PgNode*> keys;
  const auto targets = nodes(node.n_target_list, node.target_list);
  for (const auto* key : nodes(node.n_group_clause, node.group_clause)) {
    const auto name = bare_name(*key);
    if (is_position(*key)) {
      const auto position = key->a_const->ival->ival;
      if (position < 1 || static_cast<std::size_t>(position) > targets.size())
        refuse("42P10", "GROUP BY position " + std::to_string(position) + " is not in select list",
               key->a_const->location);
      key = targets[static_cast<std::size_t>(position) - 1]->res_target->val;
    } else if (!name.empty() && !scope.find("", name)) {
      for (const auto* target : targets)
        if (is_set(target->res_target->name) && equal_ignoring_case(target->res_target->name, name))
          key = target->res_target->val;
    }
    keys.push_back(key);
  }
  return keys;
}

SqlText Translator::grouping(const PgQuery__SelectStmt& node, const Scope& scope) {
  std::vector<SqlText> keys;
  for (const auto* key : nodes(node.n_group_clause, node.group_clause)) {
    if (key->node_case == PG_QUERY__NODE__NODE_GROUPING_SET)
      unsupported("GROUPING SETS, ROLLUP or CUBE", key->grouping_set->location,
                  "write a SELECT for each set, joined by UNION ALL");
    const auto name = bare_name(*key);
    if (is_position(*key)) keys.emplace_back(std::to_string(key->a_const->ival->ival));
    else if (!name.empty() && !scope.find("", name)) keys.emplace_back(quote_identifier(name));
    else keys.push_back(checked(expression(*key, scope)).text);
  }
  return SqlText(" GROUP BY ") + joined(keys);
}

bool Translator::same_expression(const PgNode& a, const Scope& scope_of_a, const PgNode& b,
                                 const Scope& scope_of_b) const {
  const TreeComparison comparison([&](const PgQuery__ColumnRef& left, const PgQuery__ColumnRef& right) {
    const auto [left_table, left_name] = qualified_name(left);
    const auto [right_table, right_name] = qualified_name(right);
    const auto of_left = scope_of_a.find(left_table, left_name);
    const auto of_right = scope_of_b.find(right_table, right_name);
    return of_left && of_right && of_left->scope == of_right->scope && of_left->source == of_right->source &&
           equal_ignoring_case(left_name, right_name);
  });
  return comparison.same(a.base, b.base);
}

void Translator::note_use(const std::string& name, const Scope::Found& found, int location, const Scope& scope) {
  uses_.push_back({.scope = found.scope,
                   .source = found.source,
                   .name = name,
                   .location = location,
                   .in_sub_query = found.scope != &scope});
}

void Translator::forget_uses(const Scope& scope, std::size_t first) {
  CHECK(first <= uses_.size(), "uses of columns are forgotten behind those that stay");
  const auto begin = uses_.begin() + static_cast<std::ptrdiff_t>(first);
  uses_.erase(std::remove_if(begin, uses_.end(), [&](const ColumnUse& use) { return use.scope == &scope; }),
              uses_.end());
}

// An expression that is a key may stand outside of aggregates, whatever columns it has.
void Translator::forget_keys(const PgNode& node, const Scope& scope, std::size_t first) {
  if (uses_.size() == first || node.node_case == PG_QUERY__NODE__NODE_COLUMN_REF) return;
  for (const auto& [of, keys] : groups_) {
    const auto* const groups_scope = of;
    const bool matches = std::any_of(keys.begin(), keys.end(), [&](const PgNode* key) {
      return key->node_case == node.node_case && same_expression(*key, *groups_scope, node, scope);
    });
    if (matches) forget_uses(*groups_scope, first);
  }
}

// An aggregate is one of the innermost SELECT whose columns it has.
void Translator::forget_aggregated(const Scope& scope, std::size_t first) {
  for (const auto* of = &scope; of != nullptr; of = of->outer()) {
    const auto count = uses_.size();
    forget_uses(*of, first);
    if (uses_.size() < count) return;
  }
}

bool Translator::is_key(const ColumnUse& use, const GroupKeys& groups) const {
  return std::any_of(groups.keys.begin(), groups.keys.end(), [&](const PgNode* key) {
    if (key->node_case != PG_QUERY__NODE__NODE_COLUMN_REF || ends_with_star(*key)) return false;
    const auto [table, name] = qualified_name(*key->column_ref);
    const auto found = use.scope->find(table, name);
    return found && found->scope == use.scope && found->source == use.source && equal_ignoring_case(name, use.name);
  });
}

// The columns of a primary key that are all keys of the groups determine the other columns of their table.
bool Translator::is_determined(const ColumnUse& use, const GroupKeys& groups) const {
  if (is_key(use, groups)) return true;
  if (use.source == Scope::kNoSource) return false;
  bool has_key = false;
  for (const auto& column : use.scope->sources()[use.source].columns) {
    if (!column.key) continue;
    has_key = true;
    if (!is_key({.scope = use.scope, .source = use.source, .name = column.name}, groups)) return false;
  }
  return has_key;
}

void Translator::check_grouping(const Scope& scope, std::size_t first) const {
  CHECK(!groups_.empty() && groups_.back().scope == &scope, "the groups are those of the SELECT at hand");
  for (std::size_t n = first; n < uses_.size(); ++n) {
    const auto& use = uses_[n];
    if (use.scope != &scope || is_determined(use, groups_.back())) continue;
    const auto table = use.source == Scope::kNoSource ? std::string() : scope.sources()[use.source].name;
    const auto name = (table.empty() ? "" : table + ".") + use.name;
    refuse("42803",
           use.in_sub_query
               ? "subquery uses ungrouped column \"" + name + "\" from outer query"
               : "column \"" + name + "\" must appear in the GROUP BY clause or be used in an aggregate function",
           use.location);
  }
}

// The expressions of DISTINCT ON are the first keys of ORDER BY, in any order.
void Translator::check_distinct_on(const PgQuery__SelectStmt& node, const Scope& scope) const {
  const auto keys = nodes(node.n_distinct_clause, node.distinct_clause);
  const auto sorts = nodes(node.n_sort_clause, node.sort_clause);
  const auto is_one_of = [&](const PgNode& expression, const auto& others, auto node_of) {
    return std::any_of(others.begin(), others.end(),
                       [&](const PgNode* other) { return same_expression(expression, scope, node_of(*other), scope); });
  };
  const auto key_of = [](const PgNode& key) -> const PgNode& { return key; };
  const auto sorted_by = [](const PgNode& sort) -> const PgNode& { return *sort.sort_by->node; };
  bool others_came = false;
  for (const auto* sort : sorts) {
    const bool is_key = is_one_of(sorted_by(*sort), keys, key_of);
    if (is_key && others_came)
      refuse("42P10", "SELECT DISTINCT ON expressions must match initial ORDER BY expressions", -1);
    others_came = others_came || !is_key;
  }
  const bool all =
      std::all_of(keys.begin(), keys.end(), [&](const PgNode* key) { return is_one_of(*key, sorts, sorted_by); });
  if (others_came && !all)
    refuse("42P10", "SELECT DISTINCT ON expressions must match initial ORDER BY expressions", -1);
}

void Translator::check_distinct_order(const PgQuery__SelectStmt& node, const Scope& scope, const Query& rows) const {
  const auto targets = nodes(node.n_target_list, node.target_list);
  for (const auto* each : nodes(node.n_sort_clause, node.sort_clause)) {
    const auto& key = *each->sort_by->node;
    const auto name = bare_name(key);
    const bool of_result =
        key.node_case == PG_QUERY__NODE__NODE_A_CONST ||
        (!name.empty() && std::any_of(rows.columns.begin(), rows.columns.end(),
                                      [&](const Column& column) { return equal_ignoring_case(column.name, name); }));
    const bool in_list = std::any_of(targets.begin(), targets.end(), [&](const PgNode* target) {
      const auto& value = *target->res_target->val;
      if (ends_with_star(value)) return key.node_case == PG_QUERY__NODE__NODE_COLUMN_REF;
      return same_expression(value, scope, key, scope);
    });
    if (!of_result && !in_list)
      refuse("42P10", "for SELECT DISTINCT, ORDER BY expressions must appear in select list", each->sort_by->location);
  }
}

}  // namespace eindb::dialect

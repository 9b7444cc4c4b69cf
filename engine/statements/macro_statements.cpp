#include <algorithm>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "common/nearest_name.hpp"
#include "engine/results/rows.hpp"
#include "engine/statements/constant_value.hpp"
#include "engine/statements/statements.hpp"
#include "parser/ast_children.hpp"
#include "parser/expression_words.hpp"
#include "parser/foreign_words.hpp"
#include "parser/parser.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"
#include "tensor/scalar_expression.hpp"

namespace eindb {
namespace {

bool is_builtin(const std::string& name) { return find_builtin_macro(name, 0) != nullptr; }

// Names of aggregates such as SUM, and words that begin an expression: a macro of such a name could not be called.
bool is_word_of_language(const std::string& name) {
  if (may_be_macro(name)) return false;
  const auto aggregates = aggregate_names();
  return std::find(aggregates.begin(), aggregates.end(), to_upper(name)) != aggregates.end() ||
         to_upper(name) == "CASE" || to_upper(name) == "CAST" || to_upper(name) == "NOT";
}

void check_name(const ast::CreateMacro& create) {
  const auto& name = create.name;
  if (find_scalar_function(name.text) || find_generator(name.text) || is_word_of_language(name.text)) {
    throw Error(ErrorKind::DuplicateName, name.text + " is a function of the language", name.span,
                create.aggregate ? "give the aggregate another name" : "give the macro another name");
  }
  if (is_builtin(name.text) && create.aggregate) {
    throw Error(ErrorKind::DuplicateName, name.text + " is a built-in macro", name.span,
                "give the aggregate another name");
  }
  if (is_builtin(name.text) && !create.or_replace && !may_be_macro(name.text)) {
    throw Error(ErrorKind::DuplicateName, name.text + " is a built-in macro", name.span,
                "CREATE OR REPLACE MACRO hides it; DROP MACRO brings it back");
  }
}

void check_parameters(const std::vector<ast::Identifier>& parameters) {
  for (auto p = parameters.begin(); p != parameters.end(); ++p) {
    const auto same = [&](const ast::Identifier& other) { return other.text == p->text; };
    if (std::any_of(parameters.begin(), p, same))
      throw Error(ErrorKind::DuplicateName, "parameter " + p->text + " is given twice", p->span);
  }
}

// Checks that every function in the body exists, except the macro itself: its first use shows whether it is recursive.
void check_body(const ast::Expression& e, const ast::CreateMacro& create, MacroCatalog& macros) {
  if (std::holds_alternative<ast::Parameter>(e.node)) {
    throw Error(ErrorKind::Value, "a macro cannot read a parameter of a prepared statement", e.span,
                "make it a parameter of the macro");
  }
  if (const auto* call = std::get_if<ast::Call>(&e.node)) {
    const auto& name = call->function.text;
    if (to_upper(name) == to_upper(create.name.text))
      throw Error(ErrorKind::Value, (create.aggregate ? "aggregate " : "macro ") + name + " calls itself", e.span,
                  "a macro cannot be recursive");
    if (!find_scalar_function(name) && !find_generator(name) && !is_builtin(name) && !macros.find(name)) {
      std::vector<std::string> candidates = builtin_macro_names();
      for (const auto& macro : macros.list()) candidates.push_back(macro.name);
      for (const auto function : scalar_function_names()) candidates.emplace_back(function);
      for (const auto aggregate : aggregate_names()) candidates.emplace_back(aggregate);
      const auto nearest = nearest_name(name, candidates);
      const auto foreign = hint_for_function(name);
      throw Error(ErrorKind::UnknownName, "there is no function " + name, call->function.span,
                  !foreign.empty() ? foreign
                  : nearest        ? "did you mean " + *nearest + "?"
                                   : "");
    }
  }
  if (const auto* aggregate = std::get_if<ast::Aggregate>(&e.node); aggregate != nullptr && aggregate->name) {
    const auto known = macros.find(aggregate->name->text);
    if (!known || !known->is_aggregate())
      throw Error(ErrorKind::UnknownName, "there is no aggregate " + aggregate->name->text, aggregate->name->span,
                  "SHOW AGGREGATES lists those of users");
  }
  for_each_child(e, [&](const ast::Expression& child) { check_body(child, create, macros); });
}

[[noreturn]] void refuse_in_function(const std::string& what, SourceSpan span) {
  throw Error(ErrorKind::Value, what, span,
              "a function depends on its parameters alone; CREATE MACRO takes any expression");
}

/// Refuses what makes a macro more than a function of the values of its parameters: tensors, labels, aggregates and
/// random numbers, also in macros that it calls. `span` is the place of the errors; null: that of the part itself.
void check_is_function(const ast::Expression& e, const std::vector<ast::Identifier>& parameters, OpenDatabase& database,
                       const SourceSpan* span) {
  const auto place = span == nullptr ? e.span : *span;
  if (const auto* name = std::get_if<ast::Name>(&e.node)) {
    const auto same = [&](const ast::Identifier& parameter) { return parameter.text == name->name.text; };
    if (std::none_of(parameters.begin(), parameters.end(), same))
      refuse_in_function(name->name.text + " is no parameter of the function", place);
  }
  if (const auto* reference = std::get_if<ast::Reference>(&e.node))
    refuse_in_function("a function takes values, and cannot read the tensor " + reference->name.text, place);
  if (std::holds_alternative<ast::Aggregate>(e.node)) refuse_in_function("a function cannot aggregate", place);
  if (const auto* call = std::get_if<ast::Call>(&e.node)) {
    const auto& name = call->function.text;
    if (find_generator(name)) refuse_in_function("random numbers belong to labels, not to a function", place);
    auto macro = database.macro(name);
    if (!macro) macro = find_builtin_macro(name, call->arguments.size());
    if (macro && macro->aggregate) refuse_in_function("a function cannot aggregate", place);
    if (macro) check_is_function(macro->body, macro->parameters, database, &place);
  }
  for_each_child(e, [&](const ast::Expression& child) { check_is_function(child, parameters, database, span); });
}

std::string definition_text(const ast::CreateMacro& create) {
  CHECK(!create.body_text.empty(), "a macro that is kept has the text of its body");
  std::string out = "(";
  for (const auto& parameter : create.parameters)
    out += (&parameter == &create.parameters.front() ? "" : ", ") + quote_identifier(parameter.text);
  return (create.aggregate ? std::string(StoredMacro::kAggregate) : "") + out + ") AS " + create.body_text;
}

// Macros and aggregates have one space of names; OR REPLACE replaces what is of its own kind.
void check_replaced(const ast::CreateMacro& create, const StoredMacro& known) {
  const bool same_kind = known.is_aggregate() == create.aggregate.has_value();
  const std::string kind = known.is_aggregate() ? "aggregate" : "macro";
  if (same_kind && create.or_replace) return;
  std::string hint = same_kind ? "CREATE OR REPLACE " + to_upper(kind) + ", or drop it first"
                               : "give the " + std::string(create.aggregate ? "aggregate" : "macro") +
                                     " another name, or DROP " + to_upper(kind) + " " + known.name + " first";
  throw Error(ErrorKind::DuplicateName, kind + " " + known.name + " exists already", create.name.span, std::move(hint));
}

// The type of what is combined is that of the values.
void refuse_cast(const ast::Expression& e) {
  if (std::holds_alternative<ast::Cast>(e.node)) {
    throw Error(ErrorKind::Value, "an aggregate has the type of the values that it combines, and no CAST", e.span,
                "convert the values where the aggregate is used: name(CAST(x AS FLOAT32))");
  }
  for_each_child(e, [&](const ast::Expression& child) { refuse_cast(child); });
}

// A trial with two numbers shows what else is wrong: calls with too few arguments, an initial value that is none.
void check_aggregate(const ast::CreateMacro& create, OpenDatabase& database) {
  const auto& clauses = *create.aggregate;
  refuse_cast(create.body);
  refuse_cast(clauses.initial);
  check_is_function(clauses.initial, {}, database, nullptr);
  if (!clauses.distributes_over.empty() && !(clauses.commutative && clauses.associative)) {
    throw Error(ErrorKind::Value, "what distributes over an operator must be COMMUTATIVE and ASSOCIATIVE",
                clauses.distributes_over.front().name.span, "declare both, or leave DISTRIBUTES OVER out");
  }
  auto names = database.names({});
  constant_value(clauses.initial, names);
  const auto trial = std::make_shared<const Macro>(Macro{create.name.text, create.parameters, create.body});
  const auto find = names.find_macro;
  names.find_macro = [&](const std::string& name) {
    return equal_ignoring_case(name, create.name.text) ? trial : find(name);
  };
  ast::Call call{create.name, {}};
  for (const auto value : {1, 2}) call.arguments.push_back({ast::Integer{value}, create.body.span});
  constant_value({std::move(call), create.body.span}, names);
  for (const auto& [name, is_macro] : clauses.distributes_over) {
    if (!is_macro) continue;
    const auto join = find_join_macro(find, name, name.span);
    check_is_function(join->body, join->parameters, database, &name.span);
  }
}

}  // namespace

Result execute_statement(const ast::CreateMacro& create, OpenDatabase& database) {
  SqliteTransaction transaction(database.connection());
  const auto known = database.macros.find(create.name.text);
  const auto* const tag = create.is_function ? "CREATE FUNCTION"
                          : create.aggregate ? "CREATE AGGREGATE"
                                             : "CREATE MACRO";
  if (known && create.if_not_exists && known->is_aggregate() == create.aggregate.has_value()) return status_result(tag);
  if (known) check_replaced(create, *known);
  check_name(create);
  check_parameters(create.parameters);
  check_body(create.body, create, database.macros);
  if (create.is_function || create.aggregate) check_is_function(create.body, create.parameters, database, nullptr);
  if (create.aggregate) check_aggregate(create, database);
  database.macros.put({create.name.text, definition_text(create)});
  transaction.commit();
  return status_result(tag);
}

Result execute_statement(const ast::DropMacro& drop, OpenDatabase& database) {
  SqliteTransaction transaction(database.connection());
  const std::string kind = drop.is_aggregate ? "aggregate" : "macro";
  const auto known = database.macros.find(drop.name.text);
  if (known && known->is_aggregate() != drop.is_aggregate) {
    throw Error(ErrorKind::Value, known->name + (drop.is_aggregate ? " is a macro" : " is an aggregate"),
                drop.name.span, (drop.is_aggregate ? "DROP MACRO " : "DROP AGGREGATE ") + known->name + " drops it");
  }
  if (!database.macros.drop(drop.name.text) && !drop.if_exists) {
    if (is_builtin(drop.name.text))
      throw Error(ErrorKind::Value, "macro " + drop.name.text + " is built in and cannot be dropped", drop.name.span);
    std::vector<std::string> names;
    for (const auto& macro : database.macros.list())
      if (macro.is_aggregate() == drop.is_aggregate) names.push_back(macro.name);
    const auto nearest = nearest_name(drop.name.text, names);
    throw Error(ErrorKind::UnknownName, "there is no " + kind + " " + drop.name.text, drop.name.span,
                nearest ? "did you mean " + *nearest + "?" : "SHOW " + to_upper(kind) + "S lists what there is");
  }
  transaction.commit();
  return status_result(drop.is_function ? "DROP FUNCTION" : drop.is_aggregate ? "DROP AGGREGATE" : "DROP MACRO");
}

Result execute_statement(const ast::ShowMacros& show, OpenDatabase& database) {
  std::vector<Row> rows;
  for (const auto& macro : database.macros.list()) {
    if (show.aggregates_alone && !macro.is_aggregate()) continue;
    rows.push_back({macro.name, show.aggregates_alone ? macro.definition.substr(StoredMacro::kAggregate.size())
                                                      : macro.definition});
  }
  return listed_result({{"name", ColumnType::Text}, {"definition", ColumnType::Text}}, std::move(rows));
}

}  // namespace eindb

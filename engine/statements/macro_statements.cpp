#include <algorithm>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "common/nearest_name.hpp"
#include "engine/results/rows.hpp"
#include "engine/statements/statements.hpp"
#include "parser/ast_children.hpp"
#include "parser/expression_parser.hpp"
#include "parser/foreign_words.hpp"
#include "parser/parser.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"
#include "tensor/scalar_expression.hpp"

namespace eindb {
namespace {

// Names of aggregates such as SUM, and words that begin an expression: a macro of such a name could not be called.
bool is_word_of_language(const std::string& name) {
  const auto aggregates = aggregate_names();
  return std::find(aggregates.begin(), aggregates.end(), to_upper(name)) != aggregates.end() ||
         to_upper(name) == "CASE" || to_upper(name) == "CAST" || to_upper(name) == "NOT";
}

bool is_builtin(const std::string& name) { return find_builtin_macro(name, 0) != nullptr; }

void check_name(const ast::CreateMacro& create) {
  const auto& name = create.name;
  if (find_scalar_function(name.text) || find_generator(name.text) || is_word_of_language(name.text)) {
    throw Error(ErrorKind::DuplicateName, name.text + " is a function of the language", name.span,
                "give the macro another name");
  }
  if (is_builtin(name.text) && !create.or_replace) {
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
      throw Error(ErrorKind::Value, "macro " + name + " calls itself", e.span, "a macro cannot be recursive");
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
    if (macro) check_is_function(macro->body, macro->parameters, database, &place);
  }
  for_each_child(e, [&](const ast::Expression& child) { check_is_function(child, parameters, database, span); });
}

std::string definition_text(const ast::CreateMacro& create) {
  CHECK(!create.body_text.empty(), "a macro that is kept has the text of its body");
  std::string out = "(";
  for (const auto& parameter : create.parameters)
    out += (&parameter == &create.parameters.front() ? "" : ", ") + quote_identifier(parameter.text);
  return out + ") AS " + create.body_text;
}

}  // namespace

Result execute_statement(const ast::CreateMacro& create, OpenDatabase& database) {
  SqliteTransaction transaction(database.connection());
  const auto known = database.macros.find(create.name.text);
  const auto tag = create.is_function ? "CREATE FUNCTION" : "CREATE MACRO";
  if (known && create.if_not_exists) return status_result(tag);
  if (known && !create.or_replace) {
    throw Error(ErrorKind::DuplicateName, "macro " + known->name + " exists already", create.name.span,
                "CREATE OR REPLACE MACRO, or drop it first");
  }
  check_name(create);
  check_parameters(create.parameters);
  check_body(create.body, create, database.macros);
  if (create.is_function) check_is_function(create.body, create.parameters, database, nullptr);
  database.macros.put({create.name.text, definition_text(create)});
  transaction.commit();
  return status_result(tag);
}

Result execute_statement(const ast::DropMacro& drop, OpenDatabase& database) {
  SqliteTransaction transaction(database.connection());
  if (!database.macros.drop(drop.name.text) && !drop.if_exists) {
    if (is_builtin(drop.name.text))
      throw Error(ErrorKind::Value, "macro " + drop.name.text + " is built in and cannot be dropped", drop.name.span);
    std::vector<std::string> names;
    for (const auto& macro : database.macros.list()) names.push_back(macro.name);
    const auto nearest = nearest_name(drop.name.text, names);
    throw Error(ErrorKind::UnknownName, "there is no macro " + drop.name.text, drop.name.span,
                nearest ? "did you mean " + *nearest + "?" : "SHOW MACROS lists what there is");
  }
  transaction.commit();
  return status_result(drop.is_function ? "DROP FUNCTION" : "DROP MACRO");
}

Result execute_statement(const ast::ShowMacros&, OpenDatabase& database) {
  std::vector<Row> rows;
  for (const auto& macro : database.macros.list()) rows.push_back({macro.name, macro.definition});
  return listed_result({{"name", ColumnType::Text}, {"definition", ColumnType::Text}}, std::move(rows));
}

}  // namespace eindb

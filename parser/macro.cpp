#include "parser/macro.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "common/stack_guard.hpp"
#include "parser/ast_children.hpp"
#include "parser/parser.hpp"

namespace eindb {
namespace {

// The size of an expression after expansion.
struct Measures {
  std::size_t depth = 1;
  std::size_t nodes = 1;
};

// An argument of a macro, expanded.
struct Argument {
  ast::Expression expression;
  Measures measures;
};

// One macro call, which determines the meaning of the names in its body.
struct Call {
  const Macro& macro;
  const std::vector<Argument>& arguments;
  std::uint32_t scope;
  SourceSpan span;
  const Call* caller;  // null for calls in the statement itself
};

[[noreturn]] void too_large(SourceSpan span) {
  throw Error(ErrorKind::Value,
              "macros expand to more than " + std::to_string(kMaxExpandedNodes) + " nodes, or nest more than " +
                  std::to_string(kMaxNesting) + " deep",
              span, "compute parts in WITH definitions: each is computed once, however often it is used");
}

void check_arguments(const Macro& macro, const ast::Call& call, SourceSpan span) {
  if (macro.parameters.size() == call.arguments.size()) return;
  std::string form = macro.name + "(";
  for (const auto& parameter : macro.parameters)
    form += (&parameter == &macro.parameters.front() ? "" : ", ") + parameter.text;
  throw Error(ErrorKind::Value,
              "macro " + macro.name + " takes " + std::to_string(macro.parameters.size()) +
                  (macro.parameters.size() == 1 ? " argument, but " : " arguments, but ") +
                  std::to_string(call.arguments.size()) + (call.arguments.size() == 1 ? " is given" : " are given"),
              span, "write " + form + ")");
}

class Expander {
 public:
  Expander(const FindMacro& find, std::uint32_t& next_scope) : find_(find), next_scope_(next_scope) {}

  // Expands `e` in place; `call` is the macro call whose body contains `e`, or null.
  Measures expand(ast::Expression& e, const Call* call, std::size_t depth) {
    e.span = place(e.span, call);
    if (depth > kMaxNesting) too_large(e.span);
    require_stack();
    if (const auto* name = std::get_if<ast::Name>(&e.node)) {
      if (const auto* argument = argument_for(name->name, call)) {
        e = argument->expression;
        return argument->measures;
      }
    }
    MacroPtr found;
    if (const auto* node = std::get_if<ast::Call>(&e.node)) {
      found = find_macro(*node);
      if (found != nullptr && !found->aggregate) return expand_call(e, *found, call, depth);
      if (found != nullptr) e.node = aggregate_of(*node, e.span);
    } else if (const auto* aggregate = std::get_if<ast::Aggregate>(&e.node);
               aggregate != nullptr && aggregate->op == ast::AggregateOp::User) {
      found = find_(aggregate->name->text);
      if (found != nullptr && !found->aggregate) {
        throw Error(ErrorKind::Value, found->name + " is a macro, and takes no labels in brackets", e.span,
                    "write " + found->name + "(...); CREATE AGGREGATE makes an aggregate");
      }
    }
    if (call != nullptr) resolve_names(e, *call);
    Measures whole;
    if (found != nullptr) whole = define(std::get<ast::Aggregate>(e.node), *found, e.span, call, depth);
    rewrite_children(e, [&](ast::Expression& child) {
      const auto inside = expand(child, call, depth + 1);
      whole.depth = std::max(whole.depth, inside.depth + 1);
      whole.nodes += inside.nodes;
      if (whole.depth > kMaxNesting || whole.nodes > kMaxExpandedNodes) too_large(e.span);
    });
    return whole;
  }

 private:
  static SourceSpan place(SourceSpan own, const Call* call) { return call == nullptr ? own : call->span; }

  // The argument for `name` if it is a parameter of the enclosing macro; else null.
  static const Argument* argument_for(const ast::Identifier& name, const Call* call) {
    if (call == nullptr) return nullptr;
    const auto& parameters = call->macro.parameters;
    const auto same = [&](const ast::Identifier& parameter) { return parameter.text == name.text; };
    const auto found = std::find_if(parameters.begin(), parameters.end(), same);
    if (found == parameters.end()) return nullptr;
    return &call->arguments[static_cast<std::size_t>(found - parameters.begin())];
  }

  static ast::Identifier scoped(ast::Identifier name, const Call& call) {
    name.scope = call.scope;
    name.span = call.span;
    return name;
  }

  // The name of a label or tensor: the body's own, or the one passed for a parameter.
  static ast::Identifier name_for(const ast::Identifier& name, const Call& call, const std::string& what) {
    const auto* argument = argument_for(name, &call);
    if (argument == nullptr) return scoped(name, call);
    if (const auto* given = std::get_if<ast::Name>(&argument->expression.node)) return given->name;
    throw Error(ErrorKind::Value, "parameter " + name.text + " of macro " + call.macro.name + " stands for " + what,
                argument->expression.span, "give " + what + " there");
  }

  static void resolve_term(ast::IndexTerm& term, const Call& call) {
    term.span = call.span;
    if (auto* merged = std::get_if<ast::MergedIndex>(&term.value)) {
      for (auto& dimension : merged->labels) dimension.label = name_for(dimension.label, call, "a label");
      return;
    }
    const auto* name = std::get_if<ast::Identifier>(&term.value);
    if (name == nullptr) return;
    if (const auto* argument = argument_for(*name, &call)) {
      const auto& given = argument->expression.node;
      if (const auto* index = std::get_if<ast::Integer>(&given)) return void(term.value = *index);
      if (const auto* index = std::get_if<ast::Parameter>(&given)) return void(term.value = *index);
    }
    term.value = name_for(*name, call, "a label");
  }

  // Resolves the names of one node of a macro's body in `call`.
  static void resolve_names(ast::Expression& e, const Call& call) {
    if (auto* name = std::get_if<ast::Name>(&e.node)) {
      name->name = scoped(name->name, call);
    } else if (auto* reference = std::get_if<ast::Reference>(&e.node)) {
      reference->name = name_for(reference->name, call, "a tensor");
      for (auto& term : reference->terms) resolve_term(term, call);
    } else if (auto* aggregate = std::get_if<ast::Aggregate>(&e.node)) {
      aggregate->op_span = call.span;
      if (!aggregate->labels) return;
      for (auto& dimension : *aggregate->labels) dimension.label = name_for(dimension.label, call, "a label");
    } else if (auto* function = std::get_if<ast::Call>(&e.node)) {
      function->function = scoped(function->function, call);
    }
  }

  MacroPtr find_macro(const ast::Call& node) const {
    if (auto macro = find_(node.function.text)) return macro;
    return find_builtin_macro(node.function.text, node.arguments.size());
  }

  static void require_not_recursive(const Macro& macro, SourceSpan span, const Call* caller) {
    for (const auto* outer = caller; outer != nullptr; outer = outer->caller) {
      if (outer->macro.name != macro.name) continue;
      throw Error(ErrorKind::Value, "macro " + macro.name + " calls itself", span, "a macro cannot be recursive");
    }
  }

  // name(e), whose word is an aggregate's.
  static ast::Aggregate aggregate_of(ast::Call call, SourceSpan span) {
    if (call.arguments.size() != 1) {
      throw Error(ErrorKind::Value,
                  "aggregate " + call.function.text + " takes one argument, but " +
                      std::to_string(call.arguments.size()) + " are given",
                  span, "labels to aggregate over stand in brackets: " + call.function.text + "[j](x)");
    }
    ast::Aggregate node;
    node.op = ast::AggregateOp::User;
    node.op_span = call.function.span;
    node.argument = std::move(call.arguments);
    node.name = std::move(call.function);
    return node;
  }

  // Gives the node its definition, with the macros of it expanded.
  Measures define(ast::Aggregate& node, const Macro& macro, SourceSpan span, const Call* caller, std::size_t depth) {
    require_not_recursive(macro, span, caller);
    std::vector<Argument> values;
    for (const auto* number : {"0", "1"})
      values.push_back({{ast::Name{{.text = number, .span = span, .scope = ast::kCombinedScope}}, span}, {}});
    CHECK(macro.parameters.size() == values.size(), "an aggregate combines two values");
    const Call frame{macro, values, next_scope_++, span, caller};
    auto combined = macro.body;
    const auto inside = expand(combined, &frame, depth + 1);
    auto clauses = *macro.aggregate;
    expand(clauses.initial, nullptr, depth + 1);
    clauses.initial.span = span;
    auto joins = join_bodies(clauses, values, span, depth);
    node.definition = std::make_shared<const ast::AggregateDefinition>(
        ast::AggregateDefinition{macro.name, std::move(combined), std::move(clauses), std::move(joins)});
    return {inside.depth + 1, inside.nodes + 1};
  }

  // The macros that an aggregate distributes over, expanded.
  std::vector<std::pair<std::string, ast::Expression>> join_bodies(const ast::AggregateClauses& clauses,
                                                                   const std::vector<Argument>& values, SourceSpan span,
                                                                   std::size_t depth) {
    std::vector<std::pair<std::string, ast::Expression>> joins;
    for (const auto& [name, is_macro] : clauses.distributes_over) {
      if (!is_macro) continue;
      const auto join = find_join_macro(find_, name, span);
      const Call frame{*join, values, next_scope_++, span, nullptr};
      auto body = join->body;
      expand(body, &frame, depth + 1);
      joins.emplace_back(join->name, std::move(body));
    }
    return joins;
  }

  Measures expand_call(ast::Expression& e, const Macro& macro, const Call* caller, std::size_t depth) {
    const auto node = std::move(std::get<ast::Call>(e.node));
    const auto span = e.span;
    require_not_recursive(macro, span, caller);
    check_arguments(macro, node, span);
    std::vector<Argument> arguments;
    for (const auto& given : node.arguments) {
      arguments.push_back({given, {}});
      arguments.back().measures = expand(arguments.back().expression, caller, depth + 1);
    }
    const Call call{macro, arguments, next_scope_++, span, caller};
    e = macro.body;
    return expand(e, &call, depth + 1);
  }

  const FindMacro& find_;
  std::uint32_t& next_scope_;
};

// The built-in macros, written in eindb's language.
struct Builtin {
  const char* name;
  std::vector<const char*> parameters;
  const char* body;
};

const std::vector<Builtin>& builtins() {
  static const std::vector<Builtin> kBuiltins{
      {"softmax", {"x", "l"}, "EXP(x - MAX[l](x)) / SUM[l](EXP(x - MAX[l](x)))"},
      {"layernorm", {"x", "l"}, "(x - MEAN[l](x)) / SQRT(MEAN[l]((x - MEAN[l](x))^2) + 1e-5)"},
      {"layernorm", {"x", "l", "epsilon"}, "(x - MEAN[l](x)) / SQRT(MEAN[l]((x - MEAN[l](x))^2) + epsilon)"},
      {"rmsnorm", {"x", "l"}, "x / SQRT(MEAN[l](x^2) + 1e-5)"},
      {"rmsnorm", {"x", "l", "epsilon"}, "x / SQRT(MEAN[l](x^2) + epsilon)"},
      {"norm", {"x"}, "SQRT(SUM(ABS(x)^2))"},  // NORM[j](x) is an aggregate
      {"silu", {"x"}, "x * SIGMOID(x)"},
      {"gelu", {"x"}, "0.5 * x * (1 + ERF(x / SQRT(2)))"},
      {"softplus", {"x"}, "CASE WHEN x > 0 THEN x + LOG1P(EXP(-x)) ELSE LOG1P(EXP(x)) END"},
      {"dropout", {"x", "p", "seed"}, "CASE WHEN RANDOM(seed) < p THEN 0 ELSE x / (1 - p) END"},
      {"if", {"c", "x", "y"}, "CASE WHEN c THEN x ELSE y END"},
      {"iif", {"c", "x", "y"}, "CASE WHEN c THEN x ELSE y END"},
      {"isnan", {"x"}, "x <> x"},
      {"coalesce", {"x", "y"}, "CASE WHEN x = x THEN x ELSE y END"},
      {"coalesce", {"x", "y", "z"}, "CASE WHEN x = x THEN x WHEN y = y THEN y ELSE z END"},
      {"ifnull", {"x", "y"}, "CASE WHEN x = x THEN x ELSE y END"},
      {"nullif", {"x", "y"}, "CASE WHEN x = y THEN NAN ELSE x END"},
      {"isinf", {"x"}, "ABS(x) = INFINITY"},
      {"isfinite", {"x"}, "ABS(x) < INFINITY"},
      {"ln", {"x"}, "LOG(x)"},
      {"log10", {"x"}, "LOG(x) / LOG(10)"},
      {"mod", {"x", "y"}, "x % y"},
      {"power", {"x", "y"}, "x ^ y"},
      {"trunc", {"x"}, "CASE WHEN x < 0 THEN CEIL(x) ELSE FLOOR(x) END"},
  };
  return kBuiltins;
}

MacroPtr parsed(const Builtin& builtin) {
  Macro macro{builtin.name, {}, parse_expression(builtin.body)};
  for (const auto* parameter : builtin.parameters) macro.parameters.push_back({parameter, {}, false, 0});
  return std::make_shared<const Macro>(std::move(macro));
}

}  // namespace

bool calls_macro(const ast::Expression& e, const FindMacro& find) {
  if (const auto* call = std::get_if<ast::Call>(&e.node)) {
    if (find(call->function.text) || find_builtin_macro(call->function.text, call->arguments.size())) return true;
  }
  if (const auto* aggregate = std::get_if<ast::Aggregate>(&e.node))
    if (aggregate->op == ast::AggregateOp::User) return true;
  bool found = false;
  for_each_child(e, [&](const ast::Expression& child) { found = found || calls_macro(child, find); });
  return found;
}

ast::Expression expand_macros(ast::Expression e, const FindMacro& find, std::uint32_t& next_scope) {
  Expander(find, next_scope).expand(e, nullptr, 1);
  return e;
}

MacroPtr find_join_macro(const FindMacro& find, const ast::Identifier& name, SourceSpan span) {
  auto macro = find(name.text);
  if (macro == nullptr) macro = find_builtin_macro(name.text, 2);
  if (macro == nullptr)
    throw Error(ErrorKind::UnknownName, "there is no macro " + name.text + " for an aggregate to distribute over", span,
                "CREATE MACRO " + name.text + "(x, y) AS ...");
  if (macro->aggregate)
    throw Error(ErrorKind::Value, name.text + " is an aggregate, and joins no two values", span,
                "an aggregate distributes over a function of two values");
  if (macro->parameters.size() != 2)
    throw Error(ErrorKind::Value,
                "macro " + name.text + " has " + std::to_string(macro->parameters.size()) +
                    (macro->parameters.size() == 1 ? " parameter" : " parameters") + ", but joins two values",
                span, "an aggregate distributes over a function of two values");
  return macro;
}

MacroPtr find_builtin_macro(const std::string& name, std::size_t arguments) {
  static const std::vector<MacroPtr> kParsed = [] {
    std::vector<MacroPtr> all;
    for (const auto& builtin : builtins()) all.push_back(parsed(builtin));
    return all;
  }();
  MacroPtr found;
  for (const auto& macro : kParsed) {
    if (!equal_ignoring_case(name, macro->name)) continue;
    // If no form takes that many arguments, the first one reports the error.
    if (found == nullptr || macro->parameters.size() == arguments) found = macro;
  }
  return found;
}

std::vector<std::string> builtin_macro_names() {
  std::vector<std::string> names;
  for (const auto& builtin : builtins())
    if (names.empty() || names.back() != builtin.name) names.emplace_back(builtin.name);
  return names;
}

}  // namespace eindb

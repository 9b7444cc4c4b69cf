#include "parser/macro.hpp"

#include <algorithm>
#include <cctype>

#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "parser/ast_children.hpp"
#include "parser/parser.hpp"

namespace eindb {
namespace {

// An expression whose macros are expanded, with its measures.
struct Expanded {
  ast::Expression expression;
  std::size_t depth = 1;
  std::size_t nodes = 1;
};

// One macro call: what its body's names mean.
struct Call {
  const Macro& macro;
  const std::vector<Expanded>& arguments;
  std::uint32_t scope;
  SourceSpan span;
  const Call* caller;  // null in the statement itself
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

  Expanded expand(const ast::Expression& e, const Call* call, std::size_t depth) {
    if (depth > kMaxNesting) too_large(place(e.span, call));
    auto out = std::visit([&](const auto& node) { return expand_node(node, e, call, depth); }, e.node);
    if (out.depth > kMaxNesting || out.nodes > kMaxExpandedNodes) too_large(place(e.span, call));
    return out;
  }

 private:
  static SourceSpan place(SourceSpan own, const Call* call) { return call == nullptr ? own : call->span; }

  // The argument that stands for `name`, if it is a parameter of the macro around it.
  static const Expanded* argument_for(const ast::Identifier& name, const Call* call) {
    if (call == nullptr) return nullptr;
    const auto& parameters = call->macro.parameters;
    const auto same = [&](const ast::Identifier& parameter) { return parameter.text == name.text; };
    const auto found = std::find_if(parameters.begin(), parameters.end(), same);
    if (found == parameters.end()) return nullptr;
    return &call->arguments[static_cast<std::size_t>(found - parameters.begin())];
  }

  static ast::Identifier scoped(ast::Identifier name, const Call* call) {
    if (call == nullptr) return name;
    name.scope = call->scope;
    name.span = call->span;
    return name;
  }

  // A label or a tensor's name: the body's own, or the one that a parameter stands for.
  static ast::Identifier name_for(const ast::Identifier& name, const Call* call, const std::string& what) {
    const auto* argument = argument_for(name, call);
    if (argument == nullptr) return scoped(name, call);
    if (const auto* given = std::get_if<ast::Name>(&argument->expression.node)) return given->name;
    throw Error(ErrorKind::Value, "parameter " + name.text + " of macro " + call->macro.name + " stands for " + what,
                argument->expression.span, "give " + what + " there");
  }

  static ast::IndexTerm term_for(const ast::IndexTerm& term, const Call* call) {
    const auto* name = std::get_if<ast::Identifier>(&term.value);
    if (name == nullptr) return {term.value, place(term.span, call)};
    if (const auto* argument = argument_for(*name, call)) {
      if (const auto* index = std::get_if<ast::Integer>(&argument->expression.node)) return {*index, call->span};
      if (const auto* index = std::get_if<ast::Parameter>(&argument->expression.node)) return {*index, call->span};
    }
    return {name_for(*name, call, "a label"), place(term.span, call)};
  }

  // ---- One overload per node; `e` is the expression that the node is of ----

  template <class Leaf>
  Expanded expand_node(const Leaf& leaf, const ast::Expression& e, const Call* call, std::size_t) {
    return {{leaf, place(e.span, call)}};
  }

  Expanded expand_node(const ast::Name& node, const ast::Expression& e, const Call* call, std::size_t) {
    if (const auto* argument = argument_for(node.name, call)) return *argument;
    return {{ast::Name{scoped(node.name, call)}, place(e.span, call)}};
  }

  Expanded expand_node(const ast::Reference& node, const ast::Expression& e, const Call* call, std::size_t) {
    ast::Reference out{name_for(node.name, call, "a tensor"), {}};
    for (const auto& term : node.terms) out.terms.push_back(term_for(term, call));
    return {{std::move(out), place(e.span, call)}};
  }

  Expanded expand_node(const ast::Aggregate& node, const ast::Expression& e, const Call* call, std::size_t depth) {
    ast::Aggregate out{node.op, place(node.op_span, call), {}, {}};
    if (node.labels) {
      out.labels.emplace();
      for (const auto& label : *node.labels) out.labels->push_back(name_for(label, call, "a label"));
    }
    Expanded whole{{ast::Integer{}, place(e.span, call)}};
    add(whole, out.argument, node.argument, call, depth);
    whole.expression.node = std::move(out);
    return whole;
  }

  Expanded expand_node(const ast::Call& node, const ast::Expression& e, const Call* call, std::size_t depth) {
    if (const auto macro = find_macro(node)) return expand_call(*macro, node, e, call, depth);
    ast::Call out{scoped(node.function, call), {}};
    Expanded whole{{ast::Integer{}, place(e.span, call)}};
    add(whole, out.arguments, node.arguments, call, depth);
    whole.expression.node = std::move(out);
    return whole;
  }

  Expanded expand_node(const ast::Prefix& node, const ast::Expression& e, const Call* call, std::size_t depth) {
    ast::Prefix out{node.op, {}};
    Expanded whole{{ast::Integer{}, place(e.span, call)}};
    add(whole, out.operand, node.operand, call, depth);
    whole.expression.node = std::move(out);
    return whole;
  }

  Expanded expand_node(const ast::Infix& node, const ast::Expression& e, const Call* call, std::size_t depth) {
    ast::Infix out{node.operators, {}};
    Expanded whole{{ast::Integer{}, place(e.span, call)}};
    add(whole, out.operands, node.operands, call, depth);
    whole.expression.node = std::move(out);
    return whole;
  }

  Expanded expand_node(const ast::Case& node, const ast::Expression& e, const Call* call, std::size_t depth) {
    ast::Case out;
    Expanded whole{{ast::Integer{}, place(e.span, call)}};
    add(whole, out.subject, node.subject, call, depth);
    for (const auto& branch : node.branches) {
      auto when = added(whole, branch.when, call, depth);
      out.branches.push_back({std::move(when), added(whole, branch.then, call, depth)});
    }
    add(whole, out.otherwise, node.otherwise, call, depth);
    whole.expression.node = std::move(out);
    return whole;
  }

  Expanded expand_node(const ast::Cast& node, const ast::Expression& e, const Call* call, std::size_t depth) {
    ast::Cast out{{}, node.type};
    Expanded whole{{ast::Integer{}, place(e.span, call)}};
    add(whole, out.operand, node.operand, call, depth);
    whole.expression.node = std::move(out);
    return whole;
  }

  ast::Expression added(Expanded& whole, const ast::Expression& child, const Call* call, std::size_t depth) {
    auto inside = expand(child, call, depth + 1);
    whole.depth = std::max(whole.depth, inside.depth + 1);
    whole.nodes += inside.nodes;
    if (whole.nodes > kMaxExpandedNodes) too_large(whole.expression.span);
    return std::move(inside.expression);
  }

  void add(Expanded& whole, std::vector<ast::Expression>& to, const std::vector<ast::Expression>& children,
           const Call* call, std::size_t depth) {
    for (const auto& child : children) to.push_back(added(whole, child, call, depth));
  }

  MacroPtr find_macro(const ast::Call& node) const {
    if (auto macro = find_(node.function.text)) return macro;
    return find_builtin_macro(node.function.text, node.arguments.size());
  }

  Expanded expand_call(const Macro& macro, const ast::Call& node, const ast::Expression& e, const Call* caller,
                       std::size_t depth) {
    const auto span = place(e.span, caller);
    for (const auto* outer = caller; outer != nullptr; outer = outer->caller) {
      if (outer->macro.name != macro.name) continue;
      throw Error(ErrorKind::Value, "macro " + macro.name + " calls itself", span, "a macro cannot be recursive");
    }
    check_arguments(macro, node, span);
    std::vector<Expanded> arguments;
    for (const auto& argument : node.arguments) arguments.push_back(expand(argument, caller, depth + 1));
    const Call call{macro, arguments, next_scope_++, span, caller};
    return expand(macro.body, &call, depth + 1);
  }

  const FindMacro& find_;
  std::uint32_t& next_scope_;
};

// The built-in macros, in the language itself.
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
      {"silu", {"x"}, "x * SIGMOID(x)"},
      {"gelu", {"x"}, "0.5 * x * (1 + ERF(x / SQRT(2)))"},
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
  bool found = false;
  for_each_child(e, [&](const ast::Expression& child) { found = found || calls_macro(child, find); });
  return found;
}

ast::Expression expand_macros(const ast::Expression& e, const FindMacro& find, std::uint32_t& next_scope) {
  return Expander(find, next_scope).expand(e, nullptr, 1).expression;
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
    // Without a form of that many arguments the first one reports what it takes.
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

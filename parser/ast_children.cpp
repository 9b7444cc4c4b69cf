#include "parser/ast_children.hpp"

namespace eindb {
namespace {

// One walk for expressions that are read and for those that are rewritten.
template <class Expression, class Visit>
void walk(Expression& e, const Visit& visit) {
  const auto all = [&](auto& expressions) {
    for (auto& expression : expressions) visit(expression);
  };
  if (auto* reference = std::get_if<ast::Reference>(&e.node)) {
    for (auto& term : reference->terms)
      if (auto* computed = std::get_if<ast::ComputedIndex>(&term.value)) all(computed->index);
    if (reference->padding) all(reference->padding->value);
    return;
  }
  if (auto* aggregate = std::get_if<ast::Aggregate>(&e.node)) {
    all(aggregate->argument);
    return all(aggregate->second);
  }
  if (auto* call = std::get_if<ast::Call>(&e.node)) return all(call->arguments);
  if (auto* prefix = std::get_if<ast::Prefix>(&e.node)) return all(prefix->operand);
  if (auto* infix = std::get_if<ast::Infix>(&e.node)) return all(infix->operands);
  if (auto* cast = std::get_if<ast::Cast>(&e.node)) return all(cast->operand);
  if (auto* choice = std::get_if<ast::Case>(&e.node)) {
    all(choice->subject);
    for (auto& branch : choice->branches) {
      visit(branch.when);
      visit(branch.then);
    }
    all(choice->otherwise);
  }
}

}  // namespace

void for_each_child(const ast::Expression& e, const std::function<void(const ast::Expression&)>& visit) {
  walk(e, visit);
}

void rewrite_children(ast::Expression& e, const std::function<void(ast::Expression&)>& rewrite) { walk(e, rewrite); }

}  // namespace eindb

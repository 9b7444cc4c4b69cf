#include "parser/binder/own_labels.hpp"

#include "common/error.hpp"
#include "common/stack_guard.hpp"
#include "parser/ast_children.hpp"

namespace eindb {
namespace {

const ast::Aggregate* concatenation_in(const ast::Expression& e) {
  const auto* aggregate = std::get_if<ast::Aggregate>(&e.node);
  return aggregate != nullptr && aggregate->op == ast::AggregateOp::Concat ? aggregate : nullptr;
}

// Renames a label wherever an expression has it; returns whether it does.
class LabelRenaming {
 public:
  LabelRenaming(const ast::Identifier& from, const ast::Identifier& to) : from_(from), to_(to) {}

  bool in(ast::Expression& e) {
    require_stack();
    if (auto* name = std::get_if<ast::Name>(&e.node)) rename(name->name);
    if (auto* reference = std::get_if<ast::Reference>(&e.node)) {
      for (auto& term : reference->terms) {
        if (auto* label = std::get_if<ast::Identifier>(&term.value)) rename(*label);
        if (auto* merged = std::get_if<ast::MergedIndex>(&term.value))
          for (auto& dimension : merged->labels) rename(dimension.label);
      }
    }
    if (auto* aggregate = std::get_if<ast::Aggregate>(&e.node); aggregate != nullptr && aggregate->labels)
      for (auto& dimension : *aggregate->labels) rename(dimension.label);
    rewrite_children(e, [&](ast::Expression& child) { in(child); });
    return found_;
  }

 private:
  void rename(ast::Identifier& label) {
    if (label.text != from_.text || label.scope != from_.scope) return;
    found_ = true;
    label.scope = to_.scope;
  }

  const ast::Identifier& from_;
  const ast::Identifier& to_;
  bool found_ = false;
};

void tell_apart(ast::Expression& e, std::uint32_t& next_scope) {
  require_stack();
  rewrite_children(e, [&](ast::Expression& child) { tell_apart(child, next_scope); });
  if (concatenation_in(e) == nullptr) return;
  auto& node = std::get<ast::Aggregate>(e.node);
  if (!node.labels || node.labels->size() != 1 || node.labels->front().extent)
    throw Error(ErrorKind::Label, "CONCAT joins its arguments along one label, whose extent is the sum of theirs",
                e.span, "name it, as in CONCAT[i](X[i,j], Y[i,j])");
  const auto& label = node.labels->front().label;
  const auto separate = [&](ast::Expression& argument) {
    auto own = label;
    own.scope = next_scope++;
    node.own.push_back(LabelRenaming(label, own).in(argument) ? std::optional(own) : std::nullopt);
  };
  separate(node.argument.front());
  for (auto& argument : node.second) separate(argument);
}

}  // namespace

bool concatenates(const ast::Expression& e) {
  require_stack();
  bool found = concatenation_in(e) != nullptr;
  for_each_child(e, [&](const ast::Expression& child) { found = found || concatenates(child); });
  return found;
}

ast::Expression with_own_labels(ast::Expression e, std::uint32_t& next_scope) {
  tell_apart(e, next_scope);
  return e;
}

}  // namespace eindb

#include "parser/ast_children.hpp"

namespace eindb {
namespace {

struct Children {
  const std::function<void(const ast::Expression&)>& visit;

  void all(const std::vector<ast::Expression>& expressions) const {
    for (const auto& expression : expressions) visit(expression);
  }

  void operator()(const ast::Aggregate& e) const { all(e.argument); }
  void operator()(const ast::Call& e) const { all(e.arguments); }
  void operator()(const ast::Prefix& e) const { all(e.operand); }
  void operator()(const ast::Infix& e) const { all(e.operands); }
  void operator()(const ast::Cast& e) const { all(e.operand); }
  void operator()(const ast::Case& e) const {
    all(e.subject);
    for (const auto& branch : e.branches) {
      visit(branch.when);
      visit(branch.then);
    }
    all(e.otherwise);
  }
  template <class Leaf>
  void operator()(const Leaf&) const {}
};

}  // namespace

void for_each_child(const ast::Expression& e, const std::function<void(const ast::Expression&)>& visit) {
  std::visit(Children{visit}, e.node);
}

}  // namespace eindb

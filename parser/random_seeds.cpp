#include "parser/random_seeds.hpp"

#include <string_view>
#include <type_traits>
#include <variant>

#include "common/letter_case.hpp"
#include "parser/ast_children.hpp"

namespace eindb {
namespace {

bool lacks_seed(const ast::Call& call) {
  const auto is = [&](std::string_view name) { return equal_ignoring_case(call.function.text, name); };
  if (call.arguments.empty()) return is("RANDOM") || is("RANDN");
  return call.arguments.size() == 2 && (is("DROPOUT") || is("SVD"));
}

// Calls `visit` for each expression of a query, in the order of the text.
template <class Query, class Visit>
class Expressions {
 public:
  explicit Expressions(Visit visit) : visit_(std::move(visit)) {}

  void of(Query& query) {
    for (auto& item : query.with) std::visit([&](auto& node) { of_node(node); }, item);
    std::visit([&](auto& node) { of_node(node); }, query.body);
  }

 private:
  template <class Node>
  void of_node(Node& node) {
    using Plain = std::remove_const_t<Node>;
    if constexpr (std::is_same_v<Plain, ast::Definition>) {
      visit_(node.expression);
    } else if constexpr (std::is_same_v<Plain, ast::MatrixResults>) {
      visit_(node.call);
    } else if constexpr (std::is_same_v<Plain, ast::Updates>) {
      for (auto& definition : node.definitions) visit_(definition.expression);
    } else if constexpr (std::is_same_v<Plain, ast::Gradient> || std::is_same_v<Plain, ast::Jvp>) {
      std::visit([&](auto& of) { of_node(of); }, node.of);
    }
  }

  Visit visit_;
};

bool lacks_seed(const ast::Expression& e) {
  if (const auto* call = std::get_if<ast::Call>(&e.node); call != nullptr && lacks_seed(*call)) return true;
  bool found = false;
  for_each_child(e, [&](const ast::Expression& child) { found = found || lacks_seed(child); });
  return found;
}

void give_seeds(ast::Expression& e, const std::function<std::int64_t()>& next_seed) {
  rewrite_children(e, [&](ast::Expression& child) { give_seeds(child, next_seed); });
  auto* call = std::get_if<ast::Call>(&e.node);
  if (call == nullptr || !lacks_seed(*call)) return;
  ast::Expression seed;
  seed.node = ast::Integer{next_seed()};
  seed.span = e.span;
  call->arguments.push_back(std::move(seed));
}

}  // namespace

std::optional<ast::Query> with_random_seeds(const ast::Query& query, const std::function<std::int64_t()>& next_seed) {
  bool found = false;
  const auto look = [&](const ast::Expression& e) { found = found || lacks_seed(e); };
  Expressions<const ast::Query, decltype(look)>(look).of(query);
  if (!found) return std::nullopt;
  auto seeded = query;
  const auto give = [&](ast::Expression& e) { give_seeds(e, next_seed); };
  Expressions<ast::Query, decltype(give)>(give).of(seeded);
  return seeded;
}

}  // namespace eindb

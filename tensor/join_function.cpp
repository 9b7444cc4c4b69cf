#include "tensor/join_function.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "common/check.hpp"

namespace eindb {
namespace {

using Kind = ScalarExpression::Kind;

// Finds the values of the operands of a pattern for which it is a given expression.
class Match {
 public:
  bool run(const ScalarPtr& pattern, const ScalarPtr& e) {
    if (pattern->kind() == Kind::Operand) {
      auto& value = values_[pattern->operand()];
      if (value == nullptr) value = e;
      return value == e || equal(*value, *e);
    }
    if (pattern->kind() != Kind::Call) return equal(*pattern, *e);
    if (!e->is_call(pattern->op())) return false;
    auto given = e->arguments();
    const auto& wanted = pattern->arguments();
    if (given.size() > wanted.size()) {
      // A sum as the first term of a sum is flattened, and so are products.
      const auto first = static_cast<std::ptrdiff_t>(given.size() - wanted.size() + 1);
      auto joined = ScalarExpression::call(e->op(), {given.begin(), given.begin() + first});
      given.erase(given.begin() + 1, given.begin() + first);
      given.front() = std::move(joined);
    }
    if (given.size() != wanted.size()) return false;
    for (std::size_t n = 0; n < given.size(); ++n)
      if (!run(wanted[n], given[n])) return false;
    return true;
  }

  const ScalarPtr& value(std::size_t operand) const { return values_[operand]; }

 private:
  std::array<ScalarPtr, 2> values_;
};

}  // namespace

JoinFunction::JoinFunction(std::string name, ScalarPtr body)
    : user_(std::make_shared<const User>(User{std::move(name), std::move(body)})) {
  const auto operands = operands_of(*user_->body);
  CHECK(operands == std::vector<std::size_t>({0, 1}), "a function joins two values");
}

ScalarOp JoinFunction::op() const {
  CHECK(!is_user(), "the function of a user is no operator");
  return op_;
}

const std::string& JoinFunction::name() const {
  CHECK(is_user(), "an operator has no name of a user's");
  return user_->name;
}

const ScalarPtr& JoinFunction::body() const {
  CHECK(is_user(), "an operator has no body");
  return user_->body;
}

ScalarPtr JoinFunction::call(const ScalarPtr& x, const ScalarPtr& y) const {
  return substitute_operands(body(), [&](std::size_t n) { return n == 0 ? x : y; });
}

std::optional<std::pair<ScalarPtr, ScalarPtr>> JoinFunction::arguments_of(const ScalarPtr& e) const {
  Match match;
  if (!match.run(body(), e)) return std::nullopt;
  CHECK(match.value(0) != nullptr && match.value(1) != nullptr, "a body has both of its values");
  return std::pair(match.value(0), match.value(1));
}

bool operator==(const JoinFunction& a, const JoinFunction& b) {
  if (a.is_user() != b.is_user()) return false;
  return a.is_user() ? a.name() == b.name() && equal(*a.body(), *b.body()) : a.op_ == b.op_;
}

}  // namespace eindb

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tensor/scalar_expression.hpp"

namespace eindb {

/// The function that an EinSum joins the values of its operands with, where it is one throughout: an operator, or a
/// function of two values that a user has declared for an aggregate (CREATE AGGREGATE ... DISTRIBUTES OVER). Either is
/// associative and commutative; of a user's function that is trusted. Immutable; thread-safe.
class JoinFunction {
 public:
  JoinFunction(ScalarOp op) : op_(op) {}  // NOLINT(google-explicit-constructor): an operator is a join function
  /// `body` is an expression of operands 0 and 1.
  JoinFunction(std::string name, ScalarPtr body);

  bool is_user() const { return user_ != nullptr; }
  bool is(ScalarOp op) const { return !is_user() && op_ == op; }
  /// Of one that is no user's.
  ScalarOp op() const;
  /// Of a user's function.
  const std::string& name() const;
  const ScalarPtr& body() const;

  /// The call of a user's function with two arguments.
  ScalarPtr call(const ScalarPtr& x, const ScalarPtr& y) const;
  /// The arguments if `e` is such a call, as the function's body has them; otherwise nullopt.
  std::optional<std::pair<ScalarPtr, ScalarPtr>> arguments_of(const ScalarPtr& e) const;

  friend bool operator==(const JoinFunction& a, const JoinFunction& b);

 private:
  struct User {
    std::string name;
    ScalarPtr body;
  };

  ScalarOp op_ = ScalarOp::Multiply;
  std::shared_ptr<const User> user_;
};

}  // namespace eindb

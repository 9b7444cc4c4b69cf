#include "tensor/contraction_form.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace eindb {
namespace {

struct Product {
  std::vector<std::size_t> operands;
  double factor = 1;
  bool converts = false;
};

// Whole numbers below this one are exact as FLOAT64; those beyond do not become smaller.
constexpr double kMostWhole = 9007199254740992;

// Collects the expression as factor * operand * operand; false if it has another form.
bool collect(const ScalarExpression& e, Product& product) {
  if (e.kind() == ScalarExpression::Kind::Operand) {
    product.operands.push_back(e.operand());
    return product.operands.size() <= 2;
  }
  // Conversions are ignored, since elements are converted while they are packed.
  if (e.kind() == ScalarExpression::Kind::Call && converts_to(e.op()) &&
      e.arguments()[0]->kind() == ScalarExpression::Kind::Operand) {
    product.converts = true;
    return collect(*e.arguments()[0], product);
  }
  if (e.is_constant()) {
    product.factor *= e.real_value();
    return true;
  }
  if (e.is_call(ScalarOp::Negate)) {
    product.factor = -product.factor;
    return collect(*e.arguments()[0], product);
  }
  if (!e.is_call(ScalarOp::Multiply)) return false;
  return std::all_of(e.arguments().begin(), e.arguments().end(), [&](const auto& a) { return collect(*a, product); });
}

std::optional<ContractionRole> role_of(bool left, bool right, bool output) {
  if (left && right) return output ? ContractionRole::Batch : ContractionRole::Contracted;
  if (left) return output ? ContractionRole::Left : ContractionRole::SummedLeft;
  if (right) return output ? ContractionRole::Right : ContractionRole::SummedRight;
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<ContractionRole>> roles_of(const EinSum& einsum, std::size_t left, std::size_t right) {
  std::vector<ContractionRole> roles;
  for (const auto label : einsum.labels()) {
    const auto role = role_of(contains(einsum.inputs[left], label), contains(einsum.inputs[right], label),
                              contains(einsum.output, label));
    if (!role) return std::nullopt;
    roles.push_back(*role);
  }
  return roles;
}

std::optional<ContractionForm> contraction_form(const EinSum& einsum, DType compute) {
  if (einsum.aggregate != Aggregate::Sum) return std::nullopt;
  Product product;
  if (!collect(*einsum.expression, product) || product.operands.size() != 2) return std::nullopt;
  const bool single = compute == DType::Float32 || compute == DType::Complex64;
  const double largest = single ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
  if (compute == DType::Int64 &&
      (product.converts || !(std::abs(product.factor) < kMostWhole) || product.factor != std::trunc(product.factor)))
    return std::nullopt;
  if (product.operands[0] == product.operands[1] || !(std::abs(product.factor) <= largest)) return std::nullopt;

  ContractionForm form{product.operands[0], product.operands[1], product.factor, {}};
  auto roles = roles_of(einsum, form.left, form.right);
  if (!roles) return std::nullopt;
  form.roles = *std::move(roles);
  return form;
}

}  // namespace eindb

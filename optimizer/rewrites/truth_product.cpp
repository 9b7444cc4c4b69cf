#include "optimizer/rewrites/truth_product.hpp"

namespace eindb {
namespace {

bool compares_with_zero(const ScalarExpression& e) {
  return (e.is_call(ScalarOp::Equal) || e.is_call(ScalarOp::NotEqual)) && e.arguments()[1]->is_constant() &&
         e.arguments()[1]->real_value() == 0;
}

}  // namespace

std::vector<ScalarPtr> truth_factors(const ScalarPtr& e, bool wanted) {
  if (const auto truth = counted_truth(e); truth != e && gives_boolean(*truth)) return truth_factors(truth, wanted);
  if (e->is_call(ScalarOp::Not)) return truth_factors(e->arguments()[0], !wanted);
  if (compares_with_zero(*e)) return truth_factors(e->arguments()[0], e->is_call(ScalarOp::NotEqual) == wanted);
  if (e->is_call(wanted ? ScalarOp::And : ScalarOp::Or)) {
    auto factors = truth_factors(e->arguments()[0], wanted);
    const auto more = truth_factors(e->arguments()[1], wanted);
    factors.insert(factors.end(), more.begin(), more.end());
    return factors;
  }
  if (wanted && gives_boolean(*e)) return {e};
  return {ScalarExpression::call(wanted ? ScalarOp::NotEqual : ScalarOp::Equal, {e, ScalarExpression::integer(0)})};
}

ScalarPtr counted_truth(ScalarPtr e) {
  while (e->kind() == ScalarExpression::Kind::Call && converts_to(e->op())) e = e->arguments()[0];
  return e;
}

std::vector<Factor> numerators(const VertexSplitter& splitter, const std::vector<ScalarPtr>& truths) {
  const auto type = splitter.vertex().compute_dtype;
  std::vector<Factor> out;
  for (const auto& truth : truths)
    out.push_back(
        {splitter.type_of(*truth) == type ? truth : ScalarExpression::call(conversion_to(type), {truth}), false});
  return out;
}

}  // namespace eindb

#include "optimizer/rewrites/sum_terms.hpp"

namespace eindb {
namespace {

void collect_sum_terms(const ScalarPtr& e, bool negative, std::vector<ScalarPtr>& out) {
  const auto& arguments = e->arguments();
  if (e->is_call(ScalarOp::Add)) {
    for (const auto& argument : arguments) collect_sum_terms(argument, negative, out);
  } else if (e->is_call(ScalarOp::Subtract)) {
    collect_sum_terms(arguments[0], negative, out);
    collect_sum_terms(arguments[1], !negative, out);
  } else if (e->is_call(ScalarOp::Negate)) {
    collect_sum_terms(arguments[0], !negative, out);
  } else {
    out.push_back(negative ? ScalarExpression::call(ScalarOp::Negate, {e}) : e);
  }
}

}  // namespace

std::vector<ScalarPtr> sum_terms(const ScalarPtr& expression) {
  std::vector<ScalarPtr> terms;
  collect_sum_terms(expression, false, terms);
  return terms;
}

}  // namespace eindb

#include "plan/parameters.hpp"

namespace eindb {

void substitute_parameters(JoinNode& join, const std::function<ScalarPtr(std::size_t)>& replace) {
  for (auto& step : join.steps) step.einsum.expression = substitute_parameters(step.einsum.expression, replace);
  join.einsum.expression = substitute_parameters(join.einsum.expression, replace);
  if (join.einsum.epilogue != nullptr) join.einsum.epilogue = substitute_parameters(join.einsum.epilogue, replace);
}

}  // namespace eindb

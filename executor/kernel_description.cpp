#include "executor/kernel_description.hpp"

#include <algorithm>

#include "executor/join_operator.hpp"
#include "executor/kernels/instruction_set.hpp"
#include "executor/kernels/kernel.hpp"

namespace eindb {
namespace {

std::vector<std::int64_t> sizes_of_largest_call(const LabelPartition& partition, const LabelTable& labels) {
  auto sizes = labels.extents(partition.labels);
  for (std::size_t n = 0; n < sizes.size(); ++n) sizes[n] = largest_part(sizes[n], partition.parts[n]);
  return sizes;
}

// With a value for each parameter, which kernels want; it does not decide how a call is computed.
JoinNode with_parameters(JoinNode join) {
  join.substitute({[](std::size_t) { return ScalarExpression::integer(1009); }});
  return join;
}

}  // namespace

std::vector<std::pair<VertexId, std::string>> describe_kernels(VertexId vertex, const JoinNode& with_names,
                                                               const LabelTable& labels,
                                                               const std::vector<JoinInput>& inputs) {
  std::vector<DType> input_types;
  for (const auto& input : inputs) input_types.push_back(input.dtype);
  const auto join = with_parameters(with_names);
  const auto sizes = sizes_of_largest_call(join.partition, labels);
  const bool is_empty = std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
  if (std::any_of(inputs.begin(), inputs.end(), [](const auto& input) { return input.of_cells; }))
    return {{vertex, CellJoin(join, labels, inputs).kernel().describe()}};
  if (join.steps.empty()) {
    const Kernel kernel(join.einsum, labels, input_types, join.compute_dtype, join.compute_dtype,
                        preferred_level_table(), hold_bytes(inputs));
    return {{vertex, is_empty ? "none" : kernel.describe(sizes)}};
  }
  const auto chain = fused_kernel_of(join, labels, input_types);
  std::vector<std::pair<VertexId, std::string>> out;
  for (std::size_t s = 0; s < join.steps.size(); ++s)
    out.emplace_back(join.steps[s].vertex, is_empty ? "none" : chain.describe(s, sizes));
  return out;
}

}  // namespace eindb

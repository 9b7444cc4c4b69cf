#include "tensor/einsum.hpp"

#include "common/poll_steps.hpp"

namespace eindb {

std::string_view name_of(Aggregate aggregate) {
  switch (aggregate) {
    case Aggregate::None: return "";
    case Aggregate::Sum: return "SUM";
    case Aggregate::Prod: return "PROD";
    case Aggregate::Min: return "MIN";
    case Aggregate::Max: return "MAX";
    case Aggregate::LogSumExp: return "LOGSUMEXP";
  }
  return "";
}

Labels EinSum::labels() const {
  DistinctLabels out;
  poll_cancellation_after(inputs.size() + output.size() + aggregated.size());
  for (const auto& input : inputs) out.add(input);
  out.add(output);
  out.add(aggregated);
  return out.labels();
}

std::string to_string(const EinSum& einsum, std::string_view head, const std::vector<std::string>& input_names,
                      const LabelTable& labels) {
  const auto reference = [&](std::size_t n) {
    return einsum.inputs[n].empty() ? input_names[n] : input_names[n] + "[" + labels.join_names(einsum.inputs[n]) + "]";
  };
  std::string body = to_string(*einsum.expression, reference, labels);
  if (einsum.aggregate != Aggregate::None) {
    DistinctLabels occurring;
    for (const auto& input : einsum.inputs) occurring.add(input);
    occurring.add(index_labels_of(*einsum.expression));
    const bool assumed = difference(occurring.labels(), einsum.output).size() == einsum.aggregated.size() &&
                         difference(einsum.aggregated, occurring.labels()).empty();
    const std::string over = assumed ? "" : "[" + labels.join_names(einsum.aggregated) + "]";
    body = std::string(name_of(einsum.aggregate)) + over + "(" + body + ")";
  }
  if (einsum.epilogue != nullptr)
    body = to_string(
        *einsum.epilogue, [&](std::size_t) { return body; }, labels);
  return std::string(head) + "[" + labels.join_names(einsum.output) + "] = " + body;
}

}  // namespace eindb

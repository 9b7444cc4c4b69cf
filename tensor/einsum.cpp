#include "tensor/einsum.hpp"

namespace eindb {

std::string_view name_of(Aggregate aggregate) {
  switch (aggregate) {
    case Aggregate::None: return "";
    case Aggregate::Sum: return "SUM";
    case Aggregate::Prod: return "PROD";
    case Aggregate::Min: return "MIN";
    case Aggregate::Max: return "MAX";
  }
  return "";
}

Labels EinSum::labels() const {
  Labels out;
  for (const auto& input : inputs) append_distinct(out, input);
  append_distinct(out, output);
  append_distinct(out, aggregated);
  return out;
}

std::string to_string(const EinSum& einsum, std::string_view head, const std::vector<std::string>& input_names,
                      const LabelTable& labels) {
  const auto reference = [&](std::size_t n) {
    return einsum.inputs[n].empty() ? input_names[n] : input_names[n] + "[" + labels.join_names(einsum.inputs[n]) + "]";
  };
  std::string body = to_string(*einsum.expression, reference, labels);
  if (einsum.aggregate != Aggregate::None) {
    Labels occurring;
    for (const auto& input : einsum.inputs) append_distinct(occurring, input);
    append_distinct(occurring, index_labels_of(*einsum.expression));
    const bool assumed = difference(occurring, einsum.output).size() == einsum.aggregated.size() &&
                         difference(einsum.aggregated, occurring).empty();
    const std::string over = assumed ? "" : "[" + labels.join_names(einsum.aggregated) + "]";
    body = std::string(name_of(einsum.aggregate)) + over + "(" + body + ")";
  }
  return std::string(head) + "[" + labels.join_names(einsum.output) + "] = " + body;
}

}  // namespace eindb

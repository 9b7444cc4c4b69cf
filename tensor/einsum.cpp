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
    case Aggregate::Block: return "BLOCK";
    case Aggregate::User: return "USER";
    case Aggregate::FirstLeast: return "FIRST MIN";
    case Aggregate::FirstGreatest: return "FIRST MAX";
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

}  // namespace eindb

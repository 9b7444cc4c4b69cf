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
  constexpr std::size_t kFew = 64;
  poll_cancellation_after(inputs.size() + output.size() + aggregated.size());
  auto most = output.size() + aggregated.size();
  for (const auto& input : inputs) most += input.size();
  if (most > kFew) {
    DistinctLabels out;
    for (const auto& input : inputs) out.add(input);
    out.add(output);
    out.add(aggregated);
    return out.labels();
  }
  Labels out;
  out.reserve(most);
  for (const auto& input : inputs) append_distinct(out, input);
  append_distinct(out, output);
  append_distinct(out, aggregated);
  return out;
}

}  // namespace eindb

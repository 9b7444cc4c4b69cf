#include "plan/einsum_checks.hpp"

#include <algorithm>
#include <iterator>
#include <span>

#include "tensor/scalar_types.hpp"
#include "tensor/user_aggregate.hpp"

namespace eindb {
namespace {

// Sorted and without duplicates, so that large label lists compare in linear time.
Labels sorted_set(Labels labels) {
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  return labels;
}

Labels all_labels_read(const EinSum& einsum) {
  Labels out = index_labels_of(*einsum.expression);
  for (const auto& input : einsum.inputs) out.insert(out.end(), input.begin(), input.end());
  return sorted_set(std::move(out));
}

}  // namespace

void check_einsum(const EinSum& einsum, const LabelTable& table, const Checker& check) {
  check(einsum.expression != nullptr, "an EinSum has an expression");
  const auto operands = operands_of(*einsum.expression);
  check(operands.empty() || operands.back() < einsum.inputs.size(), "an expression reads only operands that exist");

  const auto read = all_labels_read(einsum);
  const auto head = sorted_set(einsum.output);
  const auto aggregated = sorted_set(einsum.aggregated);
  for (const auto& set : {read, head, aggregated})
    check(set.empty() || set.back().index() < table.size(), "every label is in the label table");
  check(head.size() == einsum.output.size(), "no label is repeated in the output");
  check(aggregated.size() == einsum.aggregated.size(), "no label is aggregated twice");

  Labels known;
  std::set_union(head.begin(), head.end(), aggregated.begin(), aggregated.end(), std::back_inserter(known));
  check(known.size() == head.size() + aggregated.size(), "no label is both in the output and aggregated");
  check(std::includes(known.begin(), known.end(), read.begin(), read.end()),
        "every label is in the output or aggregated");
  check(aggregated.empty() == (einsum.aggregate == Aggregate::None),
        "labels are aggregated exactly if there is an aggregate");
  check(einsum.block.has_value() == (einsum.aggregate == Aggregate::Block),
        "an EinSum has a block function exactly if that is what aggregates");
  if (einsum.block) {
    for (const auto label : einsum.aggregated)
      check(contains(index_labels_of(*einsum.expression), label), "a block function names its core labels in order");
    for (const auto label : index_labels_of(*einsum.expression)) {
      const auto has = [&](const Labels& input) { return contains(input, label); };
      const bool is_read = std::any_of(einsum.inputs.begin(), einsum.inputs.end(), has);
      check(is_read == contains(aggregated, label), "a core label is one of operands or of the result");
    }
  }
  const bool recurs = einsum.block && einsum.block->op == BlockOp::UserRecurrence;
  check((einsum.user != nullptr) == (einsum.aggregate == Aggregate::User || recurs),
        "an EinSum has a user's aggregate exactly if that is what aggregates");
  check(!recurs || !einsum.user->semirings.empty(), "a recurrence is of an aggregate that distributes over a function");
  if (einsum.user != nullptr) {
    const auto combined = operands_of(*einsum.user->combination);
    check((combined.empty() || combined.back() < 2) && index_labels_of(*einsum.user->combination).empty() &&
              operands_of(*einsum.user->initial).empty() && index_labels_of(*einsum.user->initial).empty(),
          "a user's aggregate is a function of two values, and begins with a constant");
  }
  if (einsum.epilogue == nullptr) return;
  check(einsum.aggregate != Aggregate::None, "only an aggregated value has an epilogue");
  check(operands_of(*einsum.epilogue) == std::vector<std::size_t>{0} && index_labels_of(*einsum.epilogue).empty(),
        "an epilogue is a function of the aggregated value alone");
}

void check_types(const EinSum& einsum, const std::vector<DType>& operands, DType compute, DType result,
                 const Checker& check) {
  check(has_types(*einsum.expression, operands, compute), "an expression has its types written down");
  check(einsum.epilogue == nullptr || has_types(*einsum.epilogue, std::span(&compute, 1), compute),
        "an epilogue has its types written down, and keeps that of the aggregated value");
  check(is_complex(result) || !is_complex(compute), "a complex result has a complex type");
}

}  // namespace eindb

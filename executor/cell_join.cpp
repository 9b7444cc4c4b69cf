#include "executor/cell_join.hpp"

#include <algorithm>
#include <utility>

#include "common/check.hpp"
#include "tensor/annihilation.hpp"

namespace eindb {
namespace {

bool are_equal(const OperandFacts& a, const OperandFacts& b) {
  return a.zero == b.zero && a.magnitude == b.magnitude && a.nonzero == b.nonzero;
}

}  // namespace

CellJoin::CellJoin(const JoinNode& join, const LabelTable& labels, const std::vector<JoinInput>& inputs)
    : join_(join), labels_(labels) {
  for (const auto& input : inputs) {
    types_.push_back(input.dtype);
    of_cells_.push_back(input.of_cells);
  }
  auto facts = harmless_facts(inputs.size());
  const auto pattern = cell_pattern(join.einsum, types_, of_cells_, facts, Zero::EitherSign);
  CHECK(pattern.has_value(), "a join reads cells where it can be computed from them");
  for (std::size_t n = 0; n < inputs.size(); ++n) {
    facts[n].nonzero = false;
    asks_for_zeros_.push_back(cell_pattern(join.einsum, types_, of_cells_, facts, Zero::EitherSign) != pattern);
    facts[n].nonzero = true;
  }
  kernels_.emplace(*pattern, make(*pattern));
}

std::shared_ptr<const CellKernel> CellJoin::make(CellPattern pattern) const {
  return std::make_shared<const CellKernel>(join_.einsum, labels_, types_, join_.compute_dtype, of_cells_, pattern);
}

std::shared_ptr<const CellKernel> CellJoin::kernel_for(std::span<const OperandFacts> facts) const {
  const std::lock_guard lock(mutex_);
  if (last_facts_.empty() || !std::ranges::equal(facts, last_facts_, are_equal)) {
    last_facts_.clear();
    last_kernel_ = find(facts);
    last_facts_.assign(facts.begin(), facts.end());
  }
  return last_kernel_;
}

std::shared_ptr<const CellKernel> CellJoin::find(std::span<const OperandFacts> facts) const {
  // A complex infinity times a part that is zero is NaN, wherever that zero comes from.
  if (is_complex(join_.compute_dtype) &&
      std::any_of(facts.begin(), facts.end(), [](const auto& of_one) { return of_one.magnitude == kUnbounded; }))
    return nullptr;
  const auto pattern = cell_pattern(join_.einsum, types_, of_cells_, facts, Zero::EitherSign);
  if (!pattern) return nullptr;
  const auto made = kernels_.find(*pattern);
  return made != kernels_.end() ? made->second : make(*pattern);
}

}  // namespace eindb

#include "tensor/kernel_choice.hpp"

#include <algorithm>
#include <utility>

#include "tensor/user_aggregate.hpp"

namespace eindb {
namespace {

constexpr double kShortestVector = 16;

bool pays_as_vector(const RoleSizes& size) {
  return std::min(size.left, size.right) < 2 && std::max(size.left, size.right) >= kShortestVector &&
         size.contracted >= kShortestVector;
}

// All but outer and dot products, and single thin ones.
bool pays_as_matrices(const RoleSizes& size) {
  constexpr double kManyMatrices = 16;  // enough to go into the lanes of vectors
  constexpr double kShortestSide = 4;
  constexpr double kShallow = 4;  // so little work that what counts is how a call begins
  const double thin = std::min(size.left, size.right);
  const double wide = std::max(size.left, size.right);
  if (size.contracted < 2 || wide < 2) return false;
  if (size.batch >= kManyMatrices) return true;
  return thin >= 2 ? wide >= kShortestSide || size.contracted <= kShallow : pays_as_vector(size);
}

bool pays_as_pairs(const RoleSizes& size, bool rounds_sums) {
  constexpr double kLongestSum = 65536;
  constexpr double kShortestSide = 4;
  constexpr double kFewestCells = 64;
  if (rounds_sums && size.contracted > kLongestSum) return false;
  return size.left >= kShortestSide && size.right >= kShortestSide && size.contracted >= kShortestSide &&
         size.left * size.right >= kFewestCells;
}

}  // namespace

RoleSizes role_sizes(const std::vector<ContractionRole>& roles, std::span<const std::int64_t> sizes) {
  RoleSizes out;
  for (std::size_t n = 0; n < roles.size(); ++n) {
    const auto size = static_cast<double>(sizes[n]);
    switch (roles[n]) {
      case ContractionRole::Batch: out.batch *= size; break;
      case ContractionRole::Left: out.left *= size; break;
      case ContractionRole::Right: out.right *= size; break;
      case ContractionRole::Contracted: out.contracted *= size; break;
      case ContractionRole::SummedLeft:
      case ContractionRole::SummedRight: break;
    }
  }
  return out;
}

KernelKind kernel_for(const KernelForm& form, const RoleSizes& sizes) {
  if (form.best == KernelKind::Access || form.best == KernelKind::Scan || form.best == KernelKind::Block)
    return form.best;
  if (form.of_vectors && pays_as_vector(sizes)) return KernelKind::Matrices;
  const bool pays = form.best == KernelKind::Matrices
                        ? pays_as_matrices(sizes)
                        : form.best == KernelKind::Pairs && pays_as_pairs(sizes, form.rounds_sums);
  return pays ? form.best : KernelKind::Loops;
}

KernelChoice::KernelChoice(const EinSum& typed, DType compute)
    : access_(typed.block ? std::nullopt : access_form(typed)),
      scan_(access_ || typed.block ? std::nullopt : scan_form(typed, compute)),
      contraction_(access_ || scan_ || typed.block ? std::nullopt : contraction_form(typed, compute)),
      pair_(access_ || scan_ || typed.block || (contraction_ && compute != DType::Int64) ? std::nullopt
                                                                                         : pair_form(typed, compute)) {
  if (access_) form_.best = KernelKind::Access;
  else if (scan_) form_.best = KernelKind::Scan;
  else if (typed.block) form_.best = KernelKind::Block;
  else if (pair_) form_.best = KernelKind::Pairs;
  else form_.best = contraction_ && compute != DType::Int64 ? KernelKind::Matrices : KernelKind::Loops;
  form_.of_vectors = contraction_ && compute == DType::Int64;
  form_.rounds_sums = typed.aggregate == Aggregate::Sum && compute != DType::Int64;
}

KernelKind KernelChoice::kind(std::span<const std::int64_t> sizes) const {
  if (!contraction_ && !pair_) return form_.best;
  return kernel_for(form_, role_sizes(contraction_ ? contraction_->roles : pair_->roles, sizes));
}

EinSum with_plain_extreme(EinSum einsum, DType compute) {
  if (einsum.user == nullptr || einsum.block || !einsum.user->may_split() || scan_form(einsum, compute)) return einsum;
  const auto& e = *einsum.user->combination;
  const bool greatest = e.is_call(ScalarOp::Greatest);
  if (!greatest && !e.is_call(ScalarOp::Least)) return einsum;
  const auto& arguments = e.arguments();
  const auto is_value = [](const ScalarPtr& argument) { return argument->kind() == ScalarExpression::Kind::Operand; };
  if (arguments.size() != 2 || !std::all_of(arguments.begin(), arguments.end(), is_value) ||
      arguments[0]->operand() == arguments[1]->operand())
    return einsum;
  einsum.aggregate = greatest ? Aggregate::Max : Aggregate::Min;
  einsum.user = nullptr;
  return einsum;
}

std::optional<EinSum> with_join_taken_in(const EinSum& search, std::size_t operand, const EinSum& join, DType compute,
                                         const LabelTable& labels) {
  if (search.aggregate != Aggregate::Min || search.inputs.size() != 2 || join.aggregate != Aggregate::None ||
      join.inputs.size() != 2 || search.inputs[operand] != join.output || !index_search(search))
    return std::nullopt;
  EinSum taken = search;
  taken.inputs = {search.inputs[1 - operand], join.inputs[0], join.inputs[1]};
  const auto value =
      substitute_operands(join.expression, [](std::size_t n) { return ScalarExpression::operand(n + 1); });
  taken.expression = substitute_operands(
      search.expression, [&](std::size_t n) { return n == operand ? value : ScalarExpression::operand(0); });
  const KernelChoice choice(taken, compute);
  const bool fits =
      choice.pair() && choice.pair()->sought && choice.kind(labels.extents(taken.labels())) == KernelKind::Pairs;
  return fits ? std::optional(std::move(taken)) : std::nullopt;
}

}  // namespace eindb

#include "optimizer/partitions/kernel_work.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>

#include "common/check.hpp"
#include "tensor/placed_value.hpp"
#include "tensor/scalar_types.hpp"
#include "tensor/user_aggregate.hpp"

namespace eindb {
namespace {

using Kind = ScalarExpression::Kind;

// ---- Matrix products -----------------------------------------------------------------------------------------------

// Whether a tensor whose labels have these roles, in this order, lies as a batch of matrices: the labels of each role
// are adjacent, and one of the two matrix dimensions is innermost.
bool lies_as_matrix(const std::vector<ContractionRole>& roles) {
  if (!roles.empty() && roles.back() == ContractionRole::Batch) return false;
  std::vector<ContractionRole> runs;
  for (const auto role : roles)
    if (runs.empty() || runs.back() != role) runs.push_back(role);
  for (const auto role : {ContractionRole::Left, ContractionRole::Right, ContractionRole::Contracted})
    if (std::count(runs.begin(), runs.end(), role) > 1) return false;
  return true;
}

class MatrixMatcher {
 public:
  explicit MatrixMatcher(const EinSum& einsum) : einsum_(einsum), all_(einsum.labels()) {}

  // `Form` is a ContractionForm or a PairForm.
  template <class Form>
  MatrixWork match(const Form& form) {
    CHECK(form.left < einsum_.inputs.size() && form.right < einsum_.inputs.size() && form.left != form.right,
          "a matrix product has two operands");
    CHECK(form.roles.size() == all_.size(), "every label of a contraction has a role");
    work_.left = form.left;
    work_.right = form.right;
    work_.roles = form.roles;
    work_.packs_left = packs(left());
    work_.packs_right =
        packs(right()) || order(left(), ContractionRole::Contracted) != order(right(), ContractionRole::Contracted);
    work_.packs_output = packs(einsum_.output) ||
                         order(left(), ContractionRole::Left) != order(einsum_.output, ContractionRole::Left) ||
                         order(right(), ContractionRole::Right) != order(einsum_.output, ContractionRole::Right);
    return work_;
  }

 private:
  const Labels& left() const { return einsum_.inputs[work_.left]; }
  const Labels& right() const { return einsum_.inputs[work_.right]; }
  ContractionRole role(Label label) const {
    const auto place = static_cast<std::size_t>(std::find(all_.begin(), all_.end(), label) - all_.begin());
    CHECK(place < work_.roles.size(), "the labels of an operand are labels of its EinSum");
    return work_.roles[place];
  }
  bool packs(const Labels& labels) const {
    std::vector<ContractionRole> roles;
    for (const auto label : labels) roles.push_back(role(label));
    return !lies_as_matrix(roles);
  }
  // The labels of one role in the order of the tensor.
  Labels order(const Labels& labels, ContractionRole wanted) const {
    Labels out;
    std::copy_if(labels.begin(), labels.end(), std::back_inserter(out), [&](Label l) { return role(l) == wanted; });
    return out;
  }

  const EinSum& einsum_;
  Labels all_;
  MatrixWork work_;
};

// Of a value with one that is sought, and with itself.
constexpr double kComparison = 2;
// The comparison, and the choice of an index, of four values that are folded before.
constexpr double kPlace = 0.75;

// ---- Pair blocks ---------------------------------------------------------------------------------------------------

// Vector operations for one pair of elements and its aggregation.
double pair_operations(PairFunction function, Aggregate aggregate, DType compute) {
  constexpr double kIntegerProduct = 4;
  constexpr double kTruth = 2;  // a comparison, and its result as a number
  constexpr double kBit = 0.1;  // 64 bits are one element
  if (packs_truths(function, aggregate)) return kBit;
  const double product = compute == DType::Int64 ? kIntegerProduct : 1;
  using enum PairFunction;
  switch (function) {
    case Multiply: return aggregate == Aggregate::Sum && compute != DType::Int64 ? 1 : 1 + product;
    case SquaredDifference: return aggregate == Aggregate::Sum && compute != DType::Int64 ? 2 : 2 + product;
    case AbsoluteDifference: return 3;
    case And:
    case Or: return 2 + kTruth;
    case Equal:
    case NotEqual:
    case Less:
    case LessEqual: return 1 + kTruth;
    case Add:
    case Subtract:
    case Least:
    case Greatest: break;
  }
  return 2;
}

// ---- Loops ---------------------------------------------------------------------------------------------------------

// Powers with small constant exponents are multiplications.
Operation power(const ScalarExpression& e) {
  constexpr double kLargestUnrolled = 64;
  CHECK(e.arguments().size() == 2, "a power has a base and an exponent");
  const auto& exponent = *e.arguments()[1];
  const bool small = exponent.kind() == Kind::Integer && std::abs(exponent.real_value()) <= kLargestUnrolled;
  return small ? Operation::Simple : Operation::Power;
}

Operation operation_of(const ScalarExpression& e) {
  switch (e.op()) {
    case ScalarOp::Power: return power(e);
    case ScalarOp::Divide:
    case ScalarOp::Modulo: return Operation::Divide;
    case ScalarOp::Sqrt: return Operation::Sqrt;
    case ScalarOp::Exp: return Operation::Exp;
    case ScalarOp::Log: return Operation::Log;
    case ScalarOp::Log2: return Operation::Log2;
    case ScalarOp::Log1p: return Operation::Log1p;
    case ScalarOp::Expm1: return Operation::Expm1;
    case ScalarOp::Sin: return Operation::Sin;
    case ScalarOp::Cos: return Operation::Cos;
    case ScalarOp::Tan: return Operation::Tan;
    case ScalarOp::Asin: return Operation::Asin;
    case ScalarOp::Acos: return Operation::Acos;
    case ScalarOp::Atan: return Operation::Atan;
    case ScalarOp::Sinh: return Operation::Sinh;
    case ScalarOp::Cosh: return Operation::Cosh;
    case ScalarOp::Tanh: return Operation::Tanh;
    case ScalarOp::Erf: return Operation::Erf;
    case ScalarOp::Sigmoid: return Operation::Sigmoid;
    case ScalarOp::Atan2: return Operation::Atan2;
    default: return Operation::Simple;
  }
}

class OperationCounter {
 public:
  explicit OperationCounter(KernelWork::Operations& operations) : operations_(operations) {}

  void count(const ScalarExpression& e) {
    if (is_known(e)) return;
    for (const auto& argument : e.arguments()) count(*argument);
    if (e.kind() == Kind::Uniform) add(Operation::Uniform, 1);
    if (e.kind() == Kind::Normal) add(Operation::Normal, 1);
    if (e.kind() == Kind::LabelIndex) add(Operation::Simple, 1);
    // An operation over n arguments counts as n - 1 binary ones, or as one if it is unary.
    if (e.kind() == Kind::Call)
      add(operation_of(e), static_cast<double>(std::max<std::size_t>(2, e.arguments().size()) - 1));
  }

  void add(Operation operation, double count) {
    const auto same = [&](const auto& known) { return known.first == operation; };
    const auto known = std::find_if(operations_.begin(), operations_.end(), same);
    if (known != operations_.end()) known->second += count;
    else operations_.emplace_back(operation, count);
  }

 private:
  bool is_known(const ScalarExpression& e) {
    const auto hash = hash_of(e);
    const auto [begin, end] = seen_.equal_range(hash);
    if (std::any_of(begin, end, [&](const auto& known) { return equal(*known.second, e); })) return true;
    seen_.emplace(hash, &e);
    return false;
  }

  KernelWork::Operations& operations_;
  std::unordered_multimap<std::size_t, const ScalarExpression*> seen_;
};

// The number of operands that are not read contiguously when the cells are visited in the order of the output, or of
// the first operand if everything in the output's order is aggregated away.
double crosswise_operands(const EinSum& einsum) {
  if (einsum.inputs.empty()) return 0;
  const auto& first = einsum.inputs.front();
  const auto* leading = einsum.aggregate == Aggregate::None ? &einsum.output : &first;
  double count = 0;
  for (const auto& labels : einsum.inputs)
    if (!labels.empty() && !leading->empty() && labels.back() != leading->back() && contains(labels, leading->back()))
      count += 1;
  return count;
}

}  // namespace

KernelWork work_of(const EinSum& written, const std::vector<DType>& operand_types, DType compute, DType result) {
  CHECK(written.expression != nullptr, "a kernel has an expression to compute");
  const auto einsum = with_plain_extreme(written, compute);
  KernelWork work;
  work.compute = compute;
  // Values are compared in their own type, and their indices counted.
  const auto placed = placed_value(einsum);
  work.values = placed ? written_type(*placed->value, operand_types).value_or(placed->type) : compute;
  work.output_bytes = size_of(result);
  for (const auto type : operand_types) work.input_bytes.push_back(size_of(type));
  const KernelChoice choice(einsum, compute);
  work.kernel = choice.form();
  if (const auto& form = choice.contraction()) work.matrix = MatrixMatcher(einsum).match(*form);
  if (const auto& form = choice.pair()) {
    work.matrix = MatrixMatcher(einsum).match(*form);
    work.takes_exponentials = einsum.aggregate == Aggregate::LogSumExp;
    work.pair_operations = work.takes_exponentials ? 1 : pair_operations(form->function, einsum.aggregate, compute);
    if (form->sought) work.pair_operations += kComparison;
    if (has_place(einsum.aggregate)) work.pair_operations += kPlace;
  }
  OperationCounter counter(work.operations);
  counter.count(placed ? *placed->value : *einsum.expression);
  if (einsum.user != nullptr) counter.count(*einsum.user->combination);
  work.folds = einsum.aggregate != Aggregate::None;
  work.folds_product =
      einsum.aggregate == Aggregate::Sum && einsum.expression->is_call(ScalarOp::Multiply) && !is_complex(compute);
  if (work.folds_product) counter.add(Operation::Simple, -1);
  if (einsum.epilogue != nullptr) OperationCounter(work.epilogue).count(*einsum.epilogue);
  work.crosswise = crosswise_operands(einsum);
  return work;
}

}  // namespace eindb

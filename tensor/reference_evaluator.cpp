#include "tensor/reference_evaluator.hpp"

#include <algorithm>
#include <array>

#include "common/check.hpp"
#include "tensor/block_form.hpp"
#include "tensor/random.hpp"
#include "tensor/scalar_semantics.hpp"
#include "tensor/scalar_types.hpp"
#include "tensor/scalar_value.hpp"
#include "tensor/user_aggregate.hpp"

namespace eindb {
namespace {

using Kind = ScalarExpression::Kind;
using Index = std::vector<std::int64_t>;

ScalarValue load(const DenseTensor& tensor, std::int64_t offset) {
  return dispatch(tensor.dtype(),
                  [&](auto t) { return ScalarValue(tensor.data<typename decltype(t)::type>()[offset]); });
}

// The value of a typed expression; `leaf` supplies the values of leaves that are no constants.
template <class Leaf>
ScalarValue evaluate(const ScalarExpression& e, const Leaf& leaf) {
  if (e.is_constant()) return ScalarValue::of(e);
  if (e.kind() != Kind::Call) return leaf(e);
  const auto& arguments = e.arguments();
  if (e.op() == ScalarOp::Case) {
    for (std::size_t n = 0; n + 1 < arguments.size(); n += 2)
      if (evaluate(*arguments[n], leaf).is_true()) return evaluate(*arguments[n + 1], leaf);
    return evaluate(*arguments.back(), leaf);
  }
  auto result = evaluate(*arguments[0], leaf);
  if (arguments.size() == 1) return ScalarValue::apply(e.op(), result);
  for (std::size_t n = 1; n < arguments.size(); ++n)
    result = ScalarValue::apply(e.op(), result, evaluate(*arguments[n], leaf));
  return result;
}

ScalarValue random_value(const ScalarExpression& e, std::uint64_t cell) {
  const auto value = e.kind() == Kind::Uniform ? random_uniform(e.seed(), cell) : random_normal(e.seed(), cell);
  return {value, e.type().value()};
}

// Evaluates the scalar expression of one cell.
class CellEvaluator {
 public:
  CellEvaluator(const EinSum& einsum, const LabelTable& table, const std::vector<const DenseTensor*>& inputs)
      : einsum_(einsum), table_(table), inputs_(inputs), labels_(einsum.labels()) {}

  const Labels& labels() const { return labels_; }
  Index& index() { return index_; }

  ScalarValue value(const ScalarExpression& expression) const {
    return evaluate(expression, [this](const ScalarExpression& e) { return leaf(e); });
  }

  std::int64_t offset(const Labels& labels, const Shape& shape) const {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < labels.size(); ++d) offset = offset * shape[d] + at(labels[d]);
    return offset;
  }

 private:
  std::int64_t at(Label label) const {
    for (std::size_t n = 0; n < labels_.size(); ++n)
      if (labels_[n] == label) return index_[n];
    CHECK(false, "an EinSum lists every label it uses");
  }

  std::uint64_t cell_number(const Labels& cell) const {
    std::uint64_t number = 0;
    for (const auto label : cell)
      number = number * static_cast<std::uint64_t>(table_.extent(label)) + static_cast<std::uint64_t>(at(label));
    return number;
  }

  ScalarValue leaf(const ScalarExpression& e) const {
    switch (e.kind()) {
      case Kind::Operand: {
        const auto& tensor = *inputs_[e.operand()];
        return load(tensor, offset(einsum_.inputs[e.operand()], tensor.shape()));
      }
      case Kind::LabelIndex: return {at(e.label()), e.type().value()};
      case Kind::Uniform:
      case Kind::Normal: return random_value(e, cell_number(e.cell()));
      default: CHECK(false, "parameters have their values when a plan runs");
    }
  }

  const EinSum& einsum_;
  const LabelTable& table_;
  const std::vector<const DenseTensor*>& inputs_;
  Labels labels_;
  Index index_;
};

template <class T>
T reduce(Aggregate aggregate, T a, T b) {
  switch (aggregate) {
    case Aggregate::Sum: return scalar_add(a, b);
    case Aggregate::Prod: return scalar_multiply(a, b);
    case Aggregate::Min: return scalar_least(a, b);
    case Aggregate::Max: return scalar_greatest(a, b);
    case Aggregate::LogSumExp: return scalar_log_add_exp(a, b);
    case Aggregate::FirstLeast:
    case Aggregate::FirstGreatest: return scalar_first_extreme(aggregate, a, b);
    case Aggregate::Block:
    case Aggregate::User:
    case Aggregate::None: break;
  }
  return b;
}

// Sums and products of single precision accumulate in double precision.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, float>, double,
                                std::conditional_t<std::is_same_v<T, std::complex<float>>, std::complex<double>, T>>;

// Evaluates a function of one value, such as an epilogue.
ScalarValue evaluate_at(const ScalarExpression& e, ScalarValue x) {
  return evaluate(e, [&](const ScalarExpression& leaf) {
    if (leaf.kind() == Kind::Operand) return x;
    CHECK(leaf.kind() == Kind::Uniform || leaf.kind() == Kind::Normal,
          "an epilogue knows no labels, and parameters have their values when a plan runs");
    return random_value(leaf, 0);
  });
}

ScalarPtr epilogue_of(const EinSum& einsum, const LabelTable& table, DType compute) {
  return einsum.epilogue == nullptr ? nullptr : with_types(einsum.epilogue, std::span(&compute, 1), table, compute);
}

// Folds the values of an expression with a user's aggregate, in the order of its labels.
template <class T>
void fold(const EinSum& einsum, const LabelTable& table, const ScalarExpression& expression, CellEvaluator& cell,
          std::vector<Wide<T>>& sums) {
  const auto combination = typed_combination(*einsum.user, dtype_of<T>);
  const Shape head(table.extents(einsum.output));
  std::vector<ScalarValue> values(sums.size(), initial_value(*einsum.user, dtype_of<T>));
  auto in_order = einsum.output;
  in_order.insert(in_order.end(), einsum.aggregated.begin(), einsum.aggregated.end());
  const auto extents = table.extents(in_order);
  Index at(extents.size(), 0);
  if (Shape(extents).element_count() > 0) {
    do {
      for (std::size_t n = 0; n < in_order.size(); ++n) {
        const auto place = std::find(cell.labels().begin(), cell.labels().end(), in_order[n]) - cell.labels().begin();
        cell.index()[static_cast<std::size_t>(place)] = at[n];
      }
      auto& value = values[static_cast<std::size_t>(cell.offset(einsum.output, head))];
      value = value_of(*combination, std::array{value, cell.value(expression)});
    } while (next_index(at, extents));
  }
  for (std::size_t n = 0; n < sums.size(); ++n) sums[n] = values[n].template as<Wide<T>>();
}

// Computes a recurrence (tensor/block_function) one value after the other.
template <class T>
void recur(const EinSum& einsum, const LabelTable& table, const std::vector<const DenseTensor*>& inputs,
           CellEvaluator& cell, std::vector<Wide<T>>& sums) {
  const auto& block = *einsum.block;
  const auto read = einsum.aggregated.front();
  const auto written = result_core_of(einsum).front();
  const auto last = table.extent(written) - 1;
  const Shape head(table.extents(einsum.output));
  const auto step_of_user = block.op == BlockOp::UserRecurrence ? recurrence_step(*einsum.user, dtype_of<T>) : nullptr;
  const auto set = [&](Label label, std::int64_t value) {
    const auto place = std::find(cell.labels().begin(), cell.labels().end(), label) - cell.labels().begin();
    cell.index()[static_cast<std::size_t>(place)] = value;
  };
  const auto value_at = [&](std::size_t n, std::int64_t t) {
    set(read, t);
    return load(*inputs[n], cell.offset(einsum.inputs[n], inputs[n]->shape())).template as<Wide<T>>();
  };
  for (std::int64_t step = 0; step <= last; ++step) {
    const auto t = block.descending ? last - step : step;
    Index at(head.rank(), 0);
    if (head.element_count() == 0) return;
    do {
      for (std::size_t d = 0; d < at.size(); ++d) set(einsum.output[d], at[d]);
      set(written, t);
      auto value = value_at(0, t);
      if (step > 0) {
        set(written, block.descending ? t + 1 : t - 1);
        const auto before = sums[static_cast<std::size_t>(cell.offset(einsum.output, head))];
        const auto factor = value_at(1, block.descending ? t + 1 : t);
        if (step_of_user != nullptr)
          value = value_of(*step_of_user, std::array{ScalarValue(value), ScalarValue(factor), ScalarValue(before)})
                      .template as<Wide<T>>();
        else if (block.op == BlockOp::SumRecurrence) value = scalar_add(scalar_multiply(factor, before), value);
        else if (block.op == BlockOp::MaxRecurrence) value = scalar_greatest(scalar_add(factor, before), value);
        else if (block.op == BlockOp::MinRecurrence) value = scalar_least(scalar_add(factor, before), value);
        else value = scalar_log_add_exp(scalar_add(factor, before), value);
        set(written, t);
      }
      sums[static_cast<std::size_t>(cell.offset(einsum.output, head))] = value;
    } while (next_index(at, head.extents()));
  }
}

template <class T>
DenseTensor evaluate(const EinSum& einsum, const LabelTable& table, const std::vector<const DenseTensor*>& inputs,
                     DType result_type) {
  std::vector<DType> types;
  for (const auto* input : inputs) types.push_back(input->dtype());
  const auto expression = einsum.block ? nullptr : with_types(einsum.expression, types, table, dtype_of<T>);
  const auto epilogue = epilogue_of(einsum, table, dtype_of<T>);
  CellEvaluator cell(einsum, table, inputs);
  const Shape head(table.extents(einsum.output));
  std::vector<Wide<T>> sums(static_cast<std::size_t>(head.element_count()), identity_of<Wide<T>>(einsum.aggregate));
  const auto extents = table.extents(cell.labels());
  cell.index().assign(extents.size(), 0);
  if (einsum.user != nullptr && !einsum.block) {
    fold<T>(einsum, table, *expression, cell, sums);
  } else if (einsum.block) {
    CHECK(is_recurrence(einsum.block->op), "of the functions of vectors and matrices, recurrences have a reference");
    recur<T>(einsum, table, inputs, cell, sums);
  } else if (Shape(extents).element_count() > 0) {
    do {
      auto& sum = sums[static_cast<std::size_t>(cell.offset(einsum.output, head))];
      sum = reduce(einsum.aggregate, sum, cell.value(*expression).template as<Wide<T>>());
    } while (next_index(cell.index(), extents));
  }
  auto result = Tile::zeros(result_type, head);
  dispatch(result_type, [&](auto t) {
    using To = typename decltype(t)::type;
    for (std::size_t n = 0; n < sums.size(); ++n) {
      const auto value = convert_value<T>(sums[n]);
      result.mutable_data<To>()[n] =
          epilogue == nullptr ? convert_value<To>(value) : evaluate_at(*epilogue, ScalarValue(value)).template as<To>();
    }
  });
  return result;
}

}  // namespace

DenseTensor evaluate_reference(const EinSum& einsum, const LabelTable& labels,
                               const std::vector<const DenseTensor*>& inputs, DType compute, DType result) {
  CHECK(inputs.size() == einsum.inputs.size(), "an EinSum gets as many tensors as it has inputs");
  return dispatch(compute,
                  [&](auto t) { return evaluate<typename decltype(t)::type>(einsum, labels, inputs, result); });
}

}  // namespace eindb

#include "tensor/reference_evaluator.hpp"

#include "common/check.hpp"
#include "tensor/random.hpp"
#include "tensor/scalar_semantics.hpp"

namespace eindb {
namespace {

using Kind = ScalarExpression::Kind;
using Index = std::vector<std::int64_t>;

template <class To, class From>
To convert_value(From value) {
  if constexpr (is_complex_type<From> && is_complex_type<To>) {
    return To(static_cast<typename To::value_type>(value.real()), static_cast<typename To::value_type>(value.imag()));
  } else if constexpr (is_complex_type<From>) {
    return static_cast<To>(value.real());
  } else if constexpr (is_complex_type<To>) {
    return To(static_cast<typename To::value_type>(value));
  } else {
    return static_cast<To>(value);
  }
}

template <class To>
To load(const DenseTensor& tensor, std::int64_t offset) {
  return dispatch(tensor.dtype(), [&](auto t) {
    using From = typename decltype(t)::type;
    return convert_value<To>(tensor.data<From>()[offset]);
  });
}

// Evaluates the scalar expression of one cell in T.
template <class T>
class CellEvaluator {
 public:
  CellEvaluator(const EinSum& einsum, const LabelTable& table, const std::vector<const DenseTensor*>& inputs)
      : einsum_(einsum), table_(table), inputs_(inputs), labels_(einsum.labels()) {}

  const Labels& labels() const { return labels_; }
  Index& index() { return index_; }

  T value() const { return evaluate(*einsum_.expression); }

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

  T evaluate(const ScalarExpression& e) const {
    switch (e.kind()) {
      case Kind::Integer: return convert_value<T>(e.integer_value());
      case Kind::Real: return convert_value<T>(e.real_value());
      case Kind::Operand: {
        const auto& tensor = *inputs_[e.operand()];
        return load<T>(tensor, offset(einsum_.inputs[e.operand()], tensor.shape()));
      }
      case Kind::LabelIndex: return convert_value<T>(at(e.label()));
      case Kind::Uniform: return convert_value<T>(random_uniform(e.seed(), cell_number(e.cell())));
      case Kind::Normal: return convert_value<T>(random_normal(e.seed(), cell_number(e.cell())));
      case Kind::Parameter: CHECK(false, "parameters have their values when a plan runs");
      case Kind::Call: break;
    }
    const auto& arguments = e.arguments();
    if (e.op() == ScalarOp::Case) {
      for (std::size_t n = 0; n + 1 < arguments.size(); n += 2)
        if (evaluate(*arguments[n]) != T(0)) return evaluate(*arguments[n + 1]);
      return evaluate(*arguments.back());
    }
    T result = evaluate(*arguments[0]);
    if (arguments.size() == 1) return apply_scalar<T>(e.op(), result);
    for (std::size_t n = 1; n < arguments.size(); ++n)
      result = apply_scalar<T>(e.op(), result, evaluate(*arguments[n]));
    return result;
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
    case Aggregate::None: break;
  }
  return b;
}

// Sums and products of single precision are taken in double precision.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, float>, double,
                                std::conditional_t<std::is_same_v<T, std::complex<float>>, std::complex<double>, T>>;

// A function of one value, as epilogues are.
template <class T>
T evaluate_at(const ScalarExpression& e, T x) {
  if (e.kind() == Kind::Operand) return x;
  if (e.kind() == Kind::Integer) return convert_value<T>(e.integer_value());
  if (e.kind() == Kind::Real) return convert_value<T>(e.real_value());
  // Of a scalar: there is one cell.
  if (e.kind() == Kind::Uniform) return convert_value<T>(random_uniform(e.seed(), 0));
  if (e.kind() == Kind::Normal) return convert_value<T>(random_normal(e.seed(), 0));
  CHECK(e.kind() == Kind::Call, "an epilogue knows no labels, and parameters have their values when a plan runs");
  const auto& arguments = e.arguments();
  if (e.op() == ScalarOp::Case) {
    for (std::size_t n = 0; n + 1 < arguments.size(); n += 2)
      if (evaluate_at(*arguments[n], x) != T(0)) return evaluate_at(*arguments[n + 1], x);
    return evaluate_at(*arguments.back(), x);
  }
  T result = evaluate_at(*arguments[0], x);
  if (arguments.size() == 1) return apply_scalar<T>(e.op(), result);
  for (std::size_t n = 1; n < arguments.size(); ++n)
    result = apply_scalar<T>(e.op(), result, evaluate_at(*arguments[n], x));
  return result;
}

template <class T>
DenseTensor evaluate(const EinSum& einsum, const LabelTable& table, const std::vector<const DenseTensor*>& inputs,
                     DType result_type) {
  CellEvaluator<T> cell(einsum, table, inputs);
  const Shape head(table.extents(einsum.output));
  std::vector<Wide<T>> sums(static_cast<std::size_t>(head.element_count()), identity_of<Wide<T>>(einsum.aggregate));
  const auto extents = table.extents(cell.labels());
  cell.index().assign(extents.size(), 0);
  if (Shape(extents).element_count() > 0) {
    do {
      auto& sum = sums[static_cast<std::size_t>(cell.offset(einsum.output, head))];
      sum = reduce(einsum.aggregate, sum, convert_value<Wide<T>>(cell.value()));
    } while (next_index(cell.index(), extents));
  }
  auto result = Tile::zeros(result_type, head);
  dispatch(result_type, [&](auto t) {
    using To = typename decltype(t)::type;
    for (std::size_t n = 0; n < sums.size(); ++n) {
      auto value = convert_value<T>(sums[n]);
      if (einsum.epilogue != nullptr) value = evaluate_at(*einsum.epilogue, value);
      result.mutable_data<To>()[n] = convert_value<To>(value);
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

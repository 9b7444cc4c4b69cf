#include "tensor/placed_value.hpp"

#include <utility>

namespace eindb {
namespace {

ScalarPtr call_of(ScalarOp op, ScalarPtr a) { return ScalarExpression::call(op, {std::move(a)}); }
ScalarPtr call_of(ScalarOp op, ScalarPtr a, ScalarPtr b) {
  return ScalarExpression::call(op, {std::move(a), std::move(b)});
}

ScalarPtr whole(std::int64_t value) {
  return ScalarExpression::with_type(ScalarExpression::integer(value), DType::Int64);
}

ScalarPtr index_of(Label label, DType type) {
  return ScalarExpression::with_type(ScalarExpression::label_index(label), type);
}

// The lowest bits of a whole number, so that the one that wins has the least.
ScalarPtr low_bits(ScalarPtr value, Aggregate aggregate) {
  if (aggregate == Aggregate::FirstGreatest) value = call_of(ScalarOp::BitNot, std::move(value));
  return call_of(ScalarOp::BitAnd, std::move(value), whole(kLowValueBits));
}

ScalarPtr placed_whole(const ScalarPtr& value, Label label, Aggregate aggregate) {
  auto high = call_of(ScalarOp::BitAnd, value, whole(~kLowValueBits));
  auto low = call_of(ScalarOp::ShiftLeft, low_bits(value, aggregate), whole(kPlaceBits));
  auto place = call_of(ScalarOp::Add, std::move(low), index_of(label, DType::Int64));
  return call_of(ScalarOp::MakeComplex, call_of(ScalarOp::ToFloat64, std::move(high)),
                 call_of(ScalarOp::ToFloat64, std::move(place)));
}

ScalarPtr imaginary_bits(const ScalarPtr& placed) {
  return call_of(ScalarOp::ToInt64, call_of(ScalarOp::Imag, placed));
}

// The value of COMPLEX(CAST(value & -2048 AS FLOAT64), ...); null for anything else.
ScalarPtr whole_value(const ScalarExpression& real) {
  if (!real.is_call(ScalarOp::ToFloat64) || !real.arguments()[0]->is_call(ScalarOp::BitAnd)) return nullptr;
  return real.arguments()[0]->arguments()[0];
}

}  // namespace

std::int64_t most_places(DType type) { return std::int64_t{1} << (type == DType::Int64 ? kPlaceBits : 53U); }

ScalarPtr with_place(ScalarPtr value, DType type, Label label, Aggregate aggregate) {
  if (type == DType::Int64) return placed_whole(value, label, aggregate);
  return call_of(ScalarOp::MakeComplex, call_of(ScalarOp::ToFloat64, std::move(value)),
                 index_of(label, DType::Float64));
}

ScalarPtr value_of_placed(const ScalarPtr& placed, DType type, Aggregate aggregate) {
  auto real = call_of(ScalarOp::Real, placed);
  if (type == DType::Float64) return real;
  if (type != DType::Int64) return call_of(conversion_to(type), std::move(real));
  const auto low = call_of(ScalarOp::ShiftRight, imaginary_bits(placed), whole(kPlaceBits));
  return call_of(ScalarOp::BitOr, call_of(ScalarOp::ToInt64, std::move(real)), low_bits(low, aggregate));
}

ScalarPtr index_of_placed(const ScalarPtr& placed, DType type) {
  if (type != DType::Int64) return call_of(ScalarOp::Imag, placed);
  return call_of(ScalarOp::BitAnd, imaginary_bits(placed), whole((std::int64_t{1} << kPlaceBits) - 1));
}

std::optional<PlacedValue> placed_value(const EinSum& einsum) {
  const auto& e = *einsum.expression;
  if (!has_place(einsum.aggregate) || einsum.aggregated.size() != 1 || !e.is_call(ScalarOp::MakeComplex))
    return std::nullopt;
  const auto label = einsum.aggregated.front();
  if (auto value = whole_value(*e.arguments()[0]);
      value != nullptr && equal(e, *placed_whole(value, label, einsum.aggregate)))
    return PlacedValue{std::move(value), DType::Int64, label};
  const auto& real = e.arguments()[0];
  auto value = real->is_call(ScalarOp::ToFloat64) ? real->arguments()[0] : real;
  if (!equal(*e.arguments()[1], *index_of(label, DType::Float64))) return std::nullopt;
  return PlacedValue{std::move(value), DType::Float64, label};
}

}  // namespace eindb

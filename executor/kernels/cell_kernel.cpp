#include "executor/kernels/cell_kernel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "executor/kernels/cell_call.hpp"
#include "executor/kernels/cell_product.hpp"
#include "executor/kernels/cell_sink.hpp"
#include "tensor/scalar_types.hpp"

namespace eindb {
namespace {

EinSum with_cell_types(EinSum einsum, const LabelTable& labels, const std::vector<DType>& operand_types,
                       DType compute) {
  CHECK(operand_types.size() == einsum.inputs.size(), "a kernel knows the type of every operand");
  einsum.expression = with_types(einsum.expression, operand_types, labels, compute);
  return einsum;
}

bool is_finite_value(const ScalarValue& value) {
  return value.visit([](auto v) {
    if constexpr (std::is_integral_v<decltype(v)>) return true;
    else if constexpr (is_complex_type<decltype(v)>) return std::isfinite(v.real()) && std::isfinite(v.imag());
    else return std::isfinite(v);
  });
}

bool is_any_empty(std::span<const PartRange> ranges) {
  return std::any_of(ranges.begin(), ranges.end(), [](const PartRange& range) { return range.size == 0; });
}

template <class T>
bool is_all_zero_bits(const T& value) {
  constexpr std::array<std::byte, sizeof(T)> kZero{};
  return std::memcmp(static_cast<const void*>(&value), kZero.data(), sizeof(T)) == 0;
}

// Collects an expression as factor * operand * operand ...; false if it has another form.
bool collect_factors(const ScalarExpression& e, const std::vector<DType>& types, DType compute,
                     std::vector<std::size_t>& operands, ScalarValue& factor) {
  if (e.is_constant()) {
    factor = ScalarValue::apply(ScalarOp::Multiply, factor, ScalarValue::of(e));
    return is_finite_value(factor);
  }
  const bool is_converted = e.kind() == ScalarExpression::Kind::Call && converts_to(e.op()) == compute;
  const auto& operand = is_converted ? *e.arguments().front() : e;
  if (operand.kind() == ScalarExpression::Kind::Operand) {
    if (!is_converted && types[operand.operand()] != compute) return false;
    const bool is_new = std::find(operands.begin(), operands.end(), operand.operand()) == operands.end();
    operands.push_back(operand.operand());
    return is_new;
  }
  if (e.is_call(ScalarOp::Negate)) {
    factor = ScalarValue::apply(ScalarOp::Negate, factor);
    return collect_factors(*e.arguments().front(), types, compute, operands, factor);
  }
  if (!e.is_call(ScalarOp::Multiply)) return false;
  return std::all_of(e.arguments().begin(), e.arguments().end(),
                     [&](const auto& a) { return collect_factors(*a, types, compute, operands, factor); });
}

}  // namespace

CellKernel::CellKernel(const EinSum& einsum, const LabelTable& labels, std::vector<DType> operand_types, DType compute,
                       std::vector<bool> of_cells, CellPattern pattern)
    : CellKernel(einsum, labels, std::move(operand_types), compute, of_cells, pattern,
                 CellPanel::of(einsum, of_cells)) {}

CellKernel::CellKernel(const EinSum& einsum, const LabelTable& labels, std::vector<DType> operand_types, DType compute,
                       std::vector<bool> of_cells, CellPattern pattern, std::optional<CellPanel> panel)
    : einsum_(with_cell_types(einsum, labels, operand_types, compute)),
      labels_(einsum.labels()),
      operand_types_(std::move(operand_types)),
      compute_(compute),
      of_cells_(std::move(of_cells)),
      pattern_(pattern),
      product_(product_of(einsum_, operand_types_, compute)),
      points_(einsum_, labels, operand_types_, compute),
      leaves_zeros_(leaves_zeros(einsum_, labels, operand_types_, pattern)),
      operation_count_(ExpressionProgram(einsum_, labels, operand_types_).operation_count()) {
  CHECK(of_cells_.size() == einsum_.inputs.size(), "it is known of every operand whether it is of cells");
  if (panel && product_ && pattern_ == CellPattern::Intersection) {
    panel_kernel_.reset(
        new CellKernel(panel->einsum(), labels, operand_types_, compute_, of_cells_, pattern_, std::nullopt));
    panel_ = std::move(panel);
  }
  maps_values_ = !product_ && einsum_.inputs.size() == 1 && points_.numbers().empty();
  if (auto move = cell_move(einsum_, of_cells_)) mover_.emplace(*std::move(move), einsum_);
  if (pattern_ != CellPattern::WithRest) return;
  rest_ = rest_of(einsum_, operand_types_);
  CHECK(rest_, "where there is no cell, all points have one value");
}

std::optional<CellKernel::Product> CellKernel::product_of(const EinSum& typed, const std::vector<DType>& types,
                                                          DType compute) {
  Product product{{}, ScalarValue(std::int64_t{1}, compute)};
  if (!collect_factors(*typed.expression, types, compute, product.operands, product.factor)) return std::nullopt;
  return product;
}

void CellKernel::run(std::span<const Tile* const> operands, std::span<const PartRange> label_ranges, Tile& accumulator,
                     bool first, const CallPlan& plan) const {
  check(operands, label_ranges);
  CHECK(accumulator.dtype() == compute_, "a kernel accumulates in the type that it computes in");
  CHECK(accumulator.shape().extents() == sizes_of(einsum_.output, label_ranges),
        "an accumulator covers its labels' ranges");
  CHECK(first || einsum_.aggregate != Aggregate::None, "without an aggregate every call writes new cells");
  if (accumulator.shape().element_count() == 0) return;
  const bool is_empty = is_any_empty(label_ranges);
  if (!is_empty && takes_panels(operands, accumulator.shape()))
    return run_panels(operands, label_ranges, accumulator, first);
  if (first) begin(accumulator);
  if (is_empty) return;
  if (mover_) return add_moved(operands, label_ranges, accumulator);
  if (rest_) return run_with_rest(operands, label_ranges, accumulator, plan.order);
  Call(*this, operands, label_ranges, false, plan.order).run(accumulator);
}

void CellKernel::add_moved(std::span<const Tile* const> operands, std::span<const PartRange> label_ranges,
                           Tile& accumulator) const {
  const auto moved = mover_->make_cells(operands, label_ranges);
  const auto numbers = moved.numbers();
  dispatch(compute_, [&](auto t) {
    using T = typename decltype(t)::type;
    const auto* from = moved.trie().template values_as<T>();
    auto* to = accumulator.mutable_data<T>();
    for (std::size_t n = 0; n < numbers.size(); ++n) to[numbers[n]] = scalar_add(to[numbers[n]], from[n]);
  });
}

bool CellKernel::takes_panels(std::span<const Tile* const> operands, const Shape& result) const {
  if (!panel_) return false;
  std::int64_t cells = 0;
  for (std::size_t n = 0; n < operands.size(); ++n)
    if (of_cells_[n]) cells = std::max(cells, operands[n]->cells().count());
  return panel_->pays(operands, result, cells);
}

void CellKernel::run_panels(std::span<const Tile* const> operands, std::span<const PartRange> label_ranges,
                            Tile& accumulator, bool first) const {
  const auto extent = panel_->extent(label_ranges);
  for (std::int64_t from = 0; from < extent; from += CellPanel::kWidth) {
    const auto width = std::min(CellPanel::kWidth, extent - from);
    std::vector<Tile> tiles;
    tiles.reserve(operands.size());
    std::vector<const Tile*> panels(operands.begin(), operands.end());
    for (std::size_t n = 0; n < operands.size(); ++n) {
      if (!panel_->has_operand(n)) continue;
      tiles.push_back(panel_->operand(n, *operands[n], from, width));
      panels[n] = &tiles.back();
    }
    const auto ranges = panel_->ranges(label_ranges, from, width);
    if (panel_->has_result()) {
      auto result = panel_->result(accumulator, width);
      if (!first) panel_->read_result(result, accumulator, from);
      panel_kernel_->run(panels, ranges, result, first);
      panel_->write_result(result, accumulator, from);
    } else {
      panel_kernel_->run(panels, ranges, accumulator, first && from == 0);
    }
  }
}

void CellKernel::begin(Tile& accumulator) const {
  dispatch(compute_, [&](auto t) {
    using T = typename decltype(t)::type;
    const auto identity = identity_of<T>(einsum_.aggregate);
    if (is_all_zero_bits(identity)) std::ranges::fill(accumulator.mutable_bytes(), std::byte{0});
    else std::fill_n(accumulator.mutable_data<T>(), accumulator.shape().element_count(), identity);
  });
}

void CellKernel::run_with_rest(std::span<const Tile* const> operands, std::span<const PartRange> label_ranges,
                               Tile& accumulator, const LabelOrder& order) const {
  auto counts = Tile::zeros(DType::Int64, accumulator.shape());
  Call call(*this, operands, label_ranges, false, order);
  if (call.reduces()) {
    call.reduce(accumulator, counts);
  } else {
    call.run(accumulator);
    Call(*this, operands, label_ranges, false, order).count_cells(counts);
  }
  const auto all = points_of_a_result(label_ranges);
  dispatch(compute_, [&](auto t) {
    using T = typename decltype(t)::type;
    const auto rest = rest_->as<T>();
    auto* values = accumulator.mutable_data<T>();
    const auto* count = counts.data<std::int64_t>();
    for (std::int64_t n = 0; n < accumulator.shape().element_count(); ++n) {
      if (count[n] >= all) continue;
      const auto times =
          einsum_.aggregate == Aggregate::Sum ? scalar_multiply(rest, convert_value<T>(all - count[n])) : rest;
      values[n] = aggregated_value(einsum_.aggregate, values[n], times);
    }
  });
}

CellBlock CellKernel::make_cells(std::span<const Tile* const> operands, std::span<const PartRange> label_ranges,
                                 const CallPlan& plan) const {
  check(operands, label_ranges);
  CHECK(leaves_zeros_, "a result of cells is zero elsewhere");
  const Shape shape(sizes_of(einsum_.output, label_ranges));
  if (is_any_empty(label_ranges)) return CellBlock::of_numbers(compute_, shape, {}, {});
  if (mover_) return mover_->make_cells(operands, label_ranges);
  return Call(*this, operands, label_ranges, true, plan.order).make_cells();
}

CellKernel::CallPlan CellKernel::plan(std::span<const Tile* const> operands, std::span<const PartRange> label_ranges,
                                      bool makes_cells) const {
  check(operands, label_ranges);
  if (mover_) return {{}, mover_->workspace_bytes(operands)};
  Call call(*this, operands, label_ranges, makes_cells, std::nullopt);
  auto bytes = call.workspace_bytes();
  const Shape result(sizes_of(einsum_.output, label_ranges));
  if (!makes_cells && takes_panels(operands, result)) bytes += panel_->workspace_bytes(operands, result, compute_);
  return {call.take_order(), bytes};
}

const CellKernel::CallPlan& CellCallPlans::plan(const std::shared_ptr<const CellKernel>& kernel,
                                                std::span<const Tile* const> operands,
                                                std::span<const PartRange> label_ranges, bool makes_cells) {
  sizes_.assign(1, makes_cells ? 1 : 0);
  for (const auto& range : label_ranges) sizes_.push_back(range.size);
  for (const auto* operand : operands) {
    if (!operand->is_of_cells()) continue;
    for (const auto& level : operand->cells().trie().levels)
      sizes_.push_back(static_cast<std::int64_t>(level.coordinates.size()));
  }
  for (const auto& kept : kept_)
    if (kept.kernel == kernel && kept.sizes == sizes_) return kept.plan;
  Kept made{kernel, sizes_, kernel->plan(operands, label_ranges, makes_cells)};
  if (kept_.size() < kMost) return kept_.emplace_back(std::move(made)).plan;
  auto& replaced = kept_[std::exchange(oldest_, (oldest_ + 1) % kMost)];
  replaced = std::move(made);
  return replaced.plan;
}

// A state of its own, and where rows of three tries meet, a bit for each coordinate.
std::size_t CellKernel::lent_bytes(std::span<const std::int64_t> label_sizes) const {
  constexpr std::size_t kState = 16 << 10;
  if (mover_ || !(product_ || maps_values_) || pattern_ == CellPattern::Union) return 0;
  std::int64_t marks = 0;
  if (operand_types_.size() > 2)
    for (const auto size : label_sizes) marks = std::max(marks, std::min(size, kMostMarks));
  return kState + static_cast<std::size_t>(marks) / 8;
}

std::string CellKernel::describe() const {
  const auto count = std::count(of_cells_.begin(), of_cells_.end(), true);
  auto text = "cells of " + std::to_string(count) + (count == 1 ? " operand" : " operands");
  if (mover_) return text + (mover_->gathers() ? ": gathered" : ": moved");
  if (pattern_ == CellPattern::Union) text += " together";
  if (product_ && pattern_ == CellPattern::Intersection)
    return text + (einsum_.aggregate == Aggregate::Sum ? ": sum of products" : ": products");
  text +=
      ": expression (" + std::to_string(operation_count_) + (operation_count_ == 1 ? " operation)" : " operations)");
  return rest_ ? text + ", and the rest" : text;
}

std::size_t CellKernel::place_of(Label label) const {
  const auto place = static_cast<std::size_t>(std::find(labels_.begin(), labels_.end(), label) - labels_.begin());
  DCHECK(place < labels_.size(), "a tile has labels of its EinSum");
  return place;
}

std::vector<std::int64_t> CellKernel::sizes_of(const Labels& labels, std::span<const PartRange> label_ranges) const {
  std::vector<std::int64_t> sizes;
  for (const auto label : labels) sizes.push_back(label_ranges[place_of(label)].size);
  return sizes;
}

// The points that are aggregated into one cell.
std::int64_t CellKernel::points_of_a_result(std::span<const PartRange> label_ranges) const {
  return checked_product(sizes_of(einsum_.aggregated, label_ranges));
}

void CellKernel::check(std::span<const Tile* const> operands, std::span<const PartRange> label_ranges) const {
  CHECK(label_ranges.size() == labels_.size(), "a kernel call has a range for every label");
  CHECK(operands.size() == operand_types_.size(), "a kernel call has a tile for every input");
  for (std::size_t n = 0; n < operands.size(); ++n) {
    CHECK(operands[n]->dtype() == operand_types_[n], "an operand's tiles are of its type");
    CHECK(operands[n]->is_of_cells() == of_cells_[n] && !operands[n]->is_encoded(),
          "tiles are of cells where that is known, and plain elsewhere");
    CHECK(operands[n]->shape().extents() == sizes_of(einsum_.inputs[n], label_ranges),
          "an operand's tile covers its labels' ranges");
  }
}

}  // namespace eindb

#include "executor/kernels/kernel.hpp"

#include <algorithm>
#include <utility>

#include "common/check.hpp"
#include "tensor/scalar_types.hpp"

namespace eindb {
namespace {

EinSum with_types_of(EinSum einsum, const LabelTable& labels, const std::vector<DType>& operand_types, DType compute) {
  CHECK(operand_types.size() == einsum.inputs.size(), "a kernel knows the type of every operand");
  einsum.expression = with_types(einsum.expression, operand_types, labels, compute);
  return einsum;
}

}  // namespace

Kernel::Kernel(const EinSum& einsum, const LabelTable& labels, std::vector<DType> operand_types, DType compute,
               DType /*result*/, const LevelTable& level, bool holds_bytes)
    : einsum_(with_types_of(with_plain_extreme(einsum, compute), labels, operand_types, compute)),
      labels_(einsum.labels()),
      whole_extents_(labels.extents(labels_)),
      operand_types_(std::move(operand_types)),
      compute_(compute),
      level_(level),
      holds_bytes_(holds_bytes),
      general_(einsum_, labels, operand_types_, compute),
      choice_(einsum_, compute) {
  empty_.aggregate = einsum.aggregate;
  empty_.user = einsum.user;
  if (const auto& form = choice_.access()) {
    access_.emplace(*form, einsum_, labels, compute);
    row_gather_ = RowGather::of(*form, einsum_, labels);
  }
  if (const auto& form = choice_.scan()) scan_.emplace(*form, einsum_, compute);
  if (einsum_.block) block_.emplace(einsum_, labels, operand_types_, compute);
  if (const auto& form = choice_.contraction()) contraction_.emplace(*form, einsum_, labels, operand_types_, compute);
  if (const auto& form = choice_.pair()) {
    if (einsum_.aggregate == Aggregate::LogSumExp) log_sum_exp_.emplace(*form, compute);
    else pairs_.emplace(*form, einsum_.aggregate, compute);
  }
}

void Kernel::plan_calls_of(std::span<const std::int64_t> label_sizes) {
  if (std::find(label_sizes.begin(), label_sizes.end(), 0) != label_sizes.end()) return;
  planned_ = PlannedCalls{.sizes = {label_sizes.begin(), label_sizes.end()},
                          .kind = choice_.kind(label_sizes),
                          .operands = {},
                          .result = {},
                          .product = {}};
  if (planned_->kind != KernelKind::Matrices || holds_bytes_) return;
  std::vector<PartRange> ranges;
  for (const auto size : label_sizes) ranges.push_back({0, size});
  for (const auto& labels : einsum_.inputs) planned_->operands.emplace_back(extents_of(labels, ranges));
  planned_->result = Shape(extents_of(einsum_.output, ranges));
  const auto [operands, result] = views_of_tiles(label_sizes);
  planned_->product = contraction_->plan(level_, operands, label_sizes, result);
}

bool Kernel::are_planned(std::span<const PartRange> label_ranges) const {
  return planned_ && std::equal(label_ranges.begin(), label_ranges.end(), planned_->sizes.begin(),
                                planned_->sizes.end(), [](const auto& range, auto size) { return range.size == size; });
}

// Null if the call is not one of those that are planned.
const ProductPlan* Kernel::planned_product(std::span<const Tile* const> operands,
                                           std::span<const PartRange> label_ranges, const Tile& accumulator) const {
  if (!planned_ || !planned_->product || !are_planned(label_ranges)) return nullptr;
  const auto suits = [](const Tile& tile, const Shape& shape) {
    return !tile.is_encoded() && !tile.is_of_cells() && !tile.has_strides() && tile.shape() == shape;
  };
  if (operands.size() != planned_->operands.size() || accumulator.dtype() != compute_ ||
      !suits(accumulator, planned_->result))
    return nullptr;
  for (std::size_t n = 0; n < operands.size(); ++n)
    if (operands[n]->dtype() != operand_types_[n] || !suits(*operands[n], planned_->operands[n])) return nullptr;
  return &*planned_->product;
}

KernelKind Kernel::kind_of(std::span<const PartRange> label_ranges) const {
  if (are_planned(label_ranges)) return planned_->kind;
  std::vector<std::int64_t> sizes;
  for (const auto& range : label_ranges) sizes.push_back(range.size);
  return choice_.kind(sizes);
}

void Kernel::run(std::span<const Tile* const> operands, std::span<const PartRange> label_ranges, Tile& accumulator,
                 bool first) const {
  if (const auto* product = planned_product(operands, label_ranges, accumulator))
    return contraction_->run(*product, operands, accumulator.mutable_bytes().data(), first);
  check(operands, label_ranges, accumulator);
  CHECK(first || einsum_.aggregate != Aggregate::None, "without an aggregate every call writes new cells");
  if (accumulator.shape().element_count() == 0) return;
  const auto is_empty = [](const PartRange& range) { return range.size == 0; };
  if (std::any_of(label_ranges.begin(), label_ranges.end(), is_empty)) {
    if (first) accumulator = identity_tile(empty_, compute_, accumulator.shape());
    return;
  }

  std::vector<LabelView> views;
  for (std::size_t n = 0; n < operands.size(); ++n) views.push_back(view_of(labels_, einsum_.inputs[n], *operands[n]));
  run(views, label_ranges, view_of(labels_, einsum_.output, accumulator), first);
}

void Kernel::run(std::span<const LabelView> views, std::span<const PartRange> label_ranges,
                 const MutableLabelView& output, bool first) const {
  DCHECK(views.size() == operand_types_.size() && label_ranges.size() == labels_.size(),
         "a kernel call has a view for every input and a range for every label");
  if (holds_bytes_ && contraction_) {
    std::vector<std::int64_t> sizes;
    for (const auto& range : label_ranges) sizes.push_back(range.size);
    if (contraction_->reads_bytes(views, sizes, output))
      return contraction_->run(level_, views, label_ranges, output, first, true);
  }
  const auto kind = kind_of(label_ranges);
  if (kind == KernelKind::Access) return access_->run(views, label_ranges, output, first);
  if (kind == KernelKind::Block) {
    CHECK(first, "a function of whole vectors has them in one call");
    return block_->run(level_, views, label_ranges, output);
  }
  if (kind == KernelKind::Scan) return scan_->run(level_, views.front(), label_ranges, output, first);
  if (kind == KernelKind::Matrices) return contraction_->run(level_, views, label_ranges, output, first);
  if (kind == KernelKind::Pairs && log_sum_exp_) return log_sum_exp_->run(level_, views, label_ranges, output, first);
  if (kind == KernelKind::Pairs && pairs_->run(level_, views, label_ranges, output, first)) return;
  general_.run(level_, views, label_ranges, output, first);
}

bool Kernel::reads_encoded(std::size_t n, Encoding encoding, std::span<const PartRange> label_ranges) const {
  if (!contraction_) return false;
  std::vector<std::int64_t> sizes;
  for (const auto& range : label_ranges) sizes.push_back(range.size);
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end() || choice_.kind(sizes) != KernelKind::Matrices)
    return false;
  auto [operands, result] = views_of_tiles(sizes);
  operands[n].encoding = encoding;
  return contraction_->reads_encoded(level_, operands, sizes, result);
}

bool Kernel::reads_bytes(std::span<const PartRange> label_ranges) const {
  if (!holds_bytes_) return false;
  std::vector<std::int64_t> sizes;
  for (const auto& range : label_ranges) sizes.push_back(range.size);
  return reads_bytes(sizes);
}

bool Kernel::reads_bytes(std::span<const std::int64_t> label_sizes) const {
  if (!holds_bytes_ || !contraction_ || std::find(label_sizes.begin(), label_sizes.end(), 0) != label_sizes.end())
    return false;
  const auto [operands, result] = views_of_tiles(label_sizes);
  return contraction_->reads_bytes(operands, label_sizes, result);
}

bool Kernel::reads_any_order(std::span<const PartRange> label_ranges) const {
  const auto is_empty = [](const PartRange& range) { return range.size == 0; };
  return contraction_ && std::none_of(label_ranges.begin(), label_ranges.end(), is_empty) &&
         kind_of(label_ranges) == KernelKind::Matrices;
}

std::string Kernel::describe(std::span<const std::int64_t> label_sizes) const {
  const auto sizes_text = [](const ContractionSize& size) {
    return "m=" + std::to_string(size.m) + " n=" + std::to_string(size.n) + " k=" + std::to_string(size.k) +
           " batch=" + std::to_string(size.batch);
  };
  if (reads_bytes(label_sizes)) return "gemm " + sizes_text(contraction_->size(label_sizes)) + " in bytes";
  switch (choice_.kind(label_sizes)) {
    case KernelKind::Matrices: return "gemm " + sizes_text(contraction_->size(label_sizes)) + " " + path(label_sizes);
    case KernelKind::Pairs:
      if (log_sum_exp_) return "pairs " + log_sum_exp_->describe() + " " + sizes_text(log_sum_exp_->size(label_sizes));
      return "pairs " + pairs_->describe() + " " + sizes_text(pairs_->size(label_sizes));
    case KernelKind::Access: return access_->describe();
    case KernelKind::Scan: return "scan";
    case KernelKind::Block: return block_->describe();
    case KernelKind::Loops: break;
  }
  if (const auto* fold = general_.fold()) {
    const auto combining = fold->program().operation_count();
    return std::string(fold->aggregate().may_split() ? "fold (" : "fold in order (") + std::to_string(combining) +
           (combining == 1 ? " operation)" : " operations)");
  }
  const auto count = general_.program().operation_count();
  return "expression (" + std::to_string(count) + (count == 1 ? " operation)" : " operations)");
}

std::string Kernel::path(std::span<const std::int64_t> label_sizes) const {
  const auto [operands, result] = views_of_tiles(label_sizes);
  return contraction_->path(level_, operands, label_sizes, result);
}

std::size_t Kernel::workspace_bytes(std::span<const std::int64_t> label_sizes) const {
  if (block_) return block_->workspace_bytes(level_, label_sizes);
  if (contraction_ && choice_.kind(label_sizes) == KernelKind::Matrices)
    return contraction_->workspace_bytes(level_, label_sizes);
  if (log_sum_exp_)
    return choice_.kind(label_sizes) == KernelKind::Pairs ? log_sum_exp_->workspace_bytes(level_, label_sizes) : 0;
  if (!pairs_) return 0;
  const auto [operands, result] = views_of_tiles(label_sizes);
  return pairs_->workspace_bytes(level_, operands, label_sizes, result);
}

std::size_t Kernel::lent_bytes(std::span<const std::int64_t> label_sizes) const {
  return block_ ? block_->lent_bytes(level_, label_sizes) : 0;
}

// Views for tiles of these sizes, without elements.
Kernel::Views Kernel::views_of_tiles(std::span<const std::int64_t> label_sizes) const {
  CHECK(label_sizes.size() == labels_.size(), "the sizes of tiles are those of their labels");
  std::vector<PartRange> ranges;
  for (const auto size : label_sizes) ranges.push_back({0, size});
  const auto strides = [&](const Labels& of) { return label_strides(labels_, of, Shape(extents_of(of, ranges))); };
  Views views;
  for (std::size_t n = 0; n < einsum_.inputs.size(); ++n)
    views.operands.push_back({operand_types_[n], nullptr, strides(einsum_.inputs[n])});
  views.result = {compute_, nullptr, strides(einsum_.output)};
  return views;
}

void Kernel::check(std::span<const Tile* const> operands, std::span<const PartRange> label_ranges,
                   const Tile& accumulator) const {
  CHECK(label_ranges.size() == labels_.size(), "a kernel call has a range for every label");
  CHECK(operands.size() == operand_types_.size(), "a kernel call has a tile for every input");
  CHECK(accumulator.dtype() == compute_, "a kernel accumulates in the type that it computes in");
  CHECK(covers(accumulator, einsum_.output, label_ranges), "an accumulator covers its labels' ranges");
  for (std::size_t n = 0; n < operands.size(); ++n) {
    CHECK(operands[n]->dtype() == operand_types_[n], "an operand's tiles are of its type");
    CHECK(covers(*operands[n], einsum_.inputs[n], label_ranges), "an operand's tile covers its labels' ranges");
  }
}

bool Kernel::covers(const Tile& tile, const Labels& of_tile, std::span<const PartRange> label_ranges) const {
  const auto& extents = tile.shape().extents();
  if (extents.size() != of_tile.size()) return false;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    const auto place =
        static_cast<std::size_t>(std::find(labels_.begin(), labels_.end(), of_tile[d]) - labels_.begin());
    DCHECK(place < label_ranges.size(), "a tile has labels of its EinSum");
    if (extents[d] != label_ranges[place].size) return false;
  }
  return true;
}

std::vector<std::int64_t> Kernel::extents_of(const Labels& labels, std::span<const PartRange> label_ranges) const {
  std::vector<std::int64_t> extents;
  for (const auto label : labels) {
    const auto place = std::find(labels_.begin(), labels_.end(), label) - labels_.begin();
    DCHECK(std::cmp_less(place, label_ranges.size()), "a tile has labels of its EinSum");
    extents.push_back(label_ranges[static_cast<std::size_t>(place)].size);
  }
  return extents;
}

}  // namespace eindb

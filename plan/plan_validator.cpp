// Validation of physical plans; validator.cpp has graphs and fragments.
#include <algorithm>
#include <string>

#include "common/checked_math.hpp"
#include "plan/einsum_checks.hpp"
#include "plan/local_fragment.hpp"
#include "plan/redistribution_validator.hpp"
#include "plan/validator.hpp"
#include "tensor/access_form.hpp"
#include "tensor/annihilation.hpp"
#include "tensor/cell_block.hpp"
#include "tensor/cell_form.hpp"
#include "tensor/tile_window.hpp"

namespace eindb {
namespace {

bool is_within(const TileKey& key, const Partition& parts) {
  if (key.size() != parts.size()) return false;
  for (std::size_t d = 0; d < key.size(); ++d)
    if (key[d] < 0 || key[d] >= parts[d]) return false;
  return true;
}

// Whether part `part` of `parts` lies in part `other` of `others`, for any extent.
bool lies_in(std::int64_t part, std::int64_t parts, std::int64_t other, std::int64_t others) {
  const auto scaled = [](std::int64_t a, std::int64_t b) { return static_cast<__int128>(a) * b; };
  return scaled(other, parts) <= scaled(part, others) && scaled(part + 1, others) <= scaled(other + 1, parts);
}

// Checks the blocks of ranks, which cut a space that is cut into `fine` parts.
void check_blocks(const Partition& blocks, const std::vector<std::optional<TileKey>>& at, const Partition& fine,
                  std::size_t ranks, const Checker& check) {
  check(blocks.size() == fine.size(), "blocks have as many dimensions as what they are of");
  for (std::size_t d = 0; d < blocks.size(); ++d)
    check(blocks[d] >= 1 && fine[d] % blocks[d] == 0, "tiles lie in one block each");
  check(at.size() == ranks, "a placement in blocks has an entry for every rank");
  for (const auto& key : at) check(!key || is_within(*key, blocks), "a rank's block is one of the blocks");
}

// Whether every one of the valid blocks is at some rank.
bool is_everywhere(const Partition& blocks, const std::vector<std::optional<TileKey>>& at) {
  const auto count = try_product(blocks);
  if (!count || *count > static_cast<std::int64_t>(at.size())) return false;
  const auto all = TileWindow::whole(blocks);
  std::vector<bool> known(static_cast<std::size_t>(*count), false);
  for (const auto& key : at)
    if (key) known[static_cast<std::size_t>(all.number_of(*key))] = true;
  return std::find(known.begin(), known.end(), false) == known.end();
}

bool is_everywhere(const PlanStep& step) {
  const auto* blocks = std::get_if<BlockPlacement>(&step.placement);
  return blocks == nullptr || is_everywhere(blocks->parts, blocks->at);
}

// One overload per step: checks the invariants between it and its inputs.
struct StepChecker {
  const PhysicalPlan& plan;
  StepId id;
  const Checker& check;

  const PlanStep& step() const { return plan.step(id); }

  void operator()(const ScanStep& scan) const {
    const auto& tensor = scan.tensor;
    check(step().grid == tensor.grid, "a scan has the grid of its tensor");
    check(step().dtype == tensor.dtype, "a scan has the type of its tensor");
    const auto* list = std::get_if<std::size_t>(&step().placement);
    check(list != nullptr && *list == scan.holders, "a scan is placed as its tensor is");
    check(tensor.as_cells == step().cells.has_value(), "a scan gives cells if its tensor is read as cells");
    check(!tensor.as_cells || (!tensor.selection && !has_scales(tensor.encoding)),
          "tensors whose values have no scales are read as cells, as a whole");
    if (tensor.selection) check_selection(*tensor.selection);
  }

  void operator()(const RedistributeStep& redistribute) const {
    const auto& input = plan.step(redistribute.input);
    check(!is_partial(input), "partial results are read by reduce steps alone");
    check(is_everywhere(input), "what is redistributed lies somewhere");
    check(step().grid.rank() == input.grid.rank() && step().dtype == input.dtype,
          "a redistribution keeps dimensions and type");
    check(!input.grid.overlaps(), "what is redistributed has each cell in one tile");
    check(!step().grid.overlaps() || (!redistribute.sequence && !step().cells),
          "tiles that overlap are dense, and are brought in pieces");
    check(step().grid.shape() == input.grid.shape() || !redistribute.sequence,
          "a sequence of collectives keeps extents");
    check(step().cells.has_value() == input.cells.has_value(), "a redistribution keeps cells as cells");
    check(!step().cells || !redistribute.sequence, "cells move in pieces");
    if (redistribute.sequence) check_sequence(*redistribute.sequence, input);
  }

  void operator()(const ComputeStep& compute) const {
    const auto& join = compute.join;
    check(join.inputs.empty() && compute.inputs.size() == join.einsum.inputs.size(),
          "a compute step has labels for every input");
    check_einsum(join.einsum, plan.labels, check);
    check(join.partition.labels == join.einsum.labels() && join.partition.parts.size() == join.partition.labels.size(),
          "a partition vector has one entry for each label of its vertex");
    check_blocks(compute.blocks, compute.at, join.partition.parts, plan.ranks, check);
    check(is_everywhere(compute.blocks, compute.at) || has_all_cells(compute), "every block is computed");
    check_result(compute);
    check_cells(compute);
    const auto first =
        std::find_if(compute.at.begin(), compute.at.end(), [](const auto& at) { return at.has_value(); });
    validate(local_fragment(plan, id, static_cast<Rank>(first - compute.at.begin())));
    for (std::size_t n = 0; n < compute.inputs.size(); ++n) check_input(compute, n);
  }

  void operator()(const ReduceStep& reduce) const {
    const auto& input = plan.step(reduce.input);
    check(is_partial(input), "a reduce step reads partial results");
    check(step().grid == input.grid, "a reduce step keeps the grid");
    check(!step().cells, "what is reduced is dense");
    const auto& compute = std::get<ComputeStep>(input.op);
    std::vector<DType> types;
    for (const auto operand : compute.inputs) types.push_back(plan.step(operand).dtype);
    check_types(compute.join.einsum, types, compute.join.compute_dtype, step().dtype, check);
  }

  void operator()(const FragmentStep& step) const {
    check(plan.ranks == 1 && plan.steps.size() == 1 && plan.holder_lists == 0,
          "a fragment is the only step of a plan for one rank");
    validate(step.fragment);
  }

  void check_placement() const {
    if (const auto* blocks = std::get_if<BlockPlacement>(&step().placement))
      check_blocks(blocks->parts, blocks->at, step().grid.partition(), plan.ranks, check);
    else check(std::get<std::size_t>(step().placement) < plan.holder_lists, "a holder list is one of the statement's");
    check(!step().cells || CellBlock::may_have(step().grid.shape()), "tiles of cells have a shape that may have them");
  }

 private:
  // Whether the blocks of an access that no rank has are without cells: its aligned labels have other parts there.
  bool has_all_cells(const ComputeStep& compute) const {
    const auto& labels = compute.join.partition.labels;
    const auto aligned = aligned_labels(compute.join.einsum, plan.labels);
    if (!aligned || aligned->extent != plan.labels.extent(aligned->label)) return false;
    const auto place = [&](Label label) {
      return static_cast<std::size_t>(std::find(labels.begin(), labels.end(), label) - labels.begin());
    };
    const auto one = place(aligned->label);
    const auto other = place(aligned->major);
    auto blocks = compute.blocks;
    if (blocks[one] != blocks[other] || plan.labels.extent(aligned->major) % blocks[other] != 0) return false;
    blocks[one] = 1;
    auto at = compute.at;
    for (auto& key : at) {
      if (!key) continue;
      if ((*key)[one] != (*key)[other]) return false;
      (*key)[one] = 0;
    }
    return is_everywhere(blocks, at);
  }

  // A sequence leads from the input's blocks to those of the step, by steps that each rank can run with its block
  // alone.
  void check_sequence(const RedistributionPlan& sequence, const PlanStep& input) const {
    const auto* from = std::get_if<BlockPlacement>(&input.placement);
    const auto* to = std::get_if<BlockPlacement>(&step().placement);
    check(from != nullptr && to != nullptr, "a sequence of collectives leads from blocks to blocks");
    check(sequence.shape == step().grid.shape(), "a sequence of collectives moves what the step redistributes");
    check(!sequence.steps.empty() && sequence.source == *from && sequence.target() == *to,
          "a sequence of collectives leads from where the input is to where the result is placed");
    validate(sequence);
  }

  static bool is_partial(const PlanStep& step) {
    const auto* compute = std::get_if<ComputeStep>(&step.op);
    return compute != nullptr && compute->is_partial();
  }

  void check_selection(const Selection& selection) const {
    check(selection.at.size() == selection.stored.rank(), "a selection has an entry for every dimension");
    for (std::size_t d = 0; d < selection.at.size(); ++d)
      check(!selection.at[d] || (*selection.at[d] >= 0 && *selection.at[d] < selection.stored.shape()[d]),
            "a dimension is held at one of its indices");
    check(selection.grid() == step().grid, "the grid of a selection is that of its free dimensions");
  }

  void check_result(const ComputeStep& compute) const {
    const auto& labels = compute.join.partition.labels;
    const auto project = [&](const std::vector<std::int64_t>& of_labels) {
      return LabelPartition{labels, of_labels}.project(compute.join.einsum.output);
    };
    BlockPlacement computed{project(compute.blocks), {}};
    for (const auto& at : compute.at) computed.at.push_back(at ? std::optional(project(*at)) : std::nullopt);
    const auto* placed = std::get_if<BlockPlacement>(&step().placement);
    check(placed != nullptr && *placed == computed, "a computed result lies where it is computed");
    check(!compute.is_partial() || step().dtype == compute.join.compute_dtype,
          "partial results are of the type that is computed in");
  }

  // Operands of cells are those that the join can be computed from (tensor/cell_form).
  void check_cells(const ComputeStep& compute) const {
    const auto& einsum = compute.join.einsum;
    std::vector<bool> of_cells;
    std::vector<DType> types;
    for (const auto input : compute.inputs) {
      of_cells.push_back(plan.step(input).cells.has_value());
      types.push_back(plan.step(input).dtype);
    }
    if (std::find(of_cells.begin(), of_cells.end(), true) == of_cells.end())
      return check(!step().cells, "cells are computed from cells");
    check(compute.join.steps.empty(), "a fused chain reads no cells");
    const auto pattern = cell_pattern(einsum, types, of_cells, harmless_facts(compute.inputs.size()), Zero::EitherSign);
    check(pattern.has_value(), "a step reads cells where it can be computed from them");
    check(!step().cells || (!compute.join.is_partial() && leaves_zeros(einsum, plan.labels, types, *pattern) &&
                            keeps_zero(einsum, compute.join.compute_dtype)),
          "cells of a result are made in one call for each part, and all other values are zero");
  }

  void check_input(const ComputeStep& compute, std::size_t n) const {
    const auto& input = plan.step(compute.inputs[n]);
    check(!is_partial(input), "partial results are read by reduce steps alone");
    const auto* placed = std::get_if<BlockPlacement>(&input.placement);
    check(placed != nullptr, "the inputs of a compute step lie in blocks");
    const auto& join = compute.join;
    const auto blocks = LabelPartition{join.partition.labels, compute.blocks}.project(join.cutting_labels(n));
    for (std::size_t rank = 0; rank < plan.ranks; ++rank) {
      if (!compute.at[rank]) continue;
      const auto wanted = LabelPartition{join.partition.labels, *compute.at[rank]}.project(join.cutting_labels(n));
      check(placed->at[rank].has_value(), "a rank that computes has its inputs");
      for (std::size_t d = 0; d < wanted.size(); ++d)
        check(lies_in(wanted[d], blocks[d], (*placed->at[rank])[d], placed->parts[d]),
              "a rank has the tiles that its block reads");
    }
  }
};

std::string place_of(const PhysicalPlan& plan, std::size_t step) {
  return "step " + std::to_string(step) + " (" + operator_name(plan.steps[step]) + ")";
}

void check_readers(const PhysicalPlan& plan) {
  std::vector<bool> is_read(plan.steps.size(), false);
  for (const auto& step : plan.steps)
    for (const auto input : inputs_of(step)) is_read[input.index()] = true;
  for (const auto result : plan.results) is_read[result.index()] = true;
  for (std::size_t n = 0; n < plan.steps.size(); ++n)
    Checker(place_of(plan, n))(is_read[n], "every step but results is read");
}

void check_results(const PhysicalPlan& plan) {
  CHECK(!plan.results.empty(), "a plan has a result");
  if (const auto* fragment = plan.fragment()) {
    CHECK(plan.results == std::vector(fragment->result_count(), StepId(0)), "a fragment gives every result");
    return;
  }
  std::vector<bool> known(plan.steps.size(), false);
  for (const auto result : plan.results) {
    CHECK(result.index() < plan.steps.size() && !known[result.index()], "the results are steps, none of them twice");
    known[result.index()] = true;
    const Checker check(place_of(plan, result.index()));
    const auto& step = plan.step(result);
    const auto* compute = std::get_if<ComputeStep>(&step.op);
    check(compute == nullptr || !compute->is_partial(), "a result of a plan is final");
    check(is_everywhere(step), "a result of a plan lies somewhere");
  }
}

const TileGrid& listed_grid(const PlanStep& step) {
  const auto* scan = std::get_if<ScanStep>(&step.op);
  return scan != nullptr && scan->tensor.selection ? scan->tensor.selection->stored : step.grid;
}

void check_list(const TileHolders& list, std::size_t ranks, const Checker& check) {
  for (std::size_t run = 0; run < list.run_count(); ++run) {
    const auto holders = list.run(run).ranks;
    check(std::adjacent_find(holders.begin(), holders.end(), std::greater_equal<>()) == holders.end(),
          "the holders of a tile are in ascending order");
    check(holders.empty() || holders.back() < ranks, "the holders of a tile are ranks of the statement");
  }
}

}  // namespace

void validate(const PhysicalPlan& plan) {
  CHECK(plan.ranks >= 1 && plan.ranks <= std::numeric_limits<Rank>::max(), "a statement has ranks");
  CHECK(plan.coordinator < plan.ranks, "the coordinator is one of the ranks");
  CHECK(!plan.steps.empty(), "a plan has steps");
  for (std::size_t n = 0; n < plan.labels.size(); ++n)
    CHECK(plan.labels.extent(Label(n)) >= 0, "an extent is not negative");
  for (std::size_t n = 0; n < plan.steps.size(); ++n) {
    const auto& step = plan.steps[n];
    const Checker check(place_of(plan, n));
    for (const auto input : inputs_of(step)) check(input.index() < n, "inputs come before their readers");
    const StepChecker checker{plan, StepId(n), check};
    checker.check_placement();
    std::visit(checker, step.op);
  }
  check_results(plan);
  check_readers(plan);
}

void validate(const PhysicalPlan& plan, std::span<const TileHolders> lists) {
  validate(plan);
  CHECK(lists.size() == plan.holder_lists, "a statement gives as many holder lists as its plan says");
  for (std::size_t n = 0; n < lists.size(); ++n)
    check_list(lists[n], plan.ranks, Checker("holder list " + std::to_string(n)));
  for (std::size_t n = 0; n < plan.steps.size(); ++n) {
    const auto& step = plan.steps[n];
    const auto* list = std::get_if<std::size_t>(&step.placement);
    if (list == nullptr) continue;
    const Checker check(place_of(plan, n));
    check(lists[*list].tile_count() == listed_grid(step).tile_count(), "a holder list has an entry for every tile");
    if (std::holds_alternative<ScanStep>(step.op)) continue;
    for (std::size_t run = 0; run < lists[*list].run_count(); ++run)
      check(!lists[*list].run(run).ranks.empty(), "a tile of a result has a holder");
  }
}

}  // namespace eindb

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "cluster/byte_writer.hpp"
#include "cluster/plan_code.hpp"
#include "cluster/plan_codec.hpp"
#include "common/check.hpp"
#include "common/error.hpp"
#include "tensor/cell_encoding.hpp"
#include "tensor/user_aggregate.hpp"

namespace eindb {
namespace {

using namespace plan_code;  // NOLINT(google-build-using-namespace): the terms of the form of plans

class Encoder {
 public:
  std::vector<std::byte> encode(const PhysicalPlan& plan, std::span<const TileHolders> holders) {
    CHECK(holders.size() == plan.holder_lists, "a statement gives as many lists of holders as its plan names");
    CHECK(plan.ranks <= kMostRanks && plan.coordinator < plan.ranks, "the coordinator is one of the plan's ranks");
    labels_ = plan.labels.size();
    holder_lists_ = plan.holder_lists;
    out_.byte(kVersion);
    out_.number(plan.ranks);
    out_.number(plan.coordinator);
    out_.number(plan.labels.size());
    for (std::size_t n = 0; n < plan.labels.size(); ++n) {
      out_.text(plan.labels.name(Label(n)));
      out_.size(plan.labels.extent(Label(n)));
    }
    out_.number(plan.holder_lists);
    out_.list(plan.steps, [this](const PlanStep& step) { put(step); });
    out_.list(plan.results, [this](StepId id) { put_earlier(id); });
    for (const auto& list : holders) put(list);
    return out_.take();
  }

  void operator()(const ScanStep& scan) {
    put(scan.tensor);
    (*this)(scan.holders);
  }
  void operator()(const RedistributeStep& moved) {
    put_earlier(moved.input);
    out_.optional(moved.sequence, [this](const RedistributionPlan& sequence) {
      out_.list(sequence.steps, [this](const RedistributionStep& step) { put(step); });
    });
  }
  void operator()(const DynSlice&) {}
  void operator()(const AllGather& gather) { put(gather.groups); }
  void operator()(const AllToAll& exchange) { put(exchange.groups); }
  void operator()(const AllPermute& permutation) { put(permutation.from); }
  void operator()(const ReduceStep& reduced) { put_earlier(reduced.input); }
  void operator()(const ComputeStep& compute) {
    out_.list(compute.inputs, [this](StepId id) { put_earlier(id); });
    put(compute.join);
    put(compute.blocks, compute.at);
  }
  void operator()(const FragmentStep&) { CHECK(false, "a plan for a single rank stays with it"); }
  void operator()(const BlockPlacement& placement) { put(placement.parts, placement.at); }
  void operator()(std::size_t holders) {
    CHECK(holders < holder_lists_, "a step names a list of holders that the statement gives");
    out_.number(holders);
  }

 private:
  void put_earlier(StepId id) {
    CHECK(id.index() < steps_, "steps read those before them");
    out_.number(id.index());
  }

  void put(Label label) {
    CHECK(label.index() < labels_, "a label is one of the plan's");
    out_.number(label.index());
  }

  void put(const PlanStep& step) {
    out_.byte(static_cast<std::uint8_t>(step.op.index()));
    std::visit(*this, step.op);
    out_.number(step.vertex.index());
    out_.choice(step.dtype);
    put(step.grid);
    out_.byte(static_cast<std::uint8_t>(step.placement.index()));
    std::visit(*this, step.placement);
    out_.optional(step.cells, [this](double cells) { out_.real(cells); });
    ++steps_;
  }

  void put(const RedistributionStep& step) {
    out_.byte(static_cast<std::uint8_t>(step.collective.index()));
    std::visit(*this, step.collective);
    put(step.result.parts, step.result.at);
    out_.real(step.cost);
  }

  void put(const std::vector<RankGroup>& groups) {
    out_.list(groups, [this](const RankGroup& group) { put(group); });
  }
  void put(const RankGroup& group) {
    out_.list(group, [this](Rank rank) { out_.number(rank); });
  }

  void put(const JoinNode& join) {
    CHECK(join.inputs.empty() && join.in_parts.empty(), "the join of a step has no inputs of its own");
    CHECK(join.partition.labels.size() == join.partition.parts.size(), "a partition vector has parts for every label");
    put(join.einsum);
    put(join.partition.labels);
    for (const auto parts : join.partition.parts) out_.size(parts);
    out_.choice(join.compute_dtype);
    out_.list(join.steps, [this](const JoinStep& step) { put(step); });
    put(join.rows);
    out_.list(join.halos, [this](const Halo& halo) {
      put(halo.label);
      put(halo.leader);
      put(halo.reach);
    });
  }

  void put(const Reach& reach) {
    for (const auto number : {reach.extent, reach.step, reach.least, reach.most, reach.divisor}) out_.integer(number);
  }

  void put(const JoinStep& step) {
    out_.number(step.vertex.index());
    out_.list(step.inputs, [this](std::size_t input) { out_.number(input); });
    put(step.einsum);
    out_.choice(step.compute_dtype);
  }

  void put(const Partition& blocks, const BlocksAt& at) {
    out_.list(blocks, [this](std::int64_t parts) { out_.size(parts); });
    out_.list(at, [&](const std::optional<TileKey>& key) {
      out_.optional(key, [&](const TileKey& block) {
        CHECK(block.size() == blocks.size(), "a block has as many coordinates as its grid has dimensions");
        for (const auto part : block) out_.size(part);
      });
    });
  }

  void put(const InputTensor& tensor) {
    out_.text(tensor.name);
    out_.choice(tensor.dtype);
    out_.choice(tensor.encoding);
    put(tensor.grid);
    out_.optional(tensor.selection, [this](const Selection& selection) { put(selection); });
    out_.flag(tensor.attached);
    out_.real(tensor.present);
    out_.flag(tensor.as_cells);
  }

  void put(const Selection& selection) {
    CHECK(selection.at.size() == selection.stored.rank(), "a selection has one entry per dimension");
    put(selection.stored);
    for (const auto& index : selection.at) out_.optional(index, [this](std::int64_t i) { out_.size(i); });
  }

  void put(const TileGrid& grid) {
    CHECK(grid.shape().rank() == grid.rank(), "a grid has parts along every dimension");
    out_.list(grid.shape().extents(), [this](std::int64_t extent) { out_.size(extent); });
    for (const auto parts : grid.partition()) out_.size(parts);
    out_.list(grid.reaches(), [this](const std::optional<Reach>& along) {
      out_.optional(along, [this](const Reach& reach) { put(reach); });
    });
  }

  void put(const Labels& labels) {
    out_.list(labels, [this](Label label) { put(label); });
  }

  void put(const EinSum& einsum) {
    CHECK(einsum.expression != nullptr, "an EinSum has an expression");
    out_.list(einsum.inputs, [this](const Labels& labels) { put(labels); });
    put(einsum.output);
    put(einsum.aggregated);
    out_.choice(einsum.aggregate);
    if (einsum.aggregate == Aggregate::Block) {
      CHECK(einsum.block.has_value(), "an EinSum that has a block function says which");
      out_.choice(einsum.block->op);
      out_.flag(einsum.block->descending);
      out_.real(einsum.block->share);
    }
    if (is_of_user(einsum)) {
      CHECK(einsum.user != nullptr, "an EinSum that a user's aggregate aggregates has it");
      put(*einsum.user);
    }
    put(*einsum.expression, kMaxEncodedDepth);
    out_.flag(einsum.epilogue != nullptr);
    if (einsum.epilogue != nullptr) put(*einsum.epilogue, kMaxEncodedDepth);
  }

  void put(const UserAggregate& user) {
    out_.text(user.name);
    for (const bool declared : {user.commutative, user.associative, user.idempotent}) out_.flag(declared);
    out_.list(user.semirings, [this](const Semiring& semiring) {
      const auto& join = semiring.join;
      out_.flag(join.is_user());
      if (!join.is_user()) return out_.choice(join.op());
      out_.text(join.name());
      put(*join.body(), kMaxEncodedDepth);
    });
    put(*user.combination, kMaxEncodedDepth);
    put(*user.initial, kMaxEncodedDepth);
  }

  void put(const ScalarExpression& e, int depth) {
    if (depth == 0)
      throw Error(ErrorKind::Unsupported, "an expression nests too deeply to be sent to the workers", std::nullopt,
                  "store a part of it as a tensor of its own");
    out_.choice(e.kind());
    if (e.kind() != Kind::Call && e.kind() != Kind::Operand)
      out_.byte(e.type() ? static_cast<std::uint8_t>(*e.type()) : std::uint8_t{0});
    switch (e.kind()) {
      case Kind::Integer: return out_.integer(e.integer_value());
      case Kind::Real: return out_.real(e.real_value());
      case Kind::Operand: return out_.number(e.operand());
      case Kind::LabelIndex: return put(e.label());
      case Kind::Uniform:
      case Kind::Normal: out_.number(e.seed()); return put(e.cell());
      case Kind::Parameter: out_.number(e.parameter()); return out_.flag(e.parameter_type() == DType::Int64);
      case Kind::Call: break;
    }
    out_.choice(e.op());
    out_.list(e.arguments(), [&](const ScalarPtr& argument) {
      DCHECK(argument != nullptr, "an operation has its arguments");
      put(*argument, depth - 1);
    });
  }

  void put(const TileHolders& holders) {
    out_.number(holders.run_count());
    for (std::size_t n = 0; n < holders.run_count(); ++n) {
      const auto run = holders.run(n);
      out_.size(run.end - run.first);
      out_.list(run.ranks, [this](Rank rank) { out_.number(rank); });
    }
  }

  ByteWriter out_;
  std::size_t labels_ = 0;        // of the plan
  std::size_t holder_lists_ = 0;  // likewise
  std::size_t steps_ = 0;         // that were written
};

}  // namespace

std::vector<std::byte> encode_plan(const PhysicalPlan& plan, std::span<const TileHolders> holders) {
  return Encoder().encode(plan, holders);
}

}  // namespace eindb

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "cluster/byte_reader.hpp"
#include "cluster/plan_code.hpp"
#include "cluster/plan_codec.hpp"
#include "common/check.hpp"
#include "common/error.hpp"
#include "tensor/cell_encoding.hpp"
#include "tensor/user_aggregate.hpp"

namespace eindb {
namespace {

using namespace plan_code;  // NOLINT(google-build-using-namespace): the terms of the form of plans

void require(bool holds, const char* what) { ByteReader::require(holds, what); }

class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> bytes) : in_(bytes) {}

  PlacedPlan decode() {
    require(in_.byte() == kVersion, "the plan is written in a format of another version");
    plan_.ranks = in_.number(kMostRanks);
    plan_.coordinator = rank();
    for (auto left = in_.count(); left > 0; --left) {
      auto name = in_.text();
      plan_.labels.add(std::move(name), in_.size());
    }
    plan_.holder_lists = in_.count();
    for (auto left = in_.count(); left > 0; --left) plan_.steps.push_back(step());
    plan_.results = in_.list([this] { return earlier_step(); });
    PlacedPlan placed;
    for (std::size_t n = 0; n < plan_.holder_lists; ++n) placed.holders.push_back(tile_holders());
    in_.end();
    check_holders(placed.holders);
    placed.plan = std::move(plan_);
    return placed;
  }

 private:
  Rank rank() { return static_cast<Rank>(in_.index(plan_.ranks)); }
  VertexId vertex() { return VertexId(in_.number(kMostVertices)); }
  StepId earlier_step() { return StepId(in_.index(plan_.steps.size())); }
  std::size_t holder_list() { return in_.index(plan_.holder_lists); }

  DType dtype() {
    const auto type = dtype_from_code(in_.byte());
    require(type.has_value(), "the plan has elements of a type that this version does not know");
    return *type;
  }

  PlanStep step() {
    PlanStep step;
    step.op = operation();
    step.vertex = vertex();
    step.dtype = dtype();
    step.grid = grid();
    if (in_.choice(Placing::Holders) == Placing::Holders) {
      step.placement = holder_list();
    } else {
      BlockPlacement blocks;
      std::tie(blocks.parts, blocks.at) = blocks_at();
      step.placement = std::move(blocks);
    }
    step.cells = in_.optional([this] { return in_.real(); });
    require(!step.cells || (*step.cells >= 0 && std::isfinite(*step.cells)), "a step has a number of cells");
    if (auto* moved = std::get_if<RedistributeStep>(&step.op); moved != nullptr && moved->sequence) {
      const auto* source = std::get_if<BlockPlacement>(&plan_.step(moved->input).placement);
      require(source != nullptr, "a sequence of collectives of a plan begins with no blocks");
      moved->sequence->shape = step.grid.shape();
      moved->sequence->source = *source;
    }
    return step;
  }

  decltype(PlanStep::op) operation() {
    switch (in_.choice(Operation::Reduce)) {
      case Operation::Scan: return scan();
      case Operation::Redistribute: return redistribute();
      case Operation::Compute: return compute();
      case Operation::Reduce: break;
    }
    return ReduceStep{earlier_step()};
  }

  // The caller sets shape and source of the sequence, which are not written.
  RedistributeStep redistribute() {
    RedistributeStep moved{earlier_step()};
    moved.sequence = in_.optional([this] {
      RedistributionPlan sequence;
      sequence.steps = in_.list([this] { return sequence_step(); });
      return sequence;
    });
    return moved;
  }

  RedistributionStep sequence_step() {
    RedistributionStep step;
    step.collective = collective();
    std::tie(step.result.parts, step.result.at) = blocks_at();
    step.cost = in_.real();
    return step;
  }

  decltype(RedistributionStep::collective) collective() {
    switch (in_.choice(CollectiveKind::AllPermute)) {
      case CollectiveKind::DynSlice: return DynSlice{};
      case CollectiveKind::AllGather: return AllGather{groups()};
      case CollectiveKind::AllToAll: return AllToAll{groups()};
      case CollectiveKind::AllPermute: break;
    }
    return AllPermute{ranks()};
  }

  std::vector<RankGroup> groups() {
    return in_.list([this] { return ranks(); });
  }
  std::vector<Rank> ranks() {
    return in_.list([this] { return rank(); });
  }

  ScanStep scan() {
    ScanStep scan;
    scan.tensor = tensor();
    scan.holders = holder_list();
    return scan;
  }

  ComputeStep compute() {
    ComputeStep compute;
    compute.inputs = in_.list([this] { return earlier_step(); });
    compute.join = join();
    std::tie(compute.blocks, compute.at) = blocks_at();
    return compute;
  }

  JoinNode join() {
    JoinNode join;
    join.einsum = einsum();
    join.partition.labels = labels();
    for (std::size_t n = 0; n < join.partition.labels.size(); ++n) join.partition.parts.push_back(in_.size());
    join.compute_dtype = dtype();
    join.steps = in_.list([this] { return join_step(); });
    join.rows = labels();
    join.halos = in_.list([this] {
      const auto own = label();
      const auto leader = label();
      return Halo{own, leader, reach()};
    });
    return join;
  }

  Reach reach() {
    Reach reach;
    for (auto* number : {&reach.extent, &reach.step, &reach.least, &reach.most, &reach.divisor})
      *number = in_.integer();
    return reach;
  }

  JoinStep join_step() {
    JoinStep step;
    step.vertex = vertex();
    step.inputs = in_.list([this]() -> std::size_t { return in_.number(); });
    step.einsum = einsum();
    step.compute_dtype = dtype();
    return step;
  }

  std::pair<Partition, BlocksAt> blocks_at() {
    auto blocks = in_.list([this] { return in_.size(); });
    auto at = in_.list([&] {
      return in_.optional([&] {
        TileKey key;
        for (std::size_t d = 0; d < blocks.size(); ++d) key.push_back(in_.size());
        return key;
      });
    });
    return {std::move(blocks), std::move(at)};
  }

  InputTensor tensor() {
    InputTensor tensor;
    tensor.name = in_.text();
    tensor.dtype = dtype();
    tensor.encoding = in_.choice(kLastEncoding);
    require(tensor.encoding == Encoding::Plain || decodes_to(with_encoding(tensor.encoding), tensor.dtype),
            "a tensor has values that its encoding does not encode");
    tensor.grid = grid();
    tensor.selection = in_.optional([this] { return selection(); });
    tensor.attached = in_.flag();
    tensor.present = in_.real();
    tensor.as_cells = in_.flag();
    return tensor;
  }

  Selection selection() {
    Selection selection;
    selection.stored = grid();
    for (const auto extent : selection.stored.shape().extents()) {
      selection.at.push_back(in_.optional([this] { return in_.size(); }));
      require(!selection.at.back() || *selection.at.back() < extent, "a selection of a plan is beyond its tensor");
    }
    return selection;
  }

  TileGrid grid() {
    auto extents = in_.list([this] { return in_.size(); });
    Partition parts;
    for (std::size_t d = 0; d < extents.size(); ++d) parts.push_back(in_.size());
    auto reaches = in_.list([this] { return in_.optional([this] { return reach(); }); });
    Shape shape(std::move(extents));
    if (reaches.empty()) return {std::move(shape), std::move(parts)};
    const auto has_reach = [](const auto& along) { return along.has_value(); };
    require(reaches.size() == parts.size() && std::any_of(reaches.begin(), reaches.end(), has_reach),
            "tiles overlap along dimensions of their grid");
    return TileGrid::overlapping(std::move(shape), std::move(parts), std::move(reaches));
  }

  Label label() { return Label(in_.index(plan_.labels.size())); }
  Labels labels() {
    return in_.list([this] { return label(); });
  }

  EinSum einsum() {
    EinSum einsum;
    einsum.inputs = in_.list([this] { return labels(); });
    einsum.output = labels();
    einsum.aggregated = labels();
    einsum.aggregate = in_.choice(kLastAggregate);
    if (einsum.aggregate == Aggregate::Block) {
      auto& block = einsum.block.emplace();
      block.op = in_.choice(kLastBlockOp);
      block.descending = in_.flag();
      block.share = in_.real();
      require(block.share >= 0 && block.share <= 1, "the share of a quantile is from 0 to 1");
    }
    if (is_of_user(einsum)) einsum.user = user_aggregate();
    einsum.expression = expression(kMaxEncodedDepth);
    if (in_.flag()) einsum.epilogue = expression(kMaxEncodedDepth);
    return einsum;
  }

  UserAggregatePtr user_aggregate() {
    UserAggregate user;
    user.name = in_.text();
    user.commutative = in_.flag();
    user.associative = in_.flag();
    user.idempotent = in_.flag();
    user.semirings = in_.list([&] {
      if (in_.flag()) {
        auto name = in_.text();
        auto body = expression(kMaxEncodedDepth);
        require(is_fold(*body, 2) && operands_of(*body).size() == 2, "a function of a user joins two values");
        return declared_semiring(JoinFunction(std::move(name), std::move(body)), user.idempotent);
      }
      const auto join = in_.choice(kLastScalarOp);
      require(is_join_function(join), "an aggregate distributes over functions that are not known");
      return declared_semiring(join, user.idempotent);
    });
    require(user.semirings.empty() || user.may_split(), "what distributes over a function may be split");
    user.combination = expression(kMaxEncodedDepth);
    user.initial = expression(kMaxEncodedDepth);
    require(is_fold(*user.combination, 2) && is_fold(*user.initial, 0),
            "a user's aggregate is a function of two values, and begins with a constant");
    return std::make_shared<const UserAggregate>(std::move(user));
  }

  // Whether an expression has constants and the first `operands` operands alone.
  static bool is_fold(const ScalarExpression& e, std::size_t operands) {
    if (e.kind() == Kind::Operand) return e.operand() < operands;
    if (e.kind() != Kind::Call) return e.is_constant();
    const auto& arguments = e.arguments();
    return std::all_of(arguments.begin(), arguments.end(),
                       [&](const ScalarPtr& argument) { return is_fold(*argument, operands); });
  }

  ScalarPtr expression(int depth) {
    require(depth > 0, "an expression of a plan nests too deeply");
    const auto kind = in_.choice(Kind::Call);
    if (kind == Kind::Call) return call(depth);
    if (kind == Kind::Operand) return ScalarExpression::operand(in_.number());
    const auto code = in_.byte();
    const auto type = dtype_from_code(code);
    require(type.has_value() || code == 0, "the plan has values of a type that this version does not know");
    return ScalarExpression::with_type(leaf(kind), type);
  }

  ScalarPtr leaf(Kind kind) {
    switch (kind) {
      case Kind::Integer: return ScalarExpression::integer(in_.integer());
      case Kind::Real: return ScalarExpression::real(in_.real());
      case Kind::LabelIndex: return ScalarExpression::label_index(label());
      case Kind::Uniform:
      case Kind::Normal: {
        const auto seed = in_.number();
        return ScalarExpression::random(kind, seed, labels());
      }
      default: {
        const auto number = in_.number();
        return ScalarExpression::parameter(number, in_.flag() ? DType::Int64 : DType::Float64);
      }
    }
  }

  ScalarPtr call(int depth) {
    const auto op = in_.choice(kLastScalarOp);
    auto arguments = in_.list([&] { return expression(depth - 1); });
    const auto& info = info_of(op);
    const auto fewest = static_cast<std::size_t>(info.min_arguments);
    require(arguments.size() >= fewest && (info.max_arguments < 0 || arguments.size() == fewest),
            "an operation of a plan has a wrong number of arguments");
    require(op != ScalarOp::Case || arguments.size() % 2 == 1, "a CASE of a plan has no ELSE");
    const bool flattens = op == ScalarOp::Add || op == ScalarOp::Multiply;
    require(!flattens || !arguments.front()->is_call(op), "an operation of a plan is not written as one");
    return ScalarExpression::call(op, std::move(arguments));
  }

  TileHolders tile_holders() {
    TileHolders holders;
    for (auto left = in_.count(); left > 0; --left) {
      const auto tiles = in_.size();
      const auto ranks = in_.list([this] { return rank(); });
      const auto runs = holders.run_count();
      holders.add(ranks, tiles);
      require(holders.run_count() == runs + 1, "a list of holders is not written as one");
    }
    return holders;
  }

  void check_holders(const std::vector<TileHolders>& holders) const {
    for (const auto& step : plan_.steps) {
      const auto* scan = std::get_if<ScanStep>(&step.op);
      if (const auto* placed = std::get_if<std::size_t>(&step.placement); placed != nullptr && scan == nullptr)
        require(holders[*placed].tile_count() == step.grid.tile_count(), "a relation has holders of all its tiles");
      if (scan != nullptr)
        require(holders[scan->holders].tile_count() == scan->tensor.stored_grid().tile_count(),
                "a stored tensor has holders of all its tiles");
    }
  }

  ByteReader in_;
  PhysicalPlan plan_;
};

}  // namespace

PlacedPlan decode_plan(std::span<const std::byte> bytes) {
  try {
    return Decoder(bytes).decode();
  } catch (const Error& error) {  // also errors of shapes and grids
    throw Error(ErrorKind::Corrupt, "the plan of a statement is damaged: " + error.message());
  }
}

}  // namespace eindb

#include "tests/cluster/random_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "tensor/user_aggregate.hpp"

namespace eindb {
namespace {

using Kind = ScalarExpression::Kind;

class PlanMaker {
 public:
  explicit PlanMaker(std::mt19937_64& random) : random_(random) {}

  PlacedPlan make() {
    plan_.ranks = static_cast<std::size_t>(draw(1, 9));
    plan_.coordinator = static_cast<Rank>(draw(0, static_cast<std::int64_t>(plan_.ranks) - 1));
    const auto labels = draw(1, 6);
    for (std::int64_t n = 0; n < labels; ++n) plan_.labels.add("l" + std::to_string(draw(0, 99)), extent());
    const auto steps = draw(1, 8);
    for (std::int64_t n = 0; n < steps; ++n) plan_.steps.push_back(step());
    for (auto left = draw(0, 3); left > 0; --left) plan_.results.push_back(earlier_step());
    plan_.holder_lists = holders_.size();
    return {plan_, holders_};
  }

 private:
  std::int64_t draw(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  bool coin() { return draw(0, 1) == 1; }
  template <class F>
  auto list(std::int64_t most, F&& make) {
    std::vector<decltype(make())> items;
    for (auto left = draw(0, most); left > 0; --left) items.push_back(make());
    return items;
  }

  std::int64_t extent() { return coin() ? draw(0, 12) : draw(0, std::int64_t{1} << 20); }
  double real() { return coin() ? std::uniform_real_distribution<double>(-1e9, 1e9)(random_) : -0.0; }
  DType dtype() { return static_cast<DType>(draw(1, 5)); }
  VertexId vertex() { return VertexId(static_cast<std::size_t>(draw(0, 300))); }
  StepId earlier_step() {
    return StepId(static_cast<std::size_t>(draw(0, static_cast<std::int64_t>(plan_.steps.size()) - 1)));
  }
  Label label() { return Label(static_cast<std::size_t>(draw(0, static_cast<std::int64_t>(plan_.labels.size()) - 1))); }
  Labels labels() {
    return list(3, [this] { return label(); });
  }

  TileGrid grid() {
    std::vector<std::int64_t> extents = list(3, [this] { return draw(0, 20); });
    Partition parts;
    for (const auto b : extents) parts.push_back(draw(1, std::clamp<std::int64_t>(b, 1, 4)));
    std::vector<std::optional<Reach>> reaches(extents.size());
    bool overlaps = false;
    for (std::size_t d = 0; d < extents.size(); ++d) {
      const auto along = reach();
      const auto cut = draw(2, 3);
      if (draw(0, 3) > 0 || !along.is_of_parts(extents[d], cut)) continue;
      reaches[d] = along;
      parts[d] = cut;
      overlaps = true;
    }
    Shape shape(std::move(extents));
    if (!overlaps) return {std::move(shape), std::move(parts)};
    return TileGrid::overlapping(std::move(shape), std::move(parts), std::move(reaches));
  }

  Reach reach() {
    Reach reach{.extent = draw(2, 20), .step = coin() ? draw(1, 3) : draw(-3, -1), .least = draw(-5, 5)};
    reach.most = reach.least + draw(0, 4);
    reach.divisor = draw(1, 2);
    return reach;
  }

  std::size_t holders_of(const TileGrid& grid) {
    TileHolders holders;
    for (std::int64_t tile = 0; tile < grid.tile_count(); ++tile) {
      std::vector<Rank> ranks;
      for (auto left = draw(0, 2); left > 0; --left)
        ranks.push_back(static_cast<Rank>(draw(0, static_cast<std::int64_t>(plan_.ranks) - 1)));
      holders.add(ranks, tile % 3 == 0 ? 1 : draw(1, grid.tile_count() - tile));
      tile = holders.tile_count() - 1;
    }
    holders_.push_back(std::move(holders));
    return holders_.size() - 1;
  }

  std::vector<std::optional<TileKey>> at(std::size_t dimensions) {
    return list(5, [&] {
      std::optional<TileKey> key;
      if (!coin()) return key;
      key.emplace();
      for (std::size_t d = 0; d < dimensions; ++d) key->push_back(draw(0, 3));
      return key;
    });
  }

  Partition parts(std::size_t dimensions) {
    Partition parts;
    for (std::size_t d = 0; d < dimensions; ++d) parts.push_back(draw(1, 300));
    return parts;
  }

  ScalarPtr leaf() {
    switch (static_cast<Kind>(draw(0, 6))) {
      case Kind::Integer:
        return ScalarExpression::integer(coin() ? draw(-5, 5) : draw(std::numeric_limits<std::int64_t>::min(), 0));
      case Kind::Real: return ScalarExpression::real(real());
      case Kind::LabelIndex: return ScalarExpression::label_index(label());
      case Kind::Uniform: return ScalarExpression::random(Kind::Uniform, random_(), labels());
      case Kind::Normal: return ScalarExpression::random(Kind::Normal, random_(), labels());
      case Kind::Parameter:
        return ScalarExpression::parameter(static_cast<std::size_t>(draw(0, 200)),
                                           coin() ? DType::Int64 : DType::Float64);
      default: return ScalarExpression::operand(static_cast<std::size_t>(draw(0, 3)));
    }
  }

  ScalarPtr typed_leaf() {
    auto e = leaf();
    return e->kind() == Kind::Operand || coin() ? e : ScalarExpression::with_type(e, dtype());
  }

  ScalarPtr expression(int depth) {
    if (depth == 0 || draw(0, 4) == 0) return typed_leaf();
    const auto op = static_cast<ScalarOp>(draw(0, static_cast<std::int64_t>(kLastScalarOp)));
    const auto& info = info_of(op);
    auto count = info.max_arguments < 0 ? info.min_arguments + draw(0, 2) : info.max_arguments;
    if (op == ScalarOp::Case) count |= 1;
    std::vector<ScalarPtr> arguments;
    for (std::int64_t a = 0; a < count; ++a) arguments.push_back(expression(depth - 1));
    return ScalarExpression::call(op, std::move(arguments));
  }

  EinSum einsum() {
    EinSum einsum;
    einsum.inputs = list(3, [this] { return labels(); });
    einsum.output = labels();
    einsum.aggregated = labels();
    einsum.aggregate = static_cast<Aggregate>(draw(0, static_cast<std::int64_t>(Aggregate::Max)));
    if (coin()) {
      einsum.aggregate = Aggregate::User;
      einsum.user = user_aggregate();
    }
    einsum.expression = expression(4);
    if (coin()) einsum.epilogue = expression(2);
    return einsum;
  }

  UserAggregatePtr user_aggregate() {
    UserAggregate user{.name = "f" + std::to_string(draw(0, 9)),
                       .combination = ScalarExpression::call(
                           ScalarOp::Subtract, {ScalarExpression::operand(0), ScalarExpression::operand(1)}),
                       .initial = ScalarExpression::real(real()),
                       .commutative = coin(),
                       .associative = coin(),
                       .idempotent = coin()};
    if (user.may_split() && coin()) user.semirings.push_back(declared_semiring(ScalarOp::Add, user.idempotent));
    return std::make_shared<const UserAggregate>(std::move(user));
  }

  JoinStep join_step() {
    return {vertex(), list(3, [this] { return static_cast<std::size_t>(draw(0, 5)); }), einsum(), dtype()};
  }

  JoinNode join() {
    JoinNode join;
    join.einsum = einsum();
    join.partition.labels = labels();
    join.partition.parts = parts(join.partition.labels.size());
    join.compute_dtype = dtype();
    join.steps = list(3, [this] { return join_step(); });
    join.rows = labels();
    join.halos = list(2, [this] { return Halo{label(), label(), reach()}; });
    return join;
  }

  InputTensor tensor() {
    InputTensor tensor{"T" + std::to_string(draw(0, 9)), dtype(), grid(), {}, coin(), real()};
    tensor.as_cells = coin();
    if (coin()) return tensor;
    Selection selection{grid(), {}};
    for (const auto b : selection.stored.shape().extents())
      selection.at.push_back(b > 0 && coin() ? std::optional(draw(0, b - 1)) : std::nullopt);
    tensor.selection = std::move(selection);
    return tensor;
  }

  decltype(PlanStep::op) operation() {
    switch (plan_.steps.empty() ? 0 : draw(0, 3)) {
      case 0: {
        auto read = tensor();
        const auto holders = holders_of(read.selection ? read.selection->stored : read.grid);
        return ScanStep{std::move(read), holders};
      }
      case 1: return RedistributeStep{earlier_step()};
      case 2: return ReduceStep{earlier_step()};
      default: break;
    }
    ComputeStep compute;
    compute.inputs = list(3, [this] { return earlier_step(); });
    compute.join = join();
    compute.blocks = parts(compute.join.partition.labels.size());
    compute.at = at(compute.blocks.size());
    return compute;
  }

  RankGroup ranks() {
    return list(4, [this] { return static_cast<Rank>(draw(0, static_cast<std::int64_t>(plan_.ranks) - 1)); });
  }
  std::vector<RankGroup> groups() {
    return list(3, [this] { return ranks(); });
  }

  RedistributionPlan sequence(const TileGrid& grid, const BlockPlacement& source) {
    RedistributionPlan sequence{grid.shape(), source, {}};
    for (auto left = draw(0, 4); left > 0; --left) {
      RedistributionStep step;
      switch (draw(0, 3)) {
        case 0: step.collective = DynSlice{}; break;
        case 1: step.collective = AllGather{groups()}; break;
        case 2: step.collective = AllToAll{groups()}; break;
        default: step.collective = AllPermute{ranks()}; break;
      }
      step.result = {parts(grid.rank()), at(grid.rank())};
      step.cost = real();
      sequence.steps.push_back(std::move(step));
    }
    return sequence;
  }

  PlanStep step() {
    PlanStep step;
    step.op = operation();
    step.vertex = vertex();
    step.dtype = dtype();
    step.grid = grid();
    if (coin()) step.placement = holders_of(step.grid);
    else step.placement = BlockPlacement{parts(step.grid.rank()), at(step.grid.rank())};
    if (auto* moved = std::get_if<RedistributeStep>(&step.op); moved != nullptr && coin()) {
      const auto* source = std::get_if<BlockPlacement>(&plan_.step(moved->input).placement);
      if (source != nullptr) moved->sequence = sequence(step.grid, *source);
    }
    if (coin()) step.cells = std::abs(real());
    return step;
  }

  std::mt19937_64& random_;
  PhysicalPlan plan_;
  std::vector<TileHolders> holders_;
};

}  // namespace

PlacedPlan random_plan(std::mt19937_64& random) { return PlanMaker(random).make(); }

}  // namespace eindb

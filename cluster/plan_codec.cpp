// The format, in the fields of ByteWriter. [x] is a list of x behind its length, x? a flag and, if that is set, an x;
// a|b stands for one of them, as the byte before it says.
//
//   plan        version:byte ranks coordinator labels:[name extent] holder_lists steps:[step] results:[step number]
//               and, without a length, holder_lists times holders
//   step        op:byte (scan | redistribute | compute | reduce, in the order of PlanStep::op) vertex dtype grid
//               placement:byte (blocks | holder list's number) cells:real?
//   scan        tensor holders
//   redistribute
//               input step, sequence:[collective]?, which begins where the input lies, in blocks
//   collective  kind:byte, then nothing (dynslice) | [[rank]] (allgather, alltoall) | [rank] (allpermute), as in the
//               order of RedistributionStep::collective; blocks after it, cost:real
//   reduce      input step
//   compute     inputs:[step] einsum [label] parts of each label, compute_dtype chain:[chain step] rows:[label] blocks
//   chain step  vertex inputs:[operand] einsum compute_dtype
//   blocks      [parts] [key?], a key having as many parts as there are `parts`, and no length of its own
//   tensor      name dtype encoding:byte grid selection? attached:flag present:real as_cells:flag
//   selection   grid index? of each dimension of the grid
//   grid        [extent] parts of each dimension
//   einsum      inputs:[[label]] output:[label] aggregated:[label] aggregate block? user? expression
//   epilogue:expression? user        name, whether commutative, associative, idempotent, [join function],
//   combination:expression and
//               initial:expression
//   expression  kind, then an operand | op [expression] | type:byte (of a value; 0 for none) and an integer | a real |
//               a label | a generator's seed and cell:[label] | a parameter's number and whether it is an integer
//   holders     [tiles [rank]] of runs of tiles that the same ranks hold
#include "cluster/plan_codec.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "cluster/byte_reader.hpp"
#include "cluster/byte_writer.hpp"
#include "common/check.hpp"
#include "common/error.hpp"
#include "tensor/cell_encoding.hpp"
#include "tensor/user_aggregate.hpp"

namespace eindb {
namespace {

using Kind = ScalarExpression::Kind;
using BlocksAt = std::vector<std::optional<TileKey>>;

constexpr std::uint8_t kVersion = 14;
constexpr std::uint64_t kMostRanks = std::uint64_t{std::numeric_limits<Rank>::max()} + 1;
constexpr std::uint64_t kMostVertices = std::numeric_limits<std::uint32_t>::max();

enum class Operation : std::uint8_t { Scan, Redistribute, Compute, Reduce };
enum class Placing : std::uint8_t { Blocks, Holders };
enum class CollectiveKind : std::uint8_t { DynSlice, AllGather, AllToAll, AllPermute };

// Whether a user's aggregate belongs to it.
bool is_of_user(const EinSum& einsum) {
  return einsum.aggregate == Aggregate::User || (einsum.block && einsum.block->op == BlockOp::UserRecurrence);
}

// ---- To bytes ------------------------------------------------------------------------------------------------------

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

// ---- From bytes ----------------------------------------------------------------------------------------------------

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
    return join;
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
    return {Shape(std::move(extents)), std::move(parts)};
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

std::vector<std::byte> encode_plan(const PhysicalPlan& plan, std::span<const TileHolders> holders) {
  return Encoder().encode(plan, holders);
}

PlacedPlan decode_plan(std::span<const std::byte> bytes) {
  try {
    return Decoder(bytes).decode();
  } catch (const Error& error) {  // also errors of shapes and grids
    throw Error(ErrorKind::Corrupt, "the plan of a statement is damaged: " + error.message());
  }
}

}  // namespace eindb

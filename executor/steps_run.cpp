#include "executor/steps_run.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/stopwatch.hpp"
#include "executor/dense_block.hpp"
#include "executor/plan_run.hpp"
#include "executor/redistribution_run.hpp"
#include "executor/tile_assembly.hpp"
#include "executor/tile_reduction.hpp"
#include "executor/tile_tasks.hpp"
#include "plan/local_fragment.hpp"
#include "plan/tile_moves.hpp"
#include "tensor/cell_block.hpp"

namespace eindb {
namespace {

// Results of steps are needed later than all intermediate results of a ComputeStep's fragment.
constexpr std::int64_t kAfterLocalPlan = 1 << 16;

/// Provides relations of earlier steps as the stored tensors of a fragment.
class RelationSource final : public TileSource {
 public:
  void add(StepId step, std::shared_ptr<Relation> relation) {
    relations_.emplace(std::to_string(step.index()), std::move(relation));
  }
  TilePtr read(const std::string& tensor, std::int64_t tile_id) override { return relation(tensor).tile(tile_id); }
  TilePtr read_cells(const std::string& tensor, const TileGrid& grid, std::int64_t tile_id) override {
    auto& read = relation(tensor);
    CHECK(grid == read.grid(), "what was computed or received is read in its own tiles");
    if (auto tile = read.stored_tile(tile_id)) return tile;
    const auto empty = CellBlock::of_numbers(read.dtype(), grid.tile_shape(grid.key_of(tile_id)), {}, {});
    return std::make_shared<const Tile>(Tile::of_cells(std::make_shared<const CellBlock>(empty)));
  }
  bool keeps_tiles() const override { return true; }

 private:
  Relation& relation(const std::string& tensor) {
    const auto& found = relations_.at(tensor);
    CHECK(found != nullptr, "a rank computes with what it holds");
    return *found;
  }

  std::map<std::string, std::shared_ptr<Relation>> relations_;
};

class RelationSink final : public TileSink {
 public:
  explicit RelationSink(Relation& relation) : relation_(relation) {}
  void write(std::int64_t tile_id, TilePtr tile) override { relation_.put(tile_id, std::move(tile)); }
  bool takes_cells() const override { return true; }

 private:
  Relation& relation_;
};

// The profile of a fragment without its scans and its sink.
NodeProfile of_join(const ExecutionProfile& profile, std::size_t scans) {
  CHECK(scans + 2 <= profile.nodes.size(), "the fragment of a step has scans, a join and a sink");
  auto all = profile.nodes[scans];
  if (scans + 2 == profile.nodes.size()) return all;
  const auto& group_by = profile.nodes[scans + 1];
  all.seconds += group_by.seconds;
  all.tiles_out = group_by.tiles_out;
  all.bytes = group_by.bytes;
  all.elements += group_by.elements;
  return all;
}

std::vector<StepId> last_readers(const PhysicalPlan& plan) {
  std::vector<StepId> readers(plan.steps.size());
  for (std::size_t n = 0; n < plan.steps.size(); ++n)
    for (const auto input : inputs_of(plan.steps[n])) {
      CHECK(input.index() < n, "what a step reads comes before it");
      readers[input.index()] = StepId(n);
    }
  return readers;
}

}  // namespace

StepsRun::StepsRun(const PhysicalPlan& plan, std::span<const TileHolders> lists, Exchange& exchange,
                   ExecutionContext& context, std::span<TileSink* const> sinks)
    : plan_(plan),
      lists_(lists),
      exchange_(exchange),
      stop_(&context.cancellation),
      context_{context.scheduler, stop_, context.memory, context.source, context.progress},
      beside_{one_thread_, stop_, context.memory, context.source, {}},
      sinks_(plan.steps.size(), nullptr),
      rank_(exchange.rank()),
      order_(step_order(plan)),
      last_reader_(last_readers(plan)),
      results_(plan.steps.size()),
      readers_left_(plan.steps.size(), 0),
      is_done_(plan.steps.size(), 0) {
  CHECK(sinks.size() == plan.results.size(), "every result of a plan goes to a sink");
  CHECK(rank_ < plan.ranks, "a rank is one of those that a plan was made for");
  for (std::size_t n = 0; n < sinks.size(); ++n) sinks_[plan.results[n].index()] = sinks[n];
  context_.least_overlap_bytes = context.least_overlap_bytes;
  profile_.steps.resize(plan.steps.size());
  for (const auto& step : plan.steps)
    for (const auto input : inputs_of(step)) ++readers_left_[input.index()];
  for (const auto written : plan.results) ++readers_left_[written.index()];
}

ExecutionProfile StepsRun::run() {
  const Stopwatch stopwatch;
  const CancellationScope scope(context_.cancellation);
  if (overlaps()) run_lanes();
  else run_in_order();
  profile_.seconds = stopwatch.seconds();
  profile_.peak_bytes = context_.memory->peak();
  return std::move(profile_);
}

void StepsRun::run_in_order() {
  for (const auto id : order_.steps) {
    run_step(id);
    let_go_after(id);
    if (sinks_[id.index()] != nullptr) write_result(id);
  }
}

void StepsRun::run_step(StepId id) {
  context_.cancellation.check();
  report_progress(id, 0);
  const Stopwatch stopwatch;
  if (!result(id).layout) result(id).layout.emplace(plan_, id, lists_);
  std::visit([&](const auto& op) { make(id, op); }, plan_.step(id).op);
  auto& done = profile(id);
  if (const auto& relation = result(id).relation) done.bytes = relation->bytes();
  done.seconds = stopwatch.seconds();
}

void StepsRun::make(StepId id, const ScanStep& scan) {
  profile(id).tiles = static_cast<std::int64_t>(result(id).layout->tiles_of(rank_).size());
  if (profile(id).tiles > 0)
    result(id).relation = std::make_shared<Relation>(scan.tensor, context_.source, context_.memory,
                                                     std::make_shared<Relation::Counter>());
}

void StepsRun::make(StepId id, const RedistributeStep& redistribute) {
  auto& source = result(redistribute.input);
  CHECK(source.layout.has_value(), "what is redistributed was laid out");
  if (redistribute.sequence) return run_sequence(id, redistribute);
  const TileMoves moves(*source.layout, *result(id).layout, plan_.step(id).cells.has_value());
  const NeededPieces needed(moves, rank_);
  begin_relation(id);
  // A tile of the source is read for several tiles where these overlap, and is let go of after the step.
  const bool gives_up = is_last_reader(redistribute.input) && !plan_.step(id).grid.overlaps();
  TileAssembly assembly(needed, source.relation.get(), gives_up, plan_.step(id).cells.has_value(), *result(id).relation,
                        context_.memory);
  move_pieces(id, needed, source.relation.get(), plan_.step(redistribute.input), assembly);
}

// A rank without a block takes part, too: a permutation is between all ranks.
void StepsRun::run_sequence(StepId id, const RedistributeStep& redistribute) {
  const auto& sequence = *redistribute.sequence;
  auto& source = result(redistribute.input);
  const auto type = plan_.step(id).dtype;
  const auto size = static_cast<std::int64_t>(size_of(type));
  MemoryReservation room(context_.memory, checked_multiply(working_elements(sequence, rank_), size));
  std::optional<Tile> block;
  if (const auto& window = source.layout->window(rank_)) {
    CHECK(source.relation != nullptr, "a rank has the relation of which it holds a block");
    block = dense_block(*source.relation, *window, is_last_reader(redistribute.input), moving());
  }
  const auto before = exchange_.counters();
  const Stopwatch stopwatch;
  block = run_redistribution(sequence, type, std::move(block), exchange_);
  profile(id).seconds_exchanging = stopwatch.seconds();
  count_traffic(id, before);
  begin_relation(id);
  if (!block) return;
  room.shrink_to(static_cast<std::int64_t>(block->byte_size()));
  const auto& window = result(id).layout->window(rank_);
  CHECK(window.has_value(), "a rank has a block where the step places one");
  cut_block(*block, *window, *result(id).relation, moving());
}

void StepsRun::make(StepId id, const ReduceStep& reduce) {
  auto& source = result(reduce.input);
  const auto& computed = plan_.step(reduce.input);
  CHECK(source.layout.has_value(), "partial results that are reduced were laid out");
  const TileMoves moves(*source.layout, *result(id).layout);
  const NeededPieces needed(moves, rank_);
  begin_relation(id);
  TileReduction reduction(std::get<ComputeStep>(computed.op).join, needed, source.relation.get(), *result(id).relation,
                          context_.memory);
  move_pieces(id, needed, source.relation.get(), computed, reduction);
}

void StepsRun::make(StepId id, const ComputeStep& compute) {
  CHECK(rank_ < compute.at.size(), "a step says of each rank what it computes");
  if (!compute.at[rank_]) return;
  begin_relation(id);
  const auto local = local_fragment(plan_, id, rank_);
  RelationSource source;
  for (const auto input : compute.inputs) source.add(input, result(input).relation);
  ExecutionContext context{.scheduler = context_.scheduler,
                           .cancellation = context_.cancellation,
                           .memory = context_.memory,
                           .source = source,
                           .progress = {}};
  if (context_.progress)
    context.progress = [&](std::string_view, std::int64_t done, std::int64_t total) {
      report_progress(id, static_cast<double>(done) / static_cast<double>(total));
    };
  RelationSink sink(*result(id).relation);
  TileSink* const sinks[] = {&sink};
  const auto done = PlanRun(local, PlanRun::conditions_of(context)).run(context, sinks);
  profile(id).compute = of_join(done, compute.inputs.size());
  profile_.workspace_bytes = std::max(profile_.workspace_bytes, done.workspace_bytes);
}

void StepsRun::make(StepId /*id*/, const FragmentStep& /*fragment*/) {
  CHECK(false, "a fragment is the whole of a plan, which execute() runs without steps");
}

// Creates the relation for the tiles that this rank will hold.
void StepsRun::begin_relation(StepId id) {
  const auto& step = plan_.step(id);
  auto& made = result(id);
  const auto window = made.layout->is_in_blocks()
                          ? made.layout->window(rank_).value_or(TileWindow::none(step.grid.rank()))
                          : TileWindow::whole(step.grid.partition());
  made.relation = std::make_shared<Relation>(step.dtype, step.grid, window, context_.memory);
  made.relation->set_next_use(kAfterLocalPlan + static_cast<std::int64_t>(last_reader_[id.index()].index()));
  profile(id).tiles = static_cast<std::int64_t>(made.layout->tiles_of(rank_).size());
}

void StepsRun::move_pieces(StepId id, const NeededPieces& needed, Relation* source, const PlanStep& moved,
                           PieceTaker& taker) {
  const auto before = exchange_.counters();
  {
    OutgoingPieces outgoing(id, needed.moves(), rank_, source, context_.memory, context_.cancellation);
    IncomingPieces incoming(id, needed, moved.dtype, moved.cells.has_value(), context_.memory, context_.cancellation,
                            taker);
    const Stopwatch stopwatch;
    exchange_.all_to_all(outgoing, incoming);
    profile(id).seconds_exchanging = stopwatch.seconds();
    profile(id).messages_received = incoming.messages();
    profile(id).pieces_received = incoming.count();
  }
  count_traffic(id, before);
  for_each_in_room(static_cast<std::int64_t>(needed.target_count()), moving(),
                   [&](std::int64_t target) { taker.finish(static_cast<std::size_t>(target)); });
}

void StepsRun::count_traffic(StepId id, const ExchangeCounters& before) {
  const auto after = exchange_.counters();
  auto& done = profile(id);
  done.seconds_waiting = after.seconds_waiting - before.seconds_waiting;
  done.bytes_sent = after.bytes_sent - before.bytes_sent;
  done.bytes_received = after.bytes_received - before.bytes_received;
  done.messages_sent = after.messages_sent - before.messages_sent;
}

// Whether nobody else reads the step's result from now on, but a step that calls this.
bool StepsRun::is_last_reader(StepId source) {
  const std::lock_guard lock(mutex_);
  return readers_left_[source.index()] == 1;
}

void StepsRun::let_go(StepId source) {
  Result last;
  const std::lock_guard lock(mutex_);
  CHECK(readers_left_[source.index()] > 0, "a result is let go of by those who read it");
  if (--readers_left_[source.index()] == 0) last = std::exchange(result(source), {});
}

void StepsRun::let_go_after(StepId id) {
  for (const auto input : inputs_of(plan_.step(id))) let_go(input);
}

void StepsRun::write_result(StepId id) {
  auto& written = result(id);
  auto& sink = *sinks_[id.index()];
  const bool is_read_later = !is_last_reader(id);
  const bool takes_cells = plan_.step(id).cells && sink.takes_cells();
  if (written.relation != nullptr) {
    for (const auto tile_id : written.layout->tiles_of(rank_)) {
      const MemoryBudget::Task scope(*context_.memory);
      context_.cancellation.check();
      auto tile = takes_cells ? written.relation->stored_tile(tile_id) : written.relation->tile(tile_id);
      if (!is_read_later) written.relation->release(tile_id);
      sink.write(tile_id, std::move(tile));
    }
  }
  let_go(id);
}

// Of steps that run beside each other the one that is ahead tells how far the plan is.
void StepsRun::report_progress(StepId id, double share) {
  if (!context_.progress) return;
  constexpr std::int64_t kTotal = 1000;
  const std::lock_guard lock(progress_mutex_);
  const auto done = (static_cast<double>(id.index()) + share) / static_cast<double>(plan_.steps.size());
  progress_ = std::max(progress_, done);
  context_.progress(operator_name(plan_.step(id)), static_cast<std::int64_t>(progress_ * static_cast<double>(kTotal)),
                    kTotal);
}

}  // namespace eindb

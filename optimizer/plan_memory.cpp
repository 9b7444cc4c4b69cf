#include "optimizer/plan_memory.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/poll_steps.hpp"
#include "plan/local_fragment.hpp"
#include "plan/task_memory.hpp"

namespace eindb {
namespace {

constexpr std::size_t kNever = SIZE_MAX;

std::int64_t slices_of(std::size_t n, std::size_t d, const SliceLoop& loop) {
  DCHECK(n >= loop.begin.index() && n - loop.begin.index() < loop.dimensions.size() &&
             d < loop.dimensions[n - loop.begin.index()].size(),
         "a loop knows the labels of its nodes");
  for (const auto& [label, parts] : loop.labels)
    if (loop.dimensions[n - loop.begin.index()][d] == label) return parts;
  return 1;
}

// The bytes of the stored tiles that one slice overlaps: a scan reads a tensor in the tiles in which it is stored.
double bytes_scanned(const Fragment& plan, std::size_t n, const SliceLoop& loop) {
  const auto& node = plan.nodes[n];
  auto bytes = static_cast<double>(size_of(node.dtype));
  for (std::size_t d = 0; d < node.grid.rank(); ++d) {
    const auto extent = node.grid.shape()[d];
    const auto stored = node.grid.partition()[d];
    const auto slices = slices_of(n, d, loop);
    const auto tile = ceil_divide(extent, stored);
    const auto slice = ceil_divide(extent, slices);
    const auto inside = slices % stored == 0 ? tile : stored % slices == 0 ? slice : slice + 2 * (tile - 1);
    bytes *= static_cast<double>(std::min(extent, inside));
  }
  return bytes;
}

// Follows the executor through a plan and records the bytes held.
class MemoryWalk {
 public:
  explicit MemoryWalk(const Fragment& plan)
      : plan_(plan), last_reader_(plan.nodes.size(), kNever), held_(plan.nodes.size(), 0) {
    for (std::size_t n = 0; n < plan.nodes.size(); ++n)
      for (const auto input : inputs_of(plan.nodes[n])) last_reader_[input.index()] = n;
  }

  double run() {
    auto loop = plan_.loops.begin();
    for (std::size_t n = 0; n < plan_.nodes.size(); ++n) {
      if (loop == plan_.loops.end() || loop->begin.index() != n) {
        run_node(n);
        continue;
      }
      run_loop(*loop);
      n = loop->result.index();
      ++loop;
    }
    CHECK(loop == plan_.loops.end(), "every loop of a plan is walked through");
    return peak_;
  }

 private:
  // Tensors that a loop reads from outside stay until its end, and so does its whole result.
  void run_loop(const SliceLoop& loop) {
    loop_ = &loop;
    const auto result = loop.result.index();
    if (loop.aggregate != Aggregate::None) hold(result, bytes_of(result, widest_type(result), nullptr));
    else hold(result, bytes_of(result, plan_.nodes[result].dtype, nullptr));
    for (auto n = loop.begin.index(); n <= result; ++n) run_node(n);
    loop_ = nullptr;
    for (auto n = loop.begin.index(); n <= result; ++n)
      for (const auto input : inputs_of(plan_.nodes[n])) drop_after(input.index(), result);
    hold(result, bytes_of(result, plan_.nodes[result].dtype, nullptr));
  }

  void run_node(std::size_t n) {
    const auto& node = plan_.nodes[n];
    if (node.role() == OperatorRole::Source) return;
    // A join that is read by a group-by runs as part of that.
    if (node.is_partial()) return;
    const auto inputs = inputs_of(plan_.node(plan_.worker_of(NodeId(n))));
    for (const auto input : inputs)
      if (plan_.node(input).stored() != nullptr) hold(input.index(), scanned_bytes(input.index()));
    const bool into_result = loop_ != nullptr && loop_->result == NodeId(n);
    double made = node.role() == OperatorRole::Delivery ? 0 : bytes_of(n, widest_type(n), loop_);
    if (into_result && loop_->aggregate == Aggregate::None) made = 0;  // the whole result is held already
    peak_ = std::max(peak_, now_ + made);
    if (!into_result && made > 0) hold(n, bytes_of(n, node.dtype, loop_));
    for (const auto input : inputs)
      if (loop_ == nullptr || loop_->contains(input)) drop_after(input.index(), n);
  }

  // Accumulators are of the type that a join computes in.
  DType widest_type(std::size_t n) const {
    const auto type = plan_.nodes[n].dtype;
    const auto working = plan_.node(plan_.worker_of(NodeId(n))).working_type();
    return size_of(working) > size_of(type) ? working : type;
  }

  // The bytes of a node's result, or of one slice of it.
  double bytes_of(std::size_t n, DType type, const SliceLoop* loop) const {
    const auto& shape = plan_.nodes[n].grid.shape();
    auto bytes = static_cast<double>(size_of(type));
    for (std::size_t d = 0; d < shape.rank(); ++d)
      bytes *= static_cast<double>(loop == nullptr ? shape[d] : ceil_divide(shape[d], slices_of(n, d, *loop)));
    return bytes * plan_.nodes[n].stored_share();
  }

  // The bytes read of a stored tensor: within a loop by one slice, otherwise all of it.
  double scanned_bytes(std::size_t n) const {
    const auto& node = plan_.nodes[n];
    if (node.stored()->attached) return 0;
    // Tiles of cells stay in the cache from slice to slice.
    if (node.stored()->as_cells || loop_ == nullptr || !loop_->contains(NodeId(n)))
      return bytes_of(n, node.dtype, nullptr);
    return bytes_scanned(plan_, n, *loop_);
  }

  void hold(std::size_t n, double bytes) {
    now_ += bytes - held_[n];
    held_[n] = bytes;
    peak_ = std::max(peak_, now_);
  }

  void drop_after(std::size_t n, std::size_t reader) {
    if (last_reader_[n] <= reader) hold(n, 0);
  }

  const Fragment& plan_;
  std::vector<std::size_t> last_reader_;
  std::vector<double> held_;
  const SliceLoop* loop_ = nullptr;
  double now_ = 0;
  double peak_ = 0;
};

double whole_bytes(const FragmentNode& node) {
  return RelationView{node.dtype, node.grid, node.stored_share()}.bytes();
}

// Results that are made early and read late. They wait in memory, or in a scratch file if running operators need the
// room.
class WaitingResults {
 public:
  WaitingResults(const Fragment& plan, double limit)
      : plan_(plan),
        limit_(limit),
        readers_(plan.nodes.size()),
        resident_(plan.nodes.size(), 0),
        written_(plan.nodes.size(), 0) {
    for (std::size_t n = 0; n < plan.nodes.size(); ++n)
      for (const auto input : inputs_of(plan.nodes[n])) readers_[input.index()].push_back(n);
  }

  ScratchTraffic run() {
    for (std::size_t n = 0; n < plan_.nodes.size(); ++n) {
      if (plan_.nodes[n].has_tasks()) work(n);
      keep(n);
    }
    return traffic_;
  }

 private:
  // A group-by takes no room beside its result, since the results of joins are combined as they come.
  static bool is_made(const FragmentNode& node) { return node.has_tasks() || node.role() == OperatorRole::Completion; }

  // Marks the result as waiting for its readers, and drops its inputs that nobody else reads.
  void keep(std::size_t n) {
    for (const auto input : inputs_of(plan_.nodes[n]))
      if (readers_[input.index()].back() <= n) resident_[input.index()] = 0;
    if (is_made(plan_.nodes[n]) && !readers_[n].empty()) resident_[n] = whole_bytes(plan_.nodes[n]);
  }

  void work(std::size_t n) {
    const auto inputs = inputs_of(plan_.nodes[n]);
    auto needed = whole_bytes(plan_.nodes[n]);
    for (const auto input : inputs) {
      needed += whole_bytes(plan_.node(input));
      if (!is_made(plan_.node(input))) continue;
      auto& resident = resident_[input.index()];
      traffic_.read += whole_bytes(plan_.node(input)) - resident;
      resident = whole_bytes(plan_.node(input));
    }
    make_room(n, needed);
  }

  void make_room(std::size_t n, double needed) {
    poll_cancellation_after(n);
    std::vector<std::pair<std::size_t, std::size_t>> waiting;  // (next reader, node)
    for (std::size_t v = 0; v < n; ++v) {
      if (resident_[v] == 0) continue;
      const auto reader = std::lower_bound(readers_[v].begin(), readers_[v].end(), n);
      CHECK(reader != readers_[v].end(), "what nobody reads any more is not held");
      const auto next = *reader;
      if (next == n) continue;
      needed += resident_[v];
      waiting.emplace_back(next, v);
    }
    std::sort(waiting.rbegin(), waiting.rend());
    for (const auto& [next, v] : waiting) {
      if (needed <= limit_) return;
      const auto put_aside = std::min(resident_[v], needed - limit_);
      resident_[v] -= put_aside;
      needed -= put_aside;
      const auto aside = whole_bytes(plan_.nodes[v]) - resident_[v];
      traffic_.written += std::max(0.0, aside - written_[v]);
      written_[v] = std::max(written_[v], aside);
    }
  }

  const Fragment& plan_;
  double limit_;
  std::vector<std::vector<std::size_t>> readers_;  // of each node, ascending
  std::vector<double> resident_;                   // bytes of each result in memory
  std::vector<double> written_;                    // bytes of each result that are also in the file
  ScratchTraffic traffic_;
};

// The bytes read beyond the first time. Tiles read in one turn of a loop are still there in the next one if everything
// that a turn reads and makes fits.
double bytes_read_again(const Fragment& plan, NodeId node, double limit) {
  const auto calls = call_loops(plan, node);
  DCHECK(std::all_of(calls.operands.begin(), calls.operands.end(),
                     [&](const auto& o) { return o.part.size() == calls.loops && o.again.size() == calls.loops; }),
         "every operand says what each loop reads of it");
  std::vector<double> times(calls.operands.size(), 1);
  std::vector<double> in_turn;
  for (const auto& operand : calls.operands) in_turn.push_back(operand.bytes);
  for (std::size_t l = 0; l < calls.loops; ++l) {
    double together = 0;
    for (std::size_t o = 0; o < calls.operands.size(); ++o) together += in_turn[o] *= calls.operands[o].part[l];
    if (together <= limit) break;
    for (std::size_t o = 0; o < calls.operands.size(); ++o) times[o] *= calls.operands[o].again[l];
  }
  double bytes = 0;
  for (std::size_t o = 0; o + 1 < calls.operands.size(); ++o) bytes += calls.operands[o].bytes * (times[o] - 1);
  return bytes;
}

}  // namespace

double peak_bytes(const Fragment& plan) { return MemoryWalk(plan).run(); }

double working_bytes(const Fragment& plan, int threads) {
  double most = 0;
  for (std::size_t n = 0; n < plan.nodes.size(); ++n) {
    if (!plan.nodes[n].has_tasks()) continue;
    const auto tasks = std::min(static_cast<double>(threads), static_cast<double>(plan.nodes[n].grid.tile_count()));
    most = std::max(most, tasks * task_bytes(plan, NodeId(n)));
  }
  return most;
}

namespace {

// The rank's part of a step's relation.
double bytes_held(const PlanStep& step, Rank rank) {
  const auto* blocks = std::get_if<BlockPlacement>(&step.placement);
  if (blocks == nullptr || !blocks->at[rank]) return 0;
  auto bytes = static_cast<double>(size_of(step.dtype));
  for (std::size_t d = 0; d < step.grid.rank(); ++d) {
    auto indices = part_range(step.grid.shape()[d], blocks->parts[d], (*blocks->at[rank])[d]).size;
    if (step.grid.overlaps() && step.grid.reaches()[d])
      indices = step.grid.largest(d) * (step.grid.partition()[d] / blocks->parts[d]);
    bytes *= static_cast<double>(indices);
  }
  return step.cells ? bytes * share_of_cells(*step.cells, step.dtype, step.grid.shape()) : bytes;
}

// The dense blocks and buffers of a step that moves by collectives.
double bytes_of_sequence(const PlanStep& step, Rank rank) {
  const auto* moved = std::get_if<RedistributeStep>(&step.op);
  if (moved == nullptr || !moved->sequence) return 0;
  return static_cast<double>(size_of(step.dtype)) * static_cast<double>(working_elements(*moved->sequence, rank));
}

bool computes(const PlanStep& step, Rank rank) {
  const auto* compute = std::get_if<ComputeStep>(&step.op);
  return compute != nullptr && compute->at[rank].has_value();
}

}  // namespace

double peak_bytes(const PhysicalPlan& plan, Rank rank) {
  if (const auto* fragment = plan.fragment()) return peak_bytes(*fragment);
  std::vector<std::size_t> last_reader(plan.steps.size(), 0);
  for (std::size_t n = 0; n < plan.steps.size(); ++n)
    for (const auto input : inputs_of(plan.steps[n])) last_reader[input.index()] = n;
  for (const auto result : plan.results) last_reader[result.index()] = plan.steps.size();
  double held = 0;
  double peak = 0;
  for (std::size_t n = 0; n < plan.steps.size(); ++n) {
    peak = std::max(peak, held + bytes_of_sequence(plan.steps[n], rank));
    held += bytes_held(plan.steps[n], rank);
    peak = std::max(peak, held);
    for (const auto input : inputs_of(plan.steps[n]))
      if (std::exchange(last_reader[input.index()],
                        last_reader[input.index()] == n ? kNever : last_reader[input.index()]) == n)
        held -= bytes_held(plan.step(input), rank);
  }
  return peak;
}

double working_bytes(const PhysicalPlan& plan, Rank rank, int threads) {
  if (const auto* fragment = plan.fragment()) return working_bytes(*fragment, threads);
  double bytes = 0;
  for (std::size_t n = 0; n < plan.steps.size(); ++n) {
    bytes = std::max(bytes, bytes_of_sequence(plan.steps[n], rank));
    if (computes(plan.steps[n], rank))
      bytes = std::max(bytes, working_bytes(local_fragment(plan, StepId(n), rank), threads));
  }
  return bytes;
}

double least_bytes(const Fragment& plan, const LeastMemory& known, double limit) {
  // Ample enough for the workspace of kernels beside the tiles.
  constexpr double kAmple = 128 << 20;
  constexpr double kSmallPart = 16;
  const auto tiles = working_bytes(plan, 1);
  if (!known || (limit >= kAmple && tiles <= limit / kSmallPart)) return tiles;
  return known(plan);
}

double bytes_read_by_slices(const Fragment& plan, double limit) {
  double bytes = 0;
  for (const auto& loop : plan.loops) {
    double slices = 1;
    for (const auto& label : loop.labels) slices *= static_cast<double>(label.parts);
    for (auto n = loop.begin.index(); n <= loop.result.index(); ++n) {
      const auto* stored = plan.nodes[n].stored();
      if (stored == nullptr || stored->attached || stored->as_cells) continue;
      const auto whole = whole_bytes(plan.nodes[n]);
      if (whole > limit) bytes += std::max(0.0, slices * bytes_scanned(plan, n, loop) - whole);
    }
  }
  return bytes;
}

double slowdown_for_room(const Fragment& plan, int threads, double limit) {
  constexpr double kWorkingShare = 0.5;
  CHECK(threads > 0, "operators have a thread to work on");
  const auto room = peak_bytes(plan) <= limit ? limit : kWorkingShare * limit;
  return std::clamp(working_bytes(plan, threads) / room, 1.0, static_cast<double>(threads));
}

ScratchTraffic scratch_traffic(const Fragment& plan, double limit) {
  auto traffic = WaitingResults(plan, limit).run();
  std::vector<int> readers(plan.nodes.size(), 0);
  for (const auto& node : plan.nodes)
    for (const auto input : inputs_of(node)) ++readers[input.index()];
  for (std::size_t n = 0; n < plan.nodes.size(); ++n) {
    const auto& node = plan.nodes[n];
    if (!node.has_tasks()) continue;
    auto needed = whole_bytes(node);
    for (const auto input : inputs_of(node)) needed += whole_bytes(plan.node(input));
    if (needed <= limit) continue;
    // Earlier results are still in memory as far as they fit.
    const auto excess = std::min(whole_bytes(node), needed - limit);
    traffic.written += excess;
    traffic.read += excess * std::max(1, readers[n]) + bytes_read_again(plan, NodeId(n), limit);
  }
  return traffic;
}

}  // namespace eindb

#include "optimizer/plan_memory.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/poll_steps.hpp"

namespace eindb {
namespace {

constexpr std::size_t kNever = SIZE_MAX;

std::int64_t slices_of(std::size_t n, std::size_t d, const SliceLoop& loop) {
  for (const auto& [label, parts] : loop.labels)
    if (loop.dimensions[n - loop.begin.index()][d] == label) return parts;
  return 1;
}

// The tiles that a slice overlaps: a stored tensor is cut as it was stored.
double bytes_scanned(const PhysicalPlan& plan, std::size_t n, const SliceLoop& loop) {
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

// Follows the executor through a plan.
class MemoryWalk {
 public:
  explicit MemoryWalk(const PhysicalPlan& plan)
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
    return peak_;
  }

 private:
  // What a loop reads from outside stays until its end, and so does the whole of its result.
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
    if (std::holds_alternative<ScanNode>(node.op)) return;
    // A join that a group-by reads is run by that.
    if (is_grouped(n)) return;
    const auto inputs = inputs_read_by(n);
    for (const auto input : inputs)
      if (std::holds_alternative<ScanNode>(plan_.node(input).op)) hold(input.index(), scanned_bytes(input.index()));
    const bool into_result = loop_ != nullptr && loop_->result == NodeId(n);
    double made = std::holds_alternative<SinkNode>(node.op) ? 0 : bytes_of(n, widest_type(n), loop_);
    if (into_result && loop_->aggregate == Aggregate::None) made = 0;  // held as a whole already
    peak_ = std::max(peak_, now_ + made);
    if (!into_result && made > 0) hold(n, bytes_of(n, node.dtype, loop_));
    for (const auto input : inputs)
      if (loop_ == nullptr || loop_->contains(input)) drop_after(input.index(), n);
  }

  bool is_grouped(std::size_t n) const {
    const auto* group_by = n + 1 < plan_.nodes.size() ? std::get_if<GroupByNode>(&plan_.nodes[n + 1].op) : nullptr;
    return group_by != nullptr && group_by->input == NodeId(n);
  }

  std::vector<NodeId> inputs_read_by(std::size_t n) const {
    const auto* group_by = std::get_if<GroupByNode>(&plan_.nodes[n].op);
    return inputs_of(group_by != nullptr ? plan_.node(group_by->input) : plan_.nodes[n]);
  }

  // Accumulators are of the type that a join computes in.
  DType widest_type(std::size_t n) const {
    const auto* group_by = std::get_if<GroupByNode>(&plan_.nodes[n].op);
    const auto* join =
        std::get_if<JoinNode>(group_by != nullptr ? &plan_.node(group_by->input).op : &plan_.nodes[n].op);
    const auto type = plan_.nodes[n].dtype;
    return join != nullptr && size_of(join->compute_dtype) > size_of(type) ? join->compute_dtype : type;
  }

  // Of a node's result, or of one slice of it.
  double bytes_of(std::size_t n, DType type, const SliceLoop* loop) const {
    const auto& shape = plan_.nodes[n].grid.shape();
    auto bytes = static_cast<double>(size_of(type));
    for (std::size_t d = 0; d < shape.rank(); ++d)
      bytes *= static_cast<double>(loop == nullptr ? shape[d] : ceil_divide(shape[d], slices_of(n, d, *loop)));
    return bytes;
  }

  // What a slice reads of a stored tensor, in a loop; else all of it.
  double scanned_bytes(std::size_t n) const {
    const auto& node = plan_.nodes[n];
    if (std::get<ScanNode>(node.op).tensor.attached) return 0;
    if (loop_ == nullptr || !loop_->contains(NodeId(n))) return bytes_of(n, node.dtype, nullptr);
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

  const PhysicalPlan& plan_;
  std::vector<std::size_t> last_reader_;
  std::vector<double> held_;
  const SliceLoop* loop_ = nullptr;
  double now_ = 0;
  double peak_ = 0;
};

double tile_bytes(const TileGrid& grid, DType type) {
  auto bytes = static_cast<double>(size_of(type));
  for (std::size_t d = 0; d < grid.rank(); ++d)
    bytes *= static_cast<double>(largest_part(grid.shape()[d], grid.partition()[d]));
  return bytes;
}

double whole_bytes(const PhysicalNode& node) {
  auto bytes = static_cast<double>(size_of(node.dtype));
  for (const auto extent : node.grid.shape().extents()) bytes *= static_cast<double>(extent);
  return bytes;
}

// What is read to give a part of it: a tile of a tensor that is held at an index.
double bytes_behind(const PhysicalNode& node) {
  const auto* scan = std::get_if<ScanNode>(&node.op);
  if (scan == nullptr || !scan->tensor.selection || scan->tensor.attached) return 0;
  return tile_bytes(scan->tensor.selection->stored, node.dtype);
}

// One task of an operator: the tiles it reads and the one it makes. Tiles of attached tensors count as well: those with
// gaps are copied.
double task_bytes(const PhysicalPlan& plan, const PhysicalNode& node) {
  double bytes = 0;
  double behind = 0;
  for (const auto input : inputs_of(node)) {
    const auto& read = plan.node(input);
    bytes += tile_bytes(read.grid, read.dtype);
    behind = std::max(behind, bytes_behind(read));
  }
  bytes += behind;
  const auto* join = std::get_if<JoinNode>(&node.op);
  const bool converts = join != nullptr && join->compute_dtype != node.dtype;
  return bytes + tile_bytes(node.grid, node.dtype) + (converts ? tile_bytes(node.grid, join->compute_dtype) : 0);
}

bool is_operator(const PhysicalNode& node) {
  return std::holds_alternative<JoinNode>(node.op) || std::holds_alternative<RepartitionNode>(node.op);
}

// What is made early and read late: results wait in memory, or in a scratch file where operators at work need the room.
class WaitingResults {
 public:
  WaitingResults(const PhysicalPlan& plan, double limit)
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
      if (is_operator(plan_.nodes[n])) work(n);
      keep(n);
    }
    return traffic_;
  }

 private:
  // Results of joins are combined as they come: a group-by takes no room beside its result.
  static bool is_made(const PhysicalNode& node) {
    return is_operator(node) || std::holds_alternative<GroupByNode>(node.op);
  }

  // The result waits for its readers from now on, and what nobody else reads no more.
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
    std::vector<std::pair<std::size_t, std::size_t>> waiting;  // next reader, node
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

  const PhysicalPlan& plan_;
  double limit_;
  std::vector<std::vector<std::size_t>> readers_;  // of each node, in order
  std::vector<double> resident_;                   // bytes of each result that are in memory
  std::vector<double> written_;                    // those that are in the file, too
  ScratchTraffic traffic_;
};

// The loops that an operator runs its calls in, the outermost first, and what it reads in them.
struct CallLoops {
  struct Operand {
    double bytes = 0;
    std::vector<double> part;   // per loop: of the operand, what one turn reads
    std::vector<double> again;  // per loop: how often it is read in all turns together
  };
  std::size_t loops = 0;
  std::vector<Operand> operands;  // and what it makes
};

CallLoops loops_of_join(const PhysicalPlan& plan, const PhysicalNode& node) {
  const auto& join = std::get<JoinNode>(node.op);
  auto labels = join.einsum.output;
  labels.insert(labels.end(), join.einsum.aggregated.begin(), join.einsum.aggregated.end());
  CallLoops out{labels.size(), {}};
  const auto add = [&](double bytes, const Labels& own) {
    CallLoops::Operand operand{bytes, {}, {}};
    for (const auto label : labels) {
      const auto parts = static_cast<double>(join.partition.of(label));
      const bool has = contains(own, label);
      operand.part.push_back(has ? 1 / parts : 1);
      operand.again.push_back(has ? 1 : parts);
    }
    out.operands.push_back(std::move(operand));
  };
  for (std::size_t n = 0; n < join.inputs.size(); ++n)
    add(whole_bytes(plan.node(join.inputs[n])), join.einsum.inputs[n]);
  add(whole_bytes(node), join.einsum.output);
  return out;
}

CallLoops loops_of_repartition(const PhysicalPlan& plan, const PhysicalNode& node) {
  const auto& source = plan.node(std::get<RepartitionNode>(node.op).input);
  CallLoops out{node.grid.rank(), {{whole_bytes(source), {}, {}}, {whole_bytes(node), {}, {}}}};
  for (std::size_t d = 0; d < node.grid.rank(); ++d) {
    const auto cut = static_cast<double>(source.grid.partition()[d]);
    const auto wanted = static_cast<double>(node.grid.partition()[d]);
    out.operands[0].part.push_back(1 / std::min(cut, wanted));
    out.operands[0].again.push_back(std::max(1.0, wanted / cut));
    out.operands[1].part.push_back(1 / wanted);
    out.operands[1].again.push_back(1);
  }
  return out;
}

// Beyond the first time. What a turn of a loop has read is there for the next one if all that it reads and makes fits.
double bytes_read_again(const PhysicalPlan& plan, const PhysicalNode& node, double limit) {
  const auto calls =
      std::holds_alternative<JoinNode>(node.op) ? loops_of_join(plan, node) : loops_of_repartition(plan, node);
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

double peak_bytes(const PhysicalPlan& plan) { return MemoryWalk(plan).run(); }

double working_bytes(const PhysicalPlan& plan, int threads) {
  double most = 0;
  for (const auto& node : plan.nodes) {
    if (!is_operator(node)) continue;
    const auto tasks = std::min(static_cast<double>(threads), static_cast<double>(node.grid.tile_count()));
    most = std::max(most, tasks * task_bytes(plan, node));
  }
  return most;
}

double least_bytes(const PhysicalPlan& plan, const LeastMemory& known, double limit) {
  // With room for what kernels take beside tiles, whatever they are.
  constexpr double kAmple = 128 << 20;
  constexpr double kSmallPart = 16;
  const auto tiles = working_bytes(plan, 1);
  if (!known || (limit >= kAmple && tiles <= limit / kSmallPart)) return tiles;
  return known(plan);
}

double bytes_read_by_slices(const PhysicalPlan& plan, double limit) {
  double bytes = 0;
  for (const auto& loop : plan.loops) {
    double slices = 1;
    for (const auto& label : loop.labels) slices *= static_cast<double>(label.parts);
    for (auto n = loop.begin.index(); n <= loop.result.index(); ++n) {
      const auto* scan = std::get_if<ScanNode>(&plan.nodes[n].op);
      if (scan == nullptr || scan->tensor.attached) continue;
      const auto whole = whole_bytes(plan.nodes[n]);
      if (whole > limit) bytes += std::max(0.0, slices * bytes_scanned(plan, n, loop) - whole);
    }
  }
  return bytes;
}

double slowdown_for_room(const PhysicalPlan& plan, int threads, double limit) {
  constexpr double kWorkingShare = 0.5;
  const auto room = peak_bytes(plan) <= limit ? limit : kWorkingShare * limit;
  return std::clamp(working_bytes(plan, threads) / room, 1.0, static_cast<double>(threads));
}

ScratchTraffic scratch_traffic(const PhysicalPlan& plan, double limit) {
  auto traffic = WaitingResults(plan, limit).run();
  std::vector<int> readers(plan.nodes.size(), 0);
  for (const auto& node : plan.nodes)
    for (const auto input : inputs_of(node)) ++readers[input.index()];
  for (std::size_t n = 0; n < plan.nodes.size(); ++n) {
    const auto& node = plan.nodes[n];
    if (!is_operator(node)) continue;
    auto needed = whole_bytes(node);
    for (const auto input : inputs_of(node)) needed += whole_bytes(plan.node(input));
    if (needed <= limit) continue;
    // What was made before is still there as far as it fits.
    const auto excess = std::min(whole_bytes(node), needed - limit);
    traffic.written += excess;
    traffic.read += excess * std::max(1, readers[n]) + bytes_read_again(plan, node, limit);
  }
  return traffic;
}

}  // namespace eindb

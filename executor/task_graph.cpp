#include "executor/task_graph.hpp"

#include <algorithm>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "plan/task_memory.hpp"

namespace eindb {
namespace {

// The position of `label` among the loop's labels, or -1.
std::ptrdiff_t sliced(const SliceLoop* loop, Label label) {
  if (loop == nullptr) return -1;
  for (std::size_t l = 0; l < loop->labels.size(); ++l)
    if (loop->labels[l].label == label) return static_cast<std::ptrdiff_t>(l);
  return -1;
}

std::int64_t parts_in_slice(const SliceLoop* loop, std::ptrdiff_t sliced, std::int64_t parts) {
  if (sliced < 0) return parts;
  const auto slices = loop->labels[static_cast<std::size_t>(sliced)].parts;
  CHECK(parts % slices == 0, "a tile lies in one slice");
  return parts / slices;
}

// Adds a dimension of the source along an axis; a second one along the same axis belongs to a diagonal.
void add_dimension(Link& link, std::size_t axis, const AxisCut& cut) {
  const auto known = std::find_if(link.cuts.begin(), link.cuts.end(), [&](const auto& c) { return c.axis == axis; });
  link.dims.push_back(static_cast<std::size_t>(known - link.cuts.begin()));
  if (known == link.cuts.end()) link.cuts.push_back({axis, cut});
}

// Saturates sizes that do not fit.
std::int64_t counted(double bytes) {
  constexpr double kMost = 9.2e18;
  return bytes < kMost ? static_cast<std::int64_t>(bytes) : std::numeric_limits<std::int64_t>::max();
}

}  // namespace

std::int64_t slice_count(const SliceLoop* loop) {
  std::int64_t count = 1;
  if (loop != nullptr)
    for (const auto& label : loop->labels) count = checked_multiply(count, label.parts);
  return count;
}

std::int64_t largest_tile_bytes(const FragmentNode& node) { return counted(tile_bytes(node)); }

TaskGraph::TaskGraph(const Fragment& plan, Bytes most_begun)
    : plan_(plan),
      most_begun_(std::move(most_begun)),
      stage_of_(plan.nodes.size(), -1),
      last_reader_(plan.nodes.size(), 0),
      sinks_of_(plan.nodes.size(), 0) {
  stages_.reserve(plan.nodes.size());
  auto loop = plan.loops.begin();
  auto checkpoint = plan.checkpoints.begin();
  for (std::size_t n = 0; n < plan.nodes.size(); ++n) {
    for (const auto input : inputs_of(plan.nodes[n])) {
      CHECK(input.index() < n, "what a node reads comes before it");
      last_reader_[input.index()] = n;
    }
    const bool begins = loop != plan.loops.end() && loop->begin.index() == n;
    const bool in_loop = !regions_.empty() && regions_.back().loop != nullptr;
    const bool ends = in_loop && !regions_.back().loop->contains(NodeId(n));
    if (regions_.empty() || begins || ends || regions_.back().ends_at_checkpoint)
      regions_.push_back({stages_.size(), stages_.size(), begins ? &*loop++ : nullptr, n, n});
    const auto* region_loop = regions_.back().loop;
    add_node(NodeId(n), region_loop);
    regions_.back().end = stages_.size();
    regions_.back().last_node = n;
    if (checkpoint == plan.checkpoints.end() || checkpoint->index() != n) continue;
    regions_.back().ends_at_checkpoint = true;
    ++checkpoint;
  }
  CHECK(loop == plan.loops.end(), "each loop of a plan is a region");
  CHECK(checkpoint == plan.checkpoints.end(), "each checkpoint of a plan ends a region");
  collect_readers();
  most_begun_ = nullptr;  // it may refer to what does not outlive the graph
}

// Nodes read by a Completion have its tasks in common with it; a Source has no tasks.
void TaskGraph::add_node(NodeId id, const SliceLoop* loop) {
  const auto& node = plan_.node(id);
  if (node.role() == OperatorRole::Delivery)
    for (const auto input : inputs_of(node)) ++sinks_of_[input.index()];
  const auto worker = plan_.worker_of(id);
  if (!plan_.node(worker).has_tasks() || node.is_partial()) return;
  const auto& op = plan_.node(worker).op;
  if (const auto* join = std::get_if<JoinNode>(&op)) add_join(id.index(), worker.index(), *join, loop);
  else if (const auto* cut = std::get_if<RepartitionNode>(&op)) add_layout(id.index(), {cut->input}, 0, loop);
  else if (const auto* joined = std::get_if<ConcatenationNode>(&op))
    add_layout(id.index(), joined->inputs, joined->along, loop);
  else CHECK(false, "an operator with tasks has stages");
}

void TaskGraph::add_join(std::size_t node, std::size_t join_node, const JoinNode& join, const SliceLoop* loop) {
  CHECK(join.partition.labels == join.einsum.labels(), "a partition vector lists the labels in the EinSum's order");
  Stage stage;
  stage.node = node;
  stage.join = join_node;
  stage.rank = join.einsum.output.size();
  Labels labels = join.einsum.output;
  labels.insert(labels.end(), join.einsum.aggregated.begin(), join.einsum.aggregated.end());
  std::vector<std::int64_t> parts;
  for (std::size_t a = 0; a < labels.size(); ++a) {
    const auto& all = join.partition.labels;
    parts.push_back(
        join.partition.parts[static_cast<std::size_t>(std::find(all.begin(), all.end(), labels[a]) - all.begin())]);
    const auto slice = sliced(loop, labels[a]);
    const auto window = plan_.window_of(labels[a]);
    CHECK(parts.back() % window.parts == 0, "a tile lies in the window or outside of it");
    const auto in_window = parts.back() / window.parts;
    const auto calls = parts_in_slice(loop, slice, in_window);
    const bool aggregated = a >= stage.rank;
    stage.axes.push_back({aggregated ? 1 : calls, calls, aggregated, slice, window.part * in_window});
    if (aggregated) stage.calls_per_tile = checked_multiply(stage.calls_per_tile, calls);
  }
  for (std::size_t n = 0; n < join.inputs.size(); ++n) {
    if (!consumes_early(stage, n, loop)) continue;
    for (std::size_t a = stage.rank; a < labels.size(); ++a)
      if (contains(join.cutting_labels(n), labels[a])) stage.axes[a].tasks = stage.axes[a].calls;
  }
  if (std::any_of(stage.axes.begin(), stage.axes.end(), [](const Axis& a) { return a.aggregated && a.tasks > 1; })) {
    CHECK(left_to_begin_ && *left_to_begin_ >= begun_bytes(stage), "there is memory for what is begun early");
    *left_to_begin_ -= begun_bytes(stage);
  }
  stage.need = counted(task_bytes(plan_, NodeId(node)));
  for (std::size_t n = 0; n < join.inputs.size(); ++n) {
    const auto source = join.inputs[n].index();
    const auto operand = join.cutting_labels(n);
    Link link{.source = source, .stage = stages_.size(), .operand = n, .cuts = {}, .dims = {}};
    link.in_parts = join.reads_parts_of(n);
    for (const auto label : operand) {
      const auto a = static_cast<std::size_t>(std::find(labels.begin(), labels.end(), label) - labels.begin());
      CHECK(a < labels.size(), "an operand has labels of its join");
      const auto& axis = stage.axes[a];
      if (link.in_parts) {
        // Chunks of several calls do not end where parts of the extent do.
        CHECK(loop == nullptr && axis.begin == 0 && (axis.tasks == 1 || axis.tasks == axis.calls),
              "tiles are read in parts in whole plans, by tasks of whole parts");
        const auto& cut = plan_.nodes[source].grid;
        const auto d = link.dims.size();
        add_dimension(link, a, {cut.shape()[d], axis.tasks, cut.partition()[d]});
        continue;
      }
      add_dimension(
          link, a,
          axis.aggregated ? AxisCut{axis.calls, axis.tasks, axis.calls} : AxisCut{parts[a], parts[a], parts[a]});
    }
    link.once = !link.in_parts;
    for (std::size_t a = stage.rank; a < labels.size(); ++a)
      if (stage.axes[a].calls > 1 && !contains(operand, labels[a])) link.once = false;
    link.repeats = repeats(source, operand, loop);
    stage.links.push_back(std::move(link));
  }
  stage.cost = 1;
  for (std::size_t a = 0; a < labels.size(); ++a) {
    const auto window = plan_.window_of(labels[a]);
    stage.cost *= static_cast<double>(part_range(plan_.labels.extent(labels[a]), window.parts, window.part).size);
    if (stage.axes[a].sliced >= 0)
      stage.cost /= static_cast<double>(loop->labels[static_cast<std::size_t>(stage.axes[a].sliced)].parts);
  }
  add(std::move(stage), loop);
}

// Several sources are joined along a dimension.
void TaskGraph::add_layout(std::size_t node, const std::vector<NodeId>& sources, std::size_t along,
                           const SliceLoop* loop) {
  const auto& grid = plan_.nodes[node].grid;
  CHECK(sources.size() == 1 || loop == nullptr, "relations are joined outside of slices");
  Labels labels;
  if (loop != nullptr) labels = loop->dimensions[node - loop->begin.index()];
  Stage stage;
  stage.node = stage.join = node;
  stage.rank = grid.rank();
  stage.cost = static_cast<double>(grid.shape().element_count());
  for (std::size_t d = 0; d < grid.rank(); ++d) {
    const auto slice = labels.empty() ? -1 : sliced(loop, labels[d]);
    const auto tasks = parts_in_slice(loop, slice, grid.partition()[d]);
    stage.axes.push_back({tasks, tasks, false, slice});
  }
  std::int64_t begin = 0;
  for (std::size_t n = 0; n < sources.size(); ++n) {
    const auto source = sources[n].index();
    const auto& from = plan_.nodes[source].grid;
    CHECK(sources.size() > 1 || from.shape() == grid.shape(), "a repartition cuts the same tensor in another way");
    Link link{.source = source, .stage = stages_.size(), .operand = n, .cuts = {}, .dims = {}};
    for (std::size_t d = 0; d < grid.rank(); ++d) {
      AxisCut cut{grid.shape()[d], grid.partition()[d], from.partition()[d]};
      if (sources.size() > 1 && d == along) {
        cut.begin = begin;
        cut.length = from.shape()[d];
      }
      if (grid.overlaps()) {
        CHECK(sources.size() == 1 && loop == nullptr, "parts overlap outside of slices, of one relation");
        cut.reach = grid.reaches()[d];
      }
      add_dimension(link, d, cut);
    }
    if (sources.size() > 1) begin += from.shape()[along];
    link.repeats = repeats(source, labels, loop);
    stage.links.push_back(std::move(link));
  }
  stage.need = counted(task_bytes(plan_, NodeId(node)));
  add(std::move(stage), loop);
}

void TaskGraph::add(Stage stage, const SliceLoop* loop) {
  std::int64_t tiles = 1;
  for (std::size_t a = 0; a < stage.axes.size(); ++a) {
    if (a < stage.rank) tiles = checked_multiply(tiles, stage.axes[a].tasks);
    else stage.tasks_per_tile = checked_multiply(stage.tasks_per_tile, stage.axes[a].tasks);
  }
  stage.task_count = checked_multiply(tiles, stage.tasks_per_tile);
  const auto slices = slice_count(loop);
  task_count_ = checked_add(task_count_, checked_multiply(stage.task_count, slices));
  cost_ += stage.cost * static_cast<double>(slices);
  CHECK(stage_of_[stage.node] < 0, "a node is made by one stage");
  stage_of_[stage.node] = static_cast<std::ptrdiff_t>(stages_.size());
  stages_.push_back(std::move(stage));
}

// Every slice reads a tile from outside its loop again, unless the tile is also cut along the label.
std::int64_t TaskGraph::repeats(std::size_t source, const Labels& labels, const SliceLoop* loop) const {
  std::int64_t count = 1;
  if (loop == nullptr || loop->contains(NodeId(source))) return count;
  for (const auto& label : loop->labels)
    if (!contains(labels, label.label)) count = checked_multiply(count, label.parts);
  return count;
}

// Whether a group takes each tile of an operand as soon as it is finished, without waiting for the others. It does if
// the result is much smaller than its operands, and there is memory for its tiles, which are all begun at once.
bool TaskGraph::consumes_early(const Stage& stage, std::size_t operand, const SliceLoop* loop) {
  constexpr double kSmaller = 4;
  if (stage.calls_per_tile == 1) return false;
  const auto source = inputs_of(plan_.nodes[stage.join])[operand].index();
  if (stage_of_[source] < 0 || (loop != nullptr && !loop->contains(NodeId(source)))) return false;
  if (loop == nullptr && source < regions_.back().first_node) return false;
  if (kSmaller * static_cast<double>(plan_.nodes[stage.node].grid.shape().element_count()) >
      static_cast<double>(plan_.nodes[source].grid.shape().element_count()))
    return false;
  if (!left_to_begin_) left_to_begin_ = most_begun_();
  return begun_bytes(stage) <= *left_to_begin_;
}

// The bytes of the whole result.
std::int64_t TaskGraph::begun_bytes(const Stage& stage) const {
  const auto& result = plan_.nodes[stage.node];
  const auto size = std::max(size_of(plan_.nodes[stage.join].working_type()), size_of(result.dtype));
  return checked_multiply(result.grid.shape().element_count(), static_cast<std::int64_t>(size));
}

// Threads that have nothing else to do help with block functions.
bool TaskGraph::is_one_line() const {
  const auto is_single_call = [&](const Stage& stage) {
    const auto* join = std::get_if<JoinNode>(&plan_.nodes[stage.join].op);
    return stage.task_count == 1 && stage.calls_per_tile == 1 && (join == nullptr || !join->einsum.block);
  };
  const auto reads_the_one_before = [&](std::size_t n) {
    const auto& links = stages_[n].links;
    return std::any_of(links.begin(), links.end(),
                       [&](const Link& link) { return link.source == stages_[n - 1].node; });
  };
  for (const auto& region : regions_)
    for (auto n = region.begin; n < region.end; ++n)
      if (!is_single_call(stages_[n]) || (n > region.begin && !reads_the_one_before(n))) return false;
  return true;
}

void TaskGraph::collect_readers() {
  reader_begin_.assign(plan_.nodes.size() + 1, 0);
  for (const auto& stage : stages_)
    for (const auto& link : stage.links) ++reader_begin_[link.source + 1];
  for (std::size_t n = 1; n < reader_begin_.size(); ++n) reader_begin_[n] += reader_begin_[n - 1];
  readers_.resize(reader_begin_.back());
  auto next = reader_begin_;
  for (const auto& stage : stages_)
    for (const auto& link : stage.links) readers_[next[link.source]++] = &link;
}

}  // namespace eindb

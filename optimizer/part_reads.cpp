#include "optimizer/part_reads.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "plan/task_memory.hpp"

namespace eindb {
namespace {

class PartReads {
 public:
  PartReads(Fragment plan, double most_bytes)
      : plan_(std::move(plan)),
        most_bytes_(most_bytes),
        readers_(plan_.nodes.size()),
        gone_(plan_.nodes.size(), false) {
    for (std::size_t n = 0; n < plan_.nodes.size(); ++n) {
      const auto inputs = inputs_of(plan_.nodes[n]);
      for (std::size_t i = 0; i < inputs.size(); ++i) readers_[inputs[i].index()].push_back({n, i});
    }
  }

  std::optional<Fragment> run() {
    for (std::size_t n = 0; n < plan_.nodes.size(); ++n)
      if (std::holds_alternative<RepartitionNode>(plan_.nodes[n].op)) try_without(n);
    if (std::find(gone_.begin(), gone_.end(), true) == gone_.end()) return std::nullopt;
    return without_those_gone();
  }

 private:
  struct Reader {
    std::size_t node;
    std::size_t input;
  };

  // Whether a tile is read again at no cost, and has plain values: those of attached tensors are copied each time.
  static bool lends_tiles(const FragmentNode& node) {
    const auto* stored = node.stored();
    return !node.cells && (stored == nullptr || (stored->encoding == Encoding::Plain && !stored->attached));
  }

  bool may_read_parts(const Reader& reader, const TileGrid& grid) const {
    const auto& node = plan_.nodes[reader.node];
    const auto* join = std::get_if<JoinNode>(&node.op);
    return join != nullptr && join->may_read_parts_of(reader.input, grid) && !node.cells &&
           std::none_of(join->inputs.begin(), join->inputs.end(),
                        [&](NodeId input) { return plan_.node(input).cells.has_value(); });
  }

  void try_without(std::size_t node) {
    const auto source = std::get<RepartitionNode>(plan_.nodes[node].op).input;
    const auto& grid = plan_.node(source).grid;
    const auto& readers = readers_[node];
    if (!lends_tiles(plan_.node(source)) || grid.shape().element_count() == 0 || readers.empty() ||
        !std::all_of(readers.begin(), readers.end(), [&](const auto& r) { return may_read_parts(r, grid); }))
      return;
    const auto need = [&] {
      double most = 0;
      for (const auto& reader : readers) most = std::max(most, task_bytes(plan_, NodeId(reader.node)));
      return most;
    };
    const auto before = std::max(need(), task_bytes(plan_, NodeId(node)));
    for (const auto& [reader, input] : readers) put(reader, input, source, true);
    gone_[node] = need() <= std::max(before, most_bytes_);
    if (gone_[node]) return;
    for (const auto& [reader, input] : readers) put(reader, input, NodeId(node), false);
  }

  // Lets a join read an input from there, in parts or whole.
  void put(std::size_t reader, std::size_t input, NodeId from, bool in_parts) {
    auto& join = std::get<JoinNode>(plan_.nodes[reader].op);
    join.inputs[input] = from;
    const auto place = std::lower_bound(join.in_parts.begin(), join.in_parts.end(), input);
    if (in_parts) join.in_parts.insert(place, input);
    else join.in_parts.erase(place);
  }

  Fragment without_those_gone() {
    std::vector<NodeId> now;
    std::vector<FragmentNode> kept;
    for (std::size_t n = 0; n < plan_.nodes.size(); ++n) {
      now.emplace_back(kept.size());
      if (gone_[n]) continue;
      renumber(plan_.nodes[n].op, now);
      kept.push_back(std::move(plan_.nodes[n]));
    }
    plan_.nodes = std::move(kept);
    return std::move(plan_);
  }

  static void renumber(FragmentOperator& op, const std::vector<NodeId>& now) {
    if (auto* join = std::get_if<JoinNode>(&op)) {
      for (auto& input : join->inputs) input = now[input.index()];
    } else if (auto* cut = std::get_if<RepartitionNode>(&op)) {
      cut->input = now[cut->input.index()];
    } else if (auto* joined = std::get_if<ConcatenationNode>(&op)) {
      for (auto& input : joined->inputs) input = now[input.index()];
    } else if (auto* group_by = std::get_if<GroupByNode>(&op)) {
      group_by->input = now[group_by->input.index()];
    } else if (auto* sink = std::get_if<SinkNode>(&op)) {
      sink->input = now[sink->input.index()];
    }
  }

  Fragment plan_;
  double most_bytes_;                         // of a task
  std::vector<std::vector<Reader>> readers_;  // by node
  std::vector<bool> gone_;
};

}  // namespace

std::optional<Fragment> read_in_parts(const Fragment& plan, double memory, int threads) {
  const bool copies = std::any_of(plan.nodes.begin(), plan.nodes.end(), [](const FragmentNode& node) {
    return std::holds_alternative<RepartitionNode>(node.op);
  });
  if (!copies || !plan.loops.empty() || !plan.window.empty()) return std::nullopt;
  return PartReads(plan, memory / (4 * threads)).run();
}

}  // namespace eindb

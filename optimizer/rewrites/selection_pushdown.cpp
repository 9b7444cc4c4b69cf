#include "optimizer/rewrites/selection_pushdown.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "common/check.hpp"
#include "common/poll_steps.hpp"
#include "optimizer/rewrites/label_substitution.hpp"
#include "tensor/block_form.hpp"
#include "tensor/scalar_types.hpp"

namespace eindb {
namespace {

using Kind = ScalarExpression::Kind;
using Held = std::vector<std::optional<std::int64_t>>;  // one entry per dimension: the index it is held at, if any

bool is_zero(const ScalarExpression& e) { return e.is_constant() && e.real_value() == 0; }

// Collects the held labels of `condition`: label = constant, or several of these joined by AND. False for other forms.
bool collect_held(const ScalarExpression& condition, std::map<Label, std::int64_t>& held) {
  const auto& arguments = condition.arguments();
  if (condition.is_call(ScalarOp::And)) return collect_held(*arguments[0], held) && collect_held(*arguments[1], held);
  if (!condition.is_call(ScalarOp::Equal)) return false;
  const bool label_first = arguments[0]->kind() == Kind::LabelIndex;
  const auto& label = *arguments[label_first ? 0 : 1];
  const auto& value = *arguments[label_first ? 1 : 0];
  return label.kind() == Kind::LabelIndex && value.kind() == Kind::Integer &&
         held.try_emplace(label.label(), value.integer_value()).second;
}

// The indices at which a vertex holds dimensions of its only input, if it is a plain selection of the form Z[free] =
// SUM[held](CASE WHEN held = c AND ... THEN X[free and held] ELSE 0 END).
std::optional<Held> selection_of(const Vertex& vertex, const LabelTable& labels) {
  const auto& einsum = vertex.einsum;
  if (vertex.is_input() || einsum.inputs.size() != 1 || einsum.aggregate != Aggregate::Sum) return std::nullopt;
  if (einsum.epilogue != nullptr) return std::nullopt;
  std::map<Label, std::int64_t> held;
  const auto* value = einsum.expression.get();
  if (value->is_call(ScalarOp::Case)) {
    const auto& arguments = value->arguments();
    if (arguments.size() != 3 || !is_zero(*arguments[2]) || !collect_held(*arguments[0], held)) return std::nullopt;
    value = arguments[1].get();
  }
  if (value->kind() != Kind::Operand) return std::nullopt;

  Held at;
  std::set<Label> seen;
  for (const auto label : einsum.inputs[0]) {
    if (!seen.insert(label).second) return std::nullopt;
    const auto found = held.find(label);
    const bool is_free = contains(einsum.output, label);
    if (is_free != (found == held.end()) && !(labels.extent(label) == 1 && found == held.end())) return std::nullopt;
    if (found != held.end() && (found->second < 0 || found->second >= labels.extent(label))) return std::nullopt;
    at.push_back(is_free ? std::nullopt : std::optional(found == held.end() ? 0 : found->second));
  }
  const auto is_read = [&](Label label) { return seen.contains(label); };
  const bool all_read = std::all_of(einsum.output.begin(), einsum.output.end(), is_read) &&
                        std::all_of(einsum.aggregated.begin(), einsum.aggregated.end(), is_read);
  return all_read ? std::optional(at) : std::nullopt;
}

Shape free_shape(const Shape& shape, const Held& at) {
  CHECK(at.size() == shape.rank(), "a selection holds or leaves each dimension");
  std::vector<std::int64_t> extents;
  for (std::size_t d = 0; d < at.size(); ++d)
    if (!at[d]) extents.push_back(shape[d]);
  return Shape(std::move(extents));
}

// One sweep from the outputs to the inputs. All readers of a vertex are final when it is visited.
class PushdownSweep {
 public:
  explicit PushdownSweep(const EinGraph& graph)
      : labels_(graph.labels()),
        vertices_(graph.vertices().begin(), graph.vertices().end()),
        outputs_(graph.outputs()),
        is_output_(graph.size()) {
    readers_.resize(vertices_.size());
    for (const auto output : outputs_) is_output_[output.index()] = true;
  }

  void run() {
    for (std::size_t n = vertices_.size(); n-- > 0;) {
      poll_cancellation_after(20);
      const bool is_output = n < is_output_.size() && is_output_[n];
      if (!is_output && readers_[n].empty()) continue;
      if (!is_output && push(n)) continue;
      read_inputs(n);
    }
  }

  bool changed() const { return changed_; }

  // The graph of the vertices that outputs depend on, inputs before their readers.
  EinGraph graph() const {
    EinGraph out;
    out.labels() = labels_;
    std::vector<std::optional<VertexId>> now(vertices_.size());
    std::vector<std::size_t> path;
    for (auto output = outputs_.rbegin(); output != outputs_.rend(); ++output) path.push_back(output->index());
    while (!path.empty()) {
      const auto n = path.back();
      const auto& inputs = vertices_[n].inputs;
      const auto missing =
          std::find_if(inputs.begin(), inputs.end(), [&](VertexId input) { return !now[input.index()]; });
      if (missing != inputs.end()) {
        path.push_back(missing->index());
        continue;
      }
      path.pop_back();
      if (now[n]) continue;
      Vertex vertex = vertices_[n];
      for (auto& input : vertex.inputs) input = *now[input.index()];
      now[n] = out.add(std::move(vertex));
    }
    std::vector<VertexId> outputs;
    for (const auto output : outputs_) {
      CHECK(now[output.index()].has_value(), "every output is computed in the new graph");
      outputs.push_back(*now[output.index()]);
    }
    out.set_outputs(std::move(outputs));
    return out;
  }

 private:
  struct Read {
    std::size_t reader;
    std::size_t operand;
  };

  void read_inputs(std::size_t n) {
    for (std::size_t i = 0; i < vertices_[n].inputs.size(); ++i)
      readers_[vertices_[n].inputs[i].index()].push_back({n, i});
  }

  Labels& labels_of(const Read& read) { return vertices_[read.reader].einsum.inputs[read.operand]; }

  // True if vertex n has no readers any more.
  bool push(std::size_t n) {
    if (vertices_[n].is_input()) return push_into_scan(n);
    keep_diagonal(n);
    return push_through(n);
  }

  // Merges dimensions that every reader reads with the same label.
  void keep_diagonal(std::size_t n) {
    for (std::size_t d = vertices_[n].einsum.output.size(); d-- > 1;) {
      for (std::size_t first = 0; first < d; ++first) {
        const auto same = [&](const Read& read) { return labels_of(read)[first] == labels_of(read)[d]; };
        if (!std::all_of(readers_[n].begin(), readers_[n].end(), same)) continue;
        if (!can_unite(vertices_[n].einsum, first, d)) continue;
        unite_dimensions(n, first, d);
        break;
      }
    }
  }

  // A function of whole vectors or matrices has all cells along its own labels.
  static bool can_unite(const EinSum& einsum, std::size_t first, std::size_t second) {
    return !is_whole(einsum, einsum.output[first]) && !is_whole(einsum, einsum.output[second]);
  }

  void unite_dimensions(std::size_t n, std::size_t first, std::size_t second) {
    auto& einsum = vertices_[n].einsum;
    CHECK(first < second && second < einsum.output.size(), "two dimensions of a head are united");
    const auto kept = einsum.output[first];
    const auto gone = einsum.output[second];
    const LabelRenaming to = [&](Label label) { return label == gone ? kept : label; };
    for (auto& input : einsum.inputs) input = rename_labels(input, to);
    einsum.expression = rename_labels(einsum.expression, to);
    const auto place = static_cast<std::ptrdiff_t>(second);
    einsum.output.erase(einsum.output.begin() + place);
    vertices_[n].bound = Shape(labels_.extents(einsum.output));
    for (const auto& read : readers_[n]) labels_of(read).erase(labels_of(read).begin() + place);
    changed_ = true;
  }

  bool push_into_scan(std::size_t n) {
    std::vector<Read> others;
    for (const auto& read : std::vector<Read>(readers_[n])) {
      const auto at = selection_of(vertices_[read.reader], labels_);
      if (!at) {
        others.push_back(read);
        continue;
      }
      const auto held = select(n, *at);
      auto& einsum = vertices_[read.reader].einsum;
      vertices_[read.reader].inputs = {VertexId(held)};
      einsum.inputs = {free_labels(einsum.inputs[0], *at)};
      einsum.aggregated.clear();
      einsum.aggregate = Aggregate::None;
      einsum.expression = ScalarExpression::operand(0);
      readers_[held].push_back({read.reader, 0});
      changed_ = true;
    }
    readers_[n] = std::move(others);
    return readers_[n].empty();
  }

  static Labels free_labels(const Labels& labels, const Held& at) {
    CHECK(labels.size() == at.size(), "an operand has a label for each dimension that is held or free");
    Labels out;
    for (std::size_t d = 0; d < at.size(); ++d)
      if (!at[d]) out.push_back(labels[d]);
    return out;
  }

  bool push_through(std::size_t n) {
    std::vector<Held> selections;
    for (const auto& read : readers_[n]) {
      const auto& reader = vertices_[read.reader];
      auto at = selection_of(reader, labels_);
      if (!at || reader.dtype != vertices_[n].dtype || !can_hold(vertices_[n].einsum, *at)) return false;
      selections.push_back(std::move(*at));
    }
    if (!is_worthwhile(vertices_[n].bound, {selections.begin(), selections.end()})) return false;
    const auto readers = std::move(readers_[n]);
    readers_[n].clear();
    for (std::size_t r = 0; r < readers.size(); ++r) compute_selected(n, readers[r].reader, selections[r]);
    changed_ = true;
    return true;
  }

  // Random numbers are defined by the cells of the whole tensor.
  static bool can_hold(const EinSum& einsum, const Held& at) {
    const auto random = random_labels_of(*einsum.expression);
    for (std::size_t d = 0; d < at.size(); ++d)
      if (at[d] && (contains(random, einsum.output[d]) || is_whole(einsum, einsum.output[d]))) return false;
    return true;
  }

  static bool is_worthwhile(const Shape& whole, const std::set<Held>& selections) {
    if (selections.size() == 1) return true;
    constexpr double kSmallPart = 0.25;
    double selected = 0;
    for (const auto& at : selections) selected += static_cast<double>(free_shape(whole, at).element_count());
    return selected <= kSmallPart * static_cast<double>(whole.element_count());
  }

  // Makes `reader`, which selects from vertex n, compute the selection itself. It keeps its name, head and type.
  void compute_selected(std::size_t n, std::size_t reader, const Held& at) {
    const auto source = vertices_[n];
    const auto& einsum = source.einsum;
    CHECK(at.size() == einsum.output.size(), "a selection is of the head of its vertex");
    std::unordered_map<Label, std::int64_t> held;
    std::unordered_map<Label, Label> now;
    for (std::size_t d = 0; d < at.size(); ++d) {
      if (at[d]) held.emplace(einsum.output[d], *at[d]);
      else now.emplace(einsum.output[d], vertices_[reader].einsum.inputs[0][d]);
    }
    // A label of the reader's head may also be one that the producer aggregates.
    for (const auto label : einsum.aggregated)
      now.emplace(label, contains(vertices_[reader].einsum.output, label)
                             ? labels_.add(labels_.name(label), labels_.extent(label))
                             : label);
    const LabelRenaming to = [&](Label label) {
      const auto found = now.find(label);
      return found == now.end() ? label : found->second;
    };
    const LabelValue value = [&](Label label) {
      const auto found = held.find(label);
      return found == held.end() ? ScalarExpression::label_index(label) : ScalarExpression::integer(found->second);
    };

    EinSum selected;
    std::vector<VertexId> inputs;
    for (std::size_t i = 0; i < source.inputs.size(); ++i) {
      Held input_at;
      for (const auto label : einsum.inputs[i])
        input_at.push_back(held.contains(label) ? std::optional(held.at(label)) : std::nullopt);
      inputs.emplace_back(select(source.inputs[i].index(), input_at));
      selected.inputs.push_back(rename_labels(free_labels(einsum.inputs[i], input_at), to));
    }
    selected.output = vertices_[reader].einsum.output;
    selected.aggregated = rename_labels(einsum.aggregated, to);
    selected.aggregate = einsum.aggregate;
    selected.epilogue = einsum.epilogue;
    selected.block = einsum.block;
    selected.user = einsum.user;
    selected.expression = rename_labels(replace_label_values(einsum.expression, value), to);
    auto& vertex = vertices_[reader];
    vertex.inputs = std::move(inputs);
    vertex.einsum = std::move(selected);
    vertex.compute_dtype = source.compute_dtype;
    read_inputs(reader);
  }

  // A vertex that holds vertex n at `at`: n itself if nothing is held, a scan, or a selection to be pushed further.
  std::size_t select(std::size_t n, const Held& at) {
    if (std::none_of(at.begin(), at.end(), [](const auto& index) { return index.has_value(); })) return n;
    const auto [known, is_new] = selections_.try_emplace({n, at}, vertices_.size());
    if (!is_new) return known->second;
    CHECK(vertices_.size() == readers_.size(), "every vertex has a list of its readers");
    const auto id = vertices_.size();
    vertices_.push_back(vertices_[n].is_input() ? make_input(held_at(*vertices_[n].stored, at)) : selection(n, at));
    readers_.emplace_back();
    if (!vertices_[id].is_input()) read_inputs(id);
    return id;
  }

  Vertex selection(std::size_t n, const Held& at) {
    const auto& whole = vertices_[n];
    Vertex out;
    out.name = whole.name + Selection{.stored = {}, .at = at}.to_string();
    out.inputs = {VertexId(n)};
    out.dtype = out.compute_dtype = whole.dtype;
    out.bound = free_shape(whole.bound, at);
    out.einsum.aggregate = Aggregate::Sum;
    out.einsum.inputs.emplace_back();
    ScalarPtr here;
    for (std::size_t d = 0; d < at.size(); ++d) {
      const auto label = labels_.add("at" + std::to_string(d + 1), whole.bound[d]);
      out.einsum.inputs[0].push_back(label);
      (at[d] ? out.einsum.aggregated : out.einsum.output).push_back(label);
      if (!at[d]) continue;
      auto same = ScalarExpression::call(ScalarOp::Equal,
                                         {ScalarExpression::label_index(label), ScalarExpression::integer(*at[d])});
      here = here == nullptr ? same : ScalarExpression::call(ScalarOp::And, {here, same});
    }
    out.einsum.expression = with_types(
        ScalarExpression::call(ScalarOp::Case, {here, ScalarExpression::operand(0), ScalarExpression::integer(0)}),
        std::span(&whole.dtype, 1), labels_, whole.dtype);
    return out;
  }

  LabelTable labels_;
  std::vector<Vertex> vertices_;  // those of the graph, then those that the sweep adds
  std::vector<VertexId> outputs_;
  std::vector<bool> is_output_;             // of each vertex of the graph
  std::vector<std::vector<Read>> readers_;  // of each vertex; empty for unreachable ones
  std::map<std::pair<std::size_t, Held>, std::size_t> selections_;
  bool changed_ = false;
};

}  // namespace

EinGraph push_selections(const EinGraph& graph) {
  EinGraph out = graph;
  // A vertex added by one sweep is examined by the next. Each sweep that changes something gets further down.
  for (std::size_t sweeps = 0; sweeps <= graph.size(); ++sweeps) {
    PushdownSweep sweep(out);
    sweep.run();
    if (!sweep.changed()) break;
    out = sweep.graph();
  }
  return out;
}

}  // namespace eindb

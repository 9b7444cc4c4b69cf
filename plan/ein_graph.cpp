#include "plan/ein_graph.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "common/poll_steps.hpp"
#include "tensor/access_form.hpp"
#include "tensor/cell_block.hpp"
#include "tensor/packed_size.hpp"
#include "tensor/scalar_types.hpp"

namespace eindb {

namespace {

constexpr std::size_t kStepsPerVertex = 100;

}  // namespace

std::int64_t Selection::stored_tile(const TileKey& key) const {
  TileKey whole;
  std::size_t free = 0;
  for (std::size_t d = 0; d < at.size(); ++d)
    whole.push_back(at[d] ? part_of(stored.shape()[d], stored.partition()[d], *at[d]) : key[free++]);
  return stored.id_of(whole);
}

TileGrid Selection::grid() const {
  std::vector<std::int64_t> extents;
  Partition parts;
  for (std::size_t d = 0; d < at.size(); ++d) {
    if (at[d]) continue;
    extents.push_back(stored.shape()[d]);
    parts.push_back(stored.partition()[d]);
  }
  return {Shape(std::move(extents)), std::move(parts)};
}

std::string Selection::to_string() const {
  std::string out;
  for (std::size_t d = 0; d < at.size(); ++d) {
    const auto parameter = parameters.find(d);
    out += out.empty() ? "" : ",";
    if (parameter != parameters.end()) out += "$" + std::to_string(parameter->second + 1);
    else out += at[d] ? std::to_string(*at[d]) : ":";
  }
  return "(" + out + ")";
}

InputTensor held_at(const InputTensor& tensor, const std::vector<std::optional<std::int64_t>>& at,
                    const std::map<std::size_t, std::size_t>& parameters) {
  auto held = tensor;
  if (!held.selection) {
    held.selection = Selection{.stored = tensor.grid, .at = at, .parameters = parameters};
  } else {
    std::size_t free = 0;
    for (std::size_t d = 0; d < held.selection->at.size(); ++d) {
      if (held.selection->at[d]) continue;
      if (const auto parameter = parameters.find(free); parameter != parameters.end())
        held.selection->parameters.emplace(d, parameter->second);
      held.selection->at[d] = at[free++];
    }
  }
  held.grid = held.selection->grid();
  held.names = {};
  std::size_t left = 0;
  for (std::size_t d = 0; d < at.size(); ++d)
    if (!at[d]) held.names.set(left++, tensor.names.at(d));
  if (held.cells) held.selection->stored_cells = held.cells->cells;
  held.cells.reset();
  return held;
}

VertexId EinGraph::add(Vertex vertex) {
  poll_cancellation_after(kStepsPerVertex);
  vertices_.push_back(std::move(vertex));
  return VertexId(vertices_.size() - 1);
}

VertexId EinGraph::add(const VertexList& from, std::size_t n) {
  poll_cancellation_after(1);
  vertices_.push_back(from, n);
  return VertexId(vertices_.size() - 1);
}

double share_of_cells(double cells, DType type, const Shape& shape) {
  const auto all = std::max(1.0, static_cast<double>(shape.element_count()));
  return bytes_of_cells(type, shape, cells) / (all * static_cast<double>(size_of(type)));
}

double packed_share_of_cells(double cells, DType type, const Shape& shape) {
  const auto all = std::max(1.0, static_cast<double>(shape.element_count()));
  return packed_bytes_of_cells(type, all, cells) / (all * static_cast<double>(size_of(type)));
}

void EinGraph::hold_as_cells(VertexId id, std::optional<CellEstimate> cells) {
  auto& changed = vertices_.change(id.index());
  CHECK(!changed.is_input() || !cells || (changed.stored->cells && !changed.stored->selection),
        "a stored tensor whose cells are counted is read as cells");
  CHECK(!cells || cells->spread.empty() || cells->spread.size() == changed.bound.rank(),
        "cells lie along the dimensions of their tensor");
  if (changed.is_input()) changed.stored->as_cells = cells.has_value();
  changed.cells = std::move(cells);
}

void EinGraph::set_density(VertexId id, TileDensity density) {
  if (vertex(id).density != density) vertices_.change(id.index()).density = std::move(density);
}

double SlicedContraction::slices() const {
  double slices = 1;
  for (const auto& label : labels) slices *= static_cast<double>(label.parts);
  return slices;
}

std::optional<std::size_t> EinGraph::output_number(VertexId id) const {
  poll_cancellation_after(outputs_.size());
  const auto found = std::find(outputs_.begin(), outputs_.end(), id);
  if (found == outputs_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - outputs_.begin());
}

const SlicedContraction* EinGraph::sliced_with(VertexId id) const {
  poll_cancellation_after(sliced_.size());
  const auto holds = [&](const SlicedContraction& c) { return std::binary_search(c.body.begin(), c.body.end(), id); };
  const auto found = std::find_if(sliced_.begin(), sliced_.end(), holds);
  return found == sliced_.end() ? nullptr : &*found;
}

std::vector<std::int64_t> EinGraph::slices_of(VertexId id) const {
  const auto labels = vertex(id).einsum.labels();
  std::vector<std::int64_t> slices(labels.size(), 1);
  if (const auto* contraction = sliced_with(id)) {
    for (const auto& sliced : contraction->labels) {
      const auto place = std::find(labels.begin(), labels.end(), sliced.label);
      if (place != labels.end()) slices[static_cast<std::size_t>(place - labels.begin())] = sliced.parts;
    }
  }
  return slices;
}

std::vector<int> EinGraph::use_counts() const {
  std::vector<int> counts(size(), 0);
  for (const auto& vertex : vertices_)
    for (const auto input : vertex.inputs) ++counts[input.index()];
  for (const auto output : outputs_) ++counts[output.index()];
  return counts;
}

std::string EinGraph::describe(VertexId id) const {
  const auto& v = vertex(id);
  if (v.is_input()) return v.name;
  std::vector<std::string> names;
  for (const auto input : v.inputs) names.push_back(vertex(input).name);
  return to_string(v.einsum, v.name, names, labels_);
}

std::vector<VertexId> outputs_now(const EinGraph& graph, const std::vector<VertexId>& now) {
  std::vector<VertexId> outputs;
  for (const auto output : graph.outputs()) outputs.push_back(now[output.index()]);
  return outputs;
}

Vertex make_input(InputTensor tensor) {
  Vertex v;
  v.name = tensor.selection ? tensor.name + tensor.selection->to_string() : tensor.name;
  v.bound = tensor.grid.shape();
  v.dtype = v.compute_dtype = tensor.dtype;
  v.stored = std::move(tensor);
  return v;
}

namespace {

// More dimensions do not fit in memory, unless all but some sixty have extent 1.
constexpr std::size_t kMostDimensions = 1000;

void require_moderate_rank(const std::string& name, const Labels& head) {
  if (head.size() <= kMostDimensions) return;
  throw Error(ErrorKind::Unsupported,
              name + " has " + std::to_string(head.size()) + " dimensions, more than the " +
                  std::to_string(kMostDimensions) + " that a result may have",
              std::nullopt, "leave out labels of extent 1, or aggregate over some");
}

}  // namespace

bool is_window_of(const EinGraph& graph, const Vertex& vertex) {
  if (vertex.is_input() || vertex.inputs.size() != 1 || vertex.dtype != vertex.compute_dtype) return false;
  if (graph.vertex(vertex.inputs.front()).dtype != vertex.compute_dtype) return false;
  return window_form(vertex.einsum, graph.labels()).has_value();
}

std::vector<DType> input_types(const EinGraph& graph, const std::vector<VertexId>& inputs) {
  std::vector<DType> types;
  for (const auto input : inputs) types.push_back(graph.vertex(input).dtype);
  return types;
}

Vertex make_vertex(const EinGraph& graph, std::string name, std::vector<VertexId> inputs, EinSum einsum,
                   std::optional<DType> wanted) {
  const auto types = input_types(graph, inputs);
  Vertex v;
  require_moderate_rank(name, einsum.output);
  v.name = std::move(name);
  v.inputs = std::move(inputs);
  v.bound = Shape(graph.labels().extents(einsum.output));
  v.dtype = v.compute_dtype = wanted ? *wanted : type_of(*einsum.expression, types).dtype;
  einsum.expression = with_types(einsum.expression, types, graph.labels(), v.compute_dtype);
  if (einsum.epilogue != nullptr)
    einsum.epilogue = with_types(einsum.epilogue, std::span(&v.compute_dtype, 1), graph.labels(), v.compute_dtype);
  v.einsum = std::move(einsum);
  return v;
}

Vertex make_vertex_in(const EinGraph& graph, std::string name, std::vector<VertexId> inputs, EinSum einsum,
                      DType type) {
  const auto own = type_of(*einsum.expression, input_types(graph, inputs));
  const auto wanted = own.weak && !is_complex(own.dtype) ? type : promote(own.dtype, type);
  return make_vertex(graph, std::move(name), std::move(inputs), std::move(einsum), wanted);
}

std::int64_t LabelPartition::of(Label label) const {
  const auto found = std::find(labels.begin(), labels.end(), label);
  CHECK(found != labels.end(), "a partition vector has an entry for every label of its vertex");
  return parts[static_cast<std::size_t>(found - labels.begin())];
}

Partition LabelPartition::project(const Labels& wanted) const {
  Partition out;
  out.reserve(wanted.size());
  for (const auto label : wanted) out.push_back(of(label));
  return out;
}

std::int64_t LabelPartition::kernel_calls() const { return checked_product(parts); }

std::string LabelPartition::to_string(const LabelTable& table) const {
  std::string out;
  for (std::size_t n = 0; n < labels.size(); ++n)
    out += (n == 0 ? "" : " ") + table.name(labels[n]) + ":" + std::to_string(parts[n]);
  return out;
}

}  // namespace eindb

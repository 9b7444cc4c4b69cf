#include "optimizer/partitions/cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "common/check.hpp"
#include "optimizer/partitions/cell_work.hpp"
#include "optimizer/partitions/density.hpp"
#include "tensor/access_form.hpp"
#include "tensor/block_form.hpp"
#include "tensor/scan_form.hpp"

namespace eindb {
namespace {

class TransfersModel final : public CostModel {
 public:
  std::string_view name() const override { return "transfers"; }
  double join(const VertexShape& shape, const Partition& d) const override {
    return cost_join(shape, d) * share_of_calls(shape, d);
  }
  double aggregation(const VertexShape& shape, const Partition& d) const override {
    return cost_agg(shape, d) * share_of_calls(shape, d);
  }
  double repartition(const Partition& producer, const Partition& consumer, const std::vector<std::int64_t>& extents,
                     std::size_t) const override {
    return cost_repart(producer, consumer, extents);
  }
};

}  // namespace

const CostModel& transfers_model() {
  static const TransfersModel kModel;
  return kModel;
}

namespace {

VertexShape places_of(const EinSum& einsum, const LabelTable& table) {
  const auto labels = einsum.labels();
  std::unordered_map<Label, std::size_t> number;
  for (std::size_t n = 0; n < labels.size(); ++n) number.emplace(labels[n], n);
  const auto places = [&](const Labels& wanted) {
    std::vector<std::size_t> out;
    for (const auto label : wanted) out.push_back(number.at(label));
    return out;
  };
  VertexShape shape{table.extents(labels), {}, places(einsum.output), places(einsum.aggregated)};
  for (const auto& input : einsum.inputs) shape.inputs.push_back(places(input));
  return shape;
}

// The labels that a kernel does not loop over (tensor/scan_form), and what determines their indices.
void add_determined(const EinSum& einsum, DType compute, VertexShape& shape) {
  const auto labels = einsum.labels();
  const auto number = [&](Label label) {
    return static_cast<std::size_t>(std::find(labels.begin(), labels.end(), label) - labels.begin());
  };
  if (einsum.block) {
    for (const auto label : skipped_labels(einsum, compute)) shape.whole.push_back(number(label));
    return;
  }
  for (const auto label : einsum.aggregated)
    if (is_whole(einsum, label)) shape.whole.push_back(number(label));
  const auto access = access_form(einsum);
  if (!access) {
    for (const auto label : uncut_labels(einsum, compute)) shape.uncut.push_back(number(label));
    for (const auto label : skipped_labels(einsum, compute)) shape.determined.push_back({number(label), true});
    return;
  }
  shape.rows = operand_of_rows(*access, einsum);
  for (const auto& determined : access->determined) {
    DeterminedPlace at{.place = number(determined.label), .gathered = determined.operand.has_value()};
    for (const auto& [label, coefficient] : determined.coefficients) at.behind.emplace_back(number(label), coefficient);
    shape.determined.push_back(std::move(at));
  }
}

}  // namespace

namespace {

// A vertex is read if another vertex reads it, outputs included.
bool is_read(const EinGraph& graph, const Vertex& vertex) {
  const auto is_vertex = [&](VertexId id) { return &graph.vertex(id) == &vertex; };
  if (std::none_of(graph.outputs().begin(), graph.outputs().end(), is_vertex)) return true;
  return std::any_of(graph.vertices().begin(), graph.vertices().end(), [&](const Vertex& reader) {
    return std::any_of(reader.inputs.begin(), reader.inputs.end(), is_vertex);
  });
}

}  // namespace

namespace {

// The operations of a block function for one batch index, in place of those of the expression for a cell.
void add_block_operations(const EinSum& einsum, const LabelTable& table, KernelWork& work) {
  work.operations = {{Operation::Simple, block_operations(einsum, table)}};
}

}  // namespace

VertexShape shape_of(const EinGraph& graph, const Vertex& vertex) {
  auto shape = places_of(vertex.einsum, graph.labels());
  if (vertex.einsum.expression != nullptr) add_determined(vertex.einsum, vertex.compute_dtype, shape);
  std::vector<DType> types;
  for (const auto input : vertex.inputs) types.push_back(graph.vertex(input).dtype);
  shape.work = work_of(vertex.einsum, types, vertex.compute_dtype, vertex.dtype);
  if (vertex.einsum.block) add_block_operations(vertex.einsum, graph.labels(), shape.work);
  shape.sparse = sparse_work_of(graph, vertex);
  add_cell_work(graph, vertex, shape);
  for (const auto input : vertex.inputs) shape.made.push_back(!graph.vertex(input).is_input());
  shape.is_read = is_read(graph, vertex);
  return shape;
}

VertexShape shape_of(const EinSum& einsum, const LabelTable& table) {
  auto shape = places_of(einsum, table);
  if (einsum.expression != nullptr) add_determined(einsum, DType::Float64, shape);
  const std::vector<DType> types(einsum.inputs.size(), DType::Float64);
  if (einsum.expression != nullptr) shape.work = work_of(einsum, types, DType::Float64, DType::Float64);
  if (einsum.block) add_block_operations(einsum, table, shape.work);
  return shape;
}

std::vector<std::int64_t> cuttable_extents(const VertexShape& shape) {
  auto extents = shape.extents;
  for (std::size_t n = 0; n < shape.most_parts.size(); ++n) extents[n] = std::min(extents[n], shape.most_parts[n]);
  for (const auto place : shape.whole) extents[place] = 1;
  for (const auto place : shape.uncut) extents[place] = 1;
  return extents;
}

std::vector<std::int64_t> cuttable_extents(const EinSum& einsum, DType compute, const LabelTable& table) {
  const auto uncut = uncut_labels(einsum, compute);
  std::vector<std::int64_t> extents;
  for (const auto label : einsum.labels()) extents.push_back(contains(uncut, label) ? 1 : table.extent(label));
  return extents;
}

std::vector<std::int64_t> cuttable_extents(const Vertex& vertex, const LabelTable& table) {
  auto extents = cuttable_extents(vertex.einsum, vertex.compute_dtype, table);
  if (!vertex.cells) return extents;
  const auto labels = vertex.einsum.labels();
  for (std::size_t n = 0; n < labels.size(); ++n)
    if (contains(vertex.einsum.aggregated, labels[n])) extents[n] = std::min<std::int64_t>(extents[n], 1);
  return extents;
}

double stored_share(const VertexShape& shape, std::size_t input) {
  return input < shape.stored_shares.size() ? shape.stored_shares[input] : 1;
}

bool is_at_hand(const VertexShape& shape, std::size_t input) {
  return input < shape.at_hand.size() && shape.at_hand[input];
}

Partition project(const Partition& d, const std::vector<std::size_t>& places) {
  DCHECK(std::all_of(places.begin(), places.end(), [&](auto n) { return n < d.size(); }),
         "places of labels are those of the partition vector");
  Partition out;
  out.reserve(places.size());
  for (const auto n : places) out.push_back(d[n]);
  return out;
}

double reached_parts(const VertexShape& shape, const Partition& d) {
  double reached = 1;
  for (const auto& determined : shape.determined) {
    const auto parts = static_cast<double>(d[determined.place]);
    double span = 1;  // of the indices that one part of the other labels determines
    for (const auto& [place, coefficient] : determined.behind)
      span += std::abs(static_cast<double>(coefficient)) * (part_extent(shape.extents[place], d[place]) - 1);
    const auto size = std::max(1.0, part_extent(shape.extents[determined.place], d[determined.place]));
    reached *= determined.gathered ? parts : std::min(parts, std::floor(span / size) + (parts > 1 ? 1 : 0));
  }
  return std::max(1.0, reached);
}

double reached_share(const VertexShape& shape, const Partition& d) {
  double all = 1;
  for (const auto& determined : shape.determined) all *= static_cast<double>(d[determined.place]);
  return std::min(1.0, reached_parts(shape, d) / all);
}

double visited_cells(const VertexShape& shape, const Partition& d) {
  double cells = 1;
  for (std::size_t n = 0; n < d.size(); ++n) cells *= part_extent(shape.extents[n], d[n]);
  for (const auto& determined : shape.determined)
    cells /= std::max(1.0, part_extent(shape.extents[determined.place], d[determined.place]));
  for (const auto place : shape.whole) cells /= std::max(1.0, part_extent(shape.extents[place], d[place]));
  return cells;
}

double share_with_rows(const VertexShape& shape, const Partition& d) {
  const double parts = kernel_calls(project(d, shape.aggregated));
  const double rows = shape.rows ? tile_elements(shape, d, shape.inputs[*shape.rows]) : parts;
  return parts <= 1 ? 1 : -std::expm1(rows * std::log1p(-1 / parts));
}

double part_extent(std::int64_t extent, std::int64_t parts) {
  DCHECK(parts > 0, "a dimension is cut into one part at least");
  return static_cast<double>(largest_part(extent, parts));
}

double tile_elements(const VertexShape& shape, const Partition& d, const std::vector<std::size_t>& places) {
  DCHECK(d.size() == shape.extents.size(), "a partition vector has an entry for every extent");
  double elements = 1;
  for (const auto n : places) elements *= part_extent(shape.extents[n], d[n]);
  return elements;
}

namespace {

// Of a label of an input that is not cut: the label that cuts it in its place, and the indices that a part has.
struct HaloPlace {
  std::size_t leader;
  double indices;
};

std::optional<HaloPlace> halo_at(const VertexShape& shape, const Partition& d, std::size_t input, std::size_t place) {
  const auto is_in = [](const std::vector<std::size_t>& places, std::size_t wanted) {
    return std::find(places.begin(), places.end(), wanted) != places.end();
  };
  if (d[place] != 1 || is_in(shape.output, place)) return std::nullopt;
  for (const auto& determined : shape.determined) {
    if (determined.gathered) continue;
    auto terms = determined.behind;
    terms.emplace_back(determined.place, 1);
    std::optional<std::size_t> leader;
    double span = 0;
    double own = 0;
    bool leads = true;
    for (const auto& [other, coefficient] : terms) {
      const auto size = std::abs(static_cast<double>(coefficient));
      if (other == place) {
        own = size;
        continue;
      }
      span += size * (part_extent(shape.extents[other], d[other]) - 1);
      leads = leads && (d[other] == 1 || !leader);
      if (d[other] > 1) leader = other;
    }
    if (own == 0 || !leader || !leads || is_in(shape.inputs[input], *leader)) continue;
    return HaloPlace{*leader, std::min(static_cast<double>(shape.extents[place]), span / own + 1)};
  }
  return std::nullopt;
}

}  // namespace

Partition read_partition(const VertexShape& shape, const Partition& d, std::size_t input) {
  auto parts = project(d, shape.inputs[input]);
  if (shape.determined.empty()) return parts;
  for (std::size_t n = 0; n < parts.size(); ++n) {
    const auto place = shape.inputs[input][n];
    if (const auto halo = halo_at(shape, d, input, place))
      parts[n] = std::clamp<std::int64_t>(d[halo->leader], 1, std::max<std::int64_t>(1, shape.extents[place]));
  }
  return parts;
}

double read_elements(const VertexShape& shape, const Partition& d, std::size_t input) {
  auto elements = tile_elements(shape, d, shape.inputs[input]);
  if (shape.determined.empty()) return elements;
  for (const auto place : shape.inputs[input])
    if (const auto halo = halo_at(shape, d, input, place))
      elements *= halo->indices / std::max(1.0, static_cast<double>(shape.extents[place]));
  return elements;
}

double kernel_calls(const Partition& d) {
  double calls = 1;
  for (const auto parts : d) calls *= static_cast<double>(parts);
  return calls;
}

double cost_join(const VertexShape& shape, const Partition& d) {
  double elements = 0;
  for (std::size_t n = 0; n < shape.inputs.size(); ++n)
    if (!is_at_hand(shape, n)) elements += read_elements(shape, d, n) * stored_share(shape, n);
  return kernel_calls(d) * elements;
}

double cost_agg(const VertexShape& shape, const Partition& d) {
  const double n_agg = kernel_calls(project(d, shape.aggregated));
  return kernel_calls(d) / n_agg * (n_agg - 1) * tile_elements(shape, d, shape.output);
}

double cost_repart(const Partition& producer, const Partition& consumer, const std::vector<std::int64_t>& extents) {
  CHECK(producer.size() == extents.size() && consumer.size() == extents.size(),
        "a partition has one entry per dimension");
  if (producer == consumer) return 0;
  double n_p = 1;
  double n_c = 1;
  double n_int = 1;
  double n = 1;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const double from = part_extent(extents[i], producer[i]);
    const double to = part_extent(extents[i], consumer[i]);
    n_p *= from;
    n_c *= to;
    n_int *= std::min(from, to);
    n *= static_cast<double>(extents[i]);
  }
  if (n == 0) return 0;
  const double assembled = (n_c / n_int - 1) * (n / n_c) * (n_c + n_p);
  return assembled + (n_p != n_int ? n_p * n / n_c : 0);
}

}  // namespace eindb

#include "plan/join_node.hpp"

#include <algorithm>
#include <numeric>

#include "plan/held_bytes.hpp"
#include "tensor/access_form.hpp"
#include "tensor/block_form.hpp"

namespace eindb {
namespace {

TileGrid grid_of(const JoinNode& join, const Labels& labels, const LabelTable& table) {
  return {Shape(table.extents(labels)), join.partition.project(labels)};
}

void check_label_partition(const JoinNode& join, const LabelTable& table, const Checker& check) {
  const auto& [labels, parts] = join.partition;
  check(labels == join.einsum.labels() && labels.size() == parts.size(),
        "a partition vector has one entry for each label of its vertex");
  for (std::size_t n = 0; n < labels.size(); ++n)
    check(parts[n] == 1 || !is_whole(join.einsum, labels[n]), "labels that are taken whole, or in order, are not cut");
  for (std::size_t n = 0; n < labels.size(); ++n)
    check(parts[n] >= 1 && parts[n] <= std::max<std::int64_t>(1, table.extent(labels[n])),
          "a label is cut into at least one part and at most its extent");
}

// Halos have at least the indices that calls need: those that are found for the join.
void check_halos(const JoinNode& join, const LabelTable& table, const Checker& check) {
  if (join.halos.empty()) return;
  std::vector<std::size_t> sources(join.einsum.inputs.size());
  std::iota(sources.begin(), sources.end(), std::size_t{0});
  const auto needed = join.halo_finder(sources).halos(join.partition, table);
  for (std::size_t n = 0; n < join.halos.size(); ++n) {
    const auto& [label, leader, reach] = join.halos[n];
    const auto found =
        std::find_if(needed.begin(), needed.end(), [&, own = label](const Halo& halo) { return halo.label == own; });
    check(found != needed.end() && found->leader == leader, "a label with a halo follows from its leader");
    auto wider = found->reach;
    wider.least = reach.least;
    wider.most = reach.most;
    check(wider == reach && reach.least <= found->reach.least && reach.most >= found->reach.most,
          "a halo has the indices that calls need");
    check(std::count_if(join.halos.begin(), join.halos.end(),
                        [&, own = label](const Halo& halo) { return halo.label == own; }) == 1,
          "a label has one halo");
  }
}

void check_step(const JoinNode& join, std::size_t s, const LabelTable& table, const Checker& check) {
  const auto& step = join.steps[s];
  check_einsum(step.einsum, table, check);
  for (const auto label : step.einsum.labels())
    check(contains(join.partition.labels, label), "every label of a step is one of the chain");
  check(step.einsum.epilogue == nullptr, "epilogues are steps of their own");
  check(step.inputs.size() == step.einsum.inputs.size(), "a step has labels for every input");
  const bool may_lack_rows = s + 1 < join.steps.size() && window_form(step.einsum, table);
  for (const auto row : join.rows)
    check(contains(step.einsum.output, row) || may_lack_rows, "every step of a chain has its rows");
  for (std::size_t n = 0; n < step.inputs.size(); ++n) {
    const auto input = step.inputs[n];
    check(input < join.inputs.size() + s, "a step reads inputs of the chain and earlier steps");
    check(step.einsum.inputs[n] == (input < join.inputs.size() ? join.einsum.inputs[input]
                                                               : join.steps[input - join.inputs.size()].einsum.output),
          "a step reads by the labels of what it reads");
  }
}

void check_steps(const JoinNode& join, const LabelTable& table, const Checker& check) {
  check(!join.rows.empty(), "a chain has rows");
  for (std::size_t n = 0; n < join.partition.labels.size(); ++n)
    check(join.partition.parts[n] == 1 || contains(join.rows, join.partition.labels[n]),
          "nothing but the rows of a chain is cut");
  for (std::size_t s = 0; s < join.steps.size(); ++s) check_step(join, s, table, check);
  check(join.steps.back().einsum.output == join.einsum.output && join.steps.back().compute_dtype == join.compute_dtype,
        "the last step gives the result");
}

}  // namespace

void JoinNode::check(const OperatorView& view, const Checker& check) const {
  check_einsum(einsum, view.labels, check);
  check_label_partition(*this, view.labels, check);
  check_halos(*this, view.labels, check);
  check(inputs.size() == einsum.inputs.size(), "a join has labels for every input");
  std::vector<DType> types;
  for (std::size_t n = 0; n < inputs.size(); ++n) {
    const auto wanted = operand_grid(n, view.labels);
    if (reads_parts_of(n))
      check(may_read_parts_of(n, view.inputs[n].grid), "an input whose tiles are read in parts is cut more coarsely");
    else check(view.inputs[n].grid == wanted, "the inputs of a join are cut as its partition vector says");
    types.push_back(view.inputs[n].dtype);
  }
  for (const auto input : in_parts) check(input < inputs.size(), "tiles that are read in parts are those of an input");
  if (!steps.empty()) check_steps(*this, view.labels, check);
  check(view.result.grid == grid_of(*this, einsum.output, view.labels),
        "the result of a join is cut as its partition vector says");
  if (steps.empty()) check_types(einsum, types, compute_dtype, view.result.dtype, check);
}

DescriptionFields JoinNode::describe(const EinGraph& graph) const {
  if (!in_parts.empty()) {
    std::vector<std::string> numbers;
    for (const auto input : in_parts) numbers.push_back(std::to_string(input + 1));
    return {{"in_parts", std::move(numbers), "parts of operand", DescriptionField::Place::Line}};
  }
  DescriptionFields fields;
  if (!halos.empty()) {
    std::vector<std::string> leaders;
    for (const auto& halo : halos)
      if (const auto& name = graph.labels().name(halo.leader);
          std::find(leaders.begin(), leaders.end(), name) == leaders.end())
        leaders.push_back(name);
    fields.push_back({"halos", std::move(leaders), "with halos along", DescriptionField::Place::Line});
  }
  if (steps.empty()) return fields;
  std::vector<std::string> names;
  for (const auto& step : steps) {
    const auto& vertex = graph.vertex(step.vertex).name;
    if (names.empty() || names.back() != vertex) names.push_back(vertex);
  }
  fields.insert(fields.begin(), {"fused", std::move(names), "of", DescriptionField::Place::Line});
  return fields;
}

bool JoinNode::is_partial() const {
  return std::any_of(einsum.aggregated.begin(), einsum.aggregated.end(),
                     [&](Label label) { return partition.of(label) > 1; });
}

TileGrid JoinNode::operand_grid(std::size_t input, const LabelTable& labels) const {
  return halo_grid(einsum.inputs[input], partition, halos, labels);
}

HaloFinder JoinNode::halo_finder(const std::vector<std::size_t>& sources) const {
  std::vector<HaloFinder::Operand> operands;
  for (std::size_t n = 0; n < einsum.inputs.size(); ++n) operands.push_back({sources.at(n), einsum.inputs[n]});
  std::vector<const EinSum*> computed;
  for (const auto& step : steps) computed.push_back(&step.einsum);
  if (steps.empty()) computed.push_back(&einsum);
  return {std::move(operands), einsum.output, computed};
}

bool JoinNode::reads_parts_of(std::size_t input) const {
  return std::binary_search(in_parts.begin(), in_parts.end(), input);
}

bool JoinNode::may_read_parts_of(std::size_t input, const TileGrid& grid) const {
  if (!steps.empty() || !halos.empty() || access_form(einsum)) return false;
  const auto& labels = einsum.inputs[input];
  const auto wanted = partition.project(labels);
  if (grid.rank() != wanted.size() || !grid.cuts_evenly()) return false;
  for (std::size_t d = 0; d < wanted.size(); ++d)
    if (wanted[d] % grid.partition()[d] != 0 || std::count(labels.begin(), labels.end(), labels[d]) > 1) return false;
  return true;
}

CallLoops JoinNode::loops(const OperatorView& view) const {
  auto labels = einsum.output;
  labels.insert(labels.end(), einsum.aggregated.begin(), einsum.aggregated.end());
  CallLoops out{labels.size(), {}};
  const auto add = [&](const RelationView& relation, const Labels& own) {
    CallLoops::Operand operand{relation.bytes(), {}, {}};
    for (const auto label : labels) {
      const auto parts = static_cast<double>(partition.of(label));
      const bool has = contains(own, label);
      operand.part.push_back(has ? 1 / parts : 1);
      operand.again.push_back(has ? 1 : parts);
    }
    out.operands.push_back(std::move(operand));
  };
  for (std::size_t n = 0; n < inputs.size(); ++n) add(view.inputs[n], cutting_labels(n));
  add(view.result, einsum.output);
  return out;
}

void JoinNode::substitute(const Substitution& values) {
  for (auto& step : steps) step.einsum.expression = substitute_parameters(step.einsum.expression, values.constant);
  einsum.expression = substitute_parameters(einsum.expression, values.constant);
  if (einsum.epilogue != nullptr) einsum.epilogue = substitute_parameters(einsum.epilogue, values.constant);
}

std::size_t JoinNode::held_bytes() const {
  auto bytes = eindb::held_bytes(inputs) + eindb::held_bytes(einsum) + eindb::held_bytes(partition) +
               eindb::held_bytes(rows) + eindb::held_bytes(steps) + eindb::held_bytes(in_parts) +
               eindb::held_bytes(halos);
  for (const auto& step : steps) bytes += eindb::held_bytes(step.inputs) + eindb::held_bytes(step.einsum);
  return bytes;
}

}  // namespace eindb

#include "common/check.hpp"
#include "engine/explain/description_text.hpp"
#include "engine/explain/explain.hpp"
#include "engine/explain/figures.hpp"

namespace eindb {
namespace {

// A string in a dot file; lines end in "\l", which aligns them left.
std::string dot_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n') out += "\\l";
    else if (c == '"' || c == '\\') out += std::string("\\") + c;
    else out += c;
  }
  return out + "\\l\"";
}

std::string fields_text(const DescriptionFields& fields, DescriptionField::Place place) {
  std::string out;
  for (const auto& field : fields) {
    if (field.place != place) continue;
    const auto value = value_text(field);
    out += place == DescriptionField::Place::Line ? "\n" + field.key + " " + value : ", " + value;
  }
  return out;
}

// A box of the drawing: an operator of this process, or a step of all ranks.
struct Box {
  std::size_t id = 0;
  const std::vector<std::size_t>& inputs;
  std::string label;
};

// Of a kernel, the EinSum and the partition vector of the vertex that it computes.
std::string computed_text(const std::optional<std::size_t>& computes, const PlanDescription& plan) {
  if (!computes) return "";
  CHECK(*computes < plan.vertices.size(), "a kernel computes a vertex that is described");
  const auto& vertex = plan.vertices[*computes];
  return "\n" + vertex.einsum + "\nparts " + partition_text(vertex.partition) + ", " +
         grouped(static_cast<double>(vertex.kernel_calls)) + " kernel calls";
}

std::string drawn_label(const OperatorDescription& op, const PlanDescription& plan) {
  const auto out = op.name + " " + op.vertex + computed_text(op.computes, plan) +
                   fields_text(op.own, DescriptionField::Place::Line) + "\ngrid " + list_text(op.grid) +
                   fields_text(op.own, DescriptionField::Place::BesideGrid);
  return op.seconds ? out + "\n" + milliseconds(*op.seconds) : out;
}

std::string drawn_label(const StepDescription& step, const PlanDescription& plan) {
  auto out = step.name + " " + step.vertex + computed_text(step.computes, plan) +
             fields_text(step.own, DescriptionField::Place::Line) + "\ngrid " + list_text(step.grid) +
             fields_text(step.own, DescriptionField::Place::BesideGrid);
  if (step.placement != "stored") out += "\n" + step.placement;
  if (step.bytes > 0) out += "\n" + grouped(step.bytes) + " bytes received";
  return step.actual ? out + "\n" + milliseconds(step.actual->seconds) : out;
}

std::vector<Box> boxes_of(const PlanDescription& plan) {
  std::vector<Box> boxes;
  for (const auto& op : plan.operators) boxes.push_back({op.id, op.inputs, drawn_label(op, plan)});
  if (!boxes.empty() || !plan.cluster) return boxes;
  for (const auto& step : plan.cluster->steps) boxes.push_back({step.id, step.inputs, drawn_label(step, plan)});
  return boxes;
}

}  // namespace

std::string explain_dot(const PlanDescription& plan) {
  std::string out = "digraph plan {\n  rankdir=BT;\n  node [shape=box, fontname=\"monospace\", fontsize=10];\n";
  for (const auto& box : boxes_of(plan)) {
    const auto name = "n" + std::to_string(box.id);
    out += "  " + name + " [label=" + dot_string(box.label) + "];\n";
    for (const auto input : box.inputs) out += "  n" + std::to_string(input) + " -> " + name + ";\n";
  }
  return out + "}";
}

}  // namespace eindb

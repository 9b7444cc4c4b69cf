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

// The label of an operator: its name, and for a kernel the EinSum and the partition vector of its vertex.
std::string drawn_label(const OperatorDescription& op, const PlanDescription& plan) {
  std::string out = op.name + " " + op.vertex;
  if (op.computes) {
    CHECK(*op.computes < plan.vertices.size(), "a kernel computes a vertex that is described");
    const auto& vertex = plan.vertices[*op.computes];
    out += "\n" + vertex.einsum + "\nparts " + partition_text(vertex.partition) + ", " +
           grouped(static_cast<double>(vertex.kernel_calls)) + " kernel calls";
  }
  out += fields_text(op.own, DescriptionField::Place::Line) + "\ngrid " + list_text(op.grid) +
         fields_text(op.own, DescriptionField::Place::BesideGrid);
  return op.seconds ? out + "\n" + milliseconds(*op.seconds) : out;
}

}  // namespace

std::string explain_dot(const PlanDescription& plan) {
  std::string out = "digraph plan {\n  rankdir=BT;\n  node [shape=box, fontname=\"monospace\", fontsize=10];\n";
  for (const auto& op : plan.operators) {
    const auto name = "n" + std::to_string(op.id);
    out += "  " + name + " [label=" + dot_string(drawn_label(op, plan)) + "];\n";
    for (const auto input : op.inputs) out += "  n" + std::to_string(input) + " -> " + name + ";\n";
  }
  return out + "}";
}

}  // namespace eindb

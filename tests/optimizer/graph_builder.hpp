#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plan/ein_graph.hpp"
#include "tensor/reference_evaluator.hpp"

namespace eindb::testing {

inline ScalarPtr op(std::size_t n) { return ScalarExpression::operand(n); }
inline ScalarPtr number(std::int64_t value) { return ScalarExpression::integer(value); }
inline ScalarPtr real(double value) { return ScalarExpression::real(value); }
inline ScalarPtr index(Label label) { return ScalarExpression::label_index(label); }
inline ScalarPtr call(ScalarOp o, std::vector<ScalarPtr> arguments) {
  return ScalarExpression::call(o, std::move(arguments));
}
/// The product of operands 0 to n - 1.
inline ScalarPtr product(std::size_t n) {
  if (n == 1) return op(0);
  std::vector<ScalarPtr> factors;
  for (std::size_t f = 0; f < n; ++f) factors.push_back(op(f));
  return call(ScalarOp::Multiply, std::move(factors));
}

/// Builds graphs in a notation close to that of statements.
class GraphBuilder {
 public:
  struct Read {
    VertexId vertex;
    Labels labels;
  };

  Label label(std::string name, std::int64_t extent) { return graph.labels().add(std::move(name), extent); }

  /// Labels named by single letters, all of one extent.
  Labels labels(const std::string& names, std::int64_t extent) {
    Labels out;
    for (const char name : names) out.push_back(label(std::string(1, name), extent));
    return out;
  }

  /// A stored tensor, uncut unless a partition is given.
  VertexId input(const std::string& name, const std::vector<std::int64_t>& extents, Partition partition = {},
                 DType type = DType::Float64) {
    if (partition.empty()) partition.assign(extents.size(), 1);
    Vertex v;
    v.name = name;
    v.stored = InputTensor{name, type, TileGrid(Shape(extents), std::move(partition))};
    v.bound = Shape(extents);
    v.dtype = type;
    return graph.add(std::move(v));
  }

  /// A vertex that aggregates every label of its operands and its expression that the output lacks. It becomes the
  /// graph's output.
  VertexId vertex(const std::string& name, const std::vector<Read>& reads, const Labels& output, ScalarPtr expression,
                  Aggregate aggregate = Aggregate::Sum) {
    EinSum e;
    std::vector<VertexId> inputs;
    Labels all;
    for (const auto& read : reads) {
      inputs.push_back(read.vertex);
      e.inputs.push_back(read.labels);
      append_distinct(all, read.labels);
    }
    append_distinct(all, index_labels_of(*expression));
    e.output = output;
    e.aggregated = difference(all, output);
    e.aggregate = e.aggregated.empty() ? Aggregate::None : aggregate;
    e.expression = std::move(expression);
    const auto id = graph.add(make_vertex(graph, name, inputs, std::move(e)));
    graph.set_output(id);
    return id;
  }

  /// SUM of the product of all reads.
  VertexId contraction(const std::string& name, const std::vector<Read>& reads, const Labels& output) {
    return vertex(name, reads, output, product(reads.size()));
  }

  EinGraph graph;
};

/// Every vertex as text, except inputs.
inline std::vector<std::string> texts(const EinGraph& graph) {
  std::vector<std::string> out;
  for (std::size_t v = 0; v < graph.size(); ++v)
    if (!graph.vertex(VertexId(v)).is_input()) out.push_back(graph.describe(VertexId(v)));
  return out;
}

/// Each output, evaluated by the reference evaluator; `tensors` gives the value of an input by its name.
template <class Tensors>
std::vector<DenseTensor> evaluate_outputs(const EinGraph& graph, const Tensors& tensors) {
  std::vector<DenseTensor> results;
  for (const auto& vertex : graph.vertices()) {
    if (vertex.is_input()) {
      results.push_back(tensors(vertex));
      continue;
    }
    std::vector<const DenseTensor*> inputs;
    for (const auto input : vertex.inputs) inputs.push_back(&results[input.index()]);
    results.push_back(evaluate_reference(vertex.einsum, graph.labels(), inputs, vertex.compute_dtype, vertex.dtype));
  }
  std::vector<DenseTensor> outputs;
  for (const auto output : graph.outputs()) outputs.push_back(std::move(results[output.index()]));
  return outputs;
}

/// The output of a graph that has exactly one.
template <class Tensors>
DenseTensor evaluate_graph(const EinGraph& graph, const Tensors& tensors) {
  return std::move(evaluate_outputs(graph, tensors).front());
}

}  // namespace eindb::testing

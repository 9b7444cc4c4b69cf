#include "parser/binder/derivative_binder.hpp"

#include <algorithm>

#include "common/error.hpp"
#include "derivatives/forward_mode.hpp"
#include "derivatives/reverse_mode.hpp"
#include "parser/binder/result_binder.hpp"
#include "parser/query_results.hpp"

namespace eindb {
namespace {

SourceSpan place_of(const ast::Derived& of) {
  const auto* definition = std::get_if<ast::Definition>(&of);
  return definition != nullptr ? definition->head_span : std::get<ast::Identifier>(of).span;
}

// The variables of a derivative so far; rejects duplicates.
class Variables {
 public:
  Variables(const EinGraph& graph, TensorScope& tensors) : graph_(graph), tensors_(tensors) {}

  VertexId add(const ast::Identifier& name) {
    const auto vertex = tensors_.get(name);
    if (std::find(seen_.begin(), seen_.end(), vertex) != seen_.end())
      throw Error(ErrorKind::DuplicateName, "the variable " + name.text + " is given twice", name.span);
    if (graph_.vertex(vertex).dtype == DType::Int64) {
      throw Error(ErrorKind::Type, name.text + " holds integers, by which nothing is derived", name.span,
                  "define it as numbers first: WITH x[i] = CAST(" + name.text + "[i] AS FLOAT64), and derive by x");
    }
    return seen_.emplace_back(vertex);
  }

 private:
  const EinGraph& graph_;
  TensorScope& tensors_;
  std::vector<VertexId> seen_;
};

void check_loss(const Vertex& loss, SourceSpan place) {
  if (loss.bound.rank() != 0) {
    throw Error(ErrorKind::Shape,
                "a gradient is that of one number, but " + loss.name + " has " + std::to_string(loss.bound.rank()) +
                    (loss.bound.rank() == 1 ? " dimension" : " dimensions"),
                place, "add up its cells: GRADIENT OF L[] = SUM(...); along a direction there is JVP OF");
  }
  if (is_complex(loss.dtype)) {
    throw Error(ErrorKind::Type, "a gradient is that of a real number, but " + loss.name + " is complex", place,
                "take REAL, IMAG or ABS of it");
  }
}

void check_direction(const Vertex& variable, const Vertex& tangent, const ast::Direction& direction) {
  if (variable.bound != tangent.bound) {
    throw Error(ErrorKind::Shape,
                "the direction " + direction.tangent.text + " has extents " + tangent.bound.to_string() +
                    ", but the variable " + direction.variable.text + " has " + variable.bound.to_string(),
                direction.tangent.span, "a direction has one number for each cell of its variable");
  }
  if (is_complex(tangent.dtype) && !is_complex(variable.dtype)) {
    throw Error(ErrorKind::Type,
                "the direction " + direction.tangent.text + " is complex, but the variable " + direction.variable.text +
                    " is real",
                direction.tangent.span, "take REAL of it");
  }
}

}  // namespace

std::vector<BoundDerivative> bind_gradient(const ast::Gradient& gradient, VertexId loss, EinGraph& graph,
                                           TensorScope& tensors) {
  check_loss(graph.vertex(loss), place_of(gradient.of));
  Variables variables(graph, tensors);
  std::vector<VertexId> vertices;
  for (const auto& variable : gradient.variables) vertices.push_back(variables.add(variable.variable));
  std::vector<BoundDerivative> bound;
  for (std::size_t n = 0; n < vertices.size(); ++n)
    bound.push_back({derivative_name(gradient.variables[n]), VertexId(), dimension_names(graph, vertices[n]),
                     index_names(graph, vertices[n])});
  const auto derivatives = with_place(gradient.span, [&] { return add_gradients(graph, loss, vertices); });
  for (std::size_t n = 0; n < bound.size(); ++n) {
    bound[n].vertex = derivatives[n];
    graph.rename(derivatives[n], bound[n].name.text);
  }
  return bound;
}

BoundDerivative bind_jvp(const ast::Jvp& jvp, VertexId result, EinGraph& graph, TensorScope& tensors) {
  Variables variables(graph, tensors);
  std::vector<Tangent> tangents;
  for (const auto& direction : jvp.directions) {
    tangents.push_back({variables.add(direction.variable), tensors.get(direction.tangent)});
    check_direction(graph.vertex(tangents.back().variable), graph.vertex(tangents.back().direction), direction);
  }
  BoundDerivative bound{derivative_name(jvp), VertexId(), dimension_names(graph, result), index_names(graph, result)};
  bound.vertex = with_place(jvp.span, [&] { return add_jvp(graph, result, tangents); });
  graph.rename(bound.vertex, bound.name.text);
  return bound;
}

}  // namespace eindb

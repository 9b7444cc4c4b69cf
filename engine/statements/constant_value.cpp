#include "engine/statements/constant_value.hpp"

#include "common/check.hpp"
#include "common/error.hpp"
#include "tensor/dense_tensor.hpp"
#include "tensor/reference_evaluator.hpp"

namespace eindb {
namespace {

// An integer literal with its sign. Integers too large for FLOAT64 keep all their digits.
std::optional<std::int64_t> written_integer(const ast::Expression& e) {
  if (const auto* integer = std::get_if<ast::Integer>(&e.node)) return integer->value;
  const auto* prefix = std::get_if<ast::Prefix>(&e.node);
  if (prefix == nullptr || prefix->op != ast::PrefixOp::Negate) return std::nullopt;
  const auto value = written_integer(prefix->operand.front());
  if (!value || *value == INT64_MIN) return std::nullopt;
  return -*value;
}

}  // namespace

ParameterValue constant_value(const ast::Expression& expression, const NameSource& names) {
  if (const auto integer = written_integer(expression)) return *integer;
  if (const auto* text = std::get_if<ast::Text>(&expression.node)) return text->value;
  if (const auto* parameter = std::get_if<ast::Parameter>(&expression.node);
      parameter != nullptr && parameter->number >= 1 && parameter->number <= names.parameters.size())
    return names.parameters[parameter->number - 1];
  ast::Definition definition;
  definition.name.text = "value";
  definition.expression = expression;
  ast::Query query;
  query.body = std::move(definition);
  const auto bound = bind_query(query, names);
  const auto& graph = bound.graph;
  std::vector<DenseTensor> values;
  for (const auto& vertex : graph.vertices()) {
    if (vertex.is_input()) {
      throw Error(ErrorKind::Value, "a constant is wanted here, but " + vertex.name + " is a tensor", expression.span);
    }
    std::vector<const DenseTensor*> inputs;
    for (const auto input : vertex.inputs) {
      CHECK(input.index() < values.size(), "what a vertex reads has its value before it");
      inputs.push_back(&values[input.index()]);
    }
    values.push_back(evaluate_reference(vertex.einsum, graph.labels(), inputs, vertex.compute_dtype, vertex.dtype));
  }
  CHECK(graph.output().index() < values.size() && values[graph.output().index()].shape().element_count() == 1,
        "a constant is one number");
  return dispatch(values[graph.output().index()].dtype(), [&](auto t) -> ParameterValue {
    using T = typename decltype(t)::type;
    const auto value = values[graph.output().index()].template data<T>()[0];
    if constexpr (std::is_integral_v<T>) return std::int64_t{value};
    else if constexpr (std::is_floating_point_v<T>) return static_cast<double>(value);
    else return std::complex<double>(value);
  });
}

std::int64_t whole_number(const ast::Extent& extent, std::int64_t least, std::string_view what,
                          const std::vector<ParameterValue>& parameters) {
  const auto refuse = [&]() -> std::int64_t {
    throw Error(ErrorKind::Value, std::string(what) + " is an integer, at least " + std::to_string(least), extent.span);
  };
  if (const auto* integer = std::get_if<ast::Integer>(&extent.value))
    return integer->value >= least ? integer->value : refuse();
  const auto* parameter = std::get_if<ast::Parameter>(&extent.value);
  CHECK(parameter != nullptr, "the variables of loops around a loop have their values in it");
  if (parameter->number == 0 || parameter->number > parameters.size()) return refuse();
  const auto* value = std::get_if<std::int64_t>(&parameters[parameter->number - 1]);
  return value != nullptr && *value >= least ? *value : refuse();
}

}  // namespace eindb

#include <optional>
#include <string>
#include <variant>

#include "common/check.hpp"
#include "common/error.hpp"
#include "engine/explain/redistribution_description.hpp"
#include "engine/statements/explanation.hpp"
#include "engine/statements/statements.hpp"

namespace eindb {
namespace {

QuotedText quoted(const ast::Literal& literal) {
  CHECK(std::holds_alternative<std::string>(literal.value), "the parser takes texts alone");
  return {std::get<std::string>(literal.value), literal.span};
}

void check_tensor(const ast::Identifier& name, const Shape& shape, OpenDatabase& database) {
  const auto tensor = database.tensor(name);
  if (tensor.grid.shape() == shape) return;
  throw Error(
      ErrorKind::Shape,
      "tensor " + tensor.name + " is " + tensor.grid.shape().to_string() + ", the types are of " + shape.to_string(),
      name.span);
}

}  // namespace

Result execute_statement(const ast::ExplainRedistribution& explain, SessionState& session) {
  std::optional<QuotedText> mesh;
  if (explain.mesh) mesh = quoted(*explain.mesh);
  const auto description =
      describe_redistribution(quoted(explain.source), quoted(explain.target), mesh ? &*mesh : nullptr);
  if (explain.tensor) check_tensor(*explain.tensor, description.source.global_shape(), session.database);
  const bool is_json = explain.format == ast::ExplainFormat::Json;
  return explanation(is_json ? explain_json(description) : explain_text(description), is_json);
}

}  // namespace eindb

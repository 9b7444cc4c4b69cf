#include "parser/query_results.hpp"

namespace eindb {
namespace {

using Names = std::vector<std::string>;

ast::Identifier derivative_of(const ast::Identifier& name) {
  return {.text = "d" + name.text, .span = name.span, .quoted = name.quoted};
}

Names names_of(const ast::Definition& definition) { return {definition.name.text}; }
Names names_of(const ast::Subscripts& /*subscripts*/) { return {"result"}; }

Names names_of(const ast::ResultNames& results) {
  Names names;
  for (const auto& name : results.names) names.push_back(name.text);
  return names;
}

Names names_of(const ast::Gradient& gradient) {
  Names names;
  for (const auto& variable : gradient.variables) names.push_back(derivative_name(variable).text);
  return names;
}

Names names_of(const ast::Jvp& jvp) { return {derivative_name(jvp).text}; }

Names names_of(const ast::Updates& updates) {
  Names names;
  for (const auto& definition : updates.definitions) names.push_back(definition.name.text);
  return names;
}

}  // namespace

ast::Identifier derivative_name(const ast::GradientVariable& variable) {
  return variable.name ? *variable.name : derivative_of(variable.variable);
}

ast::Identifier derivative_name(const ast::Jvp& jvp) {
  if (jvp.name) return *jvp.name;
  const auto* definition = std::get_if<ast::Definition>(&jvp.of);
  return derivative_of(definition != nullptr ? definition->name : std::get<ast::Identifier>(jvp.of));
}

std::vector<std::string> result_names(const ast::Query& query) {
  return std::visit([](const auto& body) { return names_of(body); }, query.body);
}

}  // namespace eindb

#include "parser/binder/tensor_scope.hpp"

#include <algorithm>
#include <cctype>

#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "common/nearest_name.hpp"
#include "parser/foreign_words.hpp"

namespace eindb {

void TensorScope::define(const ast::Identifier& name, VertexId vertex) {
  if (!definitions_.emplace(to_lower(name.text), vertex).second) {
    throw Error(ErrorKind::DuplicateName, "the statement defines " + name.text + " twice", name.span,
                "names are compared without regard to case; use another one");
  }
}

std::optional<VertexId> TensorScope::find(const ast::Identifier& name) {
  const auto key = to_lower(name.text);
  const auto defined = name.scope == 0 ? definitions_.find(key) : definitions_.end();
  if (defined != definitions_.end()) return defined->second;
  if (const auto found = inputs_.find(key); found != inputs_.end()) return found->second;
  auto tensor = names_.find_tensor(name.text);
  if (!tensor) return std::nullopt;
  return inputs_.emplace(key, graph_.add(make_input(std::move(*tensor)))).first->second;
}

std::optional<VertexId> TensorScope::find_definition(const ast::Identifier& name) const {
  const auto found = definitions_.find(to_lower(name.text));
  return found == definitions_.end() ? std::nullopt : std::optional(found->second);
}

VertexId TensorScope::get(const ast::Identifier& name) {
  if (const auto vertex = find(name)) return *vertex;
  fail_unknown(name);
}

InputTensor TensorScope::get_stored(const ast::Identifier& name) const {
  if (find_definition(name)) {
    throw Error(ErrorKind::DuplicateName,
                name.text + " is a definition of this statement, and UPDATE TENSOR is about a tensor that is stored",
                name.span, "call the definition something else");
  }
  if (auto tensor = names_.find_tensor(name.text)) return std::move(*tensor);
  fail_unknown(name);
}

void TensorScope::fail_unknown(const ast::Identifier& name) const {
  if (names_.is_table(name.text)) {
    throw Error(
        ErrorKind::Type, name.text + " is a table, not a tensor", name.span,
        "CREATE TENSOR X (i 10, j 20) AS SELECT key, key, value FROM " + name.text + " makes a tensor of its rows");
  }
  const auto nearest = nearest_name(name.text, known_names());
  throw Error(ErrorKind::UnknownName, "there is no tensor " + name.text, name.span,
              nearest ? "did you mean " + *nearest + "?" : hint_for_unknown(name));
}

std::string TensorScope::hint_for_unknown(const ast::Identifier& name) const {
  const auto schema = name.text.substr(0, std::min(name.text.find('.'), name.text.size()));
  if (!name.qualified || names_.is_schema(schema)) return "SHOW TENSORS lists what there is";
  const bool is_tensor = find_definition({.text = schema, .span = name.span}) || names_.find_tensor(schema);
  return is_tensor ? hint_for_operator(".") : "no database is attached as " + schema + ": ATTACH 'file' AS " + schema;
}

std::vector<std::string> TensorScope::known_names() const {
  auto names = names_.tensor_names();
  for (auto& name : definition_names()) names.push_back(std::move(name));
  return names;
}

std::vector<std::string> TensorScope::definition_names() const {
  std::vector<std::string> names;
  for (const auto& [definition, vertex] : definitions_) names.push_back(graph_.vertex(vertex).name);
  return names;
}

}  // namespace eindb

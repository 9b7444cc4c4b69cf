#include "parser/tensor_scope.hpp"

#include <algorithm>
#include <cctype>

#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "common/nearest_name.hpp"

namespace eindb {
namespace {}  // namespace

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

VertexId TensorScope::get(const ast::Identifier& name) {
  if (const auto vertex = find(name)) return *vertex;
  if (names_.is_table(name.text)) {
    throw Error(
        ErrorKind::Type, name.text + " is a table, not a tensor", name.span,
        "CREATE TENSOR X (i 10, j 20) AS SELECT key, key, value FROM " + name.text + " makes a tensor of its rows");
  }
  const auto nearest = nearest_name(name.text, known_names());
  throw Error(ErrorKind::UnknownName, "there is no tensor " + name.text, name.span,
              nearest ? "did you mean " + *nearest + "?" : "SHOW TENSORS lists what there is");
}

std::vector<std::string> TensorScope::known_names() const {
  auto names = names_.tensor_names();
  for (const auto& [definition, vertex] : definitions_) names.push_back(graph_.vertex(vertex).name);
  return names;
}

}  // namespace eindb

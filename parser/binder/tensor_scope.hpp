#pragma once

#include <map>
#include <string>
#include <vector>

#include "parser/ast.hpp"
#include "parser/binder/name_source.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// The tensors that a statement can refer to: first its own WITH definitions, then those of the catalog. Names ignore
/// case.
class TensorScope {
 public:
  TensorScope(EinGraph& graph, const NameSource& names) : graph_(graph), names_(names) {}

  /// Adds a WITH definition; Error{DuplicateName} if the name is defined already.
  void define(const ast::Identifier& name, VertexId vertex);
  /// The vertex for a name; a tensor of the catalog becomes an input vertex at its first use. nullopt: no such tensor.
  /// A name from a macro's body finds only tensors of the catalog.
  std::optional<VertexId> find(const ast::Identifier& name);
  /// Like find; Error{UnknownName} with the nearest name.
  VertexId get(const ast::Identifier& name);
  /// A definition of the statement itself.
  std::optional<VertexId> find_definition(const ast::Identifier& name) const;
  /// A tensor of the catalog whose value is to be replaced; adds no vertex. Error{UnknownName} if there is none,
  /// Error{DuplicateName} if a definition has its name.
  InputTensor get_stored(const ast::Identifier& name) const;
  /// All names that `find` resolves, for suggestions.
  std::vector<std::string> known_names() const;
  std::vector<std::string> definition_names() const;

 private:
  [[noreturn]] void fail_unknown(const ast::Identifier& name) const;
  std::string hint_for_unknown(const ast::Identifier& name) const;

  EinGraph& graph_;
  const NameSource& names_;
  std::map<std::string, VertexId> definitions_;
  std::map<std::string, VertexId> inputs_;
};

}  // namespace eindb

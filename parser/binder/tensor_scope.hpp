#pragma once

#include <map>
#include <string>
#include <vector>

#include "parser/ast.hpp"
#include "parser/binder/name_source.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// The tensors that a statement can refer to: its own WITH definitions first, then those of the catalog.
/// Names match without regard to case.
class TensorScope {
 public:
  TensorScope(EinGraph& graph, const NameSource& names) : graph_(graph), names_(names) {}

  /// Adds a WITH definition; Error{DuplicateName} if the statement has it already.
  void define(const ast::Identifier& name, VertexId vertex);
  /// The vertex behind a name; a catalog tensor becomes an input vertex when first used. nullopt: no such tensor.
  /// A name that a macro brings along finds tensors of the catalog only.
  std::optional<VertexId> find(const ast::Identifier& name);
  /// As find; Error{UnknownName} with the nearest name.
  VertexId get(const ast::Identifier& name);
  /// A definition of the statement's own.
  std::optional<VertexId> find_definition(const ast::Identifier& name) const;
  /// A tensor of the catalog, for a new value: no vertex is made. Error{UnknownName} if there is none,
  /// Error{DuplicateName} where a definition has its name.
  InputTensor get_stored(const ast::Identifier& name) const;
  /// Every name that `find` finds, for suggestions.
  std::vector<std::string> known_names() const;
  std::vector<std::string> definition_names() const;

 private:
  [[noreturn]] void fail_unknown(const ast::Identifier& name) const;

  EinGraph& graph_;
  const NameSource& names_;
  std::map<std::string, VertexId> definitions_;
  std::map<std::string, VertexId> inputs_;
};

}  // namespace eindb

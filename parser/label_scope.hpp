#pragma once

#include <map>
#include <string>

#include "parser/ast.hpp"
#include "tensor/label.hpp"

namespace eindb {

/// The labels of one statement by name: a label has the same extent wherever it occurs.
class LabelScope {
 public:
  explicit LabelScope(LabelTable& table) : table_(table) {}

  /// The label, made if it is new. Error{Shape} if it is known with another extent; `place` describes where this
  /// extent comes from: "dimension 1 of X".
  Label bind(const ast::Identifier& name, std::int64_t extent, const std::string& place);
  /// The label, if it has been bound.
  const Label* find(const std::string& name) const;
  /// A label that no name finds.
  Label fresh(const std::string& display_name, std::int64_t extent) { return table_.add(display_name, extent); }

 private:
  struct Entry {
    Label label;
    std::string place;
  };
  LabelTable& table_;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace eindb

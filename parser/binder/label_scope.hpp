#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "parser/ast.hpp"
#include "tensor/label.hpp"

namespace eindb {

/// "dimension 2 of X", for messages; `d` counts from 0.
std::string dimension_of(const std::string& tensor, std::size_t d);

/// The labels of one statement by name: a label has the same extent at every occurrence. Equal names from different
/// macro calls (ast::Identifier::scope) are different labels.
class LabelScope {
 public:
  explicit LabelScope(LabelTable& table) : table_(table) {}

  /// The label, added if it is new. Error{Shape} if it is known with another extent. The extent is that of dimension
  /// `dimension` (from 0) of `owner`, which the message names. `names` are those of its indices: Error{Label} if the
  /// label has others.
  Label bind(const ast::Identifier& name, std::int64_t extent, const std::string& owner, std::size_t dimension,
             const IndexNames::Ptr& names = nullptr);
  /// The same, with an extent from the head of the definition `owner`.
  Label bind(const ast::Identifier& name, std::int64_t extent, const std::string& owner);
  /// The same, with an extent from another place, as a message names it: "a computed index in Z".
  Label bind_at(const ast::Identifier& name, std::int64_t extent, const std::string& place);
  /// The label, if it has been bound.
  const Label* find(const ast::Identifier& name) const;
  /// The names of the statement's own labels, for suggestions.
  std::vector<std::string> names() const;
  /// From now on the indices of the label have no names, as they are those of values in another order.
  void forget_index_names(Label label);
  /// A label that cannot be found by name.
  Label fresh(const std::string& display_name, std::int64_t extent) { return table_.add(display_name, extent); }

 private:
  struct Entry {
    Label label;
    std::string owner;
    std::optional<std::size_t> dimension;  // nullopt: the head
    bool is_place = false;                 // the owner is the place

    std::string place() const;
  };

  Label bind(const ast::Identifier& name, std::int64_t extent, Entry entry);
  void name_indices(const ast::Identifier& name, Label label, const IndexNames::Ptr& names, const Entry& entry);
  static std::string key_of(const ast::Identifier& name);

  LabelTable& table_;
  std::unordered_map<std::string, Entry> entries_;
  // The places that the names of their indices come from, also where these are forgotten.
  std::unordered_map<Label, std::string> named_at_;
};

}  // namespace eindb

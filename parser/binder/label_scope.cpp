#include "parser/binder/label_scope.hpp"

#include "common/error.hpp"

namespace eindb {

std::string dimension_of(const std::string& tensor, std::size_t d) {
  return "dimension " + std::to_string(d + 1) + " of " + tensor;
}

std::string LabelScope::Entry::place() const {
  if (is_place) return owner;
  return dimension ? dimension_of(owner, *dimension) : "the head of " + owner;
}

std::string LabelScope::key_of(const ast::Identifier& name) { return std::to_string(name.scope) + ":" + name.text; }

Label LabelScope::bind(const ast::Identifier& name, std::int64_t extent, const std::string& owner,
                       std::size_t dimension, const IndexNames::Ptr& names) {
  const Entry entry{{}, owner, dimension, false};
  const auto label = bind(name, extent, entry);
  if (names != nullptr) name_indices(name, label, names, entry);
  return label;
}

void LabelScope::name_indices(const ast::Identifier& name, Label label, const IndexNames::Ptr& names,
                              const Entry& entry) {
  const auto known = table_.index_names(label);
  if (known == nullptr) {
    if (named_at_.emplace(label, entry.place()).second) table_.set_index_names(label, names);
    return;
  }
  if (same_names(known, names)) return;
  std::int64_t first = 0;
  while (known->name(first) == names->name(first)) ++first;
  throw Error(ErrorKind::Label,
              "index " + std::to_string(first) + " of label " + name.text + " is '" + known->name(first) + "' in " +
                  named_at_.at(label) + " but '" + names->name(first) + "' in " + entry.place(),
              name.span,
              "cells are joined by their indices, so that these must be in one order: use another label, or tensors of "
              "the same names");
}

Label LabelScope::bind(const ast::Identifier& name, std::int64_t extent, const std::string& owner) {
  return bind(name, extent, Entry{{}, owner, std::nullopt, false});
}

Label LabelScope::bind_at(const ast::Identifier& name, std::int64_t extent, const std::string& place) {
  return bind(name, extent, Entry{{}, place, std::nullopt, true});
}

Label LabelScope::bind(const ast::Identifier& name, std::int64_t extent, Entry entry) {
  auto key = key_of(name);
  const auto found = entries_.find(key);
  if (found == entries_.end()) {
    const auto label = entry.label = table_.add(name.text, extent);
    entries_.emplace(std::move(key), std::move(entry));
    return label;
  }
  const auto known = table_.extent(found->second.label);
  if (known != extent && name.text.starts_with(':')) {
    throw Error(ErrorKind::Shape,
                "a range has " + std::to_string(extent) + " indices in " + entry.place() + ", but " +
                    std::to_string(known) + " in " + found->second.place(),
                name.span, "first ranges have the same number of indices in all references, and second ones likewise");
  }
  if (known != extent) {
    throw Error(ErrorKind::Shape,
                "label " + name.text + " has extent " + std::to_string(known) + " in " + found->second.place() +
                    " but extent " + std::to_string(extent) + " in " + entry.place(),
                name.span, "a label has one extent throughout a statement: use another label, or tensors that fit");
  }
  return found->second.label;
}

void LabelScope::forget_index_names(Label label) {
  named_at_.emplace(label, "");
  table_.set_index_names(label, nullptr);
}

const Label* LabelScope::find(const ast::Identifier& name) const {
  const auto found = entries_.find(key_of(name));
  return found == entries_.end() ? nullptr : &found->second.label;
}

std::vector<std::string> LabelScope::names() const {
  const auto own = key_of({.text = {}, .span = {}, .quoted = false, .scope = 0});
  std::vector<std::string> names;
  for (const auto& [key, entry] : entries_)
    if (key.starts_with(own)) names.push_back(key.substr(own.size()));
  return names;
}

}  // namespace eindb

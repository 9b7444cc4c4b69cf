#include "parser/label_scope.hpp"

#include "common/error.hpp"

namespace eindb {

Label LabelScope::bind(const ast::Identifier& name, std::int64_t extent, const std::string& place) {
  const auto found = entries_.find(name.text);
  if (found == entries_.end()) {
    const auto label = table_.add(name.text, extent);
    entries_.emplace(name.text, Entry{label, place});
    return label;
  }
  const auto known = table_.extent(found->second.label);
  if (known != extent) {
    throw Error(ErrorKind::Shape,
                "label " + name.text + " has extent " + std::to_string(known) + " in " + found->second.place +
                    " but extent " + std::to_string(extent) + " in " + place,
                name.span, "a label has one extent throughout a statement: use another label, or tensors that fit");
  }
  return found->second.label;
}

const Label* LabelScope::find(const std::string& name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : &found->second.label;
}

}  // namespace eindb

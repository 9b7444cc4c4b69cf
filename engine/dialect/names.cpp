#include "engine/dialect/names.hpp"

#include <algorithm>

#include "common/letter_case.hpp"
#include "common/nearest_name.hpp"

namespace eindb::dialect {
namespace {

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::any_of(names.begin(), names.end(), [&](const auto& each) { return equal_ignoring_case(each, name); });
}

bool is_row_number(const std::string& column) {
  return equal_ignoring_case(column, "rowid") || equal_ignoring_case(column, "oid") ||
         equal_ignoring_case(column, "_rowid_");
}

}  // namespace

std::optional<Scope::Found> Scope::find(const std::string& source, const std::string& column) const {
  std::optional<Found> found;
  bool known = true;
  for (std::size_t n = 0; n < sources_.size(); ++n) {
    const auto& each = sources_[n];
    if (!source.empty() && !equal_ignoring_case(each.name, source)) continue;
    known = known && each.known;
    const auto here = std::find_if(each.columns.begin(), each.columns.end(),
                                   [&](const Column& c) { return equal_ignoring_case(c.name, column); });
    if (here == each.columns.end()) continue;
    if (found && source.empty() && has(each.joined, column)) continue;
    found = Found{here->type, found.has_value(), here->declared, here->sql, this, n};
  }
  if (found) return found;
  if (outer_ != nullptr)
    if (auto outside = outer_->find(source, column)) return outside;
  if (!known || is_row_number(column))
    return Found{.type = is_row_number(column) ? SqlType::Integer : SqlType::Any, .scope = this};
  return std::nullopt;
}

std::string Scope::hint_for(const std::string& column) const {
  std::vector<std::string> names;
  for (const auto* scope = this; scope != nullptr; scope = scope->outer_)
    for (const auto& source : scope->sources_)
      for (const auto& each : source.columns)
        if (!each.hidden) names.push_back(each.name);
  const auto nearest = nearest_name(column, std::span<const std::string>(names));
  return nearest ? "did you mean " + *nearest + "?" : "";
}

bool Scope::has_source(const std::string& source) const {
  if (std::any_of(sources_.begin(), sources_.end(),
                  [&](const Source& each) { return equal_ignoring_case(each.name, source); }))
    return true;
  return outer_ != nullptr && outer_->has_source(source);
}

}  // namespace eindb::dialect

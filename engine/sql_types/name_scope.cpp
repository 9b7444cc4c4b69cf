#include "engine/sql_types/name_scope.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "common/check.hpp"
#include "common/letter_case.hpp"

namespace eindb {
namespace {

template <class Columns>
auto find_column(Columns& columns, const std::string& name) -> decltype(columns.data()) {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const TypedColumn& column) { return equal_ignoring_case(column.name, name); });
  return found == columns.end() ? nullptr : &*found;
}

bool is_rowid(const std::string& name) {
  constexpr std::array<std::string_view, 3> kNames{"rowid", "_rowid_", "oid"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [&](std::string_view known) { return equal_ignoring_case(known, name); });
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& known) { return equal_ignoring_case(known, name); });
}

}  // namespace

void NameScope::join_last(const std::string& column) {
  CHECK(!sources_.empty(), "a source is there before it is joined");
  auto& last = sources_.back();
  const auto* const joined = find_column(last.columns, column);
  if (joined == nullptr) return;
  for (auto& source : std::span(sources_).first(sources_.size() - 1)) {
    auto* const same = find_column(source.columns, column);
    if (same == nullptr) continue;
    same->type = common_type(same->type, joined->type);
    same->complex = same->complex || joined->complex;
    last.joined.push_back(column);
    return;
  }
}

void NameScope::join_last_naturally() {
  CHECK(!sources_.empty(), "what is joined naturally is a source");
  const auto columns = sources_.back().columns;
  for (const auto& column : columns)
    if (!column.hidden) join_last(column.name);
}

std::optional<TypedColumn> NameScope::find_here(const std::string& source, const std::string& column) const {
  for (const auto& candidate : sources_) {
    if (!source.empty() && !equal_ignoring_case(candidate.name, source)) continue;
    if (const auto* found = find_column(candidate.columns, column)) return *found;
    if (!candidate.known) return TypedColumn();  // the column may be among the unknown ones
  }
  for (const auto& candidate : sources_) {
    if (!source.empty() && !equal_ignoring_case(candidate.name, source)) continue;
    if (candidate.rowids && is_rowid(column)) return TypedColumn{.name = column, .type = ValueType::Integer};
  }
  return std::nullopt;
}

TypedColumn NameScope::find(const std::string& source, const std::string& column) const {
  for (const auto* scope = this; scope != nullptr; scope = scope->outer_)
    if (auto found = scope->find_here(source, column)) return *std::move(found);
  return {};
}

std::optional<std::vector<TypedColumn>> NameScope::all(const std::string& source) const {
  std::vector<TypedColumn> columns;
  bool found = false;
  for (const auto& candidate : sources_) {
    if (!source.empty() && !equal_ignoring_case(candidate.name, source)) continue;
    if (!candidate.known) return std::nullopt;
    found = true;
    for (const auto& column : candidate.columns)
      if (!column.hidden && (!source.empty() || !contains(candidate.joined, column.name))) columns.push_back(column);
  }
  if (!found) return std::nullopt;
  return columns;
}

}  // namespace eindb

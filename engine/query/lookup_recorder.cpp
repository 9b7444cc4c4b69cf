#include "engine/query/lookup_recorder.hpp"

#include <algorithm>
#include <utility>

#include "tensor/scalar_expression.hpp"

namespace eindb {
namespace {

// Whether a plan for so many cells is one for others, too. A loop's rounds make a tensor a little larger or smaller.
bool is_near(const std::optional<CellEstimate>& planned, const std::optional<CellEstimate>& now) {
  constexpr double kNear = 8;
  if (!planned || !now) return planned.has_value() == now.has_value();
  return planned->cells <= kNear * now->cells && now->cells <= kNear * planned->cells;
}

bool holds(const PlanLookups::Tensor& tensor, OpenDatabase& database, bool same_data) {
  if (const auto* attached = database.attached.find(tensor.name)) return tensor.found == attached->input();
  if (tensor.found && tensor.found->attached) return false;
  if (!same_data) return tensor.found == database.find_tensor(tensor.name);
  if (!tensor.found || database.unwritten.empty()) return true;
  // Tensors change inside a transaction while the data that others see stays the same.
  const auto info = database.catalog.find(tensor.found->name);
  return !info || database.unwritten.find(*info) == nullptr || is_near(tensor.found->cells, database.cells_of(*info));
}

}  // namespace

bool holds(const PlanLookups& lookups, OpenDatabase& database, bool same_data) {
  const auto tensor_holds = [&](const PlanLookups::Tensor& tensor) { return holds(tensor, database, same_data); };
  const auto macro_holds = [&](const PlanLookups::Macro& macro) {
    return database.macros.find(macro.name) == macro.found;
  };
  return std::all_of(lookups.tensors.begin(), lookups.tensors.end(), tensor_holds) &&
         (same_data || std::all_of(lookups.macros.begin(), lookups.macros.end(), macro_holds));
}

LookupRecorder::LookupRecorder(NameSource names, OpenDatabase& database)
    : database_(database), names_(std::move(names)) {
  names_.find_tensor = [this](const std::string& name) { return find_tensor(name); };
  names_.find_macro = [this](const std::string& name) { return find_macro(name); };
}

std::optional<InputTensor> LookupRecorder::find_tensor(const std::string& name) {
  const auto [known, is_new] = tensors_.try_emplace(name);
  if (is_new) known->second = database_.find_tensor(name);
  return known->second;
}

MacroPtr LookupRecorder::find_macro(const std::string& name) {
  if (find_scalar_function(name)) return nullptr;  // a macro cannot have the name of a function
  const auto [known, is_new] = macros_.try_emplace(name);
  auto& [stored, parsed] = known->second;
  if (is_new) stored = database_.macros.find(name);
  if (is_new && stored) parsed = database_.parsed(*stored);
  return parsed;
}

PlanLookups LookupRecorder::take() {
  PlanLookups lookups;
  for (auto& [name, found] : tensors_) lookups.tensors.push_back({name, std::move(found)});
  for (auto& [name, found] : macros_) lookups.macros.push_back({name, std::move(found.stored)});
  return lookups;
}

}  // namespace eindb

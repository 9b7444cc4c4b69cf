#include "catalog/tensor_tables.hpp"

#include <memory>
#include <utility>

#include "common/letter_case.hpp"

namespace eindb {
namespace {

/// As SQLite compares names: without regard to the case of ASCII letters.
bool same_tensor(const TensorInfo& a, const TensorInfo& b) {
  return a.id == b.id && a.name == b.name && a.dtype == b.dtype && a.labels == b.labels && a.grid == b.grid &&
         a.replicas == b.replicas;
}

}  // namespace

void TensorTables::refresh() {
  const auto version = catalog_.version();
  if (std::exchange(version_, version) == version) return;
  tables_.clear();
  shows_complex_ = false;
  ++generation_;
}

bool TensorTables::show(std::string_view name) {
  const auto key = to_lower(name);
  if (tables_.contains(key) || key.starts_with("eindb_") || names_module(key)) return false;
  const auto info = catalog_.find(name);
  if (!info) return false;
  shows_complex_ = shows_complex_ || is_complex(info->dtype);
  auto tiles = std::make_shared<StoredTileReader>(connection_, info->store(), kept_bytes_,
                                                  [this, info = *info] { verify(info); });
  tables_.emplace(key, VisibleTable(connection_, {.name = info->name,
                                                  .labels = info->labels,
                                                  .dtype = info->dtype,
                                                  .grid = info->grid,
                                                  .tiles = std::move(tiles)}));
  return true;
}

void TensorTables::verify(const TensorInfo& info) {
  if (catalog_.version() == version_) return;
  const auto now = catalog_.find(info.name);
  if (now && same_tensor(*now, info)) return;
  throw Error(ErrorKind::Busy, "tensor " + info.name + " was changed by another session while the statement began",
              std::nullopt, "run the statement again");
}

bool TensorTables::names_module(const std::string& folded_name) {
  if (!modules_) {
    modules_.emplace();
    auto select = connection_.prepare("SELECT name FROM pragma_module_list");
    while (select.step()) modules_->insert(to_lower(select.text(0)));
  }
  return modules_->contains(folded_name);
}

}  // namespace eindb

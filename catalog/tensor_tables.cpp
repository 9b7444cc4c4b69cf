#include "catalog/tensor_tables.hpp"

#include <memory>
#include <utility>

#include "common/check.hpp"
#include "common/letter_case.hpp"

namespace eindb {
namespace {

/// As SQLite compares names: without regard to the case of ASCII letters.
bool same_tensor(const TensorInfo& a, const TensorInfo& b) {
  return a.id == b.id && a.own_name() == b.own_name() && a.type() == b.type() && a.labels == b.labels &&
         a.names == b.names && a.grid == b.grid && a.replicas == b.replicas;
}

}  // namespace

TensorTables::TensorTables(SqliteConnection& connection, Catalog& catalog)
    : connection_(connection),
      catalog_(catalog),
      temporary_(connection, [this](const std::string& name) { return temporary_table(name); }) {}

// Only this session changes the tensor, and its table with it.
TensorTable TensorTables::temporary_table(const std::string& own_name) {
  const auto info = catalog_.find_in(kTemporarySchema, own_name);
  CHECK(info.has_value(), "a temporary tensor has a table as long as it has an entry");
  temporary_complex_ = temporary_complex_ || is_complex(info->dtype);
  return {.name = own_name,
          .labels = info->labels,
          .dtype = info->dtype,
          .grid = info->grid,
          .tiles = std::make_shared<StoredTileReader>(connection_, info->store(), kept_bytes_, [] {}),
          .names = info->names};
}

void TensorTables::refresh() {
  const auto version = catalog_.version();
  if (std::exchange(version_, version) == version) return;
  tables_.clear();
  shows_complex_ = false;
  ++generation_;
}

bool TensorTables::show(std::string_view name) {
  const auto written = to_lower(name);
  if (tables_.contains(written) || written.starts_with("eindb_") || names_module(written)) return false;
  const auto info = catalog_.find(name);
  if (!info || info->is_temporary()) return false;
  const auto sql_name = info->is_foreign() ? info->name : info->own_name();
  auto key = to_lower(sql_name);
  if (info->is_foreign() && key != written) return false;
  if (tables_.contains(key)) return false;
  shows_complex_ = shows_complex_ || is_complex(info->dtype);
  auto tiles = std::make_shared<StoredTileReader>(connection_, info->store(), kept_bytes_,
                                                  [this, info = *info] { verify(info); });
  tables_.emplace(std::move(key), VisibleTable(connection_, {.name = sql_name,
                                                             .labels = info->labels,
                                                             .dtype = info->dtype,
                                                             .grid = info->grid,
                                                             .tiles = std::move(tiles),
                                                             .names = info->names}));
  return true;
}

void TensorTables::verify(const TensorInfo& info) {
  if (catalog_.version() == version_) return;
  const auto now = catalog_.find_in(info.schema, info.own_name());
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

#include "storage/cells/access_plan.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "common/check.hpp"

namespace eindb {
namespace {

/// SQLite's own guess: the share of cells that a condition with an unknown value leaves.
constexpr double kGuessedPart = 0.25;

/// The cost of a scan in the unit of SQLite's planner, about one row (60 ns).
constexpr double kScanCost = 10;
constexpr double kTileByteCost = 1.0 / 1024;  // read and verified
constexpr double kKeptTileCost = 1;           // found in the cache

/// Where zeros are left out, every one of so many tiles may be visited, in any order.
constexpr double kMostPartsVisited = 4096;

/// The known effect of the conditions during planning: the size of the box, and the dimensions that are left with one
/// index.
struct BoxEstimate {
  explicit BoxEstimate(const TileGrid& tiles) : grid(tiles), fixed(tiles.rank(), false) {
    for (const auto extent : grid.shape().extents()) cells.push_back(static_cast<double>(extent));
  }

  const TileGrid& grid;
  std::vector<double> cells;  // per dimension
  std::vector<bool> fixed;

  double all_cells() const {
    return product([&](std::size_t d) { return cells[d]; });
  }
  double parts(std::size_t d) const {
    const auto size = std::max(1.0, static_cast<double>(grid.largest(d)));
    return fixed[d] ? 1 : std::min(static_cast<double>(grid.partition()[d]), 1 + std::ceil(cells[d] / size));
  }
  double all_parts() const {
    return product([&](std::size_t d) { return parts(d); });
  }

  template <class F>
  double product(F&& f) const {
    double out = 1;
    for (std::size_t d = 0; d < cells.size(); ++d) out *= std::forward<F>(f)(d);
    return out;
  }
};

/// Sizes of the tiles to read, in bytes.
struct TileSizes {
  TileSizes(const TileGrid& grid, DType dtype, std::int64_t kept_bytes)
      : tile(static_cast<double>(size_of(dtype))), kept(static_cast<double>(kept_bytes)) {
    for (std::size_t d = 0; d < grid.rank(); ++d) tile *= static_cast<double>(grid.largest(d));
    all = tile * static_cast<double>(grid.tile_count());
  }

  double tile;  // size of the largest tile
  double all = 0;
  double kept;  // bytes that stay cached
};

/// Whether the condition is one of names as SQLite compares texts by default.
bool bounds_names(sqlite3_index_info& info, int n, Comparison comparison, const IndexNames& names) {
  if (std::string_view(sqlite3_vtab_collation(&info, n)) != "BINARY") return false;
  return names.ascend() || comparison == Comparison::Equal || comparison == Comparison::IsNull;
}

/// Uses the conditions on labels that bound a range; SQLite need not check them again.
void take_conditions(sqlite3_index_info& info, const DimensionNames& names, AccessPlan& plan, BoxEstimate& estimate) {
  for (int n = 0; n < info.nConstraint; ++n) {
    const auto& constraint = info.aConstraint[n];
    const auto comparison = comparison_of(constraint.op);
    const auto rank = static_cast<int>(estimate.cells.size());
    if (constraint.usable == 0 || constraint.iColumn < 0 || constraint.iColumn >= rank || !comparison) continue;
    const auto d = static_cast<std::size_t>(constraint.iColumn);
    const auto of_indices = names.at(d);
    if (of_indices != nullptr && !bounds_names(info, n, *comparison, *of_indices)) continue;
    plan.conditions.push_back({.dimension = d, .comparison = *comparison});
    info.aConstraintUsage[n].argvIndex = static_cast<int>(plan.conditions.size());
    if (of_indices != nullptr) {
      if (*comparison == Comparison::Equal) estimate.cells[d] = std::min(1.0, estimate.cells[d]);
      else estimate.cells[d] *= kGuessedPart;
      continue;
    }
    info.aConstraintUsage[n].omit = 1;

    sqlite3_value* value = nullptr;
    const auto extent = estimate.grid.shape()[d];
    if (*comparison == Comparison::Equal) {
      estimate.fixed[d] = true;
      estimate.cells[d] = std::min<double>(1, static_cast<double>(extent));
    } else if (sqlite3_vtab_rhs_value(&info, n, &value) == SQLITE_OK && value != nullptr) {
      const auto range = restrict({0, extent}, *comparison, value);
      const auto cells = range.empty() ? 0 : static_cast<double>(range.end) - static_cast<double>(range.begin);
      // Two bounds of one dimension leave their overlap: for `i >= a AND i < b`, both reductions apply.
      const auto cut = static_cast<double>(extent) - cells;
      estimate.cells[d] = std::max(0.0, estimate.cells[d] - cut);
    } else {
      estimate.cells[d] *= kGuessedPart;
    }
  }
}

/// Whether no zero satisfies `val <op> value`, for a number that is known while SQLite plans.
bool excludes_zero(int op, sqlite3_value* value) {
  const auto type = sqlite3_value_type(value);
  if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return false;
  const auto number = sqlite3_value_double(value);
  switch (op) {
    case SQLITE_INDEX_CONSTRAINT_NE: return number == 0;
    case SQLITE_INDEX_CONSTRAINT_EQ: return number != 0;
    case SQLITE_INDEX_CONSTRAINT_GT: return number >= 0;
    case SQLITE_INDEX_CONSTRAINT_GE: return number > 0;
    case SQLITE_INDEX_CONSTRAINT_LT: return number <= 0;
    case SQLITE_INDEX_CONSTRAINT_LE: return number < 0;
    default: return false;
  }
}

/// Whether cells that are zero may be left out. SQLite still checks the others.
bool may_skip_zeros(sqlite3_index_info& info, std::size_t rank, DType dtype) {
  if (is_complex(dtype)) return false;
  for (int n = 0; n < info.nConstraint; ++n) {
    const auto& constraint = info.aConstraint[n];
    sqlite3_value* value = nullptr;
    if (constraint.usable == 0 || constraint.iColumn != static_cast<int>(rank)) continue;
    if (sqlite3_vtab_rhs_value(&info, n, &value) != SQLITE_OK || value == nullptr) continue;
    if (excludes_zero(constraint.op, value)) return true;
  }
  return false;
}

/// The order that ORDER BY, GROUP BY or DISTINCT wants, followed by the other dimensions; nullopt if it is not an order
/// of indices. `count` is set to the number of steps that matter.
std::optional<WalkOrder> wanted_order(const sqlite3_index_info& info, const DimensionNames& names, std::size_t rank,
                                      std::size_t& count) {
  WalkOrder order;
  std::vector<bool> taken(rank, false);
  for (int n = 0; n < info.nOrderBy && order.steps.size() < rank; ++n) {
    const auto column = info.aOrderBy[n].iColumn;
    if (column < 0 || column >= static_cast<int>(rank)) return std::nullopt;
    const auto d = static_cast<std::size_t>(column);
    if (names.at(d) != nullptr && !names.at(d)->ascend()) return std::nullopt;
    if (taken[d]) continue;
    taken[d] = true;
    order.steps.push_back({.dimension = d, .descending = info.aOrderBy[n].desc != 0});
  }
  count = order.steps.size();
  for (std::size_t d = 0; d < rank; ++d)
    if (!taken[d]) order.steps.push_back({.dimension = d});
  return order;
}

/// Whether a walk in the order of indices only revisits cached tiles: those of the box along all dimensions except the
/// outermost one that moves.
bool keeps_band(const WalkOrder& order, const BoxEstimate& estimate, const TileSizes& sizes) {
  double tiles = 1;
  bool outermost = true;
  for (const auto& step : order.steps) {
    if (estimate.fixed[step.dimension]) continue;
    if (!std::exchange(outermost, false)) tiles *= static_cast<double>(estimate.grid.partition()[step.dimension]);
  }
  return tiles * sizes.tile <= sizes.kept;
}

void choose_order(sqlite3_index_info& info, const DimensionNames& names, AccessPlan& plan, const BoxEstimate& estimate,
                  const TileSizes& sizes) {
  std::size_t count = 0;
  auto wanted = wanted_order(info, names, estimate.grid.rank(), count);
  if (!wanted || info.nOrderBy == 0) return;
  // Of very many tiles those without values are passed over in the order of their numbers alone.
  const bool passes_over = plan.skips_zeros && estimate.all_parts() > kMostPartsVisited;
  if (passes_over && !is_in_order_of_tiles(*wanted, estimate.grid, estimate.fixed)) return;
  if (!is_sorted(*wanted, count, estimate.grid, estimate.fixed)) {
    if (passes_over || (plan.reads_values && !keeps_band(*wanted, estimate, sizes))) return;
    wanted->by_tile = false;
  }
  plan.order = std::move(*wanted);
  info.orderByConsumed = 1;
}

void estimate_cost(sqlite3_index_info& info, const AccessPlan& plan, const BoxEstimate& estimate,
                   const TileSizes& sizes) {
  const auto rows = estimate.all_cells();
  DCHECK(rows >= 0, "conditions leave no fewer cells than none");
  double tile_cost = 0;
  if (plan.reads_values) {
    // Repeated scans, as in a join, find the tiles of a small tensor in the cache.
    tile_cost = estimate.all_parts() * (sizes.all <= sizes.kept ? kKeptTileCost : sizes.tile * kTileByteCost);
  }
  info.estimatedRows = static_cast<sqlite3_int64>(std::clamp(rows, 1.0, 1e18));
  info.estimatedCost = kScanCost + rows + tile_cost;
  const bool unique = std::find(estimate.fixed.begin(), estimate.fixed.end(), false) == estimate.fixed.end();
  if (unique) info.idxFlags |= SQLITE_INDEX_SCAN_UNIQUE;
}

bool wants_values(const sqlite3_index_info& info, std::size_t rank) {
  // The last bit stands for all columns from the 64th on.
  return (info.colUsed >> std::min<std::size_t>(rank, 63)) != 0;
}

}  // namespace

AccessPlan plan_access(sqlite3_index_info& info, const TileGrid& grid, const DimensionNames& names, DType dtype,
                       std::int64_t kept_bytes, bool has_cells) {
  const TileSizes sizes(grid, dtype, kept_bytes);
  AccessPlan plan;
  BoxEstimate estimate(grid);
  plan.reads_values = wants_values(info, grid.rank());
  plan.skips_zeros = plan.reads_values && may_skip_zeros(info, grid.rank(), dtype);
  take_conditions(info, names, plan, estimate);
  plan.order = WalkOrder::natural(grid.rank());
  if (!plan.skips_zeros || !has_cells) choose_order(info, names, plan, estimate, sizes);
  estimate_cost(info, plan, estimate, sizes);
  CHECK(plan.order.steps.size() == grid.rank(), "a scan has a step for each dimension");
  return plan;
}

}  // namespace eindb

// The virtual table module behind TensorTable. The callbacks of a scan:
//
//   xConnect    declares the columns
//    xBestIndex  (while SQLite plans, several times) -> an AccessPlan: the conditions whose values it gets, the order
//    in
//                which cells are walked, and whether values are read. Its number is SQLite's idxNum; idxStr is only for
//                EXPLAIN QUERY PLAN
//    xFilter     the values of the conditions -> a box of indices -> a CellWalk
//    xNext       advances one cell in the run; at its end, fetches the next run with its tile
//
// xNext, xEof and xColumn run once per cell: they touch a few members, without division, allocation or lookup.

#include "storage/cells/tensor_table.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <complex>
#include <optional>

#include "common/check.hpp"
#include "storage/cells/access_plan.hpp"
#include "storage/cells/cell_walk.hpp"
#include "storage/cells/index_constraint.hpp"
#include "storage/sqlite/sqlite_destructors.hpp"
#include "tensor/cell_box_walk.hpp"
#include "tensor/number_text.hpp"

namespace eindb {
namespace {

/// Runs of zeros between two polls for cancellation.
constexpr std::int64_t kRunsPerCheck = 256;

constexpr std::array<std::string_view, 1> kRealColumns{"val"};
constexpr std::array<std::string_view, 3> kComplexColumns{"val", "re", "im"};

/// The module's user data: the registered table.
struct Definition {
  SqliteConnection& connection;
  TensorTable table;
  std::vector<std::string> columns;  // of the labels

  std::size_t rank() const { return table.grid.rank(); }
};

struct Table : sqlite3_vtab {
  explicit Table(std::shared_ptr<const Definition> made_of) : sqlite3_vtab{}, definition(std::move(made_of)) {}

  std::shared_ptr<const Definition> definition;
  std::vector<AccessPlan> plans;
};

struct Cursor : sqlite3_vtab_cursor {
  explicit Cursor(const Table& table)
      : sqlite3_vtab_cursor{},
        definition(table.definition),
        tiles(*definition->table.tiles),
        walk(definition->table.grid),
        box(definition->rank()),
        rank(static_cast<int>(definition->rank())),
        dtype(definition->table.dtype),
        has_names(!definition->table.names.empty()),
        index(walk.index()) {
    tiles.attach();
  }
  ~Cursor() { tiles.detach(); }
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  std::shared_ptr<const Definition> definition;
  TileReader& tiles;
  CellWalk walk;
  std::vector<IndexRange> box;
  bool reads_values = false;
  bool skips_zeros = false;
  std::int64_t tile_id = -1;
  TilePtr tile;
  bool takes_cells = false;          // zeros are skipped, and cells come in the order in which tiles of cells have them
  std::optional<CellBoxWalk> cells;  // of the tile, in a tile of cells
  std::vector<std::int64_t> begin;   // of the tile, where that is one of cells

  // The current cell.
  int rank;
  DType dtype;
  bool has_names;
  std::int64_t left = 0;               // remaining cells of the run, including this one; 0 at the end of the scan
  std::int64_t* index;                 // one per dimension
  std::int64_t* moving_index = index;  // the entry of the run's dimension
  std::int64_t index_step = 0;
  const std::byte* values = nullptr;  // values of the tile
  std::int64_t offset = 0;            // of the current value, in elements
  std::int64_t stride = 0;
};

/// Catches exceptions, since none may pass through SQLite.
template <class F>
int guarded(SqliteConnection& connection, F&& f) noexcept {
  try {
    std::forward<F>(f)();
    return SQLITE_OK;
  } catch (...) {
    connection.keep_failure(std::current_exception());
    return SQLITE_ERROR;
  }
}

// ---- Columns -------------------------------------------------------------------------------------------------------

std::span<const std::string_view> value_columns(DType dtype) {
  if (is_complex(dtype)) return kComplexColumns;
  return kRealColumns;
}

/// Builds the declaration, such as CREATE TABLE x("i" INTEGER, "j" INTEGER, val REAL).
std::string declaration(const Definition& definition) {
  std::string sql = "CREATE TABLE x(";
  for (std::size_t d = 0; d < definition.columns.size(); ++d)
    sql += quote_identifier(definition.columns[d]) + (definition.table.names.at(d) ? " TEXT, " : " INTEGER, ");
  const auto dtype = definition.table.dtype;
  if (is_complex(dtype)) return sql + "val TEXT, re REAL HIDDEN, im REAL HIDDEN)";
  return sql + (dtype == DType::Int64 ? "val INTEGER)" : "val REAL)");
}

Table* declare(sqlite3* handle, const std::shared_ptr<const Definition>& definition) {
  const int code = sqlite3_declare_vtab(handle, declaration(*definition).c_str());
  if (code != SQLITE_OK) definition->connection.fail(code);
  // Views and triggers may use it, since it only reads, and only from the same database.
  sqlite3_vtab_config(handle, SQLITE_VTAB_INNOCUOUS);
  return new Table(definition);
}

int connect(sqlite3* handle, void* aux, int /*argc*/, const char* const* /*argv*/, sqlite3_vtab** result,
            char** /*message*/) {
  const auto& definition = *static_cast<const std::shared_ptr<const Definition>*>(aux);
  return guarded(definition->connection, [&] { *result = declare(handle, definition); });
}

std::shared_ptr<const Definition> definition_of(SqliteConnection& connection, TensorTable table) {
  CHECK(table.tiles != nullptr, "a table's tiles come from somewhere");
  CHECK(table.labels.size() == table.grid.rank(), "a table has a column per dimension");
  auto columns = column_names(table.labels, value_columns(table.dtype));
  return std::make_shared<const Definition>(
      Definition{.connection = connection, .table = std::move(table), .columns = std::move(columns)});
}

/// argv: the module, the schema, the table.
int connect_temporary(sqlite3* handle, void* aux, int argc, const char* const* argv, sqlite3_vtab** result,
                      char** /*message*/) {
  const auto& source = *static_cast<const TemporaryTables::Source*>(aux);
  return guarded(source.connection, [&] {
    CHECK(argc >= 3, "SQLite tells the name of a virtual table");
    *result = declare(handle, definition_of(source.connection, source.describe(argv[2])));
  });
}

int disconnect(sqlite3_vtab* table) {
  delete static_cast<Table*>(table);
  return SQLITE_OK;
}

// ---- Planning ------------------------------------------------------------------------------------------------------

/// Builds the text for EXPLAIN QUERY PLAN, such as "i>=? AND i<? AND j=?".
std::string description(const AccessPlan& plan, const Definition& definition) {
  std::string out;
  for (const auto& [dimension, comparison] : plan.conditions) {
    out += (out.empty() ? "" : " AND ") + definition.columns[dimension] + std::string(symbol_of(comparison)) +
           (comparison == Comparison::IsNull ? "NULL" : "?");
  }
  return out;
}

int best_index(sqlite3_vtab* base, sqlite3_index_info* info) {
  auto& self = *static_cast<Table*>(base);
  const auto& definition = *self.definition;
  return guarded(definition.connection, [&] {
    const auto& table = definition.table;
    auto plan =
        plan_access(*info, table.grid, table.names, table.dtype, table.tiles->kept_bytes(), table.tiles->has_cells());
    const auto text = description(plan, definition);
    if (!text.empty()) {
      info->idxStr = sqlite3_mprintf("%s", text.c_str());
      info->needToFreeIdxStr = 1;
    }
    const auto known = std::find(self.plans.begin(), self.plans.end(), plan);
    info->idxNum = static_cast<int>(known - self.plans.begin());
    if (known == self.plans.end()) self.plans.push_back(std::move(plan));
  });
}

// ---- Scanning ------------------------------------------------------------------------------------------------------

int open_cursor(sqlite3_vtab* base, sqlite3_vtab_cursor** result) {
  auto& table = *static_cast<Table*>(base);
  return guarded(table.definition->connection, [&] { *result = new Cursor(table); });
}

int close_cursor(sqlite3_vtab_cursor* cursor) {
  delete static_cast<Cursor*>(cursor);
  return SQLITE_OK;
}

/// A complex zero, whose bytes are a zero of every type.
const std::byte* zero() {
  static constexpr std::complex<double> kZero;
  return reinterpret_cast<const std::byte*>(&kZero);
}

[[maybe_unused]] Shape shape_of(std::int64_t tile_id, const Cursor& cursor) {
  const auto& grid = cursor.definition->table.grid;
  return grid.tile_shape(grid.key_of(tile_id));
}

/// Prepares to go through the cells of the tile that lie in the box.
void find_cells(Cursor& cursor) {
  const auto& grid = cursor.definition->table.grid;
  cursor.begin = grid.tile_begin(grid.key_of(cursor.tile_id));
  std::vector<PartRange> box;
  for (std::size_t d = 0; d < cursor.begin.size(); ++d) {
    const auto first = std::max<std::int64_t>(0, cursor.box[d].begin - cursor.begin[d]);
    box.push_back({first, cursor.box[d].end - cursor.begin[d] - first});
  }
  cursor.cells.emplace(cursor.tile->cells(), std::move(box));
  cursor.offset = cursor.stride = cursor.index_step = 0;
}

void find_values(Cursor& cursor, const CellWalk::Run& run) {
  if (cursor.tile_id != run.tile_id) {
    cursor.tile = cursor.takes_cells ? cursor.tiles.read_cells(run.tile_id) : cursor.tiles.read(run.tile_id);
    cursor.tile_id = run.tile_id;
    CHECK(cursor.tile == nullptr || cursor.tile->dtype() == cursor.dtype, "a table's tiles have its type");
    DCHECK(cursor.tile == nullptr || cursor.tile->shape() == shape_of(run.tile_id, cursor),
           "a table's tiles have the shapes of its grid");
  }
  if (cursor.tile != nullptr && cursor.tile->is_of_cells()) return find_cells(cursor);
  const bool absent = cursor.tile == nullptr;
  cursor.values = absent ? zero() : cursor.tile->bytes().data();
  cursor.offset = absent ? 0 : run.offset;
  cursor.stride = absent ? 0 : run.stride;
}

/// The next run is in a tile that may have values, and behind the current one.
void leave_tile(Cursor& cursor) {
  if (!cursor.walk.is_in_order_of_tiles()) return cursor.walk.leave_tile();
  const auto next = cursor.tiles.next(cursor.tile_id + 1);
  if (next) cursor.walk.go_on_from(*next);
  else cursor.walk.end();
}

/// Moves to the next one of the tile's cells; false after the last.
bool next_cell(Cursor& cursor) {
  if (!cursor.cells->next()) return false;
  for (std::size_t d = 0; d < cursor.begin.size(); ++d) cursor.index[d] = cursor.begin[d] + cursor.cells->coordinate(d);
  cursor.values = cursor.tile->cells().trie().values.data() +
                  static_cast<std::size_t>(cursor.cells->cell()) * size_of(cursor.dtype);
  cursor.left = 1;
  return true;
}

/// Moves to the first cell of the next run, of which every cell of a tile of cells is one; after the last run left
/// stays 0.
void next_run(Cursor& cursor) {
  for (;;) {
    cursor.left = 0;
    if (cursor.cells) {
      if (next_cell(cursor)) return;
      cursor.cells.reset();
      cursor.definition->connection.check_cancelled();
      leave_tile(cursor);
    }
    if (!cursor.walk.next_run()) return;
    const auto& run = cursor.walk.run();
    if (cursor.reads_values) find_values(cursor, run);
    if (cursor.cells) continue;
    cursor.moving_index = cursor.index + run.dimension;
    cursor.index_step = run.step;
    cursor.left = run.length;
    return;
  }
}

/// How many cells from the current one on are zero in the run; of an absent tile all.
std::int64_t zeros_ahead(const Cursor& cursor) {
  if (cursor.tile == nullptr) return cursor.left;
  std::int64_t zeros = 0;
  dispatch(cursor.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const auto* value = reinterpret_cast<const T*>(cursor.values) + cursor.offset;
    while (zeros < cursor.left && value[zeros * cursor.stride] == T{}) ++zeros;
  });
  return zeros;
}

/// Moves on to a cell that is not zero, unless the current one is.
void skip_zeros(Cursor& cursor) {
  for (std::int64_t runs = 0; cursor.left > 0;) {
    const auto zeros = zeros_ahead(cursor);
    cursor.offset += zeros * cursor.stride;
    *cursor.moving_index += zeros * cursor.index_step;
    cursor.left -= zeros;
    if (cursor.left > 0) return;
    if (cursor.tile == nullptr) leave_tile(cursor);
    if (++runs % kRunsPerCheck == 0) cursor.definition->connection.check_cancelled();
    next_run(cursor);
  }
}

int filter(sqlite3_vtab_cursor* base, int plan_number, const char* /*description*/, int argc, sqlite3_value** argv) {
  auto& cursor = *static_cast<Cursor*>(base);
  const auto& definition = *cursor.definition;
  return guarded(definition.connection, [&] {
    const auto& plans = static_cast<const Table*>(cursor.pVtab)->plans;
    CHECK(plan_number >= 0 && std::cmp_less(plan_number, plans.size()), "a scan goes by a plan of its table");
    const auto& plan = plans[static_cast<std::size_t>(plan_number)];
    CHECK(plan.conditions.size() == static_cast<std::size_t>(argc), "a condition has its value");
    for (std::size_t d = 0; d < cursor.box.size(); ++d) cursor.box[d] = {0, definition.table.grid.shape()[d]};
    for (std::size_t n = 0; n < plan.conditions.size(); ++n) {
      auto& range = cursor.box[plan.conditions[n].dimension];
      const auto names = definition.table.names.at(plan.conditions[n].dimension);
      range = names == nullptr ? restrict(range, plan.conditions[n].comparison, argv[n])
                               : restrict(range, plan.conditions[n].comparison, argv[n], *names);
    }
    cursor.reads_values = plan.reads_values;
    cursor.skips_zeros = plan.skips_zeros;
    cursor.takes_cells = plan.skips_zeros && plan.order.is_natural();
    cursor.cells.reset();
    cursor.tiles.begin_scan();
    cursor.tile_id = -1;
    cursor.walk.start(plan.order, cursor.box);
    next_run(cursor);
    if (cursor.skips_zeros) skip_zeros(cursor);
  });
}

int next(sqlite3_vtab_cursor* base) {
  auto& cursor = *static_cast<Cursor*>(base);
  cursor.offset += cursor.stride;
  *cursor.moving_index += cursor.index_step;
  if (--cursor.left > 0 && !cursor.skips_zeros) return SQLITE_OK;
  return guarded(cursor.definition->connection, [&] {
    if (cursor.left == 0) next_run(cursor);
    if (cursor.skips_zeros) skip_zeros(cursor);
  });
}

int at_end(sqlite3_vtab_cursor* base) { return static_cast<const Cursor*>(base)->left == 0 ? 1 : 0; }

template <class T>
const T& value_under(const Cursor& cursor) {
  return reinterpret_cast<const T*>(cursor.values)[cursor.offset];
}

/// `column`: 0 for val, 1 and 2 for the hidden columns re and im.
template <class T>
void give_complex(sqlite3_context* context, const std::complex<T>& value, int column) {
  if (column == 1) return sqlite3_result_double(context, static_cast<double>(value.real()));
  if (column == 2) return sqlite3_result_double(context, static_cast<double>(value.imag()));
  std::string text;
  append_number(text, value);
  sqlite3_result_text(context, text.c_str(), static_cast<int>(text.size()), kTransient);
}

/// Of a tensor of whose indices some have names.
int give_index(const Cursor& cursor, sqlite3_context* context, std::size_t dimension) {
  const auto names = cursor.definition->table.names.at(dimension);
  if (names == nullptr) {
    sqlite3_result_int64(context, cursor.index[dimension]);
    return SQLITE_OK;
  }
  return guarded(cursor.definition->connection, [&] {
    const auto name = names->name(cursor.index[dimension]);
    sqlite3_result_text(context, name.data(), static_cast<int>(name.size()), kTransient);
  });
}

int column(sqlite3_vtab_cursor* base, sqlite3_context* context, int number) {
  const auto& cursor = *static_cast<const Cursor*>(base);
  if (number < cursor.rank) {
    if (cursor.has_names) return give_index(cursor, context, static_cast<std::size_t>(number));
    sqlite3_result_int64(context, cursor.index[number]);
    return SQLITE_OK;
  }
  switch (cursor.dtype) {
    case DType::Float32: sqlite3_result_double(context, static_cast<double>(value_under<float>(cursor))); break;
    case DType::Float64: sqlite3_result_double(context, value_under<double>(cursor)); break;
    case DType::Int64: sqlite3_result_int64(context, value_under<std::int64_t>(cursor)); break;
    case DType::Complex64:
      return guarded(cursor.definition->connection,
                     [&] { give_complex(context, value_under<std::complex<float>>(cursor), number - cursor.rank); });
    case DType::Complex128:
      return guarded(cursor.definition->connection,
                     [&] { give_complex(context, value_under<std::complex<double>>(cursor), number - cursor.rank); });
  }
  return SQLITE_OK;
}

int rowid(sqlite3_vtab_cursor* base, sqlite3_int64* result) {
  const auto& cursor = *static_cast<const Cursor*>(base);
  const auto& shape = cursor.definition->table.grid.shape();
  *result = 0;
  for (std::size_t d = 0; d < shape.rank(); ++d) *result = *result * shape[d] + cursor.index[d];
  return SQLITE_OK;
}

constexpr sqlite3_module make_module() {
  sqlite3_module module{};
  module.iVersion = 1;
  module.xCreate = nullptr;  // eponymous only: CREATE VIRTUAL TABLE ... USING A is not supported
  module.xConnect = &connect;
  module.xDisconnect = &disconnect;
  module.xDestroy = nullptr;
  module.xBestIndex = &best_index;
  module.xOpen = &open_cursor;
  module.xClose = &close_cursor;
  module.xFilter = &filter;
  module.xNext = &next;
  module.xEof = &at_end;
  module.xColumn = &column;
  module.xRowid = &rowid;
  return module;
}
constexpr sqlite3_module kModule = make_module();

constexpr sqlite3_module make_temporary_module() {
  auto module = make_module();
  module.xCreate = &connect_temporary;
  module.xConnect = &connect_temporary;
  module.xDestroy = &disconnect;
  return module;
}
constexpr sqlite3_module kOfTemporary = make_temporary_module();

}  // namespace

VisibleTable::VisibleTable(SqliteConnection& connection, TensorTable table)
    : connection_(&connection), name_(table.name) {
  auto definition = std::make_unique<std::shared_ptr<const Definition>>(definition_of(connection, std::move(table)));
  // SQLite calls the destructor even if the call fails.
  const int code =
      sqlite3_create_module_v2(connection.handle(), name_.c_str(), &kModule, definition.release(),
                               [](void* aux) { delete static_cast<std::shared_ptr<const Definition>*>(aux); });
  if (code != SQLITE_OK) connection.fail(code);
}

TemporaryTables::TemporaryTables(SqliteConnection& connection, std::function<TensorTable(const std::string&)> describe)
    : source_(std::make_unique<Source>(Source{connection, std::move(describe)})) {
  const int code = sqlite3_create_module_v2(connection.handle(), std::string(kTemporaryModule).c_str(), &kOfTemporary,
                                            source_.get(), nullptr);
  if (code != SQLITE_OK) connection.fail(code);
}

VisibleTable::~VisibleTable() {
  if (connection_ == nullptr) return;
  sqlite3_create_module_v2(connection_->handle(), name_.c_str(), nullptr, nullptr, nullptr);
}

}  // namespace eindb

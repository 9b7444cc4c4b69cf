#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "common/check.hpp"
#include "common/error.hpp"
#include "engine/files/arrow_export.hpp"
#include "engine/files/arrow_import.hpp"
#include "engine/files/cell_export.hpp"
#include "engine/files/cell_import.hpp"
#include "engine/files/copy_options.hpp"
#include "engine/files/load_rows.hpp"
#include "engine/files/sql_export.hpp"
#include "engine/files/table_import.hpp"
#include "engine/files/tensor_export.hpp"
#include "engine/files/tensor_import.hpp"
#include "engine/query/memory_checks.hpp"
#include "engine/query/pipeline.hpp"
#include "engine/results/rows.hpp"
#include "engine/sql/attached_tables.hpp"
#include "engine/sql/schema_objects.hpp"
#include "engine/statements/statements.hpp"
#include "engine/statements/stored_types.hpp"
#include "engine/statements/tensor_analysis.hpp"
#include "executor/kernels/tile_operations.hpp"
#include "parser/parser.hpp"
#include "storage/sqlite/sqlite_connection.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"
#include "storage/tiles/tile_writer.hpp"
#include "tensor/cell_block.hpp"

namespace eindb {
namespace {

// The tiles in which the file is read at the least cost, if they are about as large as tiles are.
std::optional<Partition> natural_partition(const BlockSource& file, const Settings& settings) {
  constexpr std::int64_t kMostTimes = 8;
  auto partition = file.natural_partition();
  if (!partition) return std::nullopt;
  const TileGrid grid(file.shape(), *partition);
  auto bytes = static_cast<std::int64_t>(size_of(file.dtype()));
  for (std::size_t d = 0; d < grid.rank(); ++d) bytes *= grid.largest(d);
  const auto wanted = settings.tile_bytes();
  const bool is_alike = grid.tile_count() == 1 ? bytes <= wanted * kMostTimes
                                               : bytes <= wanted * kMostTimes && bytes >= wanted / kMostTimes;
  return is_alike ? partition : std::nullopt;
}

void check_fits(const TensorInfo& tensor, const BlockSource& file, const std::string& path) {
  if (tensor.shape() != file.shape()) {
    throw Error(ErrorKind::Shape,
                path + " has shape " + file.shape().to_string() + ", but tensor " + tensor.name + " has shape " +
                    tensor.shape().to_string(),
                std::nullopt, "copy it into a new tensor");
  }
  if (!can_hold(tensor.dtype, file.dtype())) {
    throw Error(ErrorKind::Type,
                path + " has type " + std::string(name_of(file.dtype())) + ", which tensor " + tensor.name +
                    " of type " + std::string(name_of(tensor.dtype)) + " cannot hold",
                std::nullopt, "copy it into a new tensor");
  }
}

// The bytes of a tile by default. Those of few cells are larger, so that they take about as many bytes as dense ones,
// as far as one with all values is still small beside the memory.
std::int64_t default_tile_bytes(const Shape& shape, StoredType type, std::int64_t most_cells,
                                const Settings& settings) {
  constexpr double kBytesOfCell = 16;
  constexpr double kSparse = 0.25;
  constexpr std::int64_t kMost = std::int64_t{64} << 20U;
  constexpr std::int64_t kShareOfMemory = 32;
  const auto wanted = settings.tile_bytes();
  if (settings.tile_bytes_is_set() || most_cells == 0) return wanted;
  const auto share = static_cast<double>(most_cells) * kBytesOfCell /
                     (static_cast<double>(shape.element_count()) * static_cast<double>(size_of(type.values)));
  if (!(share < kSparse)) return wanted;
  const auto most = std::max(wanted, std::min(kMost, settings.memory_for_tiles() / kShareOfMemory));
  return static_cast<std::int64_t>(std::min(static_cast<double>(most), static_cast<double>(wanted) / share));
}

// Creates an empty tensor under a name of eindb's own, like the tensor it will replace, or with the file's type and
// shape. `most_cells`: of the file, about; 0 if all values come.
TensorInfo stage(const std::optional<TensorInfo>& existing, StoredType type, const Shape& shape,
                 const std::vector<std::string>& labels, std::int64_t most_cells, OpenDatabase& database,
                 const Settings& settings, const std::optional<Partition>& natural = std::nullopt) {
  if (existing)
    return database.catalog.stage(existing->type(), existing->labels, existing->grid, existing->replicas,
                                  existing->schema, existing->names);
  const auto partition = natural ? *natural
                                 : default_partition(shape, type, default_tile_bytes(shape, type, most_cells, settings),
                                                     database.sharing_workers());
  return database.catalog.stage(type, labels, TileGrid(shape, partition), database.replicas({}));
}

// Fills a new, empty tensor tile by tile.
void import_tiles(BlockSource& file, const TensorInfo& tensor, SqliteConnection& connection,
                  const StatementContext& statement) {
  CHECK(tensor.shape() == file.shape(), "a file fills a tensor of its own shape");
  CHECK(connection.in_transaction(), "a file is read into a tensor in a transaction");
  TileWriter writer(connection, tensor.store());
  for (std::int64_t id = 0; id < tensor.grid.tile_count(); ++id) {
    statement.cancellation().check();
    statement.report("import", id, tensor.grid.tile_count());
    const auto key = tensor.grid.key_of(id);
    auto block = file.load_block(tensor.grid.tile_begin(key), tensor.grid.tile_shape(key));
    // A tile whose blocks of cells are those of the file is stored as it is.
    const bool as_it_is = block.encoding() == tensor.encoding && !tensor.grid.has_edges();
    if (block.is_encoded() && !as_it_is) block = decoded(block);
    if (block.dtype() == tensor.dtype) writer.write(id, block);
    else writer.write(id, convert(block, tensor.dtype));
  }
}

// Reports progress and polls for cancellation while a file is processed apart from its tiles.
ByteProgress byte_progress(const StatementContext& statement, std::string_view stage) {
  return [&statement, stage](std::int64_t done, std::int64_t total) {
    statement.cancellation().check();
    statement.report(stage, done, total);
  };
}

std::unique_ptr<BlockSource> open_file(const FilePath& path, const CopyOptions& options,
                                       const std::optional<TensorInfo>& existing, const Settings& settings,
                                       const StatementContext& statement) {
  switch (options.format) {
    case FileFormat::Npy: return open_npy(path, options.shape);
    case FileFormat::Npz: return open_npz(path, options.array.name, options.shape, byte_progress(statement, "verify"));
    case FileFormat::Safetensors: return open_safetensors(path, options.array.name, options.shape);
    case FileFormat::Gguf: return open_gguf(path, options.array.name, options.shape);
    case FileFormat::Hdf5:
    case FileFormat::Netcdf:
      return open_hdf5(path, options.array.name, options.array.packed_values, settings.memory_limit(),
                       statement.cancellation());
    case FileFormat::Zarr:
      return open_zarr(path, options.array.name, options.array.packed_values, settings.memory_limit());
    case FileFormat::JsonLines:
      throw Error(ErrorKind::Unsupported, "jsonl is written, not read", std::nullopt, "use csv");
    default: break;
  }
  return open_csv(path, options.csv, existing && existing->grid.rank() == 1, statement.cancellation());
}

TensorInfo import_dense(BlockSource& file, const FilePath& path, const std::optional<TensorInfo>& existing,
                        SessionState& session) {
  if (existing) check_fits(*existing, file, path.text());
  const auto partition = existing ? std::nullopt : natural_partition(file, session.user.settings);
  auto staged = stage(existing, file.type(), file.shape(), usable_labels(file.labels(), file.shape().rank()), 0,
                      session.database, session.user.settings, partition);
  import_tiles(file, staged, session.database.connection(), session.statement);
  return staged;
}

TensorInfo import_cell_list(const FilePath& path, const CopyOptions& options, const std::optional<TensorInfo>& existing,
                            SessionState& session) {
  const auto& cancellation = session.statement.cancellation();
  const auto cells = is_arrow(options.format)
                         ? open_arrow_cells(path, existing, session.user.settings.memory_limit(), cancellation)
                         : open_cell_list(path, options, existing, cancellation);
  auto staged = stage(existing, cells->type(), cells->shape(), usable_labels(cells->labels(), cells->shape().rank()),
                      cells->most_cells(), session.database, session.user.settings);
  load_cells(*cells, staged, session.database, session.user.settings, session.statement);
  return staged;
}

Hdf5Terms hdf5_terms(const CopyOptions& options, const SessionState& session) {
  return {.values = options.array.packed_values,
          .memory_limit = session.user.settings.memory_limit(),
          .cancellation = &session.statement.cancellation()};
}

// The cells of a stored tile, or all values of one that is dense.
TilePtr stored_cells(const TileStore& store, std::int64_t id, ReadSnapshot& snapshot) {
  TilePtr tile;
  snapshot.read_with(store, [&](SqliteConnection& connection) { tile = store.read_as_cells(connection, id); });
  return tile != nullptr ? tile : snapshot.read(store, id);
}

TileProvider stored_tensor(const TensorInfo& tensor, ReadSnapshot& snapshot, SqliteConnection& connection,
                           const StatementContext& statement) {
  return {.dtype = tensor.dtype,
          .encoding = tensor.encoding,
          .grid = tensor.grid,
          .tile =
              [&snapshot, &statement, store = tensor.store()](std::int64_t id) {
                statement.cancellation().check();
                statement.report("export", id, store.grid().tile_count());
                return snapshot.read(store, id);
              },
          .labels = tensor.labels,
          .next_tile = [ids = std::make_shared<StoredTileIds>(connection, tensor.store())](
                           std::int64_t from) { return ids->next(from); },
          .tile_or_cells =
              [&snapshot, &statement, store = tensor.store()](std::int64_t id) {
                statement.cancellation().check();
                statement.report("export", id, store.grid().tile_count());
                return stored_cells(store, id, snapshot);
              },
          .names = tensor.names};
}

// For a list of cells in the tiles in which the result is held.
TileProvider query_result(const ast::Query& query, const CopyOptions& options, SessionState& session) {
  auto result = evaluate_query(query, session);
  if (!options.cells.chosen) check_all_values(*result, session);
  TileProvider tensor{.dtype = result->dtype,
                      .encoding = Encoding::Plain,
                      .grid = result->grid,
                      .tile = [result](std::int64_t id) { return result->tile(id); },
                      .labels = result->labels,
                      .next_tile = [result](std::int64_t from) { return result->tiles->next(from); }};
  if (!options.cells.chosen) return tensor;
  tensor.names = result->names;
  tensor.grid = result->tiles->held_grid();
  tensor.next_tile = [result](std::int64_t from) { return result->tiles->held().next(from); };
  tensor.tile_or_cells = [result](std::int64_t id) { return result->tiles->held().get(id); };
  return tensor;
}

// The default name of the array in a file: the tensor's, or that of the query's head.
std::string array_name(const ast::CopyTo& copy, const CopyOptions& options) {
  if (!options.array.name.empty()) return options.array.name;
  if (const auto* tensor = std::get_if<ast::Identifier>(&copy.source)) return tensor->text;
  const auto* query = std::get_if<ast::Query>(&copy.source);
  const auto* definition = query != nullptr ? std::get_if<ast::Definition>(&query->body) : nullptr;
  return definition != nullptr ? definition->name.text : "value";
}

void export_as_csv(const FilePath& path, const CsvOptions& options, const TileProvider& tensor) {
  std::vector<std::string> header;
  if (options.header == CsvHeader::Present) {
    const auto columns = tensor.grid.rank() == 2 ? tensor.grid.shape()[1] : 1;
    for (std::int64_t c = 0; c < columns; ++c) header.push_back("c" + std::to_string(c));
  }
  export_csv(path, tensor, header, options.delimiter);
}

void export_tensor(const ast::CopyTo& copy, const FilePath& path, const CopyOptions& options,
                   const TileProvider& tensor, SessionState& session) {
  const auto& array = options.array;
  const auto name = array_name(copy, options);
  if (options.cells.chosen) {
    const auto memory = session.user.settings.memory_limit() / 4;
    const auto admission = session.admit(memory);
    return export_cells(path, options, tensor, memory, session.statement.cancellation());
  }
  switch (options.format) {
    case FileFormat::Npy: return export_npy(path, tensor);
    case FileFormat::Npz:
      return export_npz(path, tensor, name, array.compression, array.overwrite,
                        byte_progress(session.statement, "finish"));
    case FileFormat::Safetensors: return export_safetensors(path, tensor, name, array.type, array.overwrite);
    case FileFormat::Hdf5:
    case FileFormat::Netcdf:
      return export_hdf5(path, tensor, name, array, options.format == FileFormat::Netcdf,
                         session.statement.cancellation());
    case FileFormat::Zarr: return export_zarr(path, tensor, array.name, array, session.user.settings.memory_limit());
    case FileFormat::Gguf:
      throw Error(ErrorKind::Unsupported, "gguf is read, not written", std::nullopt, "write safetensors");
    case FileFormat::JsonLines:
      throw Error(ErrorKind::Unsupported, "jsonl holds rows of SQL", std::nullopt,
                  "write the tensor as npy, or as a list of cells in csv");
    default: return export_as_csv(path, options.csv, tensor);
  }
}

/// Where a table of COPY lies; those that a server shows are elsewhere.
constexpr std::array kOwnSchemas{kTemporarySchema, kMainSchema};

/// Whether the name is that of an ordinary table, or a view, and of no tensor.
bool is_table(const std::string& name, OpenDatabase& database) {
  database.tensor_tables.refresh();
  if (database.attached.find(name) != nullptr || database.catalog.find_own(name)) return false;
  if (attached_name(name, database.connection())) return false;
  return std::any_of(kOwnSchemas.begin(), kOwnSchemas.end(), [&](std::string_view schema) {
    return !columns_of_table({.schema = std::string(schema), .name = name, .columns = {}}, database.connection())
                .empty();
  });
}

/// The table of an attached database that the name is of, as SQL writes it; empty if it is that of a tensor, or of
/// none.
std::string table_of_attached(const std::string& name, OpenDatabase& database) {
  const auto attached = attached_name(name, database.connection());
  if (!attached || database.catalog.find(name)) return {};
  if (kind_of_object(attached->schema, attached->name, database.connection()).empty()) return {};
  return quote_identifier(attached->schema) + "." + quote_identifier(attached->name);
}

/// A name that nothing has is told of where it is read.
void check_reads(const ast::Identifier& name, SessionState& session) {
  if (const auto tensor = session.database.catalog.find(name.text)) session.check_right(*tensor, Right::Select);
  else session.user.permissions.check_right(name.text, Right::Select);
}

/// The query of a COPY, or the one that gives the tensor that it names.
ast::Query whole_tensor(const ast::CopyTo& copy, SessionState& session) {
  if (const auto* query = std::get_if<ast::Query>(&copy.source)) return *query;
  const auto& tensor = session.database.tensor(std::get<ast::Identifier>(copy.source));
  std::string indices;
  for (const auto& label : tensor.labels) indices += (indices.empty() ? "" : ",") + quote_identifier(label);
  const auto name = quote_identifier(tensor.name) + "[" + indices + "]";
  return std::get<ast::Query>(parse_statement("EINSUM " + name + " = " + name).node);
}

void export_table(const FilePath& path, const CopyOptions& options, const std::string& quoted_table,
                  SessionState& session) {
  const auto select = parse_statement("SELECT * FROM " + quoted_table);
  try {
    export_rows(path, options, std::get<ast::Sql>(select.node), session);
  } catch (const Error& error) {  // its place is one in the text above
    throw Error(error.kind(), error.message(), std::nullopt, error.hint());
  }
}

}  // namespace

Result execute_statement(const ast::CopyFrom& copy, SessionState& session) {
  const auto written = read_copy_options(copy.path, copy.path_span, copy.options, CopyDirection::FromFile);
  const auto path = with_place(copy.path_span, [&] { return session.statement.file_to_read(copy.path); });
  const auto admission = session.admit(session.user.settings.memory_limit());
  if (is_table(copy.tensor.text, session.database)) {
    with_place(copy.path_span, [&] {
      if (is_arrow(written.format)) import_arrow_rows(path, copy.tensor.text, session);
      else import_rows(path, written, copy.tensor.text, session);
    });
    return status_result("COPY");
  }
  const auto options = with_place(copy.path_span, [&] { return options_for_file(path, written); });
  SqliteTransaction transaction(session.database.connection());
  const auto existing = session.database.catalog.find_own(copy.tensor.text);
  if (!existing && copy.tensor.qualified)
    throw Error(ErrorKind::UnknownName, "there is no tensor " + copy.tensor.text, copy.tensor.span,
                "CREATE TEMP TENSOR makes a temporary one, to which COPY writes");
  if (existing) session.check_right(*existing, Right::Update);
  else session.user.permissions.check_not_restricted();
  with_place(copy.path_span, [&] {
    const auto read_whole = [&] {
      const auto file = open_file(path, options, existing, session.user.settings, session.statement);
      return import_dense(*file, path, existing, session);
    };
    const auto staged = options.cells.chosen ? import_cell_list(path, options, existing, session) : read_whole();
    session.database.catalog.publish(staged, existing ? existing->own_name() : copy.tensor.text);
    if (options.cells.chosen) analyze_written(session.database.tensor(copy.tensor), session);
  });
  transaction.commit();
  return status_result("COPY");
}

// All tensors of a file, or none.
Result execute_statement(const ast::CopyAllFrom& copy, SessionState& session) {
  const auto options = read_copy_options(copy.path, copy.path_span, copy.options, CopyDirection::FromFile);
  const auto path = with_place(copy.path_span, [&] { return session.statement.file_to_read(copy.path); });
  const auto admission = session.admit(session.user.settings.memory_limit());
  if (!options.array.name.empty() || options.shape)
    throw Error(ErrorKind::Value, "COPY ALL takes all tensors of a file as they are", copy.path_span,
                "COPY X FROM '...' (TENSOR 'name') takes one");
  SqliteTransaction transaction(session.database.connection());
  const auto tensors = with_place(copy.path_span, [&] {
    return tensors_of_file(path, options.format, byte_progress(session.statement, "verify"),
                           hdf5_terms(options, session));
  });
  for (const auto& tensor : tensors) {
    with_place(copy.path_span, [&] {
      if (tensor.name.empty())
        throw Error(ErrorKind::Value, copy.path + " holds one array, without a name", std::nullopt,
                    "COPY X FROM '" + copy.path + "'");
      check_tensor_name(tensor.name);
      if (is_table(tensor.name, session.database))
        throw Error(ErrorKind::DuplicateName, "a table " + tensor.name + " exists already", std::nullopt,
                    "COPY X FROM '...' (TENSOR '" + tensor.name + "') gives the tensor another name");
      const auto existing = session.database.catalog.find_own(tensor.name);
      if (existing) session.check_right(*existing, Right::Update);
      const auto staged = import_dense(*tensor.open(), path, existing, session);
      session.database.catalog.publish(staged, existing ? existing->own_name() : tensor.name);
    });
  }
  transaction.commit();
  return status_result("COPY " + std::to_string(tensors.size()));
}

Result execute_statement(const ast::ShowFileTensors& show, SessionState& session) {
  const auto options = read_copy_options(show.path, show.path_span, show.options, CopyDirection::FromFile);
  const auto path = with_place(show.path_span, [&] { return session.statement.file_to_read(show.path); });
  std::vector<Row> rows;
  const auto tensors = with_place(
      show.path_span, [&] { return tensors_of_file(path, options.format, {}, hdf5_terms(options, session)); });
  for (const auto& tensor : tensors) {
    rows.push_back({tensor.name, tensor.type ? Cell{std::string(name_of(*tensor.type))} : Cell{},
                    tensor.shape.to_string(), tensor.shape.element_count(), tensor.file_type});
  }
  return listed_result(columns_of_file_tensors(), std::move(rows));
}

std::vector<Column> columns_of_file_tensors() {
  return {{"tensor", ColumnType::Text},
          {"type", ColumnType::Text},
          {"shape", ColumnType::Text},
          {"elements", ColumnType::Integer},
          {"file_type", ColumnType::Text}};
}

Result execute_statement(const ast::CopyTo& copy, SessionState& session) {
  const auto options = read_copy_options(copy.path, copy.path_span, copy.options, CopyDirection::ToFile);
  const auto path = with_place(copy.path_span, [&] { return session.statement.file_to_write(copy.path); });
  if (const auto* sql = std::get_if<ast::Sql>(&copy.source)) {
    with_place(copy.path_span, [&] { export_rows(path, options, *sql, session); });
    return status_result("COPY");
  }
  const auto* name = std::get_if<ast::Identifier>(&copy.source);
  if (name != nullptr && is_table(name->text, session.database)) {
    with_place(copy.path_span, [&] { export_table(path, options, quote_identifier(name->text), session); });
    return status_result("COPY");
  }
  if (const auto table = name == nullptr ? "" : table_of_attached(name->text, session.database); !table.empty()) {
    with_place(copy.path_span, [&] { export_table(path, options, table, session); });
    return status_result("COPY");
  }
  if (name != nullptr) check_reads(*name, session);
  if (is_arrow(options.format)) {
    const auto cells = evaluate_query(whole_tensor(copy, session), session);
    with_place(copy.path_span, [&] {
      const auto batches = tensor_batches(TensorStrips(cells, &session.statement.cancellation()), kArrowFileRows);
      export_arrow(path, options.format, *batches, session);
    });
    return status_result("COPY");
  }
  ReadSnapshot snapshot(session.database.file, static_cast<std::size_t>(session.user.settings.threads()));
  const auto* query = std::get_if<ast::Query>(&copy.source);
  const auto tensor = query != nullptr ? query_result(*query, options, session)
                                       : stored_tensor(session.database.tensor(std::get<ast::Identifier>(copy.source)),
                                                       snapshot, session.database.connection(), session.statement);
  with_place(copy.path_span, [&] { export_tensor(copy, path, options, tensor, session); });
  return status_result("COPY");
}

}  // namespace eindb

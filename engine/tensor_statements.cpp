#include <set>

#include "common/error.hpp"
#include "engine/cell_import.hpp"
#include "engine/pipeline.hpp"
#include "engine/rows.hpp"
#include "engine/sql_cells.hpp"
#include "engine/statements.hpp"
#include "engine/tile_endpoints.hpp"
#include "storage/sqlite_transaction.hpp"

namespace eindb {
namespace {

std::optional<DType> type_of(const std::optional<ast::Identifier>& name) {
  if (!name) return std::nullopt;
  const auto type = parse_dtype(name->text);
  if (!type) {
    throw Error(ErrorKind::Type, "there is no type " + name->text, name->span,
                "use FLOAT32, FLOAT64, COMPLEX64, COMPLEX128 or INT64");
  }
  return type;
}

std::optional<Partition> partition_of(const ast::CreateTensor& create) {
  if (!create.partition) return std::nullopt;
  return create.partition->parts;
}

// The shape and labels of CREATE TENSOR X (i 1000, j 2000).
struct Declared {
  std::vector<std::string> labels;
  Shape shape;
};

Declared declared(const std::vector<ast::Dimension>& dimensions, SourceSpan name) {
  Declared out;
  std::set<std::string> seen;
  std::vector<std::int64_t> extents;
  for (const auto& dimension : dimensions) {
    if (!seen.insert(dimension.label.text).second)
      throw Error(ErrorKind::DuplicateName, "label " + dimension.label.text + " is given twice", dimension.span);
    const auto* extent = dimension.extent ? std::get_if<ast::Integer>(&dimension.extent->value) : nullptr;
    if (extent == nullptr)
      throw Error(ErrorKind::Value, "label " + dimension.label.text + " needs an extent", dimension.span);
    out.labels.push_back(dimension.label.text);
    extents.push_back(extent->value);
  }
  out.shape = with_place(name, [&] { return Shape(std::move(extents)); });
  return out;
}

TileGrid grid_of(const Shape& shape, const Partition& partition, const ast::CreateTensor& create) {
  return with_place(create.partition ? create.partition->span : create.name.span,
                    [&] { return TileGrid(shape, partition); });
}

TensorInfo create_empty(const ast::CreateTensor& create, SessionState& session) {
  const auto type = type_of(create.type).value_or(DType::Float64);
  auto [labels, shape] = declared(*create.dimensions, create.name.span);
  const auto partition = partition_of(create).value_or(default_partition(shape, type, session.settings.tile_bytes()));
  return session.catalog.create(create.name.text, type, labels, grid_of(shape, partition, create),
                                session.replicas(create.replicas));
}

void create_from_rows(const ast::CreateTensor& create, const ast::Sql& sql, SessionState& session) {
  auto rows = prepare_rows(sql, session, "CREATE TENSOR");
  const auto tensor = create_empty(create, session);
  with_place(sql.span, [&] {
    SqlCells cells(std::move(rows), tensor.dtype, tensor.shape());
    load_cells(cells, tensor, session);
  });
}

void create_from_query(const ast::CreateTensor& create, const ast::Query& query, SessionState& session) {
  ReadSnapshot snapshot(session.database, static_cast<std::size_t>(session.settings.threads()));
  const ResultRequest request{.dtype = type_of(create.type), .stored = true, .partition = partition_of(create)};
  const auto replicas = session.replicas(create.replicas);
  const auto planned = plan_query(query, session, request);
  const auto tensor = session.catalog.create(create.name.text, planned.output().dtype, planned.query.results.front().label_names,
                                             planned.result_grid(), replicas);
  store_query(planned, session, snapshot, tensor);
}

// Copies are told where there are any beside the first: one copy at workers is as good as one in the file.
Result description(const std::vector<std::string>& labels, const TileGrid& grid, DType dtype, std::int64_t replicas) {
  std::vector<Row> rows;
  for (std::size_t d = 0; d < labels.size(); ++d)
    rows.push_back({labels[d], std::string("label"), grid.shape()[d], grid.partition()[d]});
  rows.push_back({std::string("val"), std::string(name_of(dtype)), Cell{}, Cell{}});
  if (replicas > 1) rows.push_back({std::string("replicas"), std::string("placement"), replicas, Cell{}});
  return listed_result({{"column", ColumnType::Text},
                        {"type", ColumnType::Text},
                        {"extent", ColumnType::Integer},
                        {"parts", ColumnType::Integer}},
                       std::move(rows));
}

}  // namespace

Result execute_statement(const ast::CreateTensor& create, SessionState& session) {
  const bool sorts_rows = std::holds_alternative<ast::Sql>(create.source);
  const auto admission = sorts_rows ? session.admit(session.settings.memory_limit()) : nullptr;
  SqliteTransaction transaction(session.database.connection());
  if (const auto existing = session.catalog.find(create.name.text)) {
    if (create.if_not_exists) return status_result("CREATE TENSOR");
    throw Error(ErrorKind::DuplicateName, "tensor " + existing->name + " exists already", create.name.span,
                "DROP TENSOR it first, or use another name");
  }
  // What the catalog refuses is about the name.
  with_place(create.name.span, [&] {
    if (const auto* query = std::get_if<ast::Query>(&create.source)) create_from_query(create, *query, session);
    else if (const auto* sql = std::get_if<ast::Sql>(&create.source)) create_from_rows(create, *sql, session);
    else create_empty(create, session);
  });
  transaction.commit();
  return status_result("CREATE TENSOR");
}

Result execute_statement(const ast::CreateTensors& create, SessionState&) {
  throw Error(ErrorKind::Internal, "it is not there yet", create.query.span);
}

Result execute_statement(const ast::DropTensor& drop, SessionState& session) {
  if (drop.if_exists && !session.catalog.find(drop.name.text)) return status_result("DROP TENSOR");
  SqliteTransaction transaction(session.database.connection());
  session.catalog.drop(session.tensor(drop.name).name);
  transaction.commit();
  return status_result("DROP TENSOR");
}

Result execute_statement(const ast::ShowTensors&, SessionState& session) {
  std::vector<Row> rows;
  for (const auto& [tensor, stored_tiles, stored_bytes] : session.catalog.list()) {
    std::string dimensions;
    for (std::size_t d = 0; d < tensor.labels.size(); ++d)
      dimensions += (d == 0 ? "" : ", ") + tensor.labels[d] + " " + std::to_string(tensor.shape()[d]);
    rows.push_back({tensor.name, std::string(name_of(tensor.dtype)), dimensions, bracketed(tensor.grid.partition()),
                    tensor.grid.tile_count(), stored_tiles, stored_bytes, static_cast<std::int64_t>(tensor.replicas)});
  }
  return listed_result({{"tensor", ColumnType::Text},
                        {"type", ColumnType::Text},
                        {"dimensions", ColumnType::Text},
                        {"partition", ColumnType::Text},
                        {"tiles", ColumnType::Integer},
                        {"stored_tiles", ColumnType::Integer},
                        {"stored_bytes", ColumnType::Integer},
                        {"replicas", ColumnType::Integer}},
                       std::move(rows));
}

Result execute_statement(const ast::Describe& describe, SessionState& session) {
  if (const auto* attached = session.attached.find(describe.name.text))
    return description(attached->labels(), attached->grid(), attached->dtype(), 0);
  const auto tensor = session.tensor(describe.name);
  return description(tensor.labels, tensor.grid, tensor.dtype, tensor.replicas);
}

}  // namespace eindb

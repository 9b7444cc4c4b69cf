#include <algorithm>
#include <set>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "engine/files/cell_import.hpp"
#include "engine/query/pipeline.hpp"
#include "engine/query/sql_cells.hpp"
#include "engine/results/rows.hpp"
#include "engine/statements/index_names_clause.hpp"
#include "engine/statements/retold_error.hpp"
#include "engine/statements/statements.hpp"
#include "engine/statements/stored_types.hpp"
#include "engine/statements/tensor_analysis.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"

namespace eindb {
namespace {

// The properties of a tensor other than its name and values.
struct TensorType {
  StoredType type;
  std::vector<std::string> labels;
  TileGrid grid;
  int replicas = 0;  // not of a temporary tensor
  DimensionNames names = {};

  bool is_that_of(const TensorInfo& tensor) const {
    return tensor.type() == type && tensor.labels == labels && tensor.grid == grid && tensor.replicas == replicas &&
           tensor.names == names;
  }
};

std::string_view schema_for(bool temporary) { return temporary ? kTemporarySchema : kMainSchema; }

int replicas_of(const auto& create, OpenDatabase& database) {
  return create.temporary ? 0 : database.replicas(create.replicas);
}

bool exists_already(const ast::Identifier& name, const auto& create, OpenDatabase& database) {
  return create.if_not_exists && database.catalog.find_in(schema_for(create.temporary), name.text).has_value();
}

// A tensor that a statement creates or replaces. A replacement, or what hides another tensor, is staged until the
// statement has read everything from the old tensor; if it is of the same type, it takes the old tensor's place in the
// catalog.
class NewTensor {
 public:
  NewTensor(const ast::Identifier& name, bool temporary, bool or_replace, OpenDatabase& database)
      : name_(name),
        schema_(schema_for(temporary)),
        database_(database),
        before_(database.catalog.find_in(schema_, name.text)) {
    database.may_have_temporary = database.may_have_temporary || temporary;
    if (!before_ || or_replace) return;
    throw Error(ErrorKind::DuplicateName, "tensor " + before_->name + " exists already", name.span,
                "DROP TENSOR it first, CREATE OR REPLACE it, or use another name");
  }

  /// Creates the tensor without tiles.
  TensorInfo make(const TensorType& type) {
    CHECK(!made_.has_value(), "a statement makes a tensor once");
    return with_place(name_.span, [&] {
      auto& catalog = database_.catalog;
      if (!before_ && is_staged()) catalog.require_free_in(schema_, name_.text);
      made_ = is_staged()
                  ? catalog.stage(type.type, type.labels, type.grid, type.replicas, schema_, type.names)
                  : catalog.create(name_.text, type.type, type.labels, type.grid, type.replicas, schema_, type.names);
      return *made_;
    });
  }
  /// Keeps an existing tensor of the same type, whose tiles are to be replaced; otherwise creates the tensor.
  StoredResult make_or_keep(const TensorType& type) {
    if (before_ && type.is_that_of(*before_)) return {*before_, true};
    return {make(type), false};
  }
  TensorInfo published() const {
    const auto tensor = database_.catalog.find_in(schema_, name_.text);
    CHECK(tensor.has_value(), "a tensor that a statement makes is published");
    return *tensor;
  }
  /// Makes the tensor visible after it has its values.
  void publish() {
    if (!is_staged() || !made_) return;
    if (before_) database_.unwritten.drop(*before_);
    database_.catalog.publish(*made_, before_ ? before_->own_name() : name_.text);
  }

 private:
  // A temporary tensor may hide one that the statement reads.
  bool is_staged() const { return before_.has_value() || schema_ == kTemporarySchema; }

  const ast::Identifier& name_;
  std::string_view schema_;
  OpenDatabase& database_;
  std::optional<TensorInfo> before_;
  std::optional<TensorInfo> made_;
};

std::optional<StoredType> type_of(const std::optional<ast::Identifier>& name) {
  if (!name) return std::nullopt;
  return stored_type_named(*name);
}

std::optional<Partition> partition_of(const ast::CreateTensor& create) {
  if (!create.partition) return std::nullopt;
  return create.partition->parts;
}

// The shape and labels in CREATE TENSOR X (i 1000, j 2000).
struct Declared {
  std::vector<std::string> labels;
  Shape shape;
  DimensionNames names;
};

Declared declared(const std::vector<ast::DeclaredDimension>& dimensions, SourceSpan name, SessionState& session) {
  Declared out;
  std::set<std::string> seen;
  std::vector<std::int64_t> extents;
  for (const auto& [dimension, clause] : dimensions) {
    if (!seen.insert(dimension.label.text).second)
      throw Error(ErrorKind::DuplicateName, "label " + dimension.label.text + " is given twice", dimension.span);
    if (clause) {
      auto names = names_of_indices(*clause, session);
      extents.push_back(names->size());
      out.names.set(out.labels.size(), std::move(names));
      out.labels.push_back(dimension.label.text);
      continue;
    }
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

TensorInfo make_declared(const ast::CreateTensor& create, NewTensor& tensor, SessionState& session) {
  CHECK(create.dimensions.has_value(), "a tensor that no query gives is declared with its dimensions");
  const auto type = type_of(create.type).value_or(StoredType());
  auto [labels, shape, names] = declared(*create.dimensions, create.name.span, session);
  const auto partition = partition_of(create).value_or(
      default_partition(shape, type, session.user.settings.tile_bytes(), session.database.sharing_workers()));
  return tensor.make({type, std::move(labels), grid_of(shape, partition, create), replicas_of(create, session.database),
                      std::move(names)});
}

void create_from_rows(const ast::CreateTensor& create, const ast::Sql& sql, NewTensor& tensor, SessionState& session) {
  auto rows = prepare_rows(sql, session, "CREATE TENSOR");
  const auto made = make_declared(create, tensor, session);
  with_place_of_rows(sql.span, [&] {
    SqlCells cells(std::move(rows), made.dtype, made.shape(), made.names);
    load_cells(cells, made, session.database, session.user.settings, session.statement);
  });
}

// Stores result n of the query as tensors[n].
void create_from_query(const ast::Query& query, ResultRequest request, int replicas, std::vector<NewTensor>& tensors,
                       SessionState& session) {
  ReadSnapshot snapshot(session.database.file, static_cast<std::size_t>(session.user.settings.threads()));
  request.stored = true;
  const auto encoding = request.encoding;
  const auto planned = plan_query(query, session, std::move(request));
  CHECK(planned.result_count() == tensors.size(), "every result of the query becomes a tensor");
  std::vector<StoredResult> results;
  for (auto& tensor : tensors) {
    const auto n = results.size();
    results.push_back(tensor.make_or_keep({{planned.output(n).dtype, encoding},
                                           planned.query.results[n].label_names,
                                           planned.result_grid(n),
                                           replicas,
                                           planned.query.results[n].index_names}));
    const auto& made = results.back().tensor;
    CHECK(made.dtype == planned.output(n).dtype && made.grid == planned.result_grid(n),
          "a tensor that is made has the type and the tiles of its result");
  }
  store_query(planned, session, snapshot, results);
}

void fill(const ast::CreateTensor& create, std::vector<NewTensor>& tensors, SessionState& session) {
  CHECK(tensors.size() == 1, "CREATE TENSOR makes one tensor");
  if (const auto* query = std::get_if<ast::Query>(&create.source)) {
    const auto type = type_of(create.type);
    const ResultRequest request{.dtype = type ? std::optional(type->values) : std::nullopt,
                                .encoding = type.value_or(StoredType()).encoding,
                                .partitions = {partition_of(create)}};
    create_from_query(*query, request, replicas_of(create, session.database), tensors, session);
  } else if (const auto* sql = std::get_if<ast::Sql>(&create.source)) {
    create_from_rows(create, *sql, tensors.front(), session);
  } else {
    make_declared(create, tensors.front(), session);
  }
}

}  // namespace

Result execute_statement(const ast::CreateTensor& create, SessionState& session) {
  const bool sorts_rows = std::holds_alternative<ast::Sql>(create.source);
  const auto admission = sorts_rows ? session.admit(session.user.settings.memory_limit()) : nullptr;
  SqliteTransaction transaction(session.database.connection());
  if (exists_already(create.name, create, session.database)) return status_result("CREATE TENSOR");
  std::vector<NewTensor> tensors;
  tensors.emplace_back(create.name, create.temporary, create.or_replace, session.database);
  // Errors of the catalog get the place of the name.
  with_place_of_rows(create.name.span, [&] { fill(create, tensors, session); });
  tensors.front().publish();
  if (!create.dimensions || sorts_rows) analyze_written(tensors.front().published(), session);
  transaction.commit();
  return status_result("CREATE TENSOR");
}

Result execute_statement(const ast::CreateTensors& create, SessionState& session) {
  SqliteTransaction transaction(session.database.connection());
  ResultRequest request;
  std::vector<NewTensor> tensors;
  for (const auto& name : create.names) {
    if (exists_already(name, create, session.database)) continue;
    tensors.emplace_back(name, create.temporary, create.or_replace, session.database);
    request.wanted.push_back(name);
  }
  if (tensors.empty()) return status_result("CREATE TENSOR");
  create_from_query(create.query, std::move(request), replicas_of(create, session.database), tensors, session);
  for (auto& tensor : tensors) {
    tensor.publish();
    analyze_written(tensor.published(), session);
  }
  transaction.commit();
  return status_result("CREATE TENSOR");
}

}  // namespace eindb

#include "engine/session/open_database.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "cluster/cluster.hpp"
#include "cluster/database_cluster.hpp"
#include "common/check.hpp"
#include "common/error.hpp"
#include "engine/sql/attached_tables.hpp"
#include "engine/sql/missing_table.hpp"
#include "engine/sql/schema_objects.hpp"
#include "parser/parser.hpp"
#include "storage/shards/sharded_contents.hpp"

namespace eindb {
namespace {

// The divisor for the plan cache's part of a session's share of memory.
constexpr std::int64_t kPlanShare = 16;

// The time that the first session waits for connections to workers before it plans statements.
constexpr std::chrono::seconds kPatience{3};

std::size_t bytes_for_plans(const ClientPolicy* policy) {
  if (policy == nullptr) return PlanCache::kMaxBytes;
  CHECK(policy->memory_share >= 0, "a session has a part of the memory that sessions share");
  return std::min(PlanCache::kMaxBytes, static_cast<std::size_t>(policy->memory_share / kPlanShare));
}

}  // namespace

OpenDatabase::OpenDatabase(const std::string& path, const SessionOptions& options)
    : cluster(options.cluster),
      file(path, options.read_only ? DatabaseFile::Access::ReadOnly : DatabaseFile::Access::ReadWrite),
      catalog(file.connection()),
      macros(file.connection()),
      users(file.connection()),
      grants(file.connection()),
      tensor_tables(file.connection(), catalog),
      attached(file.connection(), catalog, tensor_tables),
      sql_names(file.connection()),
      plans(bytes_for_plans(options.policy.get())),
      tiles(options.tile_caches) {}

void OpenDatabase::begin_sharding(const SessionOptions& options) {
  if (options.shards != nullptr) file.use_shards(options.shards);
  if (cluster == nullptr) return;
  file.use_shards(cluster->shards());
  begin_cluster(*cluster, file);
  cluster->wait_for_workers(kPatience);
}

std::optional<std::vector<TypedColumn>> OpenDatabase::columns_of(const std::string& schema, const std::string& table) {
  auto columns = columns_in_sql(schema, table);
  if (!columns) return columns;
  // The labels of a tensor are its key.
  const auto is_value = [](const TypedColumn& column) { return column.name == "val" && !column.hidden; };
  const auto value = std::find_if(columns->begin(), columns->end(), is_value);
  const bool has_key = std::any_of(columns->begin(), columns->end(), [](const auto& column) { return column.key; });
  if (value == columns->end() || has_key || !find_tensor(schema.empty() ? table : schema + "." + table)) return columns;
  for (auto column = columns->begin(); column != value; ++column) column->key = true;
  return columns;
}

std::optional<std::vector<TypedColumn>> OpenDatabase::columns_in_sql(const std::string& schema,
                                                                     const std::string& table) {
  tensor_tables.refresh();
  forget_compiled_if_changed();
  for (bool again = true; again;) {
    try {
      if (auto columns = sql_names.columns(schema, table)) return columns;
      again = false;
    } catch (const Error& error) {  // a view may read tensors that SQL has not seen yet
      if (!show_missing(error, tensor_tables)) throw;
    }
  }
  if (!tensor_tables.show(schema.empty() ? table : schema + "." + table)) return std::nullopt;
  sql_names.clear();
  return sql_names.columns(schema, table);
}

void OpenDatabase::add_function(SqlFunction function) {
  sql_names.add_function(function.name, function.result);
  connection().add_function(std::move(function));
}

// The parts only grow, in small steps.
std::uint64_t OpenDatabase::schema_version() {
  tensor_tables.refresh();
  return connection().schema_version() + (tensor_tables.generation() << 40U) + (attached.generation() << 52U);
}

void OpenDatabase::forget_compiled_if_changed() {
  const CompiledStatements::Version version{tensor_tables.generation(), attached.generation()};
  if (compiled.bring_to(version)) sql_names.clear();
}

void OpenDatabase::check_writable() {
  if (!reads_only || !connection().in_transaction()) return;
  throw Error(ErrorKind::ReadOnly, "the transaction is READ ONLY: its statements change nothing", std::nullopt,
              "end it, and begin one with BEGIN READ WRITE");
}

std::int64_t OpenDatabase::sharing_workers() const {
  return cluster == nullptr ? 1 : std::max<std::int64_t>(1, static_cast<std::int64_t>(cluster->workers().size()));
}

int OpenDatabase::replicas(const std::optional<ast::ReplicasClause>& clause) {
  auto* contents = ShardedContents::of(connection());
  // Whether disks have room is checked later, when tiles are stored.
  const auto workers =
      contents == nullptr
          ? 0
          : static_cast<std::int64_t>(contents->placing_workers().size() + contents->access().full_workers().size());
  if (!clause) return contents == nullptr ? 0 : 1;
  if (contents == nullptr && clause->count > 1) {
    throw Error(ErrorKind::Unsupported, "copies of tiles are kept at workers, and this session has none", clause->span,
                "give the workers: --workers HOST:PORT,...");
  }
  if (contents == nullptr) return 0;
  const auto most = std::min(workers, static_cast<std::int64_t>(TileReference::kMaxWorkers));
  if (clause->count > most) {
    throw Error(ErrorKind::Value,
                std::to_string(clause->count) + " copies of each tile need as many workers, and " +
                    std::to_string(workers) + (workers == 1 ? " is there" : " are there"),
                clause->span, most > 0 ? "at most REPLICAS " + std::to_string(most) : "");
  }
  CHECK(clause->count > 0 && std::cmp_less_equal(clause->count, TileReference::kMaxWorkers),
        "as many copies are kept as a reference names");
  return static_cast<int>(clause->count);
}

TensorInfo OpenDatabase::tensor(const ast::Identifier& name) {
  if (!catalog.find(name.text) && is_table(name.text)) {
    throw Error(ErrorKind::Type, name.text + " is a table, not a tensor", name.span,
                "use SQL: SELECT, DROP TABLE, ALTER TABLE; COPY (SELECT * FROM " + name.text + ") TO 'file.csv'");
  }
  return with_place(name.span, [&] { return catalog.get(name.text); });
}

bool OpenDatabase::is_table(const std::string& name) {
  const auto elsewhere = attached_name(name, connection());
  return !kind_of_object(elsewhere ? elsewhere->schema : kMainSchema, elsewhere ? elsewhere->name : name, connection())
              .empty();
}

std::optional<InputTensor> OpenDatabase::find_tensor(const std::string& name) {
  if (const auto* tensor = attached.find(name)) return tensor->input();
  auto found = catalog.find(name);
  if (!found) return std::nullopt;
  return InputTensor{.name = found->name,
                     .dtype = found->dtype,
                     .grid = found->grid.even(),
                     .selection = {},
                     .attached = false,
                     .present = catalog.present(*found),
                     .encoding = found->encoding,
                     .cells = cells_of(*found),
                     .names = found->names};
}

std::optional<CellEstimate> OpenDatabase::cells_of(const TensorInfo& tensor) {
  if (unwritten.find(tensor) == nullptr) return catalog.stored_cells(tensor);
  const auto cells = unwritten.cells(tensor);
  return cells ? std::optional(CellEstimate{*cells, {}}) : std::nullopt;
}

NameSource OpenDatabase::names(std::vector<ParameterValue> parameters) {
  return {.find_tensor = [this](const std::string& name) { return find_tensor(name); },
          .tensor_names =
              [this] {
                auto all = catalog.names();
                for (auto& name : attached.names()) all.push_back(std::move(name));
                return all;
              },
          .find_macro = [this](const std::string& name) { return macro(name); },
          .macro_names =
              [this] {
                std::vector<std::string> all;
                for (const auto& stored : macros.list()) all.push_back(stored.name);
                return all;
              },
          .is_table = [this](const std::string& name) { return is_table(name); },
          .is_schema = [this](const std::string& name) { return connection().has_schema(name); },
          .parameters = std::move(parameters)};
}

MacroPtr OpenDatabase::macro(const std::string& name) {
  if (find_scalar_function(name)) return nullptr;  // a macro cannot have the name of a function
  const auto stored = macros.find(name);
  return stored ? parsed(*stored) : nullptr;
}

MacroPtr OpenDatabase::parsed(const StoredMacro& stored) {
  try {
    auto statement = parse_statement(stored.creation(quote_identifier(stored.name)));
    auto& macro = std::get<ast::CreateMacro>(statement.node);
    return std::make_shared<const Macro>(
        Macro{stored.name, std::move(macro.parameters), std::move(macro.body), std::move(macro.aggregate)});
  } catch (const Error& error) {
    throw Error(
        ErrorKind::Corrupt,
        connection().name() + ": the definition of " + (stored.is_aggregate() ? "aggregate " : "macro ") + stored.name +
            " is damaged: " + error.message(),
        std::nullopt,
        std::string("CREATE OR REPLACE ") + (stored.is_aggregate() ? "AGGREGATE" : "MACRO") + " gives it a new one");
  }
}

Login OpenDatabase::login(std::string_view name) {
  const auto user = users.find(name);
  const auto secret = users.secret();
  if (!secret) {
    throw Error(ErrorKind::Corrupt, connection().name() + ": the secret of the users is missing", std::nullopt,
                "ALTER USER makes another one");
  }
  if (!user) return {.known = false, .role = UserRole::ReadOnly, .verifier = decoy_verifier(*secret, name)};
  auto verifier = parse_verifier(user->verifier);
  if (!verifier) {
    throw Error(ErrorKind::Corrupt, connection().name() + ": the verifier of user " + user->name + " is damaged",
                std::nullopt, "ALTER USER ... PASSWORD makes another one");
  }
  return {.known = true, .role = user->role, .verifier = std::move(*verifier)};
}

}  // namespace eindb

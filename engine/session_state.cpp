#include "engine/session_state.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include "cluster/cluster.hpp"
#include "cluster/database_cluster.hpp"
#include "common/error.hpp"
#include "engine/cell_count.hpp"
#include "engine/machine_file.hpp"
#include "parser/parser.hpp"
#include "storage/sharded_contents.hpp"

namespace eindb {
namespace {

// Of a session's part of the memory that sessions share, inverted.
constexpr std::int64_t kPlanShare = 16;

// The first session's statements are not planned while workers are still being connected to.
constexpr std::chrono::seconds kPatience{3};

std::size_t bytes_for_plans(const ClientPolicy* policy) {
  if (policy == nullptr) return PlanCache::kMaxBytes;
  return std::min(PlanCache::kMaxBytes, static_cast<std::size_t>(policy->memory_share / kPlanShare));
}

}  // namespace

SessionState::SessionState(const std::string& path, const SessionOptions& options)
    : cluster(options.cluster),
      database(path, options.read_only ? DatabaseFile::Access::ReadOnly : DatabaseFile::Access::ReadWrite),
      catalog(database.connection()),
      macros(database.connection()),
      users(database.connection()),
      tensor_tables(database.connection(), catalog),
      attached(database.connection(), catalog, tensor_tables),
      sql_names(database.connection()),
      settings(initial_settings(options)),
      permissions(options.policy),
      gate(options.gate),
      plans(bytes_for_plans(options.policy.get())),
      tiles(options.tile_caches) {
  database.connection().watch(&cancellation);
  add_cell_count(*this);
  if (options.policy != nullptr) database.connection().restrict_to_clients();
  if (options.shards != nullptr) database.use_shards(options.shards);
  if (cluster == nullptr) return;
  database.use_shards(cluster->shards());
  begin_cluster(*cluster, database);
  cluster->wait_for_workers(kPatience);
}

int SessionState::replicas(const std::optional<ast::ReplicasClause>& clause) {
  auto* contents = ShardedContents::of(database.connection());
  // Whether their disks have room is seen when there is something to be stored.
  const auto workers =
      contents == nullptr
          ? 0
          : static_cast<std::int64_t>(contents->access().workers().size() + contents->access().full_workers().size());
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
  return static_cast<int>(clause->count);
}

std::unique_ptr<Admission> SessionState::admit(std::int64_t bytes) {
  if (gate == nullptr) return nullptr;
  const Work work{.seconds = std::numeric_limits<double>::infinity(), .bytes = bytes, .urgent = database.has_written()};
  return gate->admit(permissions.user(), work, cancellation);
}

void SessionState::limit_database_memory() {
  const auto* policy = permissions.policy();
  const auto limit = settings.memory_limit();
  database.limit_memory(limit, settings.threads(), policy == nullptr ? limit : policy->memory_share);
}

const MachineFigures& SessionState::machine() const {
  const bool given = !settings.machine_file().empty();
  const auto path = given ? settings.machine_file() : default_machine_path();
  std::error_code absent;
  const auto changed = std::filesystem::last_write_time(path, absent);
  const auto next = machine_.version + 1;
  if (absent && !given) {
    if (machine_.version == 0 || !machine_.path.empty()) machine_ = {{}, {}, built_in_figures(), next};
  } else if (absent || machine_.path != path || machine_.changed != changed) {
    machine_.path = path;
    machine_.changed = {};  // what fails is read again the next time
    try {
      auto figures = read_machine_file(path);
      machine_ = {path, changed, std::move(figures), next};
    } catch (const Error&) {
      // Who did not ask for them is not kept from working: SHOW machine says whose figures they are.
      if (given || settings.calibrated_is_set()) throw;
      machine_ = {path, {}, built_in_figures(), next};
    }
  }
  return machine_.figures;
}

std::uint64_t SessionState::machine_version() const {
  machine();
  return machine_.version;
}

Scheduler& SessionState::scheduler() {
  if (scheduler_ == nullptr || scheduler_->threads() != settings.threads())
    scheduler_ = std::make_unique<Scheduler>(settings.threads());
  return *scheduler_;
}

void SessionState::report(std::string_view stage, std::int64_t done, std::int64_t total) const {
  if (loop_depth == 0) show_progress(stage, done, total);
}

void SessionState::report_rounds(std::int64_t done, std::int64_t total) const {
  if (loop_depth == 1) show_progress("round", done, total);
}

void SessionState::tell(const std::string& notice) const {
  if (notices) notices(notice);
}

void SessionState::show_progress(std::string_view stage, std::int64_t done, std::int64_t total) const {
  if (progress && settings.progress()) progress(Progress{.stage = stage, .done = done, .total = total});
}

FilePath SessionState::file_to_read(const std::string& path) const {
  return transfer.empty() ? permissions.file_to_read(path) : FilePath(transfer);
}

FilePath SessionState::file_to_write(const std::string& path) const {
  return transfer.empty() ? permissions.file_to_write(path) : FilePath(transfer);
}

TensorInfo SessionState::tensor(const ast::Identifier& name) {
  if (!catalog.find(name.text) && is_table(name.text)) {
    throw Error(ErrorKind::Type, name.text + " is a table, not a tensor", name.span,
                "use SQL: SELECT, DROP TABLE, ALTER TABLE; COPY (SELECT * FROM " + name.text + ") TO 'file.csv'");
  }
  return with_place(name.span, [&] { return catalog.get(name.text); });
}

bool SessionState::is_table(const std::string& name) {
  auto select = database.connection().prepare(
      "SELECT 1 FROM main.sqlite_schema WHERE name = ? COLLATE NOCASE AND type IN ('table', 'view')");
  select.bind(1, name);
  return select.step();
}

std::optional<InputTensor> SessionState::find_tensor(const std::string& name) {
  if (const auto* tensor = attached.find(name)) return tensor->input();
  auto found = catalog.find(name);
  if (!found) return std::nullopt;
  return InputTensor{.name = found->name,
                     .dtype = found->dtype,
                     .grid = found->grid,
                     .selection = {},
                     .attached = false,
                     .present = catalog.present(*found)};
}

NameSource SessionState::name_source() {
  return {.find_tensor = [this](const std::string& name) { return find_tensor(name); },
          .tensor_names =
              [this] {
                auto names = catalog.names();
                for (auto& name : attached.names()) names.push_back(std::move(name));
                return names;
              },
          .find_macro = [this](const std::string& name) { return macro(name); },
          .macro_names =
              [this] {
                std::vector<std::string> names;
                for (const auto& stored : macros.list()) names.push_back(stored.name);
                return names;
              },
          .is_table = [this](const std::string& name) { return is_table(name); },
          .parameters = parameters};
}

MacroPtr SessionState::macro(const std::string& name) {
  if (find_scalar_function(name)) return nullptr;  // no macro has the name of a function
  const auto stored = macros.find(name);
  return stored ? parsed(*stored) : nullptr;
}

MacroPtr SessionState::parsed(const StoredMacro& stored) {
  try {
    auto statement = parse_statement("CREATE MACRO " + quote_identifier(stored.name) + stored.definition);
    auto& macro = std::get<ast::CreateMacro>(statement.node);
    return std::make_shared<const Macro>(Macro{stored.name, std::move(macro.parameters), std::move(macro.body)});
  } catch (const Error& error) {
    throw Error(
        ErrorKind::Corrupt,
        database.connection().name() + ": the definition of macro " + stored.name + " is damaged: " + error.message(),
        std::nullopt, "CREATE OR REPLACE MACRO gives it a new one");
  }
}

Login SessionState::login(std::string_view name) {
  const auto user = users.find(name);
  const auto secret = users.secret();
  if (!secret) {
    throw Error(ErrorKind::Corrupt, database.connection().name() + ": the secret of the users is missing", std::nullopt,
                "ALTER USER makes another one");
  }
  if (!user) return {.known = false, .role = UserRole::ReadOnly, .verifier = decoy_verifier(*secret, name)};
  auto verifier = parse_verifier(user->verifier);
  if (!verifier) {
    throw Error(ErrorKind::Corrupt,
                database.connection().name() + ": the verifier of user " + user->name + " is damaged", std::nullopt,
                "ALTER USER ... PASSWORD makes another one");
  }
  return {.known = true, .role = user->role, .verifier = std::move(*verifier)};
}

}  // namespace eindb

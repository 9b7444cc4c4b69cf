#include "cluster/worker_databases.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "common/error.hpp"

namespace eindb {
namespace {

namespace fs = std::filesystem;

// Directories of databases in memory, which nobody can know again after the coordinator's process has ended.
constexpr const char* kTransientPrefix = "memory-";

bool serves(const WorkerNode& node, std::int64_t database, std::span<const std::int64_t> former) {
  const auto own = node.shards.database();
  return own == database || std::find(former.begin(), former.end(), own) != former.end();
}

[[noreturn]] void refuse_superseded() {
  throw Error(ErrorKind::Value, "another file has taken this database's place at the worker", std::nullopt,
              "use the file that has run eindb take-over");
}

}  // namespace

WorkerDatabases::WorkerDatabases(WorkerOptions options, ShardFile& first, ExchangeFactory& exchanges, NodeLog& log)
    : options_(std::move(options)),
      exchanges_(exchanges),
      log_(log),
      first_(std::make_unique<Database>(options_, first, nullptr, exchanges, log, nullptr)) {
  if (options_.databases.empty()) return;
  std::error_code ignored;
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(options_.databases, ignored)) {
    if (entry.path().filename().string().starts_with(kTransientPrefix)) fs::remove_all(entry.path(), ignored);
    else if (entry.is_directory(ignored)) found.push_back(entry.path().string());
  }
  std::sort(found.begin(), found.end());
  for (const auto& directory : found) open(directory);
}

WorkerDatabases::~WorkerDatabases() = default;

void WorkerDatabases::open(const std::string& directory) {
  auto shards = std::make_unique<ShardFile>(directory, options_.most_bytes, options_.databases);
  auto& file = *shards;
  others_.push_back(
      std::make_unique<Database>(options_, file, std::move(shards), exchanges_, log_, first_->node.shared_memory()));
}

// With the mutex.
WorkerDatabases::Database* WorkerDatabases::find(std::int64_t database, std::span<const std::int64_t> former) const {
  if (serves(first_->node, database, former)) return first_.get();
  for (const auto& other : others_)
    if (serves(other->node, database, former)) return other.get();
  return nullptr;
}

// A coordinator without a database of its own stores nothing.
WorkerNode& WorkerDatabases::node_for(const control::Hello& hello) {
  if (hello.database == 0) return first_->node;
  const std::lock_guard lock(mutex_);
  if (auto* found = find(hello.database, hello.former)) return found->node;
  if (first_->node.shards.has_superseded(hello.database)) refuse_superseded();
  for (const auto& other : others_)
    if (other->node.shards.has_superseded(hello.database)) refuse_superseded();
  const bool has_folder = !options_.databases.empty();
  if (!has_folder || (first_->node.shards.database() == 0 && !hello.transient)) return first_->node;
  if (is_draining_) throw Error(ErrorKind::Busy, "it is being drained, and about to leave");
  fs::create_directories(options_.databases);
  open(options_.databases + "/" + (hello.transient ? kTransientPrefix : "") + std::to_string(hello.database));
  log_.write(NodeLog::Level::Info, "database added", "", options_.databases + "/" + std::to_string(hello.database));
  return others_.back()->node;
}

std::vector<WorkerDatabases::Database*> WorkerDatabases::all() const {
  std::vector<Database*> out{first_.get()};
  const std::lock_guard lock(mutex_);
  for (const auto& other : others_) out.push_back(other.get());
  return out;
}

void WorkerDatabases::drain() noexcept {
  const std::lock_guard lock(mutex_);
  is_draining_ = true;
  first_->node.drain();
  for (const auto& other : others_) other->node.drain();
}

void WorkerDatabases::wait_until_drained() {
  first_->node.wait_until_drained();  // from then on there are no new databases
  for (auto* database : all()) database->node.wait_until_drained();
}

WorkerLoad WorkerDatabases::load() const {
  WorkerLoad sum = first_->node.load();
  for (const auto* database : all()) {
    if (database == first_.get()) continue;
    const auto load = database->node.load();
    sum.statements += load.statements;
    sum.memory_used += load.memory_used;
    sum.tiles_stored += load.tiles_stored;
    sum.bytes_stored += load.bytes_stored;
    sum.bytes_sent += load.bytes_sent;
    sum.bytes_received += load.bytes_received;
    sum.disk_silence = std::max(sum.disk_silence, load.disk_silence);
  }
  return sum;
}

void WorkerDatabases::check() const {
  for (auto* database : all()) database->node.shards.undecided();
}

}  // namespace eindb

#include "server/sessions/shared_resources.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kLeastMemory = std::int64_t{32} << 20U;
/// The divisor for the default memory_limit of a statement: three statements and the caches fit in memory.
constexpr std::int64_t kStatementShare = 4;
/// The longest time of light work: hardly noticeable to its client, and to other work on the core.
constexpr double kLightSeconds = 0.02;
constexpr std::int64_t kLeastLightBytes = std::int64_t{2} << 20U;
/// The divisor for the memory of SQL, which usually needs little except for pages.
constexpr std::int64_t kSqlShare = 4;
constexpr std::int64_t kLeastSqlMemory = std::int64_t{32} << 20U;
/// The divisor for the memory that is held for clients between statements, and for incoming messages.
constexpr std::int64_t kClientShare = 8;
/// The divisor for the freed memory that malloc may keep.
constexpr std::int64_t kFreedShare = 32;
constexpr int kFewestHeavy = 2;
constexpr int kCoresForEachHeavy = 4;

std::int64_t memory_of(const ResourceLimits& limits) {
  const auto memory = limits.memory == 0 ? Settings::of_machine().memory_limit : limits.memory;
  if (memory >= kLeastMemory) return memory;
  throw Error(ErrorKind::Value, "a server does not work with " + std::to_string(memory) + " bytes", std::nullopt,
              "give it at least " + std::to_string(kLeastMemory >> 20U) + " MiB with --memory-limit");
}

std::int64_t sql_memory(std::int64_t memory) {
  return std::max(memory / kSqlShare, std::min(kLeastSqlMemory, memory / 2));
}

// The memory that remains for statements on tiles, their results, and caches.
std::int64_t tile_memory(std::int64_t memory) {
  const auto tiles = memory - sql_memory(memory) - memory / kClientShare;
  CHECK(tiles > 0, "statements have memory beside that of SQL and of clients");
  return tiles;
}

std::shared_ptr<const ClientPolicy> make_policy(const ResourceLimits& limits, const std::string& database,
                                                std::size_t workers, bool read_only) {
  auto policy = std::make_shared<ClientPolicy>();
  const auto memory = memory_of(limits);
  if (!limits.files_directory.empty()) policy->files = open_files_directory(limits.files_directory, database);
  policy->read_only = read_only;
  policy->settings.most_memory_limit = FairQueue::most_for_one(tile_memory(memory));
  policy->settings.memory_limit = std::min(memory / kStatementShare, policy->settings.most_memory_limit);
  if (limits.threads > 0) policy->settings.threads = limits.threads;
  policy->settings.most_threads = policy->settings.threads;
  CHECK(workers > 0, "somebody runs statements");
  policy->memory_share = memory / static_cast<std::int64_t>(workers);
  return policy;
}

FairQueue::Limits queue_limits(const ResourceLimits& limits, const ClientPolicy& policy) {
  const int heavy = std::max(kFewestHeavy, policy.settings.threads / kCoresForEachHeavy);
  return {.memory = tile_memory(memory_of(limits)),
          .heavy = limits.heavy_statements > 0 ? limits.heavy_statements : heavy,
          .light_seconds = kLightSeconds,
          .light_bytes = std::max(kLeastLightBytes, policy.memory_share / 8)};
}

}  // namespace

SharedResources::SharedResources(const ResourceLimits& limits, const std::string& database, std::size_t workers,
                                 bool read_only)
    : read_only_(read_only),
      memory_(memory_of(limits)),
      workers_(workers, [this] { freed_memory_.look(); }),
      policy_(make_policy(limits, database, workers, read_only)),
      caches_(std::make_shared<TileCachePool>(FairQueue::most_for_caches(tile_memory(memory_)), tile_memory(memory_))),
      queue_(std::make_shared<FairQueue>(queue_limits(limits, *policy_), caches_, workers_)) {
  limit_sql_memory(sql_memory(memory_));
  freed_memory_.limit(memory_ / kFreedShare, policy_->settings.threads);
}

std::size_t SharedResources::bytes_for_clients() const { return static_cast<std::size_t>(memory_ / kClientShare); }

SessionOptions SharedResources::session(bool read_only) const {
  return {.read_only = read_only || read_only_, .policy = policy_, .gate = queue_, .tile_caches = caches_};
}

}  // namespace eindb

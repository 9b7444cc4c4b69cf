#include "server/shared_resources.hpp"

#include <algorithm>

#include "common/error.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kLeastMemory = std::int64_t{32} << 20U;
/// What a statement has unless its client sets another memory_limit: three fit beside each other, and caches.
constexpr std::int64_t kStatementShare = 4;
/// Whoever waits for a statement does not notice that long, and a core's other work does not either.
constexpr double kLightSeconds = 0.02;
constexpr std::int64_t kLeastLightBytes = std::int64_t{2} << 20U;
constexpr int kFewestHeavy = 2;
constexpr int kCoresForEachHeavy = 4;

std::int64_t memory_of(const ResourceLimits& limits) {
  const auto memory = limits.memory == 0 ? Settings::of_machine().memory_limit : limits.memory;
  if (memory >= kLeastMemory) return memory;
  throw Error(ErrorKind::Value, "a server does not work with " + std::to_string(memory) + " bytes", std::nullopt,
              "give it at least " + std::to_string(kLeastMemory >> 20U) + " MiB with --memory-limit");
}

std::shared_ptr<const ClientPolicy> make_policy(const ResourceLimits& limits, const std::string& database,
                                                std::size_t workers, bool read_only) {
  auto policy = std::make_shared<ClientPolicy>();
  const auto memory = memory_of(limits);
  if (!limits.files_directory.empty()) policy->files = open_files_directory(limits.files_directory, database);
  policy->read_only = read_only;
  policy->settings.memory_limit = memory / kStatementShare;
  policy->settings.most_memory_limit = FairQueue::most_for_one(memory);
  if (limits.threads > 0) policy->settings.threads = limits.threads;
  policy->settings.most_threads = policy->settings.threads;
  policy->memory_share = memory / static_cast<std::int64_t>(workers);
  return policy;
}

FairQueue::Limits queue_limits(const ResourceLimits& limits, const ClientPolicy& policy) {
  const int heavy = std::max(kFewestHeavy, policy.settings.threads / kCoresForEachHeavy);
  return {.memory = memory_of(limits),
          .heavy = limits.heavy_statements > 0 ? limits.heavy_statements : heavy,
          .light_seconds = kLightSeconds,
          .light_bytes = std::max(kLeastLightBytes, policy.memory_share / 8)};
}

}  // namespace

SharedResources::SharedResources(const ResourceLimits& limits, const std::string& database, std::size_t workers,
                                 bool read_only)
    : read_only_(read_only),
      workers_(workers),
      policy_(make_policy(limits, database, workers, read_only)),
      caches_(std::make_shared<TileCachePool>(FairQueue::most_for_caches(memory_of(limits)), memory_of(limits))),
      queue_(std::make_shared<FairQueue>(queue_limits(limits, *policy_), caches_, workers_)) {}

SessionOptions SharedResources::session(bool read_only) const {
  return {.read_only = read_only || read_only_, .policy = policy_, .gate = queue_, .tile_caches = caches_};
}

}  // namespace eindb

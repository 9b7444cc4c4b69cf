#include "engine/query/query_admission.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "optimizer/partitions/calibrated_model.hpp"
#include "optimizer/partitions/prediction.hpp"
#include "optimizer/plan_memory.hpp"

namespace eindb {
namespace {

/// The factor for the partial results of several threads, beside the tiles of a plan, and for kernel workspaces.
constexpr double kReserve = 2;
/// Smaller requests are rounded up to this many bytes.
constexpr double kLeastBytes = 1 << 20;

std::int64_t share_of_tiles(std::int64_t bytes) { return bytes - bytes / Settings::kShareOfOthers; }

double with_reserve(double tiles) { return kLeastBytes + kReserve * tiles; }

// At most memory_limit: a larger plan keeps to the limit.
std::int64_t bytes_to_ask_for(const QueryNeed& need, const Settings& settings) {
  const auto limit = static_cast<double>(settings.memory_limit());
  const auto wanted = std::min(Settings::memory_limit_for_tiles(need.bytes), limit);
  CHECK(wanted > 0, "a query takes some memory");
  return static_cast<std::int64_t>(wanted);
}

}  // namespace

QueryNeed need_of(const PlannedQuery& planned, const Settings& settings) {
  const auto working = working_bytes(planned.plan.fragment(), settings.threads());
  return {planned.shared->predicted_seconds,
          std::max(with_reserve(planned.plan.peak_bytes + working), 2 * planned.plan.least_bytes)};
}

QueryNeed need_of_coordinator(const PlannedQuery& planned, const PhysicalPlan& plan, const SessionUser& user) {
  const auto threads = user.settings.threads();
  const auto rank = plan.coordinator;
  const CalibratedModel model(user.machine(), threads);
  return {predicted_seconds(planned.plan.graph, plan, model),
          with_reserve(peak_bytes(plan, rank) + working_bytes(plan, rank, threads))};
}

std::shared_ptr<QueryAdmission> QueryAdmission::enter(const std::function<QueryNeed()>& need,
                                                      const SessionState& session) {
  struct Made final : QueryAdmission {};  // its constructor is open to make_shared
  std::shared_ptr<QueryAdmission> query = std::make_shared<Made>();
  if (session.user.gate == nullptr) return query;
  const auto needed = need();
  const Work work{.seconds = needed.seconds,
                  .bytes = bytes_to_ask_for(needed, session.user.settings),
                  .urgent = session.database.file.has_written()};
  query->admission_ = session.user.gate->admit(session.user.permissions.user(), work, session.statement.cancellation());
  CHECK(query->admission_ != nullptr && query->admission_->bytes() <= work.bytes,
        "a gate gives leave, and no more memory than was asked for");
  if (session.database.tiles.pool() != nullptr) query->resident_ = session.database.tiles.pool()->resident();
  return query;
}

std::shared_ptr<MemoryBudget> QueryAdmission::budget(std::shared_ptr<QueryAdmission> admission, SessionState& session) {
  CHECK(admission != nullptr, "a query is admitted before it gets memory");
  const auto& settings = session.user.settings;
  auto limit = settings.memory_for_tiles();
  if (const auto* own = admission->admission_.get())
    limit = std::min(limit, share_of_tiles(own->bytes()) + session.database.tiles.idle_bytes());
  CHECK(limit >= 0, "a budget has no less than nothing");
  const auto setting = static_cast<std::int64_t>(Settings::memory_limit_for_tiles(static_cast<double>(limit)));
  auto memory = MemoryBudget::create(limit, session.database.file.scratch_directory(), setting);
  memory->advise(settings.memory_advice());
  memory->keep(std::move(admission));
  return memory;
}

// Tiles in the scratch file come back to memory when the result is read, so the whole reservation then stays.
void QueryAdmission::has_run(const MemoryBudget& memory) {
  if (admission_ == nullptr) return;
  const bool all_here = memory.written_bytes() == 0;
  const auto held = all_here ? std::min(memory.used(), admission_->bytes()) : admission_->bytes();
  CHECK(held >= 0 && held <= admission_->bytes(), "a result holds no more than its query was admitted with");
  admission_->has_run(held);
}

}  // namespace eindb

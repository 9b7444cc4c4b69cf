#include "engine/query/query_admission.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "optimizer/plan_memory.hpp"

namespace eindb {
namespace {

/// What partial results of several threads take beside the tiles of a plan, and room for its kernels' copies.
constexpr double kReserve = 2;
/// Small tiles are rounded up.
constexpr double kLeastBytes = 1 << 20;

std::int64_t share_of_tiles(std::int64_t bytes) { return bytes - bytes / Settings::kShareOfOthers; }

// A query never takes more than its plan has tiles; one that would not fit the limit keeps to it.
std::int64_t bytes_of(const PlannedQuery& planned, const Settings& settings) {
  const auto working = working_bytes(planned.plan.physical, settings.threads());
  const auto bytes =
      std::max(kLeastBytes + kReserve * (planned.plan.peak_bytes + working), 2 * planned.plan.least_bytes);
  const auto limit = static_cast<double>(settings.memory_limit());
  const auto wanted = std::min(Settings::memory_limit_for_tiles(bytes), limit);
  CHECK(wanted > 0, "a query takes some memory");
  return static_cast<std::int64_t>(wanted);
}

}  // namespace

std::shared_ptr<QueryAdmission> QueryAdmission::enter(const PlannedQuery& planned, const SessionState& session) {
  std::shared_ptr<QueryAdmission> query(new QueryAdmission);
  if (session.user.gate == nullptr) return query;
  const Work work{.seconds = planned.shared->predicted_seconds,
                  .bytes = bytes_of(planned, session.user.settings),
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
  memory->advise(settings.how_to_have(setting + 1));
  memory->keep(std::move(admission));
  return memory;
}

// Tiles that were put aside come back when the result is read: then all of it stays reserved.
void QueryAdmission::has_run(const MemoryBudget& memory) {
  if (admission_ == nullptr) return;
  const bool all_here = memory.written_bytes() == 0;
  const auto held = all_here ? std::min(memory.used(), admission_->bytes()) : admission_->bytes();
  CHECK(held >= 0 && held <= admission_->bytes(), "a result holds no more than its query was admitted with");
  admission_->has_run(held);
}

}  // namespace eindb

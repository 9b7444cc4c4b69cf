#include "engine/query/memory_checks.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "common/error.hpp"
#include "storage/files/scratch_file.hpp"

namespace eindb {
namespace {

[[noreturn]] void refuse_for_memory(const MemoryShortfall& shortfall, const Settings& settings) {
  const auto limit = settings.memory_limit();
  const auto mebibytes = [](double bytes) {
    return std::to_string(static_cast<std::int64_t>(std::ceil(bytes / 1048576.0)));
  };
  const auto bytes = std::min(Settings::memory_limit_for_tiles(shortfall.bytes), 9e18);
  const auto least = mebibytes(bytes);
  const auto remedy = settings.how_to_have(static_cast<std::int64_t>(std::ceil(bytes)));
  if (shortfall.for_calls) {
    throw Error(
        ErrorKind::MemoryLimit,
        "the tiles that kernel calls work on need at least " + least + " MiB, more than the memory_limit of " +
            mebibytes(static_cast<double>(limit)) + " MiB",
        std::nullopt,
        remedy + ", or cut the operands of " + shortfall.vertex + " into smaller tiles: ALTER TENSOR ... PARTITION");
  }
  throw Error(ErrorKind::MemoryLimit,
              shortfall.vertex + " needs at least " + least +
                  " MiB in whatever slices, for its result and what slices " + "share, more than the memory_limit of " +
                  mebibytes(static_cast<double>(limit)) + " MiB",
              std::nullopt, remedy + ", or try another order with USING PATH");
}

double dense_bytes(DType type, const Shape& shape) {
  auto bytes = static_cast<double>(size_of(type));
  for (const auto extent : shape.extents()) bytes *= static_cast<double>(extent);
  return bytes;
}

// Of the tiles that are expected to be there, or of the cells.
double result_bytes(const PlannedQuery& planned, std::size_t n) {
  const auto& made = planned.plan.graph.vertex(planned.plan.graph.outputs()[n]);
  return dense_bytes(made.dtype, made.bound) * (made.cells ? made.stored_share() : made.density.present);
}

// Refuses what takes more than the memory limit and the room for scratch files.
void check_fits(double bytes, const std::string& what, const std::string& remedy, const SessionState& session) {
  const auto limit = static_cast<double>(session.user.settings.memory_limit());
  if (bytes <= limit) return;
  const auto directory = session.database.file.scratch_directory();
  const auto room = static_cast<double>(free_bytes(directory.empty() ? temporary_directory() : directory));
  if (bytes <= limit + room) return;
  const auto mebibytes = [](double value) {
    return std::to_string(static_cast<std::int64_t>(std::ceil(std::min(value, 9e18) / 1048576.0)));
  };
  throw Error(ErrorKind::MemoryLimit,
              what + " takes " + mebibytes(bytes) + " MiB, more than the memory_limit of " + mebibytes(limit) +
                  " MiB and the " + mebibytes(room) + " MiB that are free for scratch files",
              std::nullopt, remedy);
}

std::string names_of_results(const PlannedQuery& planned) {
  std::string names;
  for (const auto& result : planned.query.results) names += (names.empty() ? "" : ", ") + result.name;
  return names;
}

}  // namespace

void check_memory(const OptimizedPlan& plan, const Settings& settings) {
  if (plan.shortfall) refuse_for_memory(*plan.shortfall, settings);
}

void check_results(const PlannedQuery& planned, const SessionState& session) {
  double bytes = 0;
  for (std::size_t n = 0; n < planned.result_count(); ++n) bytes += result_bytes(planned, n);
  check_fits(bytes, "the result of " + names_of_results(planned), "ask for a part of it, or aggregate it", session);
}

void check_all_values(const TensorRelation& result, const SessionState& session) {
  check_fits(dense_bytes(result.dtype, result.grid.shape()), "the result of " + result.name + " with all its zeros",
             "write its cells: as tns or mtx, with FORMAT scipy, or as csv with LAYOUT coordinates", session);
}

void refuse_for_calls(const PlannedQuery& planned, std::int64_t least, const Settings& settings) {
  refuse_for_memory({names_of_results(planned), static_cast<double>(least), true}, settings);
}

}  // namespace eindb

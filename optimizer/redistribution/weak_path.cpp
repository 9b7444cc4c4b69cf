#include "optimizer/redistribution/weak_path.hpp"

#include <algorithm>

namespace eindb {
namespace {

// Whether no dimension loses factors in one of two steps and gets some in the other.
bool passes_nothing_on(const Partition& a, const Partition& b, const Partition& c) {
  for (std::size_t d = 0; d < a.size(); ++d)
    if ((a[d] < b[d] && c[d] < b[d]) || (a[d] > b[d] && c[d] > b[d])) return false;
  return true;
}

}  // namespace

std::int64_t local_size(const Shape& shape, const Partition& parts) {
  std::int64_t size = 1;
  for (std::size_t d = 0; d < parts.size(); ++d) size *= largest_part(shape[d], parts[d]);
  return size;
}

std::optional<WeakOperation> operation_between(const Partition& before, const Partition& after) {
  std::int64_t lost = 1;
  std::int64_t won = 1;
  for (std::size_t d = 0; d < before.size(); ++d) {
    if (before[d] % after[d] == 0) lost *= before[d] / after[d];
    else if (after[d] % before[d] == 0) won *= after[d] / before[d];
    else return std::nullopt;
  }
  if (lost == 1) return WeakOperation::DynSlice;
  if (won == 1) return WeakOperation::AllGather;
  return lost == won ? std::optional(WeakOperation::AllToAll) : std::nullopt;
}

std::int64_t group_size(const Partition& before, const Partition& after) {
  std::int64_t members = 1;
  for (std::size_t d = 0; d < before.size(); ++d)
    if (after[d] < before[d]) members *= before[d] / after[d];
  return members;
}

double operation_cost(const Shape& shape, const Partition& before, const Partition& after,
                      const CollectiveLatency& latency) {
  const auto operation = operation_between(before, after);
  if (operation == WeakOperation::DynSlice) return 0;
  const auto moved = operation == WeakOperation::AllGather
                         ? local_size(shape, after)
                         : std::max(local_size(shape, before), local_size(shape, after));
  return static_cast<double>(moved) + latency.of(group_size(before, after));
}

WeakPath merged(const Shape& shape, const WeakPath& path, const CollectiveLatency& latency) {
  WeakPath out;
  const auto is_one_step = [&](const Partition& a, const Partition& b, const Partition& c) {
    return operation_between(a, b) == operation_between(b, c) && passes_nothing_on(a, b, c) &&
           operation_cost(shape, a, c, latency) <=
               operation_cost(shape, a, b, latency) + operation_cost(shape, b, c, latency);
  };
  for (const auto& type : path) {
    if (out.size() > 1 && is_one_step(out[out.size() - 2], out.back(), type)) out.pop_back();
    out.push_back(type);
  }
  return out;
}

}  // namespace eindb

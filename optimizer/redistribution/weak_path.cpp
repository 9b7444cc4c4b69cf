#include "optimizer/redistribution/weak_path.hpp"

#include <algorithm>

#include "common/check.hpp"

namespace eindb {
namespace {

// Whether no dimension loses factors in one of two steps and gains some in the other.
bool passes_nothing_on(const Partition& a, const Partition& b, const Partition& c) {
  for (std::size_t d = 0; d < a.size(); ++d)
    if ((a[d] < b[d] && c[d] < b[d]) || (a[d] > b[d] && c[d] > b[d])) return false;
  return true;
}

// The parts of the common refinement of two types: those of whichever cuts further.
Partition finer(const Partition& a, const Partition& b) {
  Partition out;
  for (std::size_t d = 0; d < a.size(); ++d) out.push_back(std::max(a[d], b[d]));
  return out;
}

// Whether pieces lie contiguously in a block, one after the other and without padding. They do if they cut only its
// first dimension with more than one index. An alltoall may send them in another order.
bool lie_as_they_travel(const Shape& shape, const Partition& block, const Partition& pieces) {
  bool is_inner = false;
  for (std::size_t d = 0; d < block.size(); ++d) {
    if (pieces[d] != block[d] && (is_inner || shape[d] % pieces[d] != 0)) return false;
    is_inner = is_inner || largest_part(shape[d], pieces[d]) > 1;
  }
  return true;
}

}  // namespace

std::int64_t local_size(const Shape& shape, const Partition& parts) {
  DCHECK(parts.size() == shape.rank(), "a type has parts for every dimension");
  std::int64_t size = 1;
  for (std::size_t d = 0; d < parts.size(); ++d) size *= largest_part(shape[d], parts[d]);
  return size;
}

std::optional<WeakOperation> operation_between(const Partition& before, const Partition& after) {
  DCHECK(before.size() == after.size(), "an operation keeps the dimensions of a tensor");
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
                      const CollectiveCosts& costs) {
  const auto operation = operation_between(before, after);
  DCHECK(operation.has_value(), "an operation leads from the one type to the other");
  const auto old_block = static_cast<double>(local_size(shape, before));
  const auto new_block = static_cast<double>(local_size(shape, after));
  if (operation == WeakOperation::DynSlice) return costs.per_packed_element * new_block;
  const auto members = group_size(before, after);
  const auto moved = operation == WeakOperation::AllGather ? new_block : std::max(old_block, new_block);
  const auto kept = moved / static_cast<double>(members);
  const auto pieces = finer(before, after);
  double packed = lie_as_they_travel(shape, after, pieces) ? 0 : new_block;
  if (!lie_as_they_travel(shape, before, pieces)) packed += old_block;
  return moved - (1 - costs.per_kept_element) * kept + costs.per_packed_element * packed + costs.latency(members);
}

WeakPath merged(const Shape& shape, const WeakPath& path, const CollectiveCosts& costs) {
  WeakPath out;
  const auto is_one_step = [&](const Partition& a, const Partition& b, const Partition& c) {
    return operation_between(a, b) == operation_between(b, c) && passes_nothing_on(a, b, c) &&
           operation_cost(shape, a, c, costs) <=
               operation_cost(shape, a, b, costs) + operation_cost(shape, b, c, costs);
  };
  for (const auto& type : path) {
    if (out.size() > 1 && is_one_step(out[out.size() - 2], out.back(), type)) out.pop_back();
    out.push_back(type);
  }
  return out;
}

}  // namespace eindb

#include "plan/redistribution_plan.hpp"

#include <algorithm>
#include <cmath>

#include "common/check.hpp"
#include "common/checked_math.hpp"

namespace eindb {
namespace {

std::string number_text(double value) {
  return value == std::floor(value) && std::abs(value) < 1e15 ? std::to_string(static_cast<std::int64_t>(value))
                                                              : std::to_string(value);
}

std::string sizes_text(const Shape& shape, const Partition& parts) {
  std::string out;
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    out += (d == 0 ? "" : ", ") + std::to_string(largest_part(shape[d], parts[d]));
    if (parts[d] > 1) out += "{/" + std::to_string(parts[d]) + "}" + std::to_string(shape[d]);
  }
  return "[" + out + "]";
}

// Formats the steps of a plan over the axes of a factored mesh.
class Describer {
 public:
  Describer(const RedistributionPlan& plan, const Mesh& mesh) : plan_(plan), mesh_(mesh.factored()) {}

  std::vector<std::string> lines() const {
    std::vector<std::string> out;
    auto before = type_of(plan_.source, plan_.shape, mesh_);
    for (std::size_t n = 0; n < plan_.steps.size(); ++n) {
      const auto& step = plan_.steps[n];
      auto after = type_of(step.result, plan_.shape, mesh_);
      auto line = collective_name(step) + dimensions_text(plan_.before(n).parts, step.result.parts);
      if (before && after) line += moved_axes(*before, *after);
      line += "   " + (after ? after->to_string() : sizes_text(plan_.shape, step.result.parts));
      out.push_back(line + "   " + number_text(step.cost));
      before = std::move(after);
    }
    return out;
  }

 private:
  // "(0 -> 1)": the dimensions that lose cuts, then those that gain some.
  static std::string dimensions_text(const Partition& before, const Partition& after) {
    std::string from;
    std::string to;
    for (std::size_t d = 0; d < before.size(); ++d) {
      if (before[d] == after[d]) continue;
      auto& list = after[d] < before[d] ? from : to;
      list += (list.empty() ? "" : ",") + std::to_string(d);
    }
    if (from.empty() && to.empty()) return "";
    return "(" + from + (from.empty() || to.empty() ? "" : " -> ") + to + ")";
  }

  // " {x,y}": the axes whose cut dimension differs before and after the step.
  std::string moved_axes(const DistributedType& before, const DistributedType& after) const {
    const auto dimension_of = [](const DistributedType& type, std::size_t axis) {
      for (std::size_t d = 0; d < type.rank(); ++d) {
        const auto& axes = type.dimensions()[d].axes;
        if (std::find(axes.begin(), axes.end(), axis) != axes.end()) return d;
      }
      return type.rank();
    };
    std::string names;
    for (std::size_t a = 0; a < mesh_.axes().size(); ++a)
      if (dimension_of(before, a) != dimension_of(after, a)) names += (names.empty() ? "" : ",") + mesh_[a].name;
    return names.empty() ? "" : " {" + names + "}";
  }

  const RedistributionPlan& plan_;
  const Mesh mesh_;
};

const RankGroup& group_of(const std::vector<RankGroup>& groups, Rank rank) {
  const auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
    return std::find(group.begin(), group.end(), rank) != group.end();
  });
  CHECK(found != groups.end(), "every rank with a block is in a group");
  return *found;
}

// The elements that a rank with a block receives in a step, and the elements of its buffers for packing and unpacking.
struct StepTraffic {
  std::int64_t received = 0;
  std::int64_t buffered = 0;
};

StepTraffic traffic_of(const RedistributionPlan& plan, std::size_t n, Rank rank) {
  const auto& step = plan.steps[n];
  const auto& before = plan.before(n);
  const auto of_group = [&](const std::vector<RankGroup>& groups, bool packs_all) -> StepTraffic {
    const auto members = static_cast<std::int64_t>(group_of(groups, rank).size());
    const auto piece = padded_piece(plan.shape, before.parts, step.result.parts);
    const auto all = checked_multiply(members, piece);
    return {all - piece, checked_add(all, packs_all ? all : piece)};
  };
  if (const auto* gather = std::get_if<AllGather>(&step.collective)) return of_group(gather->groups, false);
  if (const auto* exchange = std::get_if<AllToAll>(&step.collective)) return of_group(exchange->groups, true);
  if (const auto* permutation = std::get_if<AllPermute>(&step.collective))
    return {permutation->from[rank] == rank ? 0 : element_count(block_box(plan.shape, before, permutation->from[rank])),
            0};
  return {};
}

}  // namespace

double RedistributionPlan::cost() const {
  double sum = 0;
  for (const auto& step : steps) sum += step.cost;
  return sum;
}

std::int64_t RedistributionPlan::peak() const {
  auto most = largest_block(shape, source);
  for (const auto& step : steps) most = std::max(most, largest_block(shape, step.result));
  return most;
}

std::string collective_name(const RedistributionStep& step) {
  static constexpr const char* kNames[] = {"dynslice", "allgather", "alltoall", "allpermute"};
  return kNames[step.collective.index()];
}

MovedElements moved_elements(const Shape& shape, const BlockPlacement& before, const BlockPlacement& after) {
  MovedElements out;
  for (std::size_t rank = 0; rank < after.at.size(); ++rank) {
    if (!after.at[rank]) continue;
    const auto wanted = block_box(shape, after, rank);
    auto lacking = element_count(wanted);
    if (before.at[rank]) lacking -= element_count(common_box(wanted, block_box(shape, before, rank)));
    out.received += lacking;
    out.most_received = std::max(out.most_received, lacking);
  }
  return out;
}

MovedElements moved_elements(const RedistributionPlan& plan) {
  MovedElements out;
  for (std::size_t n = 0; n < plan.steps.size(); ++n) {
    const auto step = moved_elements(plan.shape, plan.before(n), plan.steps[n].result);
    out.received += step.received;
    out.most_received += step.most_received;
  }
  return out;
}

std::int64_t padded_piece(const Shape& shape, const Partition& before, const Partition& after) {
  std::int64_t elements = 1;
  for (std::size_t d = 0; d < shape.rank(); ++d) elements *= largest_part(shape[d], std::max(before[d], after[d]));
  return elements;
}

std::int64_t received_elements(const RedistributionPlan& plan, Rank rank) {
  std::int64_t received = 0;
  for (std::size_t n = 0; n < plan.steps.size(); ++n)
    if (plan.before(n).at[rank]) received += traffic_of(plan, n, rank).received;
  return received;
}

std::int64_t working_elements(const RedistributionPlan& plan, Rank rank) {
  const auto elements = [&](const BlockPlacement& placement) {
    return placement.at[rank] ? element_count(block_box(plan.shape, placement, rank)) : 0;
  };
  auto most = elements(plan.source);
  for (std::size_t n = 0; n < plan.steps.size(); ++n) {
    if (!plan.before(n).at[rank]) continue;
    const auto blocks = checked_add(elements(plan.before(n)), elements(plan.steps[n].result));
    most = std::max(most, checked_add(blocks, traffic_of(plan, n, rank).buffered));
  }
  return most;
}

std::int64_t working_elements(const RedistributionPlan& plan) {
  std::int64_t most = 0;
  for (std::size_t rank = 0; rank < plan.source.at.size(); ++rank)
    most = std::max(most, working_elements(plan, static_cast<Rank>(rank)));
  return most;
}

std::vector<std::string> describe(const RedistributionPlan& plan, const Mesh& mesh) {
  return Describer(plan, mesh).lines();
}

}  // namespace eindb

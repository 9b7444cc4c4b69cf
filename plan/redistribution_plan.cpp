#include "plan/redistribution_plan.hpp"

#include <algorithm>
#include <cmath>

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
  static constexpr const char* kNames[] = {"dynslice", "allgather", "alltoall", "allpermute", "direct exchange"};
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

std::vector<std::string> describe(const RedistributionPlan& plan, const Mesh& mesh) {
  return Describer(plan, mesh).lines();
}

}  // namespace eindb

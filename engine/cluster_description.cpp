#include "engine/cluster_description.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "engine/figures.hpp"
#include "optimizer/redistribution/redistribution_planner.hpp"
#include "plan/distributed_type.hpp"

namespace eindb {
namespace {

using Json = nlohmann::ordered_json;

double total(const std::vector<double>& of_ranks) { return std::accumulate(of_ranks.begin(), of_ranks.end(), 0.0); }

double most(const std::vector<double>& of_ranks) {
  return of_ranks.empty() ? 0 : *std::max_element(of_ranks.begin(), of_ranks.end());
}

// The mesh of twos that placements are types over, as if all of it were there.
Mesh mesh_of(const ClusterProfile& profile) {
  return Mesh::of_twos(static_cast<int>(std::bit_width(std::max<std::size_t>(profile.computing, 1)) - 1));
}

bool is_at_coordinator(const BlockPlacement& blocks, const DistributedPlan& plan) {
  return blocks.at[plan.coordinator] &&
         std::count_if(blocks.at.begin(), blocks.at.end(), [](const auto& at) { return at.has_value(); }) == 1;
}

std::string placement_text(const DistributedStep& step, const ClusterProfile& profile) {
  const auto* blocks = std::get_if<BlockPlacement>(&step.placement);
  if (blocks == nullptr) return "stored";
  const auto holders =
      std::count_if(blocks->at.begin(), blocks->at.end(), [](const auto& at) { return at.has_value(); });
  if (is_at_coordinator(*blocks, *profile.plan)) return "coordinator";
  const auto mesh = mesh_of(profile);
  auto on_mesh = *blocks;
  on_mesh.at.resize(static_cast<std::size_t>(mesh.rank_count()));
  if (const auto type = type_of(on_mesh, step.grid.shape(), mesh)) return type->to_string();
  std::string out = "blocks";
  for (const auto parts : blocks->parts) out += (out == "blocks" ? " [" : ", ") + std::to_string(parts);
  return out + (out == "blocks" ? "" : "]") + " at " + std::to_string(holders) + " ranks";
}

// What collectives alone would take where all that moves is blocks of workers.
void describe_collectives(const ClusterProfile& profile, const DistributedStep& step, Json& out) {
  const auto* moved = std::get_if<RedistributeStep>(&step.op);
  if (moved == nullptr) return;
  const auto* from = std::get_if<BlockPlacement>(&profile.plan->step(moved->input).placement);
  const auto* to = std::get_if<BlockPlacement>(&step.placement);
  if (from == nullptr || to == nullptr || is_at_coordinator(*to, *profile.plan)) return;
  const auto collectives = plan_redistribution(step.grid.shape(), *from, *to);
  if (collectives.steps.empty()) return;
  out["collectives"] = describe(collectives, mesh_of(profile));
  out["collective_elements"] = number_of(collectives.cost());
  out["elements_by_busiest"] = moved_elements(step.grid.shape(), *from, *to).most_received;
}

Json describe_step(const PlannedQuery& planned, const ClusterProfile& profile, std::size_t n,
                   const std::vector<double>& predicted) {
  const auto& step = profile.plan->steps[n];
  Json inputs = Json::array();
  for (const auto input : inputs_of(step)) inputs.push_back(input.index());
  Json out{{"id", n},
           {"step", operator_name(step)},
           {"vertex", planned.plan.graph.vertex(step.vertex).name},
           {"inputs", inputs},
           {"grid", step.grid.partition()},
           {"placement", placement_text(step, profile)},
           {"bytes", number_of(total(predicted))},
           {"bytes_by_busiest", number_of(most(predicted))}};
  describe_collectives(profile, step, out);
  if (profile.reports.empty()) return out;
  std::int64_t bytes = 0;
  double seconds = 0;
  double waiting = 0;
  for (const auto& report : profile.reports) {
    const auto& did = report.profile.steps[n];
    bytes += did.bytes_received;
    seconds = std::max(seconds, did.seconds);
    waiting = std::max(waiting, did.seconds_waiting);
  }
  out["actual_bytes"] = bytes;
  out["seconds"] = seconds;
  out["seconds_waiting"] = waiting;
  return out;
}

// Of one rank, all steps together.
StepProfile sum_of(const RankReport& report) {
  StepProfile sum;
  for (const auto& step : report.profile.steps) {
    sum.seconds_waiting += step.seconds_waiting;
    sum.bytes_sent += step.bytes_sent;
    sum.bytes_received += step.bytes_received;
    sum.compute.seconds += step.compute.seconds;
  }
  return sum;
}

// What brought the results to where they are wanted.
double delivery_seconds(const DistributedPlan& plan, const RankReport& report) {
  double seconds = 0;
  for (const auto result : plan.results) seconds += report.profile.steps[result.index()].seconds;
  return seconds;
}

void describe_ranks(const ClusterProfile& profile, Json& plan) {
  Json ranks = Json::array();
  double seconds = 0;
  double before_delivery = 0;
  std::int64_t bytes = 0;
  std::vector<double> computing;
  for (std::size_t rank = 0; rank < profile.reports.size(); ++rank) {
    const auto& report = profile.reports[rank];
    const auto sum = sum_of(report);
    seconds = std::max(seconds, report.profile.seconds);
    bytes += sum.bytes_received;
    if (rank < profile.computing) {
      computing.push_back(sum.compute.seconds);
      before_delivery = std::max(before_delivery, report.profile.seconds - delivery_seconds(*profile.plan, report));
    }
    ranks.push_back({{"rank", rank},
                     {"worker", profile.ranks[rank]},
                     {"seconds", report.profile.seconds},
                     {"seconds_waiting", sum.seconds_waiting},
                     {"bytes_sent", sum.bytes_sent},
                     {"bytes_received", sum.bytes_received},
                     {"peak_bytes", report.profile.peak_bytes}});
  }
  const auto mean = total(computing) / static_cast<double>(std::max<std::size_t>(computing.size(), 1));
  plan["execution_seconds"] = seconds;
  plan["seconds_before_delivery"] = before_delivery;
  plan["actual_bytes_received"] = bytes;
  plan["skew"] = mean > 0 ? most(computing) / mean : 1;
  plan["ranks"] = std::move(ranks);
}

std::string step_text(const Json& step) {
  auto out = "  " + std::to_string(step["id"].get<std::size_t>()) + " " + step["step"].get<std::string>() + " " +
             step["vertex"].get<std::string>();
  for (const auto& input : step["inputs"]) out += " #" + std::to_string(input.get<std::size_t>());
  out += " -> grid " + step["grid"].dump() + ", " + step["placement"].get<std::string>();
  if (step["bytes"].get<double>() > 0) out += ", " + grouped(step["bytes"].get<double>()) + " bytes received";
  if (step.contains("seconds")) {
    out += "  (" + milliseconds(step["seconds"].get<double>()) + ", " +
           milliseconds(step["seconds_waiting"].get<double>()) + " of it waiting";
    if (step["actual_bytes"].get<std::int64_t>() > 0)
      out += ", " + grouped(step["actual_bytes"].get<double>()) + " bytes";
    out += ")";
  }
  out += "\n";
  if (step.contains("collectives"))
    for (const auto& line : step["collectives"]) out += "      by collectives: " + line.get<std::string>() + "\n";
  return out;
}

std::string rank_text(const Json& rank) {
  return "  " + rank["worker"].get<std::string>() + ": " + grouped(rank["bytes_sent"].get<double>()) + " bytes sent, " +
         grouped(rank["bytes_received"].get<double>()) + " received, " + milliseconds(rank["seconds"].get<double>()) +
         ", " + milliseconds(rank["seconds_waiting"].get<double>()) + " of it waiting, at most " +
         grouped(rank["peak_bytes"].get<double>()) + " bytes of tiles and workspace\n";
}

}  // namespace

void describe_cluster(const PlannedQuery& planned, const ClusterProfile& profile, Json& plan) {
  Json steps = Json::array();
  std::vector<double> of_ranks(profile.plan->ranks, 0);
  for (std::size_t n = 0; n < profile.plan->steps.size(); ++n) {
    const auto predicted = predicted_bytes(profile, StepId(n));
    steps.push_back(describe_step(planned, profile, n, predicted));
    for (std::size_t rank = 0; rank < predicted.size(); ++rank) of_ranks[rank] += predicted[rank];
  }
  plan["steps"] = std::move(steps);
  plan["bytes_received"] = number_of(total(of_ranks));
  plan["bytes_received_by_busiest"] = number_of(most(of_ranks));
  plan["worker_planning_seconds"] = profile.planning_seconds;
  plan["worker_plan_cache"] = name_of(profile.source);
  if (!profile.reports.empty()) describe_ranks(profile, plan);
}

std::string cluster_text(const Json& plan) {
  auto out = "Steps of the ranks: " + grouped(plan["bytes_received"].get<double>()) + " bytes received, at most " +
             grouped(plan["bytes_received_by_busiest"].get<double>()) + " by one rank\n";
  for (const auto& step : plan["steps"]) out += step_text(step);
  if (!plan.contains("ranks")) return out;
  out += "Ranks, of which the busiest computed " + std::to_string(plan["skew"].get<double>()).substr(0, 4) +
         " times as long as the mean\n";
  for (const auto& rank : plan["ranks"]) out += rank_text(rank);
  return out;
}

}  // namespace eindb

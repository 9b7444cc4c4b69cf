#include "engine/explain/cluster_description.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/check.hpp"
#include "optimizer/plan_memory.hpp"
#include "optimizer/redistribution/exchange_choice.hpp"
#include "plan/distributed_type.hpp"

namespace eindb {
namespace {

double total(const std::vector<double>& of_ranks) { return std::accumulate(of_ranks.begin(), of_ranks.end(), 0.0); }

double most(const std::vector<double>& of_ranks) {
  return of_ranks.empty() ? 0 : *std::max_element(of_ranks.begin(), of_ranks.end());
}

// The mesh over which placements are typed.
Mesh mesh_of(const ClusterProfile& profile) { return Mesh::of_primes(profile.made->terms.shape.computing); }

bool is_at_coordinator(const BlockPlacement& blocks, const PhysicalPlan& plan) {
  CHECK(plan.coordinator < blocks.at.size(), "a placement says of the coordinator what it holds");
  return blocks.at[plan.coordinator] &&
         std::count_if(blocks.at.begin(), blocks.at.end(), [](const auto& at) { return at.has_value(); }) == 1;
}

std::string placement_text(const PlanStep& step, const ClusterProfile& profile) {
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

std::optional<ExchangeDescription> describe_exchange(const EinGraph& graph, const ClusterProfile& profile,
                                                     const PlanStep& step) {
  auto exchange = exchange_of(*profile.plan, step);
  if (!exchange) return std::nullopt;
  const auto& moved = std::get<RedistributeStep>(step.op);
  if (graph.vertex(profile.plan->step(moved.input).vertex).density.is_sparse()) exchange->is_sparse = true;
  const auto both = forecast(*exchange, profile.made->terms.shape.transport, profile.made->terms.shape.memory);
  ExchangeDescription out{.by_collectives = moved.sequence.has_value(), .pieces_seconds = both.pieces_seconds};
  if (!both.sequence) return out;
  out.collectives_seconds = both.sequence_seconds;
  out.collectives = describe(*both.sequence, mesh_of(profile));
  out.collectives_bytes = both.sequence_bytes;
  return out;
}

DescriptionFields own_fields(const EinGraph& graph, const PlanStep& step) {
  if (const auto* compute = std::get_if<ComputeStep>(&step.op)) return compute->join.describe(graph);
  const auto* scan = std::get_if<ScanStep>(&step.op);
  return scan != nullptr ? ScanNode{scan->tensor}.describe(graph) : DescriptionFields{};
}

// Whether all values are read of a tensor whose tiles tell that it has few cells.
bool reads_values_of_cells(const PlanStep& step) {
  const auto* scan = std::get_if<ScanStep>(&step.op);
  return scan != nullptr && scan->tensor.cells && !step.cells;
}

StepDescription describe_step(const PlannedQuery& planned, const ClusterProfile& profile, std::size_t n,
                              const std::vector<double>& predicted) {
  const auto& step = profile.plan->steps[n];
  StepDescription out{.id = n,
                      .name = operator_name(step),
                      .vertex = planned.plan.graph.vertex(step.vertex).name,
                      .inputs = {},
                      .grid = step.grid.partition(),
                      .placement = placement_text(step, profile),
                      .own = own_fields(planned.plan.graph, step),
                      .bytes = total(predicted),
                      .bytes_by_busiest = most(predicted),
                      .exchange = describe_exchange(planned.plan.graph, profile, step)};
  for (const auto input : inputs_of(step)) out.inputs.push_back(input.index());
  out.cells = step.cells;
  out.reads_values_of_cells = reads_values_of_cells(step);
  if (profile.reports.empty()) return out;
  auto& actual = out.actual.emplace();
  for (const auto& report : profile.reports) {
    const auto& did = report.profile.steps[n];
    actual.bytes += did.bytes_received;
    actual.seconds = std::max(actual.seconds, did.seconds);
    actual.seconds_waiting = std::max(actual.seconds_waiting, did.seconds_waiting);
  }
  return out;
}

// The times and bytes of one rank, summed over all steps of the plan.
RankDescription describe_rank(const PhysicalPlan& plan, const std::string& worker, const RankReport& report) {
  RankDescription out{.worker = worker, .seconds = report.profile.seconds, .peak_bytes = report.profile.peak_bytes};
  CHECK(report.profile.steps.size() == plan.steps.size(), "a rank reports on every step");
  for (std::size_t n = 0; n < plan.steps.size(); ++n) {
    const auto& did = report.profile.steps[n];
    out.seconds_exchanging += did.seconds_exchanging - did.seconds_waiting;
    out.seconds_waiting += did.seconds_waiting;
    out.bytes_sent += did.bytes_sent;
    out.bytes_received += did.bytes_received;
    auto& seconds =
        std::holds_alternative<ComputeStep>(plan.steps[n].op) ? out.seconds_computing : out.seconds_assembling;
    seconds += did.seconds - did.seconds_exchanging;
  }
  return out;
}

// The average time of the rank's threads in kernel calls.
double kernel_seconds(const RankReport& report) {
  double seconds = 0;
  for (const auto& step : report.profile.steps) seconds += step.compute.seconds;
  return seconds;
}

// The seconds of the steps that deliver the results.
double delivery_seconds(const PhysicalPlan& plan, const RankReport& report) {
  double seconds = 0;
  for (const auto result : plan.results) seconds += report.profile.steps[result.index()].seconds;
  return seconds;
}

MeasuredRanks describe_ranks(const ClusterProfile& profile) {
  CHECK(profile.reports.size() <= profile.ranks.size(), "every rank that reports has an address");
  CHECK(profile.computing <= profile.ranks.size(), "ranks that compute are ranks of the plan");
  MeasuredRanks out;
  std::vector<double> computing;
  for (std::size_t rank = 0; rank < profile.reports.size(); ++rank) {
    const auto& report = profile.reports[rank];
    const auto& described = out.ranks.emplace_back(describe_rank(*profile.plan, profile.ranks[rank], report));
    out.seconds = std::max(out.seconds, report.profile.seconds);
    out.bytes_received += described.bytes_received;
    if (rank < profile.computing) {
      computing.push_back(kernel_seconds(report));
      out.seconds_before_delivery =
          std::max(out.seconds_before_delivery, report.profile.seconds - delivery_seconds(*profile.plan, report));
    }
  }
  const auto mean = total(computing) / static_cast<double>(std::max<std::size_t>(computing.size(), 1));
  out.skew = mean > 0 ? most(computing) / mean : 1;
  return out;
}

}  // namespace

ClusterDescription describe_cluster(const PlannedQuery& planned, const ClusterProfile& profile,
                                    const std::vector<std::size_t>& number_of_vertex) {
  ClusterDescription out;
  std::vector<double> of_ranks(profile.plan->ranks, 0);
  for (std::size_t n = 0; n < profile.plan->steps.size(); ++n) {
    const auto predicted = predicted_bytes(profile, StepId(n));
    CHECK(predicted.size() == of_ranks.size(), "of every rank it is predicted what it receives");
    out.steps.push_back(describe_step(planned, profile, n, predicted));
    const auto& step = profile.plan->steps[n];
    out.steps.back().density = planned.plan.graph.vertex(step.vertex).density.present;
    if (std::holds_alternative<ComputeStep>(step.op)) out.steps.back().computes = number_of_vertex[step.vertex.index()];
    for (std::size_t rank = 0; rank < predicted.size(); ++rank) of_ranks[rank] += predicted[rank];
  }
  for (std::size_t rank = 0; rank < of_ranks.size(); ++rank)
    out.peak_bytes_of_busiest = std::max(out.peak_bytes_of_busiest, peak_bytes(*profile.plan, static_cast<Rank>(rank)));
  out.bytes_received = total(of_ranks);
  out.bytes_received_by_busiest = most(of_ranks);
  out.planning_seconds = profile.planning_seconds;
  out.source = profile.source;
  if (!profile.reports.empty()) out.actual = describe_ranks(profile);
  return out;
}

}  // namespace eindb

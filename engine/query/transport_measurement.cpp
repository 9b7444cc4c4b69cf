#include "engine/query/transport_measurement.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/cluster.hpp"
#include "common/check.hpp"
#include "common/error.hpp"
#include "common/stopwatch.hpp"
#include "engine/plans/worker_choices.hpp"
#include "engine/tensors/tile_endpoints.hpp"
#include "executor/executor.hpp"
#include "optimizer/partitions/placement.hpp"
#include "optimizer/rank_planner.hpp"
#include "optimizer/redistribution/transport_fit.hpp"
#include "parser/binder/binder.hpp"
#include "parser/parser.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kSides[] = {32, 128, 512, 1024};  // of a square matrix of FLOAT64
constexpr int kLeastRuns = 2;

// A vertex T whose rows are computed at all ranks, and a vertex R that takes columns of it, or all of it, at each rank.
struct Probe {
  std::string query;
  Partition reader;  // the vector of R over its labels i, j and k
};

std::vector<Probe> probes(std::int64_t ranks) {
  std::vector<Probe> out;
  for (const auto side : kSides) {
    const auto n = std::to_string(std::max(side, ranks));
    const auto made = "WITH T[i " + n + ", j " + n + "] = CAST(i + j AS FLOAT64) EINSUM ";
    out.push_back({made + "R[j] = SUM[i](T[i,j])", {1, ranks}});
    out.push_back({made + "R[k " + std::to_string(ranks) + "] = SUM[i,j](T[i,j] * k)", {1, 1, ranks}});
  }
  return out;
}

// The vector with these parts of a vertex's labels, in the EinSum's order.
LabelPartition vector_of(const Vertex& vertex, const Partition& parts) {
  CHECK(vertex.einsum.labels().size() == parts.size(), "a vector has an entry for every label");
  return {vertex.einsum.labels(), parts};
}

class NoTiles final : public TileSource {
 public:
  TilePtr read(const std::string& tensor, std::int64_t /*tile_id*/) override {
    throw Error(ErrorKind::Internal, "a probe reads the tensor " + tensor);
  }
};

class TransportMeasurement {
 public:
  TransportMeasurement(SessionState& session, Workers workers)
      : session_(session), workers_(std::move(workers)), prior_(prior_of(*session.database.cluster)) {
    ranks_ = static_cast<std::int64_t>(workers_.size());
  }

  TransportCosts run(double seconds) {
    const auto all = probes(ranks_);
    const auto slot = seconds / static_cast<double>(2 * all.size());
    std::int64_t done = 0;
    for (const auto& probe : all)
      for (const auto way : {ExchangeWay::Pieces, ExchangeWay::Collectives}) {
        session_.statement.report("calibrate exchanges", done++, 2 * static_cast<std::int64_t>(all.size()));
        measure(probe, way, slot);
      }
    return fit_transport(samples_, prior_);
  }

 private:
  static TransportCosts prior_of(const Cluster& cluster) {
    return cluster.transport() == Transport::Mpi ? TransportCosts::of_mpi() : TransportCosts::of_tcp();
  }

  PhysicalPlan plan_of(const Probe& probe, ExchangeWay way) {
    const auto bound = bind_query(parse_query(probe.query), session_.names());
    const auto& graph = bound.graph;
    CHECK(graph.size() == 2 && graph.outputs().size() == 1, "a probe is a vertex that is read by another");
    const auto labelling = evaluate(
        graph, {vector_of(graph.vertex(VertexId(0)), {ranks_, 1}), vector_of(graph.vertex(VertexId(1)), probe.reader)},
        {});
    const ClusterShape shape{.ranks = workers_.size() + 1,
                             .coordinator = static_cast<Rank>(workers_.size()),
                             .computing = ranks_,
                             .calls_per_rank = 1,
                             .redistribution = way,
                             .transport = prior_};
    const auto output = graph.outputs()[0];
    const auto grid = TileGrid(graph.vertex(output).bound,
                               result_partition(graph.vertex(output), labelling.vertices[output.index()].partition));
    return plan_for_ranks(graph, labelling, place(graph, labelling, ranks_), shape, {{grid}});
  }

  // The step that moves T from blocks to blocks; nullopt if its tiles are where they are read.
  static std::optional<std::size_t> moving_step(const PhysicalPlan& plan) {
    for (std::size_t n = 0; n < plan.steps.size(); ++n)
      if (exchange_of(plan, plan.steps[n])) return n;
    return std::nullopt;
  }

  void measure(const Probe& probe, ExchangeWay way, double seconds) {
    const auto plan = plan_of(probe, way);
    const auto moving = moving_step(plan);
    if (!moving) return;
    const auto& step = plan.steps[*moving];
    const bool by_collectives = way == ExchangeWay::Collectives;
    if (std::get<RedistributeStep>(step.op).sequence.has_value() != by_collectives) return;
    auto sample = counted(exchange_of(plan, step).value(), by_collectives, prior_);
    std::vector<double> times;
    const Stopwatch watch;
    while (static_cast<int>(times.size()) < kLeastRuns || watch.seconds() < seconds)
      times.push_back(seconds_of(plan, *moving));
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
    sample.seconds = times[times.size() / 2];
    if (sample.seconds > 0) samples_.push_back(sample);
  }

  // The seconds of a step at the rank where it takes longest.
  double seconds_of(const PhysicalPlan& plan, std::size_t step) {
    session_.statement.cancellation().check();
    ClusterStatement statement{plan, {}, {}, {}, {}, 0, 0};
    for (const auto& worker : workers_) statement.workers.push_back(worker.data);
    const auto memory = MemoryBudget::create(session_.user.settings.memory_for_tiles());
    const auto reports = session_.database.cluster->run(
        statement, session_.statement.cancellation(), [&](Exchange& exchange, const Cancellation& cancellation) {
          NoTiles source;
          DiscardingSink sink;
          TileSink* const sinks[] = {&sink};
          ExecutionContext context{session_.user.scheduler(), cancellation, memory, source, {}};
          return execute(plan, {}, exchange, context, sinks);
        });
    double most = 0;
    for (const auto& report : reports) {
      CHECK(step < report.profile.steps.size(), "a rank reports every step");
      most = std::max(most, report.profile.steps[step].seconds);
    }
    return most;
  }

  SessionState& session_;
  Workers workers_;
  std::int64_t ranks_ = 0;
  const TransportCosts prior_;
  std::vector<ExchangeSample> samples_;
};

}  // namespace

TransportCosts measure_transport(SessionState& session, double seconds) {
  CHECK(session.database.cluster != nullptr, "a session without a cluster has no transport");
  auto choices = choices_of_workers(*session.database.cluster);
  if (choices.empty() || choices.front().size() < 2)
    throw Error(ErrorKind::Value, "the costs of exchanges are measured between two workers at least", std::nullopt,
                "name two or more: eindb calibrate --workers ADDRESS,ADDRESS");
  return TransportMeasurement(session, std::move(choices.front())).run(seconds);
}

}  // namespace eindb

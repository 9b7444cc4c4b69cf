// Clusters on paper: what plans for 2 to 1,024 workers receive and how long they would take, as events on machines and
// networks that need not exist (bench/scale/plan_run). Deterministic for one file of machine figures.
//
// Usage: scale WORKLOAD WORKERS [OPTION VALUE]...
//   WORKLOAD   chain:S, skewed:S, product:M:N:K, prefill:7B:BATCH:SEQUENCE, prefill:65B:..., classifier:BATCH:FEATURES
//   WORKERS    2,4,8
//   --strategy eindecomp,megatron   those that do not apply are left out
//   --machine FILE                  as `eindb calibrate` writes it; without: built-in figures
//   --layers N --dtype float64      of a model; of chains and products
//   --host N --cores N --gigabytes N --microseconds N --transport tcp|mpi --ahead N
//   --speed N --copies N            a rank has threads that compute and copy so many times as fast as one
//   --deliver yes                   the result goes to the coordinator; otherwise workers store it
// Prints a line of JSON for each number of workers and strategy.

#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "bench/llama_prefill.hpp"
#include "bench/planning_inputs.hpp"
#include "bench/scale/plan_run.hpp"
#include "common/error.hpp"
#include "engine/plans/cluster_plan.hpp"
#include "engine/settings/machine_file.hpp"
#include "optimizer/partitions/placement.hpp"
#include "optimizer/partitions/worker_choice.hpp"
#include "optimizer/partitions/worker_count.hpp"
#include "optimizer/rank_planner.hpp"
#include "tensor/tile_placement.hpp"

namespace {

using eindb::ClusterShape;
using eindb::EinGraph;
using eindb::Error;
using eindb::ErrorKind;
using eindb::Strategy;
using eindb::bench::PaperCluster;

struct Options {
  std::vector<std::string> strategies{"eindecomp"};
  std::string machine;
  eindb::bench::StoredInputs stored{eindb::DType::Float32, 8 << 20};
  std::int64_t layers = 0;  // 0: those of the model
  double speed = 1;         // of a rank's kernels, relative to a thread of the machine
  double copies = 1;        // and of its copies
  bool delivers = false;
  bool is_tcp = false;
  PaperCluster cluster;
};

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> out(1);
  for (const auto c : text) {
    if (c == at) out.emplace_back();
    else out.back() += c;
  }
  return out;
}

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorKind::Value, message); }

std::int64_t whole(const std::string& text) {
  std::size_t end = 0;
  const auto value = std::stoll(text, &end);
  if (end != text.size() || value < 1) refuse("'" + text + "' is not a whole number above 0");
  return value;
}

EinGraph graph_of(const std::string& workload, const Options& options) {
  const auto parts = split(workload, ':');
  const auto at = [&](std::size_t n) {
    if (n >= parts.size()) refuse("the workload '" + workload + "' lacks a number");
    return whole(parts[n]);
  };
  const auto& name = parts[0];
  if (name == "chain" || name == "skewed") return eindb::bench::matrix_chain(at(1), name == "skewed", options.stored);
  if (name == "product")
    return eindb::bench::planned_graph("EINSUM Z[i,k] = SUM(A[i,j] * B[j,k])",
                                       {{"A", {at(1), at(3)}}, {"B", {at(3), at(2)}}}, false, options.stored);
  if (name == "classifier") return eindb::bench::classifier_step(at(1), at(2), options.stored);
  if (name != "prefill" || parts.size() < 2) refuse("there is no workload '" + workload + "'");
  eindb::bench::LlamaShape shape;
  if (parts[1] == "65B") {
    shape.layers = 80;
    shape.heads = 64;
    shape.feed_forward = 22016;
  } else if (parts[1] != "7B") {
    refuse("models are 7B and 65B");
  }
  shape.batch = at(2);
  shape.sequence = at(3);
  if (options.layers > 0) shape.layers = options.layers;
  return eindb::bench::llama_graph(shape, options.stored);
}

// The holders of the tiles of each stored tensor, if all were newly written to the workers. The caller appends those of
// the results.
std::vector<eindb::TileHolders> holders(const EinGraph& graph, std::size_t workers) {
  std::vector<eindb::TileHolders> lists;
  for (const auto& scan : eindb::scanned_inputs(graph))
    if (scan.list == lists.size())
      lists.push_back(eindb::TilePlacement(graph.vertex(scan.vertex).stored->stored_grid(), workers, 1).all());
  return lists;
}

struct PlannedRun {
  eindb::PhysicalPlan plan;
  std::vector<eindb::TileHolders> lists;
};

PlannedRun planned(const EinGraph& graph, const Strategy& strategy, std::int64_t workers, const Options& options) {
  const auto count = eindb::count_workers(graph, workers, std::nullopt);
  const eindb::InputPlaces places(graph, count.workers);
  const auto labelling = eindb::label_for_workers(graph, strategy, {count.calls, false, {}}, places);
  const ClusterShape shape{.ranks = static_cast<std::size_t>(workers) + 1,
                           .coordinator = static_cast<eindb::Rank>(workers),
                           .computing = count.workers,
                           .calls_per_rank = 1,
                           .redistribution = eindb::ExchangeWay::Pieces,
                           .most_tile_bytes = static_cast<double>(options.stored.tile_bytes)};
  std::vector<eindb::DistributedResult> results;
  for (const auto id : graph.outputs()) {
    const auto& vertex = graph.vertex(id);
    const auto partition = eindb::default_partition(vertex.bound, vertex.dtype, options.stored.tile_bytes, workers);
    results.push_back({eindb::TileGrid(vertex.bound, partition), !options.delivers});
  }
  PlannedRun out{eindb::plan_for_ranks(graph, labelling, eindb::place(graph, labelling, places), shape, results),
                 holders(graph, static_cast<std::size_t>(workers))};
  std::vector<eindb::Rank> stores(static_cast<std::size_t>(workers));
  std::iota(stores.begin(), stores.end(), eindb::Rank{0});
  for (std::size_t n = 0; n < results.size() && !options.delivers; ++n)
    out.lists.push_back(eindb::holders_of_result(out.plan, n, results[n].grid, stores, 1));
  return out;
}

void run(const std::string& workload, std::int64_t workers, Options options) {
  options.stored.workers = workers;
  const auto graph = graph_of(workload, options);
  const auto figures = options.machine.empty() ? eindb::built_in_figures() : eindb::read_machine_file(options.machine);
  const eindb::CalibratedModel model(figures, 1);
  auto cluster = options.cluster;
  cluster.software = options.is_tcp ? figures.tcp.value_or(eindb::TransportCosts::of_tcp())
                                    : figures.mpi.value_or(eindb::TransportCosts::of_mpi());
  cluster.software.per_copied_byte /= options.copies;
  for (const auto& name : options.strategies) {
    nlohmann::ordered_json line{{"workload", workload}, {"workers", workers}, {"strategy", name}};
    try {
      const auto [plan, lists] = planned(graph, eindb::parse_strategy(name), workers, options);
      auto steps = eindb::bench::steps_on_paper(graph, plan, lists, model);
      for (auto& kind : steps.kinds)
        for (auto& seconds : kind.seconds) seconds /= options.speed;
      const auto found = eindb::bench::run_on_paper(steps, plan.ranks, cluster);
      const auto computing = found.computing * static_cast<double>(plan.ranks) / static_cast<double>(workers);
      line["seconds"] = found.seconds;
      line["computing"] = computing;
      line["exchanging"] = found.exchanging * static_cast<double>(plan.ranks) / static_cast<double>(workers);
      line["efficiency"] = computing / found.seconds;
      line["bytes"] = found.bytes;
      line["most_bytes"] = found.most_bytes;
      line["messages"] = found.messages;
      line["steps"] = plan.steps.size();
    } catch (const Error& e) {
      line["not_applicable"] = e.message();
    }
    std::printf("%s\n", line.dump().c_str());
  }
}

Options options_of(int argc, char** argv) {
  Options out;
  for (int n = 3; n + 1 < argc; n += 2) {
    const std::string name = argv[n];
    const std::string value = argv[n + 1];
    if (name == "--strategy") out.strategies = split(value, ',');
    else if (name == "--machine") out.machine = value;
    else if (name == "--layers") out.layers = whole(value);
    else if (name == "--dtype") out.stored.dtype = value == "float64" ? eindb::DType::Float64 : eindb::DType::Float32;
    else if (name == "--tile-bytes") out.stored.tile_bytes = whole(value);
    else if (name == "--speed") out.speed = std::stod(value);
    else if (name == "--copies") out.copies = std::stod(value);
    else if (name == "--host") out.cluster.ranks_per_host = static_cast<std::size_t>(whole(value));
    else if (name == "--cores") out.cluster.cores_per_host = std::stod(value);
    else if (name == "--gigabytes") out.cluster.bandwidth = 1e9 * std::stod(value);
    else if (name == "--microseconds") out.cluster.latency = 1e-6 * std::stod(value);
    else if (name == "--ahead") out.cluster.steps_ahead = static_cast<std::size_t>(whole(value));
    else if (name == "--transport") out.is_tcp = value == "tcp";
    else if (name == "--deliver") out.delivers = value == "yes";
    else refuse("there is no option '" + name + "'");
  }
  if ((argc - 3) % 2 != 0) refuse("an option lacks its value");
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 3) refuse("usage: scale WORKLOAD WORKERS [OPTION VALUE]...");
    const auto options = options_of(argc, argv);
    for (const auto& workers : split(argv[2], ',')) run(argv[1], whole(workers), options);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "scale: %s\n", e.what());
    return 1;
  }
  return 0;
}

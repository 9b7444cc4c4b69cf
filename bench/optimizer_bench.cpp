// The optimizer against brute force, against other parallelisation strategies, and against the clock. Deterministic
// figures come first; every line with a target shows whether it holds. Usage: optimizer [SECONDS], the budget of path
// optimizer auto, by default 1. Exit status 1 if a deterministic target is missed.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>

#include "bench/llama_prefill.hpp"
#include "bench/networks.hpp"
#include "bench/planning_inputs.hpp"
#include "common/error.hpp"
#include "engine/query/pipeline.hpp"
#include "engine/statements/statements.hpp"
#include "optimizer/partitions/eindecomp.hpp"
#include "optimizer/partitions/placement.hpp"
#include "optimizer/partitions/strategy_comparison.hpp"
#include "optimizer/paths/path_optimizer.hpp"
#include "parser/parser.hpp"
#include "storage/tiles/read_snapshot.hpp"
#include "tests/optimizer/brute_force.hpp"
#include "tests/optimizer/every_tree.hpp"
#include "tests/optimizer/random_graph.hpp"
#include "tests/optimizer/random_network.hpp"

namespace {

using eindb::DecompositionOptions;
using eindb::EinGraph;
using eindb::Strategy;
using eindb::testing::BruteForce;

bool all_hold = true;

// Records whether the target of a deterministic figure holds.
const char* verdict(bool holds) {
  all_hold = all_hold && holds;
  return holds ? "holds" : "DOES NOT HOLD";
}

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median_seconds(int runs, const std::function<void()>& work) {
  std::vector<double> seconds;
  for (int n = 0; n < runs; ++n) seconds.push_back(seconds_of(work));
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

// Costs are added up in different orders.
bool equal(double a, double b) { return std::abs(a - b) <= 1e-12 * std::max(a, b); }

// ---- EinDecomp and brute force ----

void random_trees() {
  std::mt19937 random(1);
  std::vector<std::vector<std::string>> shapes;
  for (std::size_t vertices = 0; vertices <= 6; ++vertices) shapes.push_back(eindb::testing::tree_shapes(vertices));
  int compared = 0;
  int differ = 0;
  for (unsigned seed = 1; compared < 1000; ++seed) {
    const auto& of_size = shapes[1 + random() % 6];
    eindb::testing::RandomGraph graph(seed);
    std::size_t at = 0;
    build_tree(graph, of_size[random() % of_size.size()], at);
    const DecompositionOptions options{std::int64_t{2} << (random() % 4), random() % 2 == 0, {}};
    BruteForce brute(graph.builder.graph, options);
    if (brute.combinations() > 1e7) continue;
    ++compared;
    if (!equal(decompose(graph.builder.graph, options).total_cost, brute.optimum())) ++differ;
  }
  std::printf("%d random trees of up to 6 vertices, p up to 16: %d differ from brute force; target 0: %s\n", compared,
              differ, verdict(differ == 0));
}

// `exact_work` 0 shows the result of descent alone, which is used for graphs that are too large to be solved exactly.
void random_dags(const char* method, double exact_work) {
  double excess = 0;
  double worst = 0;
  double linearised_excess = 0;
  int compared = 0;
  int above_linearised = 0;
  for (unsigned seed = 1; compared < 1000; ++seed) {
    const auto graph = eindb::testing::random_dag(seed, 7);
    DecompositionOptions options{std::int64_t{4} << (seed % 3), seed % 2 == 0, {}};
    options.exact_work = exact_work;
    BruteForce brute(graph, options);
    if (brute.combinations() > 1e7) continue;
    ++compared;
    const double optimum = brute.optimum();
    const double found = decompose(graph, options).total_cost;
    const double linearised = decompose_linearised(graph, options).total_cost;
    excess += found / optimum - 1;
    worst = std::max(worst, found / optimum - 1);
    linearised_excess += linearised / optimum - 1;
    if (found > linearised && !equal(found, linearised)) ++above_linearised;
  }
  std::printf(
      "%d random DAGs of up to 7 vertices, %s: %.3f %% above brute force on the mean, %.3f %% at worst "
      "(linearisation: %.1f %% on the mean), %d above linearisation; targets 1 %%, 10 %%, 0: %s\n",
      compared, method, 100 * excess / compared, 100 * worst, 100 * linearised_excess / compared, above_linearised,
      verdict(excess / compared <= 0.01 && worst <= 0.1 && above_linearised == 0));
}

// ---- strategies ----

// The cost of every strategy relative to EinDecomp's.
void strategies(const std::string& name, const EinGraph& graph, const DecompositionOptions& options,
                const Strategy& data, double expected_sqrt = 0) {
  std::printf("  %-34s %17.0f", name.c_str(), decompose(graph, options).total_cost);
  bool never_above = true;
  double sqrt_ratio = 0;
  for (const auto& row : compare_strategies(graph, data, options)) {
    if (row.strategy.kind == Strategy::Kind::EinDecomp) continue;
    const double ratio = row.total_cost / decompose(graph, options).total_cost;
    if (row.strategy.kind == Strategy::Kind::Sqrt) sqrt_ratio = ratio;
    if (!row.not_applicable.empty()) std::printf("         -");
    else std::printf(" %9.3f", ratio);
    never_above = never_above && (!row.not_applicable.empty() || ratio >= 1 - 1e-12);
  }
  std::printf("  %s", verdict(never_above));
  if (expected_sqrt > 0)
    std::printf(", sqrt %.2f wanted: %s", expected_sqrt, verdict(std::abs(sqrt_ratio - expected_sqrt) < 0.005));
  std::printf("\n");
}

void strategy_table() {
  std::printf("\nCost over EinDecomp's, which is never above any:\n  %-34s %17s %9s %9s %9s %9s %9s\n", "", "eindecomp",
              "sqrt", "data", "sequence", "attention", "megatron");
  for (const bool free_inputs : {true, false}) {
    const std::string inputs = free_inputs ? ", inputs free" : ", inputs stored";
    const double wanted[2][2] = {{1.35, 1.65}, {3.27, 5.21}};
    for (const bool skewed : {false, true})
      for (const std::int64_t p : {16, 64})
        strategies(std::string(skewed ? "skewed" : "uniform") + " chain, p = " + std::to_string(p) + inputs,
                   eindb::bench::matrix_chain(400, skewed), {p, free_inputs, {}}, {Strategy::Kind::Data, {"i"}},
                   free_inputs ? wanted[skewed ? 1 : 0][p == 64 ? 1 : 0] : 0);
    for (const std::int64_t batch : {128, 512})
      for (const std::int64_t features : {8192, 597540})
        strategies("classifier " + std::to_string(batch) + " x " + std::to_string(features) + ", p = 4" +
                       (free_inputs ? ", free" : ""),
                   eindb::bench::classifier_step(batch, features), {4, free_inputs, {}}, {Strategy::Kind::Data});
    strategies("LLaMA-7B 8 x 4096, p = 8" + inputs, eindb::bench::llama_graph(8, 4096), {8, free_inputs, {}},
               {Strategy::Kind::Data});
    strategies("LLaMA-7B 8 x 1024, p = 8" + inputs, eindb::bench::llama_graph(8, 1024), {8, free_inputs, {}},
               {Strategy::Kind::Data});
  }
}

// ---- paths ----

double log_flops(const eindb::ContractionProblem& problem, eindb::PathOptimizer optimizer, double seconds) {
  eindb::PathOptions options;
  options.optimizer = optimizer;
  options.seconds = seconds;
  try {
    return std::log10(eindb::PathSearch(options).find(problem).flops);
  } catch (const eindb::Error&) {  // optimal would take too long
    return NAN;
  }
}

void exhaustive_paths() {
  std::mt19937 random(3);
  int differ = 0;
  constexpr int kNetworks = 1000;
  for (int n = 0; n < kNetworks; ++n) {
    const auto problem = eindb::testing::random_network(random, 2 + random() % 7, 2 + random() % 9, 2 + random() % 3);
    eindb::PathOptions options;
    options.optimizer = eindb::PathOptimizer::Optimal;
    if (!equal(eindb::PathSearch(options).find(problem).flops, eindb::testing::EveryTree(problem).best())) ++differ;
  }
  std::printf("\n%d random networks of up to 8 operands: optimal differs from exhaustive search in %d; target 0: %s\n",
              kNetworks, differ, verdict(differ == 0));
}

void path_table(double seconds) {
  std::printf("\nlog10 of flops by path optimizer, auto with %g s:\n  %-20s %9s %9s %9s\n", seconds, "", "greedy",
              "auto", "optimal");
  double gain = 0;
  int counted = 0;
  bool never_above = true;
  for (const auto& network : eindb::bench::benchmark_networks()) {
    const double greedy = log_flops(network.problem, eindb::PathOptimizer::Greedy, seconds);
    const double automatic = log_flops(network.problem, eindb::PathOptimizer::Auto, seconds);
    std::printf("  %-20s %9.3f %9.3f %9.3f\n", network.name.c_str(), greedy, automatic,
                log_flops(network.problem, eindb::PathOptimizer::Optimal, seconds));
    never_above = never_above && automatic <= greedy;
    if (network.counts) gain += greedy - automatic;
    counted += network.counts ? 1 : 0;
  }
  std::printf("auto is never above greedy: %s; below it by %.3f on the mean of %d networks, target 0.5: %s\n",
              verdict(never_above), gain / counted, counted, verdict(gain / counted >= 0.5));
}

// ---- planning time ----

void print_time(const std::string& what, double seconds, double target) {
  std::printf("  %-58s %11.6f s, target %g s: %s\n", what.c_str(), seconds, target,
              seconds < target ? "holds" : "DOES NOT HOLD here");
}

void planning_times() {
  std::printf("\nPlanning time (medians; of this machine as it is loaded now):\n");
  for (const auto& network : eindb::bench::networks_of_15()) {
    const double seconds = median_seconds(3, [&] { log_flops(network.problem, eindb::PathOptimizer::Optimal, 1); });
    print_time("optimal, " + network.name, seconds, 0.05);
  }
  for (const std::size_t n : {10000, 100000})
    for (const auto& network : eindb::bench::networks_at_scale(n)) {
      const double seconds = seconds_of([&] { log_flops(network.problem, eindb::PathOptimizer::Greedy, 1); });
      print_time("greedy, " + network.name, seconds, n == 100000 ? 5 : 0.5);
    }
  const auto llama = eindb::bench::llama_graph(8, 4096);
  for (const std::int64_t p : {8, 64, 1024}) {
    const double seconds = median_seconds(3, [&] { decompose(llama, {p, false, {}}); });
    print_time("EinDecomp of LLaMA-7B (" + std::to_string(llama.size()) + " vertices), p = " + std::to_string(p),
               seconds, 1);
  }
  const auto labelling = decompose(llama, {1024, false, {}});
  print_time("placing it on 1024 workers", median_seconds(3, [&] { place(llama, labelling, 1024); }), 1);
}

// From the text of a statement of three operands to its plan.
void plan_cache_time() {
  eindb::SessionState session(":memory:", {});
  for (const std::string name : {"A", "B", "C"})
    run_statement(eindb::parse_statement("CREATE TENSOR " + name + " AS EINSUM " + name + "[i 8, j 8] = i + j"),
                  session);
  const std::string text = "EINSUM Z[i,l] = SUM(A[i,j] * B[j,k] * C[k,l])";
  const eindb::ReadSnapshot snapshot(session.database.file, 1);
  const auto plan = [&] { plan_query(eindb::parse_query(text), session); };
  plan();
  print_time("a hit of the plan cache, from text to plan", median_seconds(1001, plan), 20e-6);
}

// ---- bad input ----

// All statements but the last must succeed; the last must be rejected with a message that contains `wanted`.
void refused(const std::vector<std::string>& statements, const std::string& wanted) {
  eindb::SessionState session(":memory:", {});
  std::string message = "no error";
  try {
    for (const auto& statement : statements) run_statement(eindb::parse_statement(statement), session);
  } catch (const eindb::Error& e) {
    message = e.message() + "; hint: " + e.hint();
  }
  std::printf("  %s\n    %s: %s\n", statements.back().c_str(), message.c_str(),
              verdict(message.find(wanted) != std::string::npos));
}

void bad_input() {
  std::printf("\nBad input:\n");
  const std::string a = "CREATE TENSOR A AS EINSUM A[i 2, j 2] = i + j";
  const std::string product = "EINSUM 'ij,jk,kl->il' (A, A, A)";
  refused({a, product + " USING PATH ((0,0),(0,1))"}, "given twice");
  refused({a, product + " USING PATH ((0,1))"}, "no step takes operand 2");
  refused({a, product + " USING PATH ((0,3),(0,1))"}, "beyond the operands");
  refused({"SET parallelism = 0"}, "from 1 to 65536");
  refused({a, "SET strategy = 'data(q)'", product}, "label q");
  refused({a, "SET strategy = 'megatron'", "EINSUM Z[i,j] = A[i,j] + 1"}, "megatron finds no product");
  refused({"CREATE TENSOR X AS EINSUM X[a 16, b 16, c 16, d 16] = a + b", "SET memory_limit = '1MiB'",
           "EINSUM Z[b,c,d,e,f,g] = SUM(X[a,b,c,d] * X[a,e,f,g] * X[a,a,a,b])"},
          "more than the memory_limit of 1 MiB");
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const double seconds = argc > 1 ? std::strtod(argv[1], nullptr) : 1;
  random_trees();
  random_dags("exact", 2e8);
  random_dags("descent alone", 0);
  strategy_table();
  exhaustive_paths();
  path_table(seconds);
  bad_input();
  planning_times();
  plan_cache_time();
  return all_hold ? 0 : 1;
}

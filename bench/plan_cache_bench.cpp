// The effect of the plan cache: the time from a statement's text to an executable plan, when the plan is made and when
// it is cached, and the time of whole statements on 8 x 8 matrices. Medians, in microseconds. Usage: plan_cache [RUNS]

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "engine/query/distributed_query.hpp"
#include "engine/query/pipeline.hpp"
#include "engine/query/plan_key.hpp"
#include "engine/session.hpp"
#include "engine/session/statement_scopes.hpp"
#include "engine/statements/statements.hpp"
#include "parser/parser.hpp"
#include "tests/runner/local_cluster.hpp"

namespace eindb {
namespace {

using Clock = std::chrono::steady_clock;

double median_us(int runs, const std::function<void()>& work) {
  std::vector<double> times;
  for (int run = 0; run < runs; ++run) {
    const auto start = Clock::now();
    work();
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + runs / 2, times.end());
  return times[static_cast<std::size_t>(runs) / 2];
}

// Z[a0,an] = SUM(A[a0,a1] * B[a1,a2] * ...) over A, B, C in turn.
std::string chain(std::size_t operands) {
  std::string product;
  for (std::size_t n = 0; n < operands; ++n)
    product += (n == 0 ? "" : " * ") + std::string(1, "ABC"[n % 3]) + "[a" + std::to_string(n) + ",a" +
               std::to_string(n + 1) + "]";
  return "EINSUM Z[a0,a" + std::to_string(operands) + "] = SUM(" + product + ")";
}

void make_matrices(SessionState& session) {
  for (const char* name : {"A", "B", "C"}) {
    const std::string head(name);
    run_statement(parse_statement("CREATE TENSOR " + head + " AS EINSUM " + head + "[i 8, j 8] = i + j"), session);
  }
}

void set_cache(SessionState& session, std::int64_t plans) { session.user.settings.set("plan_cache_size", plans); }

void run_text(const std::string& text, SessionState& session) { run_statement(parse_statement(text), session); }

void report_texts(SessionState& session, int runs) {
  std::printf("  %-24s %9s %9s %9s %9s %9s %9s\n", "text -> plan", "made", "found", "of it:", "parse", "key", "lookup");
  for (const std::size_t operands : {1, 3, 10, 100, 1000}) {
    const auto text = chain(operands);
    const int n = std::max(5, runs / static_cast<int>(operands));
    const ReadSnapshot snapshot(session.database.file, 1);
    const auto plan = [&] { plan_query(parse_query(text), session); };
    set_cache(session, 0);
    const double made = median_us(std::min(n, 200), plan);
    set_cache(session, 256);
    plan();
    const double found = median_us(n, plan);
    const auto query = parse_query(text);
    const double parse = median_us(n, [&] { parse_query(text); });
    const double key = median_us(n, [&] { plan_key(query, session.user, session.statement, {}); });
    const double rest = median_us(n, [&] { plan_query(query, session); }) - key;
    std::printf("  %-24s %9.1f %9.1f %9s %9.1f %9.1f %9.1f\n", (std::to_string(operands) + " operands").c_str(), made,
                found, "", parse, key, rest);
  }
}

// One plan serves all values of $1; the statement is already parsed.
void report_prepared(SessionState& session, int runs) {
  const auto query = parse_query("EINSUM Z[i,l] = $1 * SUM(A[i,j] * B[j,k] * C[k,l])");
  const ReadSnapshot snapshot(session.database.file, 1);
  double value = 0;
  const auto plan = [&] {
    value += 0.5;
    const ParameterValues values(session.statement, {value});
    plan_query(query, session);
  };
  set_cache(session, 0);
  const double made = median_us(std::min(runs, 200), plan);
  set_cache(session, 256);
  plan();
  std::printf("  %-24s %9.1f %9.1f\n", "prepared, new value", made, median_us(runs, plan));
}

// Look-ups are repeated after any write.
void report_writes(SessionState& session, int runs) {
  const auto query = parse_query(chain(3));
  const auto write = parse_statement("INSERT INTO TENSOR A VALUES (0, 0, 1)");
  run_text(chain(3), session);
  std::vector<double> times;
  for (int run = 0; run < std::min(runs, 200); ++run) {
    run_statement(write, session);
    const ReadSnapshot snapshot(session.database.file, 1);
    const auto start = Clock::now();
    plan_query(query, session);
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  std::printf("  %-24s %9s %9.1f\n", "after a write", "", times[times.size() / 2]);
}

void report_statements(SessionState& session, int runs) {
  std::printf("  %-24s %9s %9s\n", "whole statement, 8 x 8", "made", "found");
  for (const std::size_t operands : {1, 3, 10}) {
    const auto text = chain(operands);
    set_cache(session, 0);
    const double made = median_us(std::min(runs, 500), [&] { run_text(text, session); });
    set_cache(session, 256);
    const double found = median_us(std::min(runs, 500), [&] { run_text(text, session); });
    std::printf("  %-24s %9.1f %9.1f\n", (std::to_string(operands) + " operands").c_str(), made, found);
  }
  const double empty = median_us(runs, [&] { const ReadSnapshot snapshot(session.database.file, 1); });
  std::printf("  %-24s %9s %9.1f\n", "the snapshot alone", "", empty);
}

// All work before the ranks of a cluster start; the last matrix has many tiles.
void report_workers(const std::string& folder, int runs) {
  std::printf("on 4 workers\n");
  runner::LocalCluster cluster(folder + "/workers", 4);
  SessionOptions options;
  options.cluster = {std::shared_ptr<void>(), &cluster.cluster()};
  options.small_statements = SmallStatements::Workers;
  SessionState session(folder + "/plans_for_workers.db", options);
  cluster.wait_for_workers();
  for (const std::string head : {"A", "B", "C"})
    run_text("CREATE TENSOR " + head + " PARTITION (4, 4) AS EINSUM " + head + "[i 64, j 64] = i + j", session);
  std::printf("  %-24s %9s %9s\n", "text -> ranks begin", "made", "found");
  for (const std::size_t operands : {1, 3, 10, 100}) {
    const auto query = parse_query(chain(operands));
    const ReadSnapshot snapshot(session.database.file, 1);
    const int n = std::max(5, std::min(runs, 500) / static_cast<int>(operands));
    const auto plan = [&] {
      const auto planned = plan_query(query, session);
      DistributedQuery(planned, session).explain();
    };
    set_cache(session, 0);
    const double made = median_us(n, plan);
    set_cache(session, 256);
    plan();
    const double found = median_us(n, plan);
    std::printf("  %-24s %9.1f %9.1f\n", (std::to_string(operands) + " operands").c_str(), made, found);
  }
}

void report(const std::string& title, const std::string& path, int runs) {
  std::printf("%s\n", title.c_str());
  SessionState session(path, {});
  session.user.settings.set("threads", std::int64_t{1});
  make_matrices(session);
  report_texts(session, runs);
  report_prepared(session, runs);
  report_writes(session, runs);
  report_statements(session, runs);
}

}  // namespace
}  // namespace eindb

int main(int argc, char** argv) {
  const int runs = std::max(10, argc > 1 ? std::atoi(argv[1]) : 5000);
  const auto folder = std::filesystem::temp_directory_path() / ("eindb_plan_cache_" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  eindb::report("database in a file", (folder / "plans.db").string(), runs);
  eindb::report("database in memory", ":memory:", runs);
  eindb::report_workers(folder.string(), runs);
  std::filesystem::remove_all(folder);
}

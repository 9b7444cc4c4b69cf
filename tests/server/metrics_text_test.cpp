// Tests the server's counters, and their format for Prometheus.
#include "server/monitoring/metrics_text.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>
#include <string>

namespace eindb {
namespace {

/// The samples by name and labels. Each must follow the HELP and TYPE of its family, which occur once.
std::map<std::string, double> samples_of(const std::string& text) {
  std::map<std::string, double> samples;
  std::set<std::string> families;
  std::istringstream lines(text);
  std::string family;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first;
    std::string second;
    words >> first >> second;
    if (line.starts_with("# HELP ")) {
      words >> family;
      family = line.substr(7, line.find(' ', 7) - 7);
      EXPECT_TRUE(families.insert(family).second) << family;
      EXPECT_TRUE(family.starts_with("eindb_")) << family;
    } else if (!line.starts_with("# TYPE " + family + " ")) {
      EXPECT_TRUE(first.starts_with(family)) << line;
      EXPECT_TRUE(samples.emplace(first, std::stod(second)).second) << line;
    }
  }
  EXPECT_TRUE(text.ends_with("\n"));
  return samples;
}

TEST(Metrics, AreWrittenByName) {
  Metrics metrics;
  metrics.connections_accepted.add(3);
  metrics.statements[static_cast<std::size_t>(StatementKind::Einsum)][static_cast<std::size_t>(StatementOutcome::Error)]
      .add();
  metrics.errors.add("42601");
  metrics.errors.add("42P01");
  metrics.errors.add("XX000");
  const auto samples =
      samples_of(metrics_text(metrics, {.connections_open = 2, .database_bytes = std::int64_t{1} << 40}));
  EXPECT_EQ(samples.at("eindb_connections_accepted_total"), 3);
  EXPECT_EQ(samples.at("eindb_connections_open"), 2);
  EXPECT_EQ(samples.at("eindb_database_bytes"), 1099511627776.0);
  EXPECT_EQ(samples.at("eindb_statements_total{kind=\"einsum\",outcome=\"error\"}"), 1);
  EXPECT_EQ(samples.at("eindb_statements_total{kind=\"select\",outcome=\"ok\"}"), 0);
  EXPECT_EQ(samples.at("eindb_errors_total{class=\"42\"}"), 2);
  EXPECT_EQ(samples.at("eindb_errors_total{class=\"XX\"}"), 1);
}

TEST(Metrics, WorkersAreCountedByState) {
  const WorkerCounts workers{{{{"joining", 0}, {"up", 3}, {"unwell", 1}, {"draining", 0}, {"lost", 2}}}, 1};
  const auto samples = samples_of(metrics_text({}, {.workers = workers}));
  EXPECT_EQ(samples.at("eindb_workers{state=\"up\"}"), 3);
  EXPECT_EQ(samples.at("eindb_workers{state=\"unwell\"}"), 1);
  EXPECT_EQ(samples.at("eindb_worker_pairs_broken"), 1);
  EXPECT_FALSE(samples_of(metrics_text({}, {})).contains("eindb_worker_pairs_broken"));
}

TEST(Metrics, BucketsHoldThoseBelowThem) {
  Metrics metrics;
  for (const double seconds : {0.0, 0.0001, 0.00011, 0.7, 1e6}) metrics.statement_seconds.add(seconds);
  const auto samples = samples_of(metrics_text(metrics, {}));
  EXPECT_EQ(samples.at("eindb_statement_seconds_bucket{le=\"0.0001\"}"), 2);
  EXPECT_EQ(samples.at("eindb_statement_seconds_bucket{le=\"0.00025\"}"), 3);
  EXPECT_EQ(samples.at("eindb_statement_seconds_bucket{le=\"0.5\"}"), 3);
  EXPECT_EQ(samples.at("eindb_statement_seconds_bucket{le=\"1.0\"}"), 4);
  EXPECT_EQ(samples.at("eindb_statement_seconds_bucket{le=\"300.0\"}"), 4);
  EXPECT_EQ(samples.at("eindb_statement_seconds_bucket{le=\"+Inf\"}"), 5);
  EXPECT_EQ(samples.at("eindb_statement_seconds_count"), 5);
  EXPECT_NEAR(samples.at("eindb_statement_seconds_sum"), 1000000.70021, 1e-6);
}

TEST(Metrics, WhatIsNoSqlstateIsNotCounted) {
  ErrorCounters errors;
  for (const auto* sqlstate : {"", "4", "ab000", "\xff\xff", "  "}) errors.add(sqlstate);
  EXPECT_TRUE(errors.entries().empty());
}

}  // namespace
}  // namespace eindb

// The plan cache in cases that scripts cannot test: other sessions, attached tensors, bounds, and a search for stale
// plans.

#include "engine/plans/plan_cache.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <random>

#include "common/error.hpp"
#include "common/sanitizers.hpp"
#include "engine/plans/cluster_plan.hpp"
#include "engine/plans/plan_size.hpp"
#include "engine/plans/query_key.hpp"
#include "engine/query/pipeline.hpp"
#include "engine/query/plan_key.hpp"
#include "engine/session.hpp"
#include "engine/session/statement_scopes.hpp"
#include "engine/statements/statements.hpp"
#include "parser/parser.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

// ---- Helpers
// ----------------------------------------------------------------------------------------------------------

/// All cells of the result as text, or the message of the error.
std::string outcome(Session& session, const std::string& statement) {
  try {
    auto result = session.execute(statement);
    std::string out;
    Row row;
    while (result.rows != nullptr && result.rows->next(row)) {
      for (const auto& cell : row) {
        if (const auto* integer = std::get_if<std::int64_t>(&cell)) out += std::to_string(*integer) + " ";
        else if (const auto* real = std::get_if<double>(&cell)) out += std::to_string(*real) + " ";
        else out += "? ";
      }
      out += "\n";
    }
    return out;
  } catch (const Error& error) {
    return error.message();
  }
}

struct Counts {
  std::int64_t plans, hits, misses, evictions;
  friend bool operator==(const Counts&, const Counts&) = default;
};

Counts counts(Session& session) {
  auto result = session.execute("SHOW plan_cache");
  Row row;
  result.rows->next(row);
  const auto at = [&](std::size_t n) { return std::get<std::int64_t>(row[n]); };
  return {at(0), at(1), at(2), at(3)};
}

// ---- Changes by others ---------------------------------------------------------------------------------------------

class PlanCacheOfTwo : public ::testing::Test {
 protected:
  ScratchDirectory scratch;
  Session db{scratch.file("a.db")};
  Session other{scratch.file("a.db")};
  const std::string sum = "EINSUM Z[] = SUM(X[i])";
};

TEST_F(PlanCacheOfTwo, WhatAnotherSessionChangesIsSeen) {
  db.execute("CREATE TENSOR X AS EINSUM X[i 2] = 1");
  EXPECT_EQ(outcome(db, sum), "2.000000 \n");
  other.execute("DROP TENSOR X");
  EXPECT_EQ(outcome(db, sum), "there is no tensor X");
  other.execute("CREATE TENSOR X AS EINSUM X[i 4] = 1");
  EXPECT_EQ(outcome(db, sum), "4.000000 \n");
  other.execute("ALTER TENSOR X PARTITION (4)");
  EXPECT_EQ(outcome(db, sum), "4.000000 \n");
  EXPECT_EQ(counts(db).hits, 0);
  other.execute("INSERT INTO TENSOR X VALUES (0, 11)");
  EXPECT_EQ(outcome(db, sum), "14.000000 \n");
  EXPECT_EQ(counts(db).hits, 1);
}

TEST_F(PlanCacheOfTwo, AMacroOfAnotherSessionIsSeen) {
  db.execute("CREATE TENSOR X AS EINSUM X[i 2] = 1");
  other.execute("CREATE MACRO f(x) AS 2 * x");
  EXPECT_EQ(outcome(db, "EINSUM Z[] = SUM(f(X[i]))"), "4.000000 \n");
  other.execute("CREATE OR REPLACE MACRO f(x) AS 3 * x");
  EXPECT_EQ(outcome(db, "EINSUM Z[] = SUM(f(X[i]))"), "6.000000 \n");
}

// BEGIN alone reads nothing: the snapshot is that of the first statement after it.
TEST_F(PlanCacheOfTwo, ATransactionThatHasReadNothingSeesChanges) {
  db.execute("CREATE TENSOR X AS EINSUM X[i 2] = 1");
  EXPECT_EQ(outcome(db, sum), "2.000000 \n");
  db.execute("BEGIN");
  other.execute("DROP TENSOR X");
  other.execute("CREATE TENSOR X AS EINSUM X[i 4] = 1");
  EXPECT_EQ(outcome(db, sum), "4.000000 \n");
  other.execute("DROP TENSOR X");
  EXPECT_EQ(outcome(db, sum), "4.000000 \n");
  db.execute("COMMIT");
  EXPECT_EQ(outcome(db, sum), "there is no tensor X");
}

// ---- Attached tensors ----------------------------------------------------------------------------------------------

MemoryTensor row_of(const std::vector<double>& values) {
  return {DType::Float64, values.data(), {static_cast<std::int64_t>(values.size())}, {1}, {"i"}};
}

TEST(PlanCache, AttachedTensorsComeAndGo) {
  Session db(":memory:");
  const std::vector<double> two{1, 1};
  const std::vector<double> same{5, 6};
  const std::vector<double> three{1, 1, 1};
  const std::string sum = "EINSUM Z[] = SUM(X[i])";
  db.attach("X", row_of(two));
  EXPECT_EQ(outcome(db, sum), "2.000000 \n");
  db.detach("X");
  EXPECT_EQ(outcome(db, sum), "there is no tensor X");
  db.attach("X", row_of(same));
  EXPECT_EQ(outcome(db, sum), "11.000000 \n");
  EXPECT_EQ(outcome(db, sum), "11.000000 \n");
  db.detach("X");
  db.attach("X", row_of(three));
  EXPECT_EQ(outcome(db, sum), "3.000000 \n");
  db.detach("X");
  db.execute("CREATE TENSOR X AS EINSUM X[i 2] = 4");
  EXPECT_EQ(outcome(db, sum), "8.000000 \n");
}

TEST(PlanCache, ShapesThatTakeTurnsKeepTheirPlans) {
  Session db(":memory:");
  const std::vector<double> two{1, 1};
  const std::vector<double> three{1, 1, 1};
  for (int round = 0; round < 3; ++round) {
    for (const auto* values : {&two, &three}) {
      db.attach("X", row_of(*values));
      EXPECT_EQ(outcome(db, "EINSUM Z[] = SUM(X[i])"), std::to_string(1.0 * values->size()) + " \n");
      db.detach("X");
    }
  }
  EXPECT_EQ(counts(db).misses, 2);
  EXPECT_EQ(counts(db).hits, 4);
  // No more than a few of one text are kept.
  std::vector<std::vector<double>> others;
  for (std::size_t n = 4; n < 14; ++n) others.emplace_back(n, 1.0);
  for (const auto& values : others) {
    db.attach("X", row_of(values));
    outcome(db, "EINSUM Z[] = SUM(X[i])");
    db.detach("X");
  }
  EXPECT_EQ(counts(db).plans, static_cast<std::int64_t>(PlanCache::kMostOfKey));
}

TEST(PlanCache, TensorsThatComeWithEachRunShareAPlan) {
  Session db(":memory:");
  const auto statement = db.prepare("EINSUM Z[] = $1 * SUM(X[i])");
  for (int n = 1; n <= 5; ++n) {
    const std::vector<double> values{1.0 * n, 2};
    const auto result = db.execute(*statement, {.parameters = {0.5 * n}, .tensors = {{"X", row_of(values)}}});
    EXPECT_EQ(result.tensor->tile(0)->data<double>()[0], 0.5 * n * (n + 2));
  }
  EXPECT_EQ(counts(db), (Counts{1, 4, 1, 0}));
}

// ---- A search for stale plans --------------------------------------------------------------------------------------

// Random changes of everything that plans depend on, with queries in between: a query that may have a cached plan must
// give the same result as the same query under a new head.
class StalePlans : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  std::size_t below(std::size_t bound) { return random() % bound; }
  std::string pick(std::initializer_list<const char*> words) { return *(words.begin() + below(words.size())); }

  void attach_or_detach(Session& db) {
    const auto name = pick({"A", "B"});
    try {
      if (below(2) == 0) return db.detach(name);
      const auto rows = static_cast<std::int64_t>(1 + below(3));
      db.attach(name, {DType::Float64, memory.data(), {rows, 3}, {3, 1}, {"i", "j"}});
    } catch (const Error&) {  // nothing to detach, or the name is in use
    }
  }

  std::string change() {
    const auto name = pick({"A", "B"});
    const auto cells = name + " PARTITION (1, " + pick({"1", "2"}) + ") AS EINSUM " + name + "[i " +
                       pick({"1", "2", "3"}) + ", j 3] = i + j + " + pick({"0", "1.5"});
    switch (below(13)) {
      case 0:
      case 1:
      case 2: return "CREATE TENSOR " + cells;
      case 3: return "DROP TENSOR " + name;
      case 4: return "ALTER TENSOR " + name + " PARTITION (1, " + pick({"1", "3"}) + ")";
      case 5: return "ALTER TENSOR A RENAME TO B";
      case 6: return "CREATE OR REPLACE MACRO f(x) AS " + pick({"x", "2 * x", "x + 1", "x + SUM(B[p,q])"});
      case 7: return "DROP MACRO f";
      case 8: return pick({"BEGIN", "SAVEPOINT s"});
      case 9: return pick({"ROLLBACK", "ROLLBACK TO s", "COMMIT", "RELEASE s"});
      case 10: return "SET parallelism = " + pick({"1", "4"});
      case 11: return "INSERT INTO TENSOR " + name + " VALUES (0, 0, 9)";
      default: return "SET tile_bytes = " + pick({"8", "1000"});
    }
  }

  // A change that leaves no transaction open.
  std::string change_alone() {
    auto text = change();
    while (text == "BEGIN" || text.starts_with("SAVEPOINT")) text = change();
    return text;
  }

  static bool in_transaction(Session& db) {
    if (outcome(db, "BEGIN") == "a transaction is open already") return true;
    db.execute("COMMIT");
    return false;
  }

  std::mt19937 random{GetParam()};
  std::vector<double> memory{1, 2, 3, 4, 5, 6, 7, 8, 9};
};

TEST_P(StalePlans, AreNeverUsed) {
  ScratchDirectory scratch;
  Session db(scratch.file("a.db"));
  Session other(scratch.file("a.db"));
  other.execute("CREATE TABLE t (x)");
  int heads = 0;
  int compared = 0;
  for (int step = 0; step < 250; ++step) {
    if (below(8) == 0) attach_or_detach(db);
    else if (below(4) != 0) outcome(db, change());
    else if (!in_transaction(db)) outcome(other, change_alone());
    for (const char* body : {"[] = SUM(A[i,j])", "[i] = SUM(f(A[i,j]))", "[i] = A[i,0] * B[0,i]"}) {
      const auto fresh = outcome(db, "EINSUM H" + std::to_string(++heads) + body);
      const auto kept = outcome(db, std::string("EINSUM Z") + body);
      ASSERT_EQ(kept, fresh) << "step " << step << ": " << body;
      compared += fresh.find('\n') != std::string::npos ? 1 : 0;
    }
  }
  EXPECT_GT(compared, 100);
  EXPECT_GT(counts(db).hits, 30);
}

INSTANTIATE_TEST_SUITE_P(Seeds, StalePlans, ::testing::Range(1U, 9U));

// ---- Errors --------------------------------------------------------------------------------------------------------

// The same mistake under the same plan's key is reported each time, at its own place.
TEST(PlanCache, ErrorsAreFoundAnewAtTheirOwnPlaces) {
  Session db(":memory:");
  for (const std::string before : {"", "   ", "/* far away */ "}) {
    const auto text = before + "EINSUM Z[i] = X[i]";
    try {
      db.execute(text);
      FAIL();
    } catch (const Error& error) {
      ASSERT_TRUE(error.span());
      EXPECT_EQ(error.span()->begin, text.find('X'));
    }
  }
  EXPECT_EQ(counts(db), (Counts{0, 0, 3, 0}));
}

TEST(PlanCache, AFailedRunLeavesThePlan) {
  Session db(":memory:");
  db.execute("CREATE TENSOR X AS EINSUM X[i 600, j 600] = i");
  const std::string query = "EINSUM Z[i,k] = SUM(X[i,j] * X[j,k])";
  db.execute(query);
  db.execute("SET statement_timeout = 1");
  EXPECT_THROW(db.execute("EINSUM Z[a,b,c] = X[a,b] * X[b,c] + SUM(X[a,d] * X[d,c])"), Error);
  db.execute("RESET statement_timeout");
  db.execute(query);
  EXPECT_EQ(counts(db).hits, 1);
}

// ---- Bounds --------------------------------------------------------------------------------------------------------

CachedPlan plan_of(std::size_t bytes) {
  return {std::make_shared<const QueryPlan>(), std::make_shared<LatestClusterPlan>(), {}, 0, bytes};
}
bool always(CachedPlan&) { return true; }
bool never(CachedPlan&) { return false; }

TEST(PlanCacheBounds, TheLeastRecentlyUsedPlanGoesFirst) {
  PlanCache cache;
  cache.resize(2);
  cache.insert("a", plan_of(1));
  cache.insert("b", plan_of(1));
  EXPECT_NE(cache.find("a", always), nullptr);
  cache.insert("c", plan_of(1));
  EXPECT_EQ(cache.find("b", always), nullptr);
  EXPECT_NE(cache.find("a", always), nullptr);
  EXPECT_NE(cache.find("c", always), nullptr);
  EXPECT_EQ(cache.counters().hits, 3);
  EXPECT_EQ(cache.counters().misses, 1);
  EXPECT_EQ(cache.counters().evictions, 1);
  EXPECT_EQ(cache.find("a", never), nullptr);
  EXPECT_EQ(cache.size(), 2U);  // it may hold again
  cache.resize(0);
  EXPECT_EQ(cache.size(), 0U);
  EXPECT_EQ(cache.bytes(), 0U);
}

TEST(PlanCacheBounds, LargePlansMakeRoomAndTheLargestAreNotKept) {
  PlanCache cache;
  cache.resize(1000);
  const auto large = PlanCache::kMaxBytes / 5;
  for (int n = 0; n < 10; ++n) cache.insert(std::string(1, static_cast<char>('a' + n)), plan_of(large));
  EXPECT_EQ(cache.size(), 4U);
  EXPECT_LE(cache.bytes(), PlanCache::kMaxBytes);
  EXPECT_EQ(cache.counters().evictions, 6);
  cache.insert("larger", plan_of(PlanCache::kMaxBytes / 3));
  EXPECT_EQ(cache.find("larger", always), nullptr);
  EXPECT_EQ(cache.size(), 4U);
}

// The recorded size of a plan is close to its memory use.
TEST(PlanCacheBounds, BytesOfPlansAreAboutRight) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's allocator does not say";
  SessionState session(":memory:", {});
  run_statement(parse_statement("CREATE TENSOR X AS EINSUM X[i 4, j 4] = i + j"), session);
  for (const int operands : {10, 300}) {
    std::string text = "EINSUM Z[a0,a" + std::to_string(operands) + "] = SUM(1.5";
    for (int n = 0; n < operands; ++n) text += " * X[a" + std::to_string(n) + ",a" + std::to_string(n + 1) + "]";
    const auto query = parse_query(text + ")");
    session.user.settings.set("plan_cache_size", std::int64_t{0});
    plan_query(query, session);  // one-time initialisation
    const auto before = ::mallinfo2().uordblks;
    const auto planned = plan_query(query, session);
    const auto taken = ::mallinfo2().uordblks - before;
    EXPECT_LT(approximate_bytes(*planned.shared), 2 * taken) << operands;
    EXPECT_GT(approximate_bytes(*planned.shared), taken / 2) << operands;
  }
}

// ---- Keys ----------------------------------------------------------------------------------------------------------

std::string key(const std::string& query) { return key_of(parse_query(query)).text; }

TEST(QueryKey, IsTheSameHoweverTheQueryIsWritten) {
  EXPECT_EQ(key("EINSUM Z[i] = SUM(X[i,j])"), key("einsum\n Z [ i ] = sum ( X [ i , j ] ) -- all"));
  EXPECT_EQ(key("EINSUM Z[i] = EXP(X[i]) * 1.50"), key("EINSUM Z[i] = exp(X[i]) * 15e-1"));
  EXPECT_EQ(key("EINSUM Z[i] = CASE WHEN X[i] > 0 THEN 1 ELSE 2 END"),
            key("EINSUM Z[i] = case when X[i] > 0 then 1 else 2 end"));
  EXPECT_EQ(key("EINSUM 'ij,jk->ik' (X, Y)"), key("EINSUM 'ij, jk -> ik'(X,Y)"));
  EXPECT_EQ(key("EINSUM Z[i] = CAST(X[i] AS float32)"), key("EINSUM Z[i] = cast(X[i] AS FLOAT32)"));
}

// Each query differs from the first in one respect.
TEST(QueryKey, TellsQueriesApart) {
  const std::vector<std::string> queries{
      "EINSUM Z[i] = SUM(X[i,j])",
      "EINSUM z[i] = SUM(X[i,j])",
      "EINSUM Z[I] = SUM(X[I,j])",
      "EINSUM Z[i] = SUM[j](X[i,j])",
      "EINSUM Z[i] = SUM(X[i,j] + 0)",
      "EINSUM Z[i] = SUM(X[i,j] + 0.0)",
      "EINSUM Z[i] = SUM(X[i,j] + $1)",
      "EINSUM Z[i] = SUM(X[i,j] + $2)",
      "EINSUM Z[i] = SUM(X[i,j] - 0)",
      "EINSUM Z[i] = SUM(X[i,j]) + 0",
      "EINSUM Z[i] = SUM(X[i,3])",
      "EINSUM Z[i] = SUM(X[i,-3])",
      "EINSUM Z[i] = SUM(X[i,$3])",
      "EINSUM Z[i] = SUM(Y[i,j])",
      "EINSUM Z[i] = MAX(X[i,j])",
      "EINSUM Z[i 3] = SUM(X[i,j])",
      "EINSUM Z[i 4] = SUM(X[i,j])",
      "EINSUM Z[i,j] = SUM(X[i,j])",
      "EINSUM Z[i] = NOT SUM(X[i,j])",
      "EINSUM Z[i] = -SUM(X[i,j])",
      "EINSUM Z[i] = EXP(SUM(X[i,j]))",
      "EINSUM Z[i] = SIN(SUM(X[i,j]))",
      "EINSUM Z[i] = CAST(SUM(X[i,j]) AS FLOAT32)",
      "EINSUM Z[i] = CAST(SUM(X[i,j]) AS FLOAT64)",
      "EINSUM Z[i] = CASE WHEN SUM(X[i,j]) THEN 1 ELSE 0 END",
      "EINSUM Z[i] = CASE SUM(X[i,j]) WHEN 1 THEN 1 ELSE 0 END",
      "WITH Y[i] = X[i,0] EINSUM Z[i] = SUM(X[i,j])",
      "WITH X[i,j] = X[i,j] EINSUM Z[i] = SUM(X[i,j])",
      "EINSUM Z[i] = a - b - c",
      "EINSUM Z[i] = a - (b - c)",
      "EINSUM Z[i] = (a - b) - c",
      "EINSUM 'ij->i' (X)",
      "EINSUM 'ij' (X)",
      "EINSUM 'ij->' (X)",
      "EINSUM 'ij->j' (X)",
      "EINSUM '...j->...' (X)",
      "EINSUM 'ij->i' (Y)",
      "EINSUM 'ij,jk,kl->il' (X, X, X)",
      "EINSUM '(ij,jk),kl->il' (X, X, X)",
      "EINSUM 'ij,(jk,kl)->il' (X, X, X)",
      "EINSUM 'ij,jk,kl->il' (X, X, X) USING PATH 'greedy'",
      "EINSUM 'ij,jk,kl->il' (X, X, X) USING PATH 'auto'",
      "EINSUM 'ij,jk,kl->il' (X, X, X) USING PATH 'auto' WITH WEIGHT 0",
      "EINSUM 'ij,jk,kl->il' (X, X, X) USING PATH 'auto' WITH WEIGHT 5",
      "EINSUM 'ij,jk,kl->il' (X, X, X) USING PATH ((0,1),(0,1))",
      "EINSUM 'ij,jk,kl->il' (X, X, X) USING PATH ((1,2),(0,1))",
  };
  std::map<std::string, std::string> seen;
  for (const auto& query : queries) {
    const auto [known, is_new] = seen.try_emplace(key(query), query);
    EXPECT_TRUE(is_new) << query << "\n" << known->second;
  }
}

TEST(QueryKey, KnowsWhichParametersShapeThePlan) {
  const auto parameters = [](const std::string& query) { return key_of(parse_query(query)).parameters; };
  using Parameters = std::map<std::size_t, ParameterUse>;
  using enum ParameterUse;
  EXPECT_EQ(parameters("EINSUM Z[j] = $2 * X[$1,j] ^ $3"), (Parameters{{1, Index}, {2, Number}, {3, Shape}}));
  EXPECT_EQ(parameters("EINSUM Z[j $1] = EXP($2 + $3) * POW($4, 1 + $5)"),
            (Parameters{{1, Shape}, {2, Number}, {3, Number}, {4, Number}, {5, Shape}}));
  EXPECT_EQ(parameters("EINSUM Z[i 2] = RANDOM($1) + f($2) + SUM(-$3) + CASE WHEN $4 THEN $5 ELSE $6 END"),
            (Parameters{{1, Shape}, {2, Shape}, {3, Number}, {4, Number}, {5, Number}, {6, Number}}));
  EXPECT_EQ(parameters("EINSUM Z[j] = $1 * X[$1,j]"), (Parameters{{1, Index}}));
  EXPECT_EQ(parameters("EINSUM Z[j] = X[$1,j] + $1"), (Parameters{{1, Index}}));
  EXPECT_EQ(parameters("EINSUM Z[j] = X[$1,j] ^ $1"), (Parameters{{1, Shape}}));
  // Definitions and variables of derivatives are computed as a whole; a macro may use its arguments in any way.
  EXPECT_EQ(parameters("WITH x[i,j] = 2 * A[i,$2,j] EINSUM Z[j] = X[$1,j]"), (Parameters{{1, Shape}, {2, Index}}));
  EXPECT_EQ(parameters("EINSUM Z[j] = f(X[$1,j])"), (Parameters{{1, Shape}}));
}

// Lengths of 255 and more have another encoding than short ones.
TEST(QueryKey, LongListsAndNamesAreToldApart) {
  std::map<std::string, std::size_t> seen;
  for (const std::size_t length : {1, 253, 254, 255, 256, 257, 600}) {
    EXPECT_TRUE(seen.try_emplace(key("EINSUM Z[i] = " + std::string(length, 'x') + "[i]"), length).second);
    std::string sum = "X[i]";
    for (std::size_t n = 0; n < length; ++n) sum += " + X[i]";
    EXPECT_TRUE(seen.try_emplace(key("EINSUM Z[i] = " + sum), length).second);
  }
}

}  // namespace
}  // namespace eindb

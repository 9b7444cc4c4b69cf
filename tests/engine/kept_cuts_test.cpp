// Tiles of stored tensors in other cuts, which are kept between statements.

#include <gtest/gtest.h>

#include <string>

#include "engine/results/result.hpp"
#include "engine/session.hpp"

namespace eindb {
namespace {

std::string explained(Session& session, const std::string& query) {
  auto result = session.execute("EXPLAIN ANALYZE " + query);
  std::string text;
  Row row;
  while (result.rows->next(row)) text += std::get<std::string>(row.front()) + "\n";
  return text;
}

bool reads(const std::string& plan, const std::string& tiles) {
  return plan.find(tiles + " tiles read") != std::string::npos;
}

class KeptCuts : public ::testing::Test {
 protected:
  KeptCuts() {
    session_.execute("SET parallelism = 1");
    session_.execute("CREATE TENSOR X PARTITION (64, 1) AS EINSUM X[i 64, j 64] = i + j");
    session_.execute("CREATE TENSOR Y PARTITION (1, 1) AS EINSUM Y[j 64, k 64] = j - k");
  }

  Session session_{":memory:"};
  const std::string query_ = "EINSUM Z[i,k] = SUM(X[i,j] * Y[j,k])";
};

TEST_F(KeptCuts, ASecondStatementReadsNoneOfTheTilesThatTheyAreMadeOf) {
  const auto first = explained(session_, query_);
  EXPECT_TRUE(first.find("repartition X") != std::string::npos && reads(first, "64")) << first;
  const auto second = explained(session_, query_);
  EXPECT_TRUE(reads(second, "0")) << second;
}

// Patches of three and of five rows are in the same number of parts, each with its own rows beside them.
TEST_F(KeptCuts, PartsThatOverlapAreThoseOfTheirReach) {
  session_.execute("SET parallelism = 4");
  session_.execute("CREATE TENSOR W FLOAT32 PARTITION (16, 1) AS EINSUM W[i 256, j 256] = (7 * i + 3 * j) % 11");
  for (const int taps : {3, 5}) {
    const auto weights = "F" + std::to_string(taps);
    session_.execute("CREATE TENSOR " + weights + " FLOAT32 AS EINSUM F[p " + std::to_string(taps) + "] = p + 1");
    const auto rows = std::to_string(257 - taps);
    const auto sums = "Z[i " + rows + ", j] = SUM[p](W[i + p, j] * " + weights + "[p])";
    const auto plan = explained(session_, "EINSUM " + sums);
    EXPECT_TRUE(plan.find("halos") != std::string::npos && reads(plan, "16")) << plan;
    const auto again = explained(session_, "EINSUM " + sums);
    EXPECT_TRUE(reads(again, "0")) << again;
    auto wrong = session_.execute("WITH " + sums +
                                  " EINSUM N[] = COUNT_NONZERO(Z[i,j] <> SUM[p](((7 * (i + p) + 3 * j) % 11) * " +
                                  weights + "[p]))");
    Row row;
    ASSERT_TRUE(wrong.rows->next(row));
    EXPECT_EQ(std::get<std::int64_t>(row.front()), 0);
  }
}

TEST_F(KeptCuts, AChangeDropsThem) {
  explained(session_, query_);
  session_.execute("UPDATE TENSOR X[i,j] = 1");
  const auto plan = explained(session_, query_);
  EXPECT_TRUE(reads(plan, "64")) << plan;
}

TEST_F(KeptCuts, NoneAreKeptWhereTheyTakeALargePartOfTheMemory) {
  session_.execute("SET memory_limit = '1MiB'");
  session_.execute("CREATE TENSOR L PARTITION (64, 1) AS EINSUM L[i 64, j 512] = i + j");
  session_.execute("EXPLAIN ANALYZE EINSUM Z[i,k] = SUM(L[i,j] * L[k,j])");
  const auto plan = explained(session_, "EINSUM Z[i,k] = SUM(L[i,j] * L[k,j])");
  EXPECT_TRUE(reads(plan, "64")) << plan;
}

TEST_F(KeptCuts, NoneAreKeptWithoutACache) {
  session_.execute("SET tile_cache_size = 0");
  explained(session_, query_);
  const auto plan = explained(session_, query_);
  EXPECT_TRUE(reads(plan, "64")) << plan;
}

}  // namespace
}  // namespace eindb

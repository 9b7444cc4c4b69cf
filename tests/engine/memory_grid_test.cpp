// Statements under various memory limits and numbers of threads: a statement that runs also runs with more memory, and
// a refused one runs with the memory that the message asks for.

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "engine/session.hpp"

namespace eindb {
namespace {

class MemoryGrid : public ::testing::Test {
 protected:
  // Random partitions of integer matrices.
  void create(std::mt19937& random) {
    for (const auto* name : {"A", "B"}) {
      const auto parts = std::to_string(1U << random() % 5) + ", " + std::to_string(1U << random() % 5);
      session_.execute(std::string("CREATE TENSOR ") + name + " PARTITION (" + parts + ") AS EINSUM " + name +
                       "[i 448, j 448] = (i * 7 + j * 3) % 11");
    }
  }
  void drop() {
    for (const auto* name : {"A", "B"}) session_.execute(std::string("DROP TENSOR ") + name);
  }

  // The number that the statement returns, or the mebibytes that its refusal asks for.
  struct Outcome {
    std::optional<double> value;
    std::int64_t asked = 0;
  };
  Outcome run(const std::string& statement, std::int64_t mebibytes, int threads) {
    session_.execute("SET memory_limit = '" + std::to_string(mebibytes) + "MiB'");
    session_.execute("SET threads = " + std::to_string(threads));
    try {
      auto result = session_.execute(statement);
      Row row;
      EXPECT_TRUE(result.rows->next(row));
      const auto* real = std::get_if<double>(&row[0]);
      return {real != nullptr ? *real : static_cast<double>(std::get<std::int64_t>(row[0]))};
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::MemoryLimit) << error.message();
      std::smatch found;
      const auto& message = error.message();
      EXPECT_TRUE(std::regex_search(message, found, std::regex("at least ([0-9]+) MiB"))) << message;
      EXPECT_NE(error.hint().find("SET memory_limit"), std::string::npos) << error.hint();
      return {std::nullopt, found.empty() ? 0 : std::stoll(found[1])};
    }
  }

  Session session_{":memory:"};
};

TEST_F(MemoryGrid, MoreMemoryAndOtherThreadsChangeNothing) {
  const std::vector<std::string> statements = {
      "EINSUM m[] = MAX(A[i,j] - B[j,i])",
      "EINSUM s[] = SUM(A[i,j] * B[j,k])",
      "WITH P[i,k] = SUM(A[i,j] * B[j,k]) EINSUM m[] = MAX(P[i,k] + P[k,i])",
      "WITH P[i,k] = MAX(A[i,j] + B[k,j]), Q[i,k] = P[i,k] * A[i,k] EINSUM s[] = SUM(Q[i,j] * P[j,i])",
      "WITH N[i] = SUM(A[i,j]), T[i,j] = A[i,j] * N[j] EINSUM m[] = MAX(T[i,j] - T[j,i])",
  };
  for (unsigned seed = 0; seed < 4; ++seed) {
    std::mt19937 random(seed);
    create(random);
    for (const auto& statement : statements) {
      SCOPED_TRACE(statement + ", seed " + std::to_string(seed));
      const auto expected = run(statement, 1024, 1);
      ASSERT_TRUE(expected.value);
      for (const int threads : {1, 2, 8}) {
        bool ran = false;
        for (const std::int64_t mebibytes : {1, 2, 3, 4, 6, 8, 12, 16, 32}) {
          SCOPED_TRACE(std::to_string(mebibytes) + " MiB, " + std::to_string(threads) + " threads");
          const auto found = run(statement, mebibytes, threads);
          if (found.value) {
            EXPECT_EQ(*found.value, *expected.value);
            ran = true;
            continue;
          }
          EXPECT_FALSE(ran) << "it ran with less";
          EXPECT_GT(found.asked, mebibytes);
          for (const int others : {1, 2, 8})
            EXPECT_TRUE(run(statement, found.asked, others).value) << found.asked << " MiB, " << others << " threads";
        }
        EXPECT_TRUE(ran);
      }
    }
    drop();
  }
}

// With a single tile no call fits: the message states the memory of one call.
TEST_F(MemoryGrid, WhatIsAskedForIsEnough) {
  session_.execute("CREATE TENSOR A PARTITION (1, 1) AS EINSUM A[i 700, j 700] = i + j");
  session_.execute("CREATE TENSOR B PARTITION (1, 1) AS EINSUM B[i 700, j 700] = i - j");
  for (const auto* statement : {"EINSUM m[] = MAX(A[i,j] - B[j,i])", "EINSUM s[] = SUM(A[i,j] * B[j,k])"}) {
    SCOPED_TRACE(statement);
    const auto refused = run(statement, 1, 2);
    ASSERT_FALSE(refused.value);
    for (const int threads : {1, 2, 8}) EXPECT_TRUE(run(statement, refused.asked, threads).value) << refused.asked;
  }
}

// The whole tile is read for the elements at one index.
TEST_F(MemoryGrid, ATileBehindAnIndexCounts) {
  session_.execute("CREATE TENSOR A PARTITION (1, 1) AS EINSUM A[i 700, j 700] = i + j");
  const auto* statement = "EINSUM s[] = SUM(A[3,j] * A[5,j])";
  const auto expected = run(statement, 1024, 1);
  bool ran = false;
  for (const std::int64_t mebibytes : {1, 2, 3, 4, 5, 6, 8, 12}) {
    SCOPED_TRACE(std::to_string(mebibytes) + " MiB");
    const auto found = run(statement, mebibytes, 2);
    EXPECT_TRUE(found.value || !ran) << "it ran with less";
    ran = ran || found.value.has_value();
    if (found.value) EXPECT_EQ(*found.value, *expected.value);
    else
      for (const int threads : {1, 2, 8}) EXPECT_TRUE(run(statement, found.asked, threads).value) << found.asked;
  }
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace eindb

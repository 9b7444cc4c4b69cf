#include "optimizer/partitions/viable.hpp"

#include <gtest/gtest.h>

#include <set>

#include "optimizer/partitions/cost_model.hpp"

namespace eindb {
namespace {

// The ten of section 8.2 for the 8 x 8 matrix product; the paper prints eight of them.
TEST(Viable, MatrixProductOnEightCalls) {
  const auto vectors = viable({8, 8, 8}, 8);
  EXPECT_EQ(vectors, (std::vector<Partition>{{8, 1, 1},
                                             {4, 2, 1},
                                             {4, 1, 2},
                                             {2, 4, 1},
                                             {2, 2, 2},
                                             {2, 1, 4},
                                             {1, 8, 1},
                                             {1, 4, 2},
                                             {1, 2, 4},
                                             {1, 1, 8}}));
}

TEST(Viable, CountsOfSectionEight) {
  EXPECT_EQ(viable(std::vector<std::int64_t>(6, 1024), 1024).size(), 3003U);
  EXPECT_EQ(viable({}, 8), std::vector<Partition>{{}});
  EXPECT_EQ(viable({7, 9}, 1), (std::vector<Partition>{{1, 1}}));
}

TEST(Viable, ExtentsBoundTheParts) {
  EXPECT_EQ(viable({3, 8}, 8), (std::vector<Partition>{{2, 4}, {1, 8}}));
  // No vector makes 16 calls, so those with the most are listed.
  EXPECT_EQ(viable({3, 4, 1, 0}, 16), (std::vector<Partition>{{2, 4, 1, 1}}));
}

// Compared with plain enumeration of all powers of two.
TEST(Viable, AgreesWithEnumeration) {
  for (const std::vector<std::int64_t>& extents :
       {std::vector<std::int64_t>{5, 2, 16}, {1, 1}, {4, 4, 4, 4}, {100}, {2, 3, 2, 3}}) {
    for (const std::int64_t p : {1, 2, 8, 16, 64}) {
      std::set<Partition> best;
      double most = 0;
      Partition d(extents.size(), 1);
      const auto visit = [&](const auto& self, std::size_t n) -> void {
        if (n == d.size()) {
          if (kernel_calls(d) > static_cast<double>(p)) return;
          if (kernel_calls(d) > most) best.clear();
          most = std::max(most, kernel_calls(d));
          if (kernel_calls(d) == most) best.insert(d);
          return;
        }
        for (d[n] = 1; d[n] <= extents[n]; d[n] *= 2) self(self, n + 1);
        d[n] = 1;
      };
      visit(visit, 0);
      const auto vectors = viable(extents, p);
      EXPECT_EQ(std::set<Partition>(vectors.begin(), vectors.end()), best);
      EXPECT_EQ(vectors.size(), best.size());
    }
  }
}

TEST(Viable, LimitLeavesSmallLabelsUncut) {
  std::vector<std::int64_t> extents(40, 2);
  extents[39] = 64;
  const auto vectors = viable(extents, 64, 1000);
  EXPECT_LE(vectors.size(), 1000U);
  EXPECT_GE(vectors.size(), 100U);
  for (const auto& d : vectors) EXPECT_EQ(kernel_calls(d), 64);
  // A limit never costs parallelism.
  EXPECT_EQ(kernel_calls(viable(std::vector<std::int64_t>(12, 2), 1 << 10, 5).front()), 1 << 10);
}

}  // namespace
}  // namespace eindb

#include "optimizer/partitions/viable.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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

TEST(Viable, AnyNumberOfCalls) {
  EXPECT_EQ(viable({8, 8}, 6), (std::vector<Partition>{{6, 1}, {3, 2}, {2, 3}, {1, 6}}));
  EXPECT_EQ(viable({8, 8}, 7), (std::vector<Partition>{{7, 1}, {1, 7}}));
  EXPECT_EQ(viable({2, 8}, 12), (std::vector<Partition>{{2, 6}}));
  // Of C(3 + 2, 2) ways for the twos and C(1 + 2, 2) for the three.
  EXPECT_EQ(viable({100, 100, 100}, 24).size(), 30U);
  // Nothing makes 7 calls, or 6, but 3 and 4.
  EXPECT_EQ(viable({6, 2}, 7), (std::vector<Partition>{{1, 1}}));
  EXPECT_EQ(viable({3, 1}, 6), (std::vector<Partition>{{3, 1}}));
  EXPECT_EQ(viable({2, 2}, 12), (std::vector<Partition>{{2, 2}}));
  EXPECT_EQ(viable_calls({2, 2}, 12), 4);
  EXPECT_EQ(viable_calls({5, 2}, 12), 6);
  EXPECT_EQ(viable_calls({}, 5), 1);
}

// Compared with plain enumeration of all vectors whose calls divide p.
TEST(Viable, AgreesWithEnumeration) {
  for (const std::vector<std::int64_t>& extents :
       {std::vector<std::int64_t>{5, 2, 16}, {1, 1}, {4, 4, 4, 4}, {100}, {2, 3, 2, 3}, {7, 9, 11}}) {
    for (const std::int64_t p : {1, 2, 3, 5, 6, 7, 8, 12, 16, 18, 30, 36, 64}) {
      std::set<Partition> best;
      std::int64_t most = 0;
      Partition d(extents.size(), 1);
      const auto visit = [&](const auto& self, std::size_t n, std::int64_t calls) -> void {
        if (calls > p) return;
        if (n == d.size()) {
          if (p % calls != 0) return;
          if (calls > most) best.clear();
          most = std::max(most, calls);
          if (calls == most) best.insert(d);
          return;
        }
        for (d[n] = 1; d[n] <= extents[n]; ++d[n]) self(self, n + 1, calls * d[n]);
        d[n] = 1;
      };
      visit(visit, 0, 1);
      const auto vectors = viable(extents, p);
      EXPECT_EQ(std::set<Partition>(vectors.begin(), vectors.end()), best);
      EXPECT_EQ(vectors.size(), best.size());
      EXPECT_TRUE(std::is_sorted(vectors.rbegin(), vectors.rend())) << "those that cut the first labels come first";
      EXPECT_EQ(viable_calls(extents, p), most);
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
  EXPECT_EQ(viable({3, 2, 8}, 48, 1), (std::vector<Partition>{{3, 2, 8}}));
  EXPECT_LE(viable({30, 30, 30, 30}, 60, 20).size(), 20U);
}

}  // namespace
}  // namespace eindb

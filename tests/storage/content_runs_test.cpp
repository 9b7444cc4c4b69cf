#include "storage/shards/content_runs.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>

#include "common/error.hpp"

namespace eindb {
namespace {

TEST(ContentRuns, GoOnOverTilesThatAreNotThere) {
  ContentRuns contents;
  contents.add(0, ContentId{50});
  contents.add(1, ContentId{51});
  contents.add(3, ContentId{53});
  contents.add(4, ContentId{90});
  EXPECT_EQ(contents.runs(), (std::vector<ContentRuns::Run>{{0, 3, ContentId{50}}, {4, 4, ContentId{90}}}));
  EXPECT_EQ(contents.of(3), ContentId{53});
  EXPECT_EQ(contents.of(5), std::nullopt);
}

// Against a map of the contents by tile, also of parts that are copied.
TEST(ContentRuns, AreThoseThatWereAdded) {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    ContentRuns contents;
    std::map<std::int64_t, ContentId> expected;
    std::int64_t content = 100;
    for (std::int64_t tile = 0; tile < 30; ++tile) {
      content += random() % 3 == 0 ? static_cast<std::int64_t>(random() % 5) - 2 : 1;
      if (random() % 4 == 0) continue;
      contents.add(tile, ContentId{content});
      expected[tile] = ContentId{content};
    }
    for (const auto& [tile, id] : expected) EXPECT_EQ(contents.of(tile), id);
    ContentRuns copied;
    contents.copy(0, 7, copied);
    contents.copy(12, 20, copied);
    for (const auto& [tile, id] : expected) {
      const bool is_copied = tile < 7 || (tile >= 12 && tile < 20);
      if (!is_copied && tile < 20) continue;
      EXPECT_EQ(copied.of(tile), is_copied ? std::optional(id) : std::nullopt);
    }
  }
}

TEST(ContentRuns, RefuseWhatIsNotInOrder) {
  const auto expect_refused = [](ContentRuns::Run first, ContentRuns::Run second) {
    ContentRuns contents;
    contents.add(first);
    EXPECT_THROW(contents.add(second), Error);
  };
  const auto most = std::numeric_limits<std::int64_t>::max();
  expect_refused({0, 3, ContentId{1}}, {3, 4, ContentId{9}});
  expect_refused({0, 3, ContentId{1}}, {5, 4, ContentId{9}});
  expect_refused({0, 3, ContentId{1}}, {5, 5, ContentId{0}});
  expect_refused({0, 3, ContentId{1}}, {5, 6, ContentId{most}});
  ContentRuns contents;
  EXPECT_THROW(contents.add({-1, 0, ContentId{1}}), Error);
}

}  // namespace
}  // namespace eindb

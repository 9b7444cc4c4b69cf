// Results as tensors.

#include <gtest/gtest.h>

#include <cstring>
#include <eindb/eindb.hpp>
#include <numeric>
#include <thread>

#include "tests/api/expect_exception.hpp"

namespace eindb_test {
namespace {

using eindb::Connection;
using eindb::ElementType;

TEST(ApiTensorResult, SaysWhatItIsAndGivesAllElements) {
  Connection db(":memory:");
  const auto result = db.execute("EINSUM Z[row 2, col 3] = CAST(10 * row + col AS INT64)").tensor();
  EXPECT_EQ(result.name(), "Z");
  EXPECT_EQ(result.labels(), (std::vector<std::string>{"row", "col"}));
  EXPECT_EQ(result.extents(), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(result.type(), ElementType::Int64);
  EXPECT_EQ(result.element_count(), 6);
  const auto values = result.values<std::int64_t>();
  EXPECT_EQ((std::vector<std::int64_t>{values.begin(), values.end()}),
            (std::vector<std::int64_t>{0, 1, 2, 10, 11, 12}));
  EXPECT_EQ(values.data(), result.data());
  EXPECT_EXCEPTION(result.values<float>(), Type, "elements of type INT64, not FLOAT32");

  const auto scalar = db.execute("EINSUM Z[] = 2.5").tensor();
  EXPECT_TRUE(scalar.extents().empty());
  EXPECT_EQ(scalar.values<double>()[0], 2.5);
  const auto none = db.execute("EINSUM Z[i 0, j 3] = i").tensor();
  EXPECT_TRUE(none.values<double>().empty());
}

TEST(ApiTensorResult, GivesTheCellsThatAreNotZero) {
  Connection db(":memory:");
  db.execute(
      "CREATE TENSOR X PARTITION (2, 2) AS EINSUM X[i 4, j 4] = CASE WHEN i = 3 - j OR i * j = 9 THEN i + 1 ELSE 0 "
      "END");
  const auto cells = db.execute("EINSUM Z[i,j] = CAST(X[i,j] AS INT64)").tensor().cells();
  EXPECT_EQ(cells.count, 5);
  EXPECT_EQ(cells.indices, (std::vector<std::vector<std::int64_t>>{{0, 1, 2, 3, 3}, {3, 2, 1, 0, 3}}));
  std::vector<std::int64_t> values(5);
  ASSERT_EQ(cells.values.size(), sizeof(std::int64_t) * values.size());
  std::memcpy(values.data(), cells.values.data(), cells.values.size());
  EXPECT_EQ(values, (std::vector<std::int64_t>{1, 2, 3, 4, 4}));

  const std::vector<double> two{2, 3};
  const std::vector<std::int64_t> far{5, 999'999};
  const auto wide = eindb::CellsView::coo(two.data(), 2, std::vector<const std::int64_t*>{far.data(), far.data()},
                                          {1'000'000, 1'000'000});
  db.attach("W", wide);
  auto turned = db.execute("EINSUM Z[j,i] = 2 * W[i,j]");
  for (int times = 0; times < 2; ++times)
    EXPECT_EQ(turned.tensor().cells().indices, (std::vector<std::vector<std::int64_t>>{far, far}));
  // The rows cut the result into smaller tiles.
  EXPECT_TRUE(turned.next());
  EXPECT_EQ(turned.tensor().cells().indices, (std::vector<std::vector<std::int64_t>>{far, far}));

  EXPECT_EQ(db.execute("EINSUM Z[] = 2.5").tensor().cells().count, 1);
  EXPECT_EQ(db.execute("EINSUM Z[i 0, j 3] = i").tensor().cells().count, 0);
}

class ApiTiledResult : public ::testing::Test {
 protected:
  ApiTiledResult() {
    db.execute("SET parallelism = 16");
    db.execute("CREATE TENSOR X (i 7, j 10) PARTITION (3, 4)");  // absent tiles only
    db.execute("CREATE TENSOR Y PARTITION (3, 4) AS EINSUM Y[i 7, j 10] = 10.0 * i + j");
  }

  Connection db{":memory:"};
  std::vector<double> expected = [] {
    std::vector<double> values(70);
    std::iota(values.begin(), values.end(), 0);
    return values;
  }();
};

TEST_F(ApiTiledResult, IsPutTogether) {
  const auto result = db.execute("EINSUM Z[i,j] = Y[i,j] + X[i,j]").tensor();
  const auto values = result.values<double>();
  EXPECT_EQ((std::vector<double>{values.begin(), values.end()}), expected);
}

TEST_F(ApiTiledResult, IsCopiedWithStrides) {
  const auto result = db.execute("EINSUM Z[i,j] = Y[i,j]").tensor();
  std::vector<double> rows(70, -1);
  result.copy_to(rows.data());
  EXPECT_EQ(rows, expected);
  std::vector<double> columns(70, -1);
  result.copy_to(columns.data(), {1, 7});
  for (std::size_t i = 0; i < 7; ++i)
    for (std::size_t j = 0; j < 10; ++j) ASSERT_EQ(columns[j * 7 + i], expected[i * 10 + j]) << i << "," << j;
  // Backwards with a gap of one: elements in the gaps are unchanged.
  std::vector<double> backwards(140, -1);
  result.copy_to(backwards.data() + 138, {-20, -2});
  for (std::size_t n = 0; n < 70; ++n) {
    ASSERT_EQ(backwards[138 - 2 * n], expected[n]);
    ASSERT_EQ(backwards[139 - 2 * n], -1);
  }
  EXPECT_EXCEPTION(result.copy_to(rows.data(), {1}), Value, "2 dimensions, but 1 strides");
  std::vector<float> floats(70);
  EXPECT_EXCEPTION(result.copy_to(floats.data()), Type, "FLOAT64, not FLOAT32");
}

TEST_F(ApiTiledResult, IsReadTileByTile) {
  for (const auto* query : {"EINSUM Z[i,j] = Y[i,j]", "EINSUM Z[i,j] = X[i,j]"}) {
    const auto result = db.execute(query).tensor();
    std::vector<double> seen(70, -1);
    result.for_each_tile([&](const eindb::TileView& tile) {
      for (std::int64_t i = 0; i < tile.extents[0]; ++i)
        for (std::int64_t j = 0; j < tile.extents[1]; ++j) {
          const auto* data = static_cast<const double*>(tile.data);
          seen[static_cast<std::size_t>((tile.begin[0] + i) * 10 + tile.begin[1] + j)] =
              data == nullptr ? 0 : data[i * tile.extents[1] + j];
        }
    });
    EXPECT_EQ(seen, query[16] == 'Y' ? expected : std::vector<double>(70, 0)) << query;
    const auto whole = result.values<double>();
    EXPECT_EQ((std::vector<double>{whole.begin(), whole.end()}), seen) << query;
  }
}

TEST_F(ApiTiledResult, IsReadByManyThreads) {
  const auto result = db.execute("EINSUM Z[i,j] = Y[i,j]").tensor();
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n)
    threads.emplace_back([result, this] { EXPECT_EQ(result.values<double>()[69], expected[69]); });
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace eindb_test

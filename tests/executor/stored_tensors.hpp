#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "executor/tile_exchange.hpp"
#include "plan/ein_graph.hpp"
#include "tensor/dense_tensor.hpp"

namespace eindb::testing {

/// A tensor of small integers, so that sums in any order are equal. Some of its tiles are zero.
inline DenseTensor random_tensor(std::mt19937& random, const TileGrid& grid, DType type, double absent,
                                 std::pair<int, int> values = {-3, 3}) {
  auto dense = Tile::zeros(type, grid.shape());
  dispatch(type, [&]<class T>(std::type_identity<T>) {
    for (std::int64_t n = 0; n < dense.shape().element_count(); ++n)
      dense.mutable_data<T>()[n] =
          static_cast<T>(static_cast<double>(std::uniform_int_distribution<>(values.first, values.second)(random)));
  });
  auto tiles = split(dense, grid);
  for (auto& tile : tiles)
    if (std::uniform_real_distribution<>()(random) < absent) tile = nullptr;
  return assemble(tiles, grid, type);
}

/// The stored tensors of a test; all-zero tiles are absent.
class StoredTensors : public TileSource {
 public:
  void add(const std::string& name, DenseTensor dense, const TileGrid& grid) {
    auto tiles = split(dense, grid);
    for (auto& tile : tiles)
      if (tile->is_all_zero()) tile = nullptr;
    tiles_[name] = std::move(tiles);
    dense_.emplace(name, std::move(dense));
  }
  TilePtr read(const std::string& tensor, std::int64_t tile_id) override {
    return tiles_.at(tensor).at(static_cast<std::size_t>(tile_id));
  }
  TilePtr read_attached(const std::string& tensor, const TileGrid& grid, std::int64_t tile_id, ValueOrder) override {
    return split(dense_.at(tensor), grid).at(static_cast<std::size_t>(tile_id));
  }
  const DenseTensor& dense(const std::string& name) const { return dense_.at(name); }
  bool is_absent(const std::string& name, std::int64_t tile_id) const {
    return tiles_.at(name).at(static_cast<std::size_t>(tile_id)) == nullptr;
  }

 private:
  std::map<std::string, std::vector<TilePtr>> tiles_;
  std::map<std::string, DenseTensor> dense_;
};

/// Compares values; 0 and -0 are equal.
inline void expect_equal(const DenseTensor& a, const DenseTensor& b, const std::string& what) {
  ASSERT_EQ(a.dtype(), b.dtype()) << what;
  ASSERT_EQ(a.shape(), b.shape()) << what;
  const bool same = dispatch(a.dtype(), [&]<class T>(std::type_identity<T>) {
    return std::equal(a.data<T>(), a.data<T>() + a.shape().element_count(), b.data<T>());
  });
  EXPECT_TRUE(same) << what;
}

}  // namespace eindb::testing

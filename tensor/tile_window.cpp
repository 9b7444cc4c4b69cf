#include "tensor/tile_window.hpp"

#include "common/check.hpp"
#include "common/checked_math.hpp"

namespace eindb {

std::int64_t TileWindow::tile_count() const { return checked_product(size); }

TileKey TileWindow::key_of(std::int64_t number) const {
  TileKey key(size.size());
  for (std::size_t d = size.size(); d-- > 0;) {
    key[d] = begin[d] + number % size[d];
    number /= size[d];
  }
  return key;
}

std::int64_t TileWindow::number_of(const TileKey& key) const {
  std::int64_t number = 0;
  for (std::size_t d = 0; d < size.size(); ++d) {
    CHECK(key[d] >= begin[d] && key[d] < begin[d] + size[d], "a window has tiles of its own");
    number = number * size[d] + key[d] - begin[d];
  }
  return number;
}

}  // namespace eindb

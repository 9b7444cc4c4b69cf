// Rows that are copied past the caches, at all places beside lines of these.
#include "executor/kernels/streamed_copy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "executor/kernels/cache_sizes.hpp"

namespace eindb {
namespace {

TEST(StreamedCopy, CopiesAllBytesAndNoOthers) {
  constexpr std::size_t kAround = 192;
  std::vector<std::byte> from(1024 + kAround);
  for (std::size_t n = 0; n < from.size(); ++n) from[n] = static_cast<std::byte>(n * 7 + n / 256);
  for (const std::size_t bytes : {0, 1, 4, 63, 64, 65, 127, 128, 200, 512, 1000}) {
    for (std::size_t place = 0; place <= 64; place += bytes < 300 ? 1 : 4) {
      SCOPED_TRACE(std::to_string(bytes) + " bytes to place " + std::to_string(place));
      std::vector<std::byte> to(from.size(), std::byte{0xA5});
      auto expected = to;
      const auto begin = static_cast<std::ptrdiff_t>(place);
      std::copy_n(from.begin() + 3, bytes, expected.begin() + begin);
      stream_row(to.data() + begin, from.data() + 3, bytes);
      end_streams();
      ASSERT_EQ(to, expected);
    }
  }
}

TEST(StreamedCopy, IsForLongRowsOfLargeResults) {
  const auto cache = cache_sizes().second;
  EXPECT_TRUE(is_streamed(4096, 2 * cache));
  EXPECT_FALSE(is_streamed(4096, cache)) << "the cache holds it";
  EXPECT_FALSE(is_streamed(256, 2 * cache)) << "lines would be written in parts";
}

}  // namespace
}  // namespace eindb

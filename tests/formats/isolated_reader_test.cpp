// A reader in a process of its own: what it gives, and what becomes of crashes, memory, endless loops and cancellation.

#include "storage/formats/isolated_reader.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "common/sanitizers.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

/// Every element is the sum of its coordinates; `before_block` may do harm.
class SumReader final : public BlockReader {
 public:
  explicit SumReader(Shape shape, std::function<void()> before_block = {})
      : shape_(std::move(shape)), before_block_(std::move(before_block)) {}
  DType dtype() const override { return DType::Int64; }
  const Shape& shape() const override { return shape_; }
  std::int64_t working_bytes() const override { return 0; }
  Tile read_block(const std::vector<std::int64_t>& begin, const Shape& extents) override {
    if (before_block_) before_block_();
    auto tile = Tile::zeros(DType::Int64, extents);
    std::vector<std::int64_t> index(extents.rank(), 0);
    auto* value = tile.mutable_data<std::int64_t>();
    if (extents.element_count() == 0) return tile;
    do {
      *value = 0;
      for (std::size_t d = 0; d < index.size(); ++d) *value += begin[d] + index[d];
      ++value;
    } while (next_index(index, extents.extents()));
    return tile;
  }

 private:
  Shape shape_;
  std::function<void()> before_block_;
};

class IsolatedReaderTest : public ::testing::Test {
 protected:
  IsolatedReader open(std::function<void()> at_open, std::function<void()> at_block = {}) {
    return IsolatedReader(
        "some.file", library,
        [&] {
          if (at_open) at_open();
          return std::make_unique<SumReader>(Shape({1000, 3000}), at_block);
        },
        &cancellation);
  }
  void expect_fault_at_open(const std::function<void()>& harm, ErrorKind kind, const std::string& text) {
    EXPECT_ERROR(open(harm), kind, text);
  }
  void expect_fault_at_block(const std::function<void()>& harm, ErrorKind kind, const std::string& text) {
    auto reader = open({}, harm);
    EXPECT_ERROR(reader.read_block({0, 0}, Shape({1, 1})), kind, text);
  }

  std::mutex library;
  Cancellation cancellation;
};

TEST_F(IsolatedReaderTest, BlocksAreThoseOfTheReader) {
  auto reader = open({});
  EXPECT_EQ(reader.dtype(), DType::Int64);
  EXPECT_EQ(reader.shape(), Shape({1000, 3000}));
  const auto tile = reader.read_block({10, 5}, Shape({2, 2}));
  EXPECT_EQ(std::vector<std::int64_t>(tile.data<std::int64_t>(), tile.data<std::int64_t>() + 4),
            (std::vector<std::int64_t>{15, 16, 16, 17}));
  EXPECT_EQ(reader.read_block({0, 0}, Shape({1000, 3000})).data<std::int64_t>()[2'999'999], 3998);
  EXPECT_EQ(reader.read_block({5, 5}, Shape({0, 2})).byte_size(), 0U);
}

TEST_F(IsolatedReaderTest, AScalarIsABlock) {
  IsolatedReader reader(
      "some.file", library, [] { return std::make_unique<SumReader>(Shape()); }, nullptr);
  EXPECT_EQ(reader.read_block({}, Shape()).data<std::int64_t>()[0], 0);
}

TEST_F(IsolatedReaderTest, ErrorsComeThroughWhole) {
  const auto fail = [] { throw Error(ErrorKind::Unsupported, "no such thing", std::nullopt, "try another"); };
  expect_fault_at_open(fail, ErrorKind::Unsupported, "no such thing");
  expect_fault_at_block(fail, ErrorKind::Unsupported, "no such thing");
  EXPECT_EQ(error_of([&] { open(fail); }).hint(), "try another");
  expect_fault_at_open([] { throw std::runtime_error("what"); }, ErrorKind::Internal, "what");
}

TEST_F(IsolatedReaderTest, CrashesAreErrors) {
  const auto crash = [] { ::raise(SIGSEGV); };
  expect_fault_at_open(crash, ErrorKind::Corrupt, "some.file is damaged: its reader crashed");
  expect_fault_at_block(crash, ErrorKind::Corrupt, "some.file is damaged: its reader crashed");
  expect_fault_at_open([] { std::abort(); }, ErrorKind::Corrupt, "crashed");
  expect_fault_at_block([] { ::_exit(0); }, ErrorKind::Corrupt, "its reader stopped");
}

TEST_F(IsolatedReaderTest, TooMuchMemoryIsAnError) {
  if (kSanitized) GTEST_SKIP() << "sanitizers reserve unlimited memory";
  const auto take = [] {
    std::vector<std::vector<char>> all;
    for (int n = 0; n < 4096; ++n) all.emplace_back(1 << 20, 'x');
  };
  expect_fault_at_open(take, ErrorKind::Corrupt, "more memory than");
  expect_fault_at_block(take, ErrorKind::Corrupt, "more memory than");
}

TEST_F(IsolatedReaderTest, AnEndlessLoopEnds) {
  const auto spin = [] {
    std::atomic<bool> forever{true};
    while (forever) {
    }
  };
  // It has some seconds of a processor.
  expect_fault_at_open(spin, ErrorKind::Corrupt, "its reader found no end");
  auto reader = open({}, spin);
  std::thread impatient([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    cancellation.request();
  });
  EXPECT_EQ(error_of([&] { reader.read_block({0, 0}, Shape({1, 1})); }).kind(), ErrorKind::Cancelled);
  impatient.join();
}

}  // namespace
}  // namespace eindb

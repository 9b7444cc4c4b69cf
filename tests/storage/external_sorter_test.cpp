// Sorting beyond memory: one buffer, several runs, several passes of merges.

#include "storage/files/external_sorter.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

struct Record {
  std::int64_t key;
  std::int64_t payload;
  friend bool operator<(const Record& a, const Record& b) { return a.key < b.key; }
};

class ExternalSorterTest : public ::testing::TestWithParam<std::int64_t> {
 protected:
  ScratchDirectory scratch;
  Cancellation cancellation;
};

TEST_P(ExternalSorterTest, SortsAnyNumberOfRecords) {
  const auto memory = GetParam();
  std::mt19937_64 random(3);
  ExternalSorter<Record> sorter(memory, scratch.file(""), cancellation);
  for (const std::int64_t count : {0, 1, 63, 64, 65, 1000, 200000}) {
    SCOPED_TRACE(count);
    std::uint64_t sum = 0;
    for (std::int64_t n = 0; n < count; ++n) {
      const auto key = static_cast<std::int64_t>(random() % 100000);
      sorter.add({key, key * 3});
      sum += static_cast<std::uint64_t>(key);
    }
    sorter.finish();
    EXPECT_EQ(sorter.has_spilled(), count > std::max<std::int64_t>(64, memory / 3 * 2 / 16));
    std::int64_t last = -1;
    std::int64_t seen = 0;
    for (Record record{}; sorter.next(record); ++seen) {
      ASSERT_LE(last, record.key);
      ASSERT_EQ(record.payload, record.key * 3);
      last = record.key;
      sum -= static_cast<std::uint64_t>(record.key);
    }
    EXPECT_EQ(seen, count);
    EXPECT_EQ(sum, 0U);
    Record record{};
    EXPECT_FALSE(sorter.next(record));
    EXPECT_EQ(scratch.file_count(), 0U);
    sorter.clear();
  }
}

// Runs of the smallest buffer, merged in pairs in many passes; some dozens of runs; everything in memory.
INSTANTIATE_TEST_SUITE_P(Memory, ExternalSorterTest, ::testing::Values(1500, 150000, 64 << 20));

TEST(ScratchFile, FallsBackToTheSystemsDirectory) {
  ScratchFile file("/no/such/directory");
  const std::array bytes{std::byte{1}, std::byte{2}, std::byte{3}};
  file.append(bytes);
  file.append(bytes);
  std::array<std::byte, 4> back{};
  file.read_at(1, back);
  EXPECT_EQ(back, (std::array{std::byte{2}, std::byte{3}, std::byte{1}, std::byte{2}}));
  EXPECT_EQ(file.size(), 6);
  EXPECT_ERROR(file.read_at(5, back), ErrorKind::Io, "cannot read a temporary file");
}

}  // namespace
}  // namespace eindb

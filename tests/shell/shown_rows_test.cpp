#include "shell/shown_rows.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "engine/session.hpp"

namespace eindb {
namespace {

/// Rows 0, 1, 2, ..., which count how many of them are read.
class Numbers : public RowSource {
 public:
  Numbers(std::int64_t count, std::int64_t& read) : count_(count), read_(read) {}
  bool next(Row& row) override {
    if (read_ == count_) return false;
    row = {Cell{read_++}};
    return true;
  }

 private:
  std::int64_t count_;
  std::int64_t& read_;
};

std::vector<std::int64_t> first_values(const std::vector<Row>& rows) {
  std::vector<std::int64_t> values;
  for (const auto& row : rows) values.push_back(std::get<std::int64_t>(row.at(0)));
  return values;
}

// Against all rows, for every small count and limit.
TEST(ShownRows, AreTheEndsOfWhatIsCounted) {
  for (std::int64_t count = 0; count < 30; ++count) {
    for (std::size_t limit = 1; limit < 12; ++limit) {
      std::int64_t read = 0;
      Result result{.columns = {}, .rows = std::make_unique<Numbers>(count, read), .status = {}, .tensor = nullptr};
      const auto shown = ShownRows::of(result, limit);
      ASSERT_EQ(shown.count, count);
      std::vector<std::int64_t> expected;
      for (std::int64_t n = 0; n < count; ++n) {
        const auto edge = static_cast<std::int64_t>(limit);
        if (count <= edge || n < edge - edge / 2 || n >= count - edge / 2) expected.push_back(n);
      }
      auto actual = first_values(shown.head);
      for (const auto value : first_values(shown.tail)) actual.push_back(value);
      ASSERT_EQ(actual, expected) << count << " rows, " << limit << " shown";
      ASSERT_EQ(shown.is_all(), count <= static_cast<std::int64_t>(limit));
    }
  }
}

TEST(ShownRows, AreTheFirstOnesWhereTheEndIsFar) {
  std::int64_t read = 0;
  Result result{.columns = {}, .rows = std::make_unique<Numbers>(1'000'000, read), .status = {}, .tensor = nullptr};
  const auto shown = ShownRows::of(result, 40);
  EXPECT_FALSE(shown.count);
  EXPECT_EQ(shown.head.size(), 40U);
  EXPECT_TRUE(shown.tail.empty());
  EXPECT_EQ(read, static_cast<std::int64_t>(ShownRows::kMostCounted) + 1);
}

/// Counts the rows that are read of another source.
class CountedRows : public RowSource {
 public:
  CountedRows(std::unique_ptr<RowSource> rows, std::int64_t& read) : rows_(std::move(rows)), read_(read) {}
  bool next(Row& row) override {
    ++read_;
    return rows_->next(row);
  }

 private:
  std::unique_ptr<RowSource> rows_;
  std::int64_t& read_;
};

TEST(ShownRows, OfATensorAreItsEndsAndNothingBetweenIsRead) {
  Session session(":memory:");
  auto result = session.execute("EINSUM Z[i 50, j 3, k 7000] = 1000000 * i + 10000 * j + k");
  std::int64_t read = 0;
  result.rows = std::make_unique<CountedRows>(std::move(result.rows), read);
  const auto shown = ShownRows::of(result, 5);
  EXPECT_EQ(shown.count, 50 * 3 * 7000);
  EXPECT_EQ(read, 3);
  EXPECT_EQ(shown.head.back(), (Row{Cell{std::int64_t{0}}, Cell{std::int64_t{0}}, Cell{std::int64_t{2}}, Cell{2.0}}));
  ASSERT_EQ(shown.tail.size(), 2U);
  EXPECT_EQ(shown.tail.front(),
            (Row{Cell{std::int64_t{49}}, Cell{std::int64_t{2}}, Cell{std::int64_t{6998}}, Cell{49026998.0}}));
}

}  // namespace
}  // namespace eindb

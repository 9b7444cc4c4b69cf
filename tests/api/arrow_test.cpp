// Arrow's C interfaces in C++: what is handed over, who releases it, and what is taken.

#include <gtest/gtest.h>

#include <cstdint>
#include <eindb/arrow.hpp>
#include <eindb/eindb.hpp>
#include <string>
#include <vector>

#include "tests/api/expect_exception.hpp"

namespace eindb_test {
namespace {

using eindb::ArrowInput;
using eindb::Connection;

struct Batch {
  ArrowArray array{};
  Batch() = default;
  ~Batch() {
    if (array.release != nullptr) array.release(&array);
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  template <class T>
  const T* values(std::int64_t column) const {
    return static_cast<const T*>(array.children[column]->buffers[1]);
  }
};

TEST(ApiArrow, CellsOfATensorLieWhereTheyAre) {
  Connection db(":memory:");
  const auto tensor = db.execute("EINSUM Z[i 3, j 4] = 4.0 * i + j").tensor();
  ArrowArrayStream stream{};
  tensor.to_arrow(stream, 5);
  ArrowSchema schema{};
  ASSERT_EQ(stream.get_schema(&stream, &schema), 0);
  EXPECT_STREQ(schema.format, "+s");
  ASSERT_EQ(schema.n_children, 3);
  EXPECT_STREQ(schema.children[2]->name, "val");
  EXPECT_STREQ(schema.children[2]->format, "g");
  schema.release(&schema);
  EXPECT_EQ(schema.release, nullptr);
  std::int64_t rows = 0;
  for (;;) {
    Batch batch;
    ASSERT_EQ(stream.get_next(&stream, &batch.array), 0);
    if (batch.array.release == nullptr) break;
    EXPECT_EQ(batch.values<double>(2), tensor.values<double>().data() + rows);
    for (std::int64_t n = 0; n < batch.array.length; ++n, ++rows) {
      EXPECT_EQ(batch.values<std::int64_t>(0)[n], rows / 4);
      EXPECT_EQ(batch.values<std::int64_t>(1)[n], rows % 4);
    }
  }
  EXPECT_EQ(rows, 12);
  stream.release(&stream);
  EXPECT_EQ(stream.release, nullptr);
}

TEST(ApiArrow, RowsPassFromOneDatabaseToAnother) {
  Connection from(":memory:");
  from.execute_script("CREATE TABLE t (a INTEGER, b TEXT); INSERT INTO t VALUES (1, 'x'), (NULL, NULL), (3, '')");
  Connection to(":memory:");
  to.execute("CREATE TABLE u (b TEXT, a INTEGER)");
  ArrowArrayStream stream{};
  from.execute("SELECT * FROM t").to_arrow(stream);
  EXPECT_EQ(to.load("U", ArrowInput(stream)), 3);
  EXPECT_EQ(stream.release, nullptr);
  std::string found;
  for (const auto& row : to.execute("SELECT COALESCE(a, 'null') || COALESCE(b, 'null') AS both FROM u"))
    found += row.get<std::string>(0) + ";";
  EXPECT_EQ(found, "1x;nullnull;3;");
}

TEST(ApiArrow, ADenseTensorIsTakenWithoutACopy) {
  Connection db(":memory:");
  const auto tensor = db.execute("EINSUM Z[i 3, j 4] = 4.0 * i + j").tensor();
  ArrowSchema schema{};
  ArrowArray array{};
  tensor.to_arrow(schema, array);
  EXPECT_STREQ(schema.format, "+w:4");
  const auto taken = ArrowInput(schema, array).tensor();
  EXPECT_EQ(schema.release, nullptr);
  EXPECT_EQ(array.release, nullptr);
  EXPECT_FALSE(taken.is_copy());
  EXPECT_EQ(taken.view().data, tensor.data());
  EXPECT_EQ(taken.view().extents, (std::vector<std::int64_t>{3, 4}));
  db.attach("A", taken.view());
  EXPECT_EQ(db.execute("EINSUM S[] = SUM(A[i,j])").tensor().values<double>()[0], 66);
}

TEST(ApiArrow, WhatIsReleasedIsRefused) {
  ArrowArrayStream stream{};
  EXPECT_EXCEPTION(ArrowInput{stream}, Value, "released");
  ArrowSchema schema{};
  ArrowArray array{};
  EXPECT_EXCEPTION((ArrowInput{schema, array}), Value, "released");
  Connection db(":memory:");
  EXPECT_EXCEPTION(db.execute("SELECT 1").to_arrow(stream, 0), Value, "one row at least");
  EXPECT_EXCEPTION(db.execute("EINSUM Z[i 2] = i").tensor().to_arrow(stream, 0), Value, "one row at least");
}

TEST(ApiArrow, AnErrorOfTheStreamIsTold) {
  Connection db(":memory:");
  ArrowArrayStream stream{};
  db.execute("SELECT abs(x) AS x FROM (SELECT 1 AS x UNION ALL SELECT -9223372036854775807 - 1)").to_arrow(stream);
  db.execute("CREATE TABLE t (x)");
  EXPECT_EXCEPTION(db.load("t", ArrowInput(stream)), Io, "integer overflow");
  EXPECT_FALSE(db.in_transaction());
}

}  // namespace
}  // namespace eindb_test

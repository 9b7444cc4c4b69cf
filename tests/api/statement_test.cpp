// Prepared statements: parameters and tensors bound to them.

#include <gtest/gtest.h>

#include <eindb/eindb.hpp>

#include "tests/api/expect_exception.hpp"

namespace eindb_test {
namespace {

using eindb::Connection;
using eindb::TensorView;

template <class T>
std::vector<T> values_of(const eindb::TensorResult& tensor) {
  const auto values = tensor.values<T>();
  return {values.begin(), values.end()};
}

TEST(ApiStatement, ParametersTakeEveryKindOfNumber) {
  Connection db(":memory:");
  auto linear = db.prepare("EINSUM Z[i 3] = $1 * i + $2");
  EXPECT_EQ(linear.parameter_count(), 2U);
  EXPECT_EQ(values_of<double>(linear.bind(1, 2).bind(2, std::uint8_t{1}).execute().tensor()),
            (std::vector<double>{1, 3, 5}));
  // Values stay until they are replaced.
  EXPECT_EQ(values_of<double>(linear.bind(2, 0.5F).execute().tensor()), (std::vector<double>{0.5, 2.5, 4.5}));
  EXPECT_EQ(values_of<std::complex<double>>(linear.bind(2, std::complex<double>(0, 1)).execute().tensor())[1],
            std::complex<double>(2, 1));
  linear.clear_bindings();
  EXPECT_EXCEPTION(linear.execute(), Value, "no value is bound to parameter $1");
  EXPECT_EXCEPTION(linear.bind(2, 1).execute(), Value, "no value is bound to parameter $1");
  EXPECT_EXCEPTION(linear.bind(3, 1), Value, "no parameter $3");
  EXPECT_EXCEPTION(linear.bind(0, 1), Value, "no parameter $0");
  EXPECT_EXCEPTION(linear.bind(1, ~std::uint64_t{0}), Value, "beyond INT64");
}

TEST(ApiStatement, ColumnsAreKnownBeforeItRuns) {
  Connection db(":memory:");
  const auto described = [&](std::string_view text) {
    std::string list;
    for (const auto& [name, type] : db.prepare(text).columns()) list += name + " " + type + ",";
    return list;
  };
  EXPECT_EQ(described("EINSUM Z[i 2, k 3] = CAST(i + k AS INT64)"), "i INTEGER,k INTEGER,val INTEGER,");
  EXPECT_EQ(described("EINSUM Z[i 2] = COMPLEX(i, 1)"), "i INTEGER,val COMPLEX,");
  EXPECT_EQ(described("SELECT 1 AS a, 'x' AS b, 0.5 AS c"), "a INTEGER,b TEXT,c REAL,");
  EXPECT_EQ(described("CREATE TABLE t (a)"), "");
  EXPECT_EXCEPTION(db.prepare("EINSUM Z[i] = X[i]").columns(), UnknownName, "no tensor X");
}

TEST(ApiStatement, ParametersWorkInSqlToo) {
  Connection db(":memory:");
  db.execute("CREATE TABLE names (id INTEGER, name TEXT)");
  auto insert = db.prepare("INSERT INTO names VALUES ($1, $2)");
  insert.bind(1, 1).bind(2, "O'Brien; --").execute();
  insert.bind(1, 2).bind(2, std::string("Ada")).execute();
  auto select = db.prepare("SELECT id FROM names WHERE name = $1");
  auto found = select.bind(1, "O'Brien; --").execute();
  ASSERT_TRUE(found.next());
  EXPECT_EQ(found.row().get<int>(0), 1);
  insert.bind(1, 3).bind(2, nullptr).execute();
  auto unnamed = db.prepare("SELECT id FROM names WHERE name IS $1").bind(1, nullptr).execute();
  ASSERT_TRUE(unnamed.next());
  EXPECT_EQ(unnamed.row().get<int>(0), 3);
}

TEST(ApiStatement, TensorsAreBoundForOneStatementAlone) {
  Connection db(":memory:");
  const std::vector<double> a{1, 2, 3};
  const std::vector<float> b{10, 20, 30, 40};
  auto square = db.prepare("EINSUM Z[i] = V[i] * V[i]");
  EXPECT_EXCEPTION(square.execute(), UnknownName, "no tensor V");
  EXPECT_EQ(values_of<double>(square.bind("V", TensorView::of(a.data(), {3})).execute().tensor()),
            (std::vector<double>{1, 4, 9}));
  // With another type and extent: names are looked up at each execution.
  EXPECT_EQ(values_of<float>(square.bind("V", TensorView::of(b.data(), {4})).execute().tensor()),
            (std::vector<float>{100, 400, 900, 1600}));
  EXPECT_EXCEPTION(db.execute("EINSUM Z[i] = V[i]"), UnknownName, "no tensor V");

  // Rows of SQL are read after execute().
  auto select = db.prepare("SELECT i, val FROM V WHERE val > $1 ORDER BY val DESC");
  auto rows = select.bind("V", TensorView::of(b.data(), {4})).bind(1, 15).execute();
  std::vector<std::int64_t> indices;
  for (const auto& row : rows) indices.push_back(row.get<std::int64_t>(0));
  EXPECT_EQ(indices, (std::vector<std::int64_t>{3, 2, 1}));
  EXPECT_EXCEPTION(db.execute("SELECT * FROM V"), Sql, "no such table: V");

  auto store = db.prepare("CREATE TENSOR S AS EINSUM S[i] = V[i]");
  store.bind("V", TensorView::of(a.data(), {3})).execute();
  EXPECT_EXCEPTION(store.execute(), DuplicateName, "S exists already");
  EXPECT_EQ(values_of<double>(db.execute("EINSUM Z[i] = S[i]").tensor()), a);

  store.clear_bindings();
  EXPECT_EXCEPTION(store.bind("S", TensorView::of(a.data(), {3})).execute(), DuplicateName,
                   "a tensor S exists already");
}

TEST(ApiStatement, HalfReadResultsKeepTheTensorsTheyWereMadeWith) {
  Connection db(":memory:");
  const std::vector<double> a{1, 2, 3};
  const std::vector<float> b{10, 20, 30};
  auto select = db.prepare("SELECT val FROM V ORDER BY i");
  auto first = select.bind("V", TensorView::of(a.data(), {3})).execute();
  ASSERT_TRUE(first.next());
  auto second = select.bind("V", TensorView::of(b.data(), {3})).execute();
  ASSERT_TRUE(second.next() && first.next());
  EXPECT_EQ(first.row().get<double>(0), 2);
  EXPECT_EQ(second.row().get<double>(0), 10);
  ASSERT_TRUE(first.next() && second.next());
  EXPECT_EQ(first.row().get<double>(0), 3);
  EXPECT_EQ(second.row().get<double>(0), 20);
  EXPECT_FALSE(first.next());
}

TEST(ApiStatement, PlacesOfErrorsAreInItsText) {
  Connection db(":memory:");
  auto bad = db.prepare("EINSUM Z[i]\n = Q[i]");
  const auto error = exception_of([&] { bad.execute(); });
  EXPECT_EQ(error.line(), 2U);
  EXPECT_EQ(error.column(), 4U);
  EXPECT_EXCEPTION(db.prepare("EINSUM Z[i] ="), Syntax, "");
  // Large numbers cost nothing.
  auto far = db.prepare("SELECT $999999");
  EXPECT_EXCEPTION(far.execute(), Value, "no value is bound to parameter $1");
}

}  // namespace
}  // namespace eindb_test

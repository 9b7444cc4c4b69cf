// Tensors of few cells in a program's memory: both forms, all types of values and indices, and what is refused.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <eindb/eindb.hpp>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "tests/api/expect_exception.hpp"

namespace eindb_test {
namespace {

using eindb::CellsView;
using eindb::Connection;

template <class T = double>
T only_value(Connection& db, const std::string& query) {
  return db.execute(query).tensor().template values<T>()[0];
}

template <class T, class I>
void expect_both_forms() {
  Connection db(":memory:");
  // [[0, 2, 0], [0, 0, 0], [4, 0, 3]]
  const std::vector<T> values{T(2), T(4), T(3)};
  const std::vector<I> begins{0, 1, 1, 3};
  const std::vector<I> columns{1, 0, 2};
  db.attach("R", CellsView::csr(values.data(), begins.data(), columns.data(), 3, 3));
  const std::vector<I> unordered_rows{2, 0, 2};
  const std::vector<I> unordered_columns{2, 1, 0};
  const std::vector<T> unordered{T(3), T(2), T(4)};
  db.attach("C", CellsView::coo(unordered.data(), 3,
                                std::vector<const I*>{unordered_rows.data(), unordered_columns.data()}, {3, 3}));
  for (const std::string name : {"R", "C"}) {
    const auto tensor = db.execute("EINSUM Z[i,j] = " + name + "[i,j]").tensor();
    EXPECT_EQ(std::vector<T>(tensor.template values<T>().begin(), tensor.template values<T>().end()),
              (std::vector<T>{T(0), T(2), T(0), T(0), T(0), T(0), T(4), T(0), T(3)}));
  }
}

TEST(ApiCells, CoordinatesAndRowsOfAllTypes) {
  expect_both_forms<float, std::int32_t>();
  expect_both_forms<double, std::int64_t>();
  expect_both_forms<std::complex<float>, std::int32_t>();
  expect_both_forms<std::complex<double>, std::int64_t>();
  expect_both_forms<std::int64_t, std::int32_t>();
}

TEST(ApiCells, LargeTensorsAreReadByTheirCells) {
  Connection db(":memory:");
  db.execute("SET memory_limit = '64MiB'");
  const std::vector<double> values{1.5, 2, -4};
  const std::vector<std::int64_t> i{5, 700000, 999999};
  const std::vector<std::int64_t> j{7, 3, 999};
  const std::vector<std::int64_t> k{999, 0, 12};
  const std::vector<const std::int64_t*> indices{i.data(), j.data(), k.data()};
  db.attach("T", CellsView::coo(values.data(), 3, indices, {1000000, 1000, 1000}));
  EXPECT_EQ(only_value(db, "EINSUM s = SUM(T[i,j,k])"), -0.5);
  EXPECT_EQ(only_value(db, "EINSUM s = SUM(T[i,j,k] * T[i,j,k])"), 22.25);
  EXPECT_EQ(only_value(db, "EINSUM s = MAX(T[i,j,k])"), 2);
  EXPECT_EQ(only_value(db, "EINSUM s = T[700000,3,0]"), 2);
  EXPECT_EQ(only_value(db, "EINSUM s = SUM(T[999999,j,k])"), -4);
  const std::vector<double> weights(1000, 0.25);
  db.attach("W", eindb::TensorView::of(weights.data(), {1000}));
  EXPECT_EQ(only_value(db, "EINSUM s = SUM(T[i,j,k] * W[j])"), -0.125);
}

TEST(ApiCells, CellsInOrderAreReadWhereTheyLie) {
  Connection db(":memory:");
  std::vector<double> values{1, 2};
  const std::vector<std::int32_t> begins{0, 1, 2};
  const std::vector<std::int32_t> columns{0, 1};
  const std::vector<std::int64_t> wide{0, 1};
  db.attach("R", CellsView::csr(values.data(), begins.data(), columns.data(), 2, 2));
  db.attach("C", CellsView::coo(values.data(), 2, std::vector{columns.data(), columns.data()}, {2, 2}));
  db.attach("W", CellsView::coo(values.data(), 2, std::vector{wide.data(), wide.data()}, {2, 2}));
  for (const std::string name : {"R", "C", "W"}) {
    values = {1, 2};
    EXPECT_EQ(only_value(db, "EINSUM s = SUM(" + name + "[i,j])"), 3);
    EXPECT_EQ(only_value(db, "EINSUM s = MAX(" + name + "[i,j])"), 2);
    const std::vector<std::string> copies{"EINSUM Z[i,j] = " + name + "[i,j]", "EINSUM Z[i,j] = 2 * " + name + "[i,j]",
                                          "EINSUM Z[j,i] = " + name + "[i,j]"};
    db.execute("CREATE OR REPLACE TENSOR T AS EINSUM T[i,j] = " + name + "[i,j]");
    std::vector<eindb::TensorResult> results;
    for (const auto& query : copies) results.push_back(db.execute(query).tensor());
    // The next statement reads new values, and results keep the old ones.
    values = {5, std::numeric_limits<double>::infinity()};
    EXPECT_EQ(only_value(db, "EINSUM s = MIN(" + name + "[i,j])"), 0);
    EXPECT_EQ(only_value(db, "EINSUM s = SUM(" + name + "[i,j])"), std::numeric_limits<double>::infinity());
    EXPECT_EQ(only_value(db, "EINSUM s = SUM(T[i,j])"), 3);
    const double weight[2]{0, 0};
    db.attach("O", eindb::TensorView::of(weight, {2}));
    EXPECT_TRUE(std::isnan(only_value(db, "EINSUM s = SUM(" + name + "[i,j] * O[j])")));
    db.detach("O");
    EXPECT_EQ(results[0].values<double>()[3], 2);
    EXPECT_EQ(results[1].values<double>()[3], 4);
    EXPECT_EQ(results[2].values<double>()[3], 2);
  }
}

TEST(ApiCells, CellsInOrderTakeNoMemory) {
  constexpr std::int64_t kRows = 1000;
  std::vector<float> values(kRows * kRows, 1);
  std::vector<std::int32_t> rows;
  std::vector<std::int32_t> columns;
  std::vector<std::int32_t> begins{0};
  for (std::int32_t r = 0; r < kRows; ++r) {
    for (std::int32_t c = 0; c < kRows; ++c) {
      rows.push_back(r);
      columns.push_back(3 * c);
    }
    begins.push_back((r + 1) * static_cast<std::int32_t>(kRows));
  }
  Connection db(":memory:");
  const auto in_use = [] {
    const auto figures = ::mallinfo2();
    return figures.uordblks + figures.hblkhd;
  };
  const auto before = in_use();
  db.attach("R", CellsView::csr(values.data(), begins.data(), columns.data(), kRows, 3 * kRows));
  db.attach("C", CellsView::coo(values.data(), kRows * kRows,
                                std::vector<const std::int32_t*>{rows.data(), columns.data()}, {1000, 3000}));
  // Of 8 MB of cells for each.
  EXPECT_LT(in_use(), before + (1 << 20));
  EXPECT_EQ(only_value<float>(db, "EINSUM s = SUM(R[i,j])"), 1e6F);
  EXPECT_EQ(only_value<float>(db, "EINSUM s = SUM(C[i,j])"), 1e6F);
  EXPECT_EQ(only_value<float>(db, "EINSUM s = SUM(R[i,j] * C[i,j])"), 1e6F);
}

TEST(ApiCells, CellsInAnyOtherOrderAreCopied) {
  Connection db(":memory:");
  std::vector<double> values{1, 2};
  std::vector<std::int32_t> begins{0, 2, 2};
  std::vector<std::int32_t> columns{1, 0};
  db.attach("S", CellsView::csr(values.data(), begins.data(), columns.data(), 2, 2));
  values.assign(2, 100);
  begins.assign(3, 0);
  EXPECT_EQ(only_value(db, "EINSUM s = SUM(S[i,j])"), 3);
  values.assign({5, 6});
  begins.assign({0, 1, 2});
  db.replace("S", CellsView::csr(values.data(), begins.data(), columns.data(), 2, 2));
  EXPECT_EQ(only_value(db, "EINSUM s = S[0,1]"), 5);
  auto statement = db.prepare("EINSUM s = SUM(Q[i,j] * S[i,j])");
  statement.bind("Q", CellsView::csr(values.data(), begins.data(), columns.data(), 2, 2));
  EXPECT_EQ(statement.execute().tensor().values<double>()[0], 61);
  db.detach("S");
  EXPECT_EXCEPTION(db.execute("EINSUM s = SUM(S[i,j])"), UnknownName, "tensor");
}

// Empty rows, rows of one cell, and a descent of columns within a row, which is none where the next row begins.
TEST(ApiCells, RowsOfAnyLengthAreThoseOfTheirMatrix) {
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    const auto rows = std::uniform_int_distribution<std::int64_t>(1, 12)(random);
    const auto most = std::uniform_int_distribution<std::int64_t>(1, 12)(random);
    std::vector<double> dense(static_cast<std::size_t>(rows * most), 0);
    std::vector<double> values;
    std::vector<std::int32_t> begins{0};
    std::vector<std::int32_t> columns;
    std::vector<std::int64_t> row_of;
    for (std::int64_t r = 0; r < rows; ++r) {
      std::vector<std::int32_t> row;
      for (std::int32_t c = 0; c < most; ++c)
        if (random() % 3 == 0) row.push_back(c);
      if (round % 2 == 0) std::shuffle(row.begin(), row.end(), random);
      for (const auto column : row) {
        values.push_back(static_cast<double>(values.size() + 1));
        columns.push_back(column);
        row_of.push_back(r);
        dense[static_cast<std::size_t>(r * most + column)] = values.back();
      }
      begins.push_back(static_cast<std::int32_t>(columns.size()));
    }
    const std::vector<std::int64_t> wide(columns.begin(), columns.end());
    Connection db(":memory:");
    db.attach("R", CellsView::csr(values.data(), begins.data(), columns.data(), rows, most));
    db.attach("C", CellsView::coo(values.data(), static_cast<std::int64_t>(values.size()),
                                  std::vector<const std::int64_t*>{row_of.data(), wide.data()}, {rows, most}));
    db.attach("D", eindb::TensorView::of(dense.data(), {rows, most}));
    EXPECT_EQ(only_value(db, "EINSUM s = MAX(ABS(R[i,j] - D[i,j]))"), 0);
    EXPECT_EQ(only_value(db, "EINSUM s = MAX(ABS(C[i,j] - D[i,j]))"), 0);
    if (columns.size() > 1 && begins[1] > 1) {
      columns[1] = columns[0];
      EXPECT_EXCEPTION(db.attach("T", CellsView::csr(values.data(), begins.data(), columns.data(), rows, most)), Value,
                       "given twice");
      columns[1] = static_cast<std::int32_t>(most);
      EXPECT_EXCEPTION(db.attach("T", CellsView::csr(values.data(), begins.data(), columns.data(), rows, most)), Value,
                       "dimension 2");
    }
  }
}

TEST(ApiCells, RowsOfSqlAreThoseOfItsCells) {
  Connection db(":memory:");
  const std::vector<float> values{0.5F, 8};
  const std::vector<std::int32_t> i{1, 80000};
  const std::vector<std::int32_t> j{2, 90000};
  db.attach("S",
            CellsView::coo(values.data(), 2, std::vector<const std::int32_t*>{i.data(), j.data()}, {100000, 100000})
                .with_labels({"row", "column"}));
  std::vector<std::tuple<std::int64_t, std::int64_t, double>> found;
  for (const auto& row : db.execute(R"(SELECT "row", "column", val FROM S WHERE val <> 0)"))
    found.emplace_back(row.get<std::int64_t>(0), row.get<std::int64_t>(1), row.get<double>(2));
  EXPECT_EQ(found, (decltype(found){{1, 2, 0.5}, {80000, 90000, 8}}));
}

TEST(ApiCells, WhatIsNoTensorIsRefused) {
  Connection db(":memory:");
  const std::vector<double> values{1, 2, 3};
  const std::vector<std::int32_t> i{0, 1, 1};
  const std::vector<std::int32_t> j{0, 2, 2};
  const auto coo = [&](std::vector<std::int64_t> extents) {
    return CellsView::coo(values.data(), 3, std::vector<const std::int32_t*>{i.data(), j.data()}, std::move(extents));
  };
  EXPECT_EXCEPTION(db.attach("S", coo({3, 3})), Value, "the cell (1, 2) is given twice");
  EXPECT_EXCEPTION(db.attach("S", coo({3, 2})), Value, "index 2 in dimension 2");
  EXPECT_EXCEPTION(db.attach("S", coo({3, 3, 3})), Value, "2 lists of indices, but 3 extents");
  EXPECT_EXCEPTION(db.attach("S", coo({3, std::int64_t{1} << 40U})), Shape, "2^31");
  EXPECT_EXCEPTION(db.attach("S", coo({})), Shape, "at least one dimension");
  const std::vector<std::int32_t> negative{0, -1, 2};
  EXPECT_EXCEPTION(
      db.attach("S", CellsView::coo(values.data(), 3, std::vector<const std::int32_t*>{negative.data()}, {3})), Value,
      "index -1");
  auto view = coo({3, 3});
  view.values = nullptr;
  EXPECT_EXCEPTION(db.attach("S", view), Value, "null");
  view = coo({3, 3});
  view.count = -1;
  EXPECT_EXCEPTION(db.attach("S", view), Value, "negative");
  view = coo({3, 3});
  view.indices[1] = reinterpret_cast<const char*>(j.data()) + 1;
  EXPECT_EXCEPTION(db.attach("S", view), Value, "aligned");
  for (const std::vector<std::int32_t>& begins :
       {std::vector<std::int32_t>{0, 2, 1, 3}, {1, 2, 3, 3}, {0, 1, 2, 4}, {0, -1, 3, 3}}) {
    auto rows = CellsView::csr(values.data(), begins.data(), j.data(), 3, 3);
    rows.count = 3;
    EXPECT_EXCEPTION(db.attach("S", rows), Value, "row");
  }
  EXPECT_EQ(only_value(db, "EINSUM Z[] = 1"), 1);
}

}  // namespace
}  // namespace eindb_test

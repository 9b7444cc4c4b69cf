// Tensors in the program's memory: their elements are found, no memory beside them is touched, and they are not copied
// as a whole.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <eindb/eindb.hpp>
#include <limits>
#include <numeric>

#include "tests/api/expect_exception.hpp"
#include "tests/api/scratch_file.hpp"

namespace eindb_test {
namespace {

using eindb::Connection;
using eindb::TensorView;

std::vector<double> counted(std::size_t n) {
  std::vector<double> values(n);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

template <class T = double>
std::vector<T> evaluate(Connection& db, const std::string& query) {
  const auto tensor = db.execute(query).tensor();
  const auto values = tensor.template values<T>();
  return {values.begin(), values.end()};
}

// A layout of a 6 x 8 tensor within memory of 200 numbers.
struct Layout {
  const char* name;
  std::int64_t begin;
  std::vector<std::int64_t> strides;
};
void PrintTo(const Layout& layout, std::ostream* out) { *out << layout.name; }

// Tiles of the default size, and very small ones.
class ApiLayout : public ::testing::TestWithParam<std::tuple<Layout, bool>> {};

TEST_P(ApiLayout, ElementsAreFoundByTheirStrides) {
  const auto& layout = std::get<0>(GetParam());
  const bool tiny = std::get<1>(GetParam());
  Connection db(":memory:");
  if (tiny) db.execute_script("SET tile_bytes = 64; SET parallelism = 16");
  const auto memory = counted(200);
  const auto* first = memory.data() + layout.begin;
  const auto at = [&](std::int64_t i, std::int64_t j) { return first[i * layout.strides[0] + j * layout.strides[1]]; };
  db.attach("X", TensorView::of(first, {6, 8}, layout.strides));

  const auto all = evaluate(db, "EINSUM Z[i,j] = X[i,j]");
  const auto transposed = evaluate(db, "EINSUM Z[j,i] = X[i,j] + 0.5");
  const auto product = evaluate(db, "EINSUM Z[i,k] = SUM(X[i,j] * X[k,j])");
  const auto held = evaluate(db, "EINSUM Z[j] = X[3,j] + X[5,j]");
  ASSERT_EQ(all.size(), 48U);
  for (std::int64_t i = 0; i < 6; ++i) {
    for (std::int64_t j = 0; j < 8; ++j) {
      EXPECT_EQ(all[static_cast<std::size_t>(i * 8 + j)], at(i, j));
      EXPECT_EQ(transposed[static_cast<std::size_t>(j * 6 + i)], at(i, j) + 0.5);
      EXPECT_EQ(held[static_cast<std::size_t>(j)], at(3, j) + at(5, j));
    }
    for (std::int64_t k = 0; k < 6; ++k) {
      double sum = 0;
      for (std::int64_t j = 0; j < 8; ++j) sum += at(i, j) * at(k, j);
      EXPECT_EQ(product[static_cast<std::size_t>(i * 6 + k)], sum);
    }
  }
  auto rows = db.execute("SELECT i, j, val FROM X ORDER BY j, i");
  for (std::int64_t j = 0; j < 8; ++j) {
    for (std::int64_t i = 0; i < 6; ++i) {
      ASSERT_TRUE(rows.next());
      EXPECT_EQ(rows.row().get<std::int64_t>(0), i);
      EXPECT_EQ(rows.row().get<double>(2), at(i, j));
    }
  }
  EXPECT_FALSE(rows.next());
}

INSTANTIATE_TEST_SUITE_P(
    All, ApiLayout,
    ::testing::Combine(::testing::Values(Layout{"RowMajor", 0, {8, 1}}, Layout{"ColumnMajor", 0, {1, 6}},
                                         Layout{"Gaps", 5, {20, 2}}, Layout{"RowsApart", 1, {11, 1}},
                                         Layout{"RowsBackwards", 150, {-8, 1}}, Layout{"AllBackwards", 199, {-8, -1}},
                                         Layout{"OneRowRepeated", 7, {0, 1}}, Layout{"OneElementRepeated", 7, {0, 0}},
                                         Layout{"Overlapping", 3, {1, 1}}),
                       ::testing::Bool()),
    [](const auto& param) {
      return std::string(std::get<0>(param.param).name) + (std::get<1>(param.param) ? "InTinyTiles" : "");
    });

// Memory between two inaccessible pages, filled up to its end or from its beginning.
class GuardedMemory {
 public:
  explicit GuardedMemory(std::size_t bytes)
      : page_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))), inside_((bytes + page_ - 1) / page_ * page_) {
    base_ = static_cast<std::byte*>(
        ::mmap(nullptr, inside_ + 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_EQ(::mprotect(base_, page_, PROT_NONE), 0);
    EXPECT_EQ(::mprotect(base_ + page_ + inside_, page_, PROT_NONE), 0);
  }
  ~GuardedMemory() { ::munmap(base_, inside_ + 2 * page_); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  void* at_begin() const { return base_ + page_; }
  void* at_end(std::size_t bytes) const { return base_ + page_ + inside_ - bytes; }

 private:
  std::size_t page_;
  std::size_t inside_;
  std::byte* base_;
};

template <class T>
class ApiGuarded : public ::testing::Test {};
using Elements = ::testing::Types<float, double, std::complex<float>, std::complex<double>, std::int64_t>;
TYPED_TEST_SUITE(ApiGuarded, Elements);

TYPED_TEST(ApiGuarded, KernelsReadNothingBesideTheTensor) {
  using T = TypeParam;
  // Neither extents nor address are multiples of a vector's size.
  for (const std::int64_t n : {1, 3, 7, 17, 37, 67}) {
    const auto bytes = static_cast<std::size_t>(n * n) * sizeof(T);
    const GuardedMemory memory(bytes);
    for (auto* place : {memory.at_begin(), memory.at_end(bytes)}) {
      auto* x = static_cast<T*>(place);
      for (std::int64_t k = 0; k < n * n; ++k) x[k] = T(static_cast<float>(k % 5));
      for (const auto* settings : {"SET parallelism = 1", "SET parallelism = 16"}) {
        Connection db(":memory:");
        db.execute(settings);
        db.attach("X", TensorView::of(static_cast<const T*>(x), {n, n}));
        db.attach("x3", TensorView::of(static_cast<const T*>(x), {n, 1, n}));
        db.attach("T", TensorView::of(static_cast<const T*>(x), {n, n}, {1, n}));
        for (const auto* query :
             {"EINSUM Z[i,k] = SUM(X[i,j] * X[j,k])", "EINSUM Z[i,k] = SUM(X[j,i] * X[k,j])",
              "EINSUM Z[i,k] = SUM(T[i,j] * X[j,k])", "EINSUM Z[i] = SUM(X[i,j] * X[j,i])", "EINSUM Z[] = SUM(X[i,j])",
              "EINSUM Z[j] = SUM(X[i,j])", "EINSUM Z[i] = PROD(X[i,j])", "EINSUM Z[j,i] = X[i,j]",
              "EINSUM Z[i] = X[i,i]", "EINSUM Z[i,j] = 2 * X[i,j] * X[i,j] - T[i,j]",
              "EINSUM Z[i,j] = X[i,j] / (X[i,j] + 1)", "EINSUM Z[i] = X[0,i]",
              "EINSUM Z[a,b,d] = SUM(x3[a,b,c] * x3[c,b,d])", "EINSUM Z[i,j] = EXP(X[i,j] * 0.25)"}) {
          EXPECT_NO_THROW(db.execute(query)) << query;
        }
        EXPECT_EQ(evaluate<T>(db, "EINSUM Z[j,i] = X[i,j]")[0], x[0]);
      }
    }
  }
}

TEST(ApiAttachedTensor, IsNotCopiedAsAWhole) {
  Connection db(":memory:");
  db.execute("SET memory_limit = '16MB'");
  const std::int64_t n = 2048;  // 32 MiB
  std::vector<double> values(static_cast<std::size_t>(n * n), 1.0);
  values[5] = 6;
  const std::vector<double> ones(static_cast<std::size_t>(n), 1.0);
  db.attach("y", TensorView::of(ones.data(), {n}));
  for (const auto& strides : std::vector<std::vector<std::int64_t>>{{n, 1}, {1, n}}) {
    db.attach("X", TensorView::of(values.data(), {n, n}, strides));
    EXPECT_EQ(evaluate(db, "EINSUM Z[] = SUM(X[i,j])"), std::vector<double>{n * n + 5.0});
    EXPECT_EQ(evaluate(db, "EINSUM Z[i] = SUM(X[i,j] * y[j])")[strides[0] == 1 ? 5 : 0], n + 5.0);
    EXPECT_EQ(evaluate(db, "EINSUM Z[i] = X[i,5]")[0], strides[0] == 1 ? 1.0 : 6.0);
    auto sum = db.execute("SELECT SUM(val) FROM X WHERE i < 10");
    ASSERT_TRUE(sum.next());
    EXPECT_EQ(sum.row().get<double>(0), 10 * n + 5.0);
    db.detach("X");
  }
  // A result that does not fit the limit goes to a scratch file.
  db.attach("X", TensorView::of(values.data(), {n, n}));
  auto rows = db.execute("EINSUM Z[i,j] = X[i,j] + 1");
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.row().get<double>(2), 2.0);
}

TEST(ApiAttachedTensor, IsReadInThePartitionThatThePlanWants) {
  Connection db(":memory:");
  db.execute_script("SET tile_bytes = 4096; SET parallelism = 8");
  const auto values = counted(128 * 128);
  db.attach("X", TensorView::of(values.data(), {128, 128}));
  std::string plan;
  for (const auto& row : db.execute("EXPLAIN EINSUM Z[i,k] = SUM(X[i,j] * X[j,k])"))
    plan += row.get<std::string>(0) + "\n";
  EXPECT_NE(plan.find("scan X"), std::string::npos) << plan;
  EXPECT_EQ(plan.find("repartition X"), std::string::npos) << plan;
}

TEST(ApiAttachedTensor, ResultsAreMemoryOfTheirOwn) {
  Connection db(":memory:");
  auto values = counted(12);
  db.attach("X", TensorView::of(values.data(), {3, 4}));
  const auto copy = db.execute("EINSUM Z[i,j] = X[i,j]").tensor();
  const auto plain = db.execute("EINSUM 'ij->ij' (X)").tensor();
  db.execute("CREATE TENSOR S AS EINSUM S[i,j] = X[i,j]");
  db.detach("X");
  std::fill(values.begin(), values.end(), -1);
  EXPECT_EQ(copy.values<double>()[11], 11);
  EXPECT_EQ(plain.values<double>()[11], 11);
  EXPECT_EQ(evaluate(db, "EINSUM Z[i,j] = S[i,j]")[11], 11);
}

TEST(ApiAttachedTensor, ValuesMayChangeBetweenStatements) {
  Connection db(":memory:");
  auto values = counted(12);
  db.attach("X", TensorView::of(values.data(), {3, 4}));
  auto product = db.prepare("EINSUM Z[i,k] = SUM(X[i,j] * X[k,j])");
  EXPECT_EQ(product.execute().tensor().values<double>()[0], 14);
  for (const double first : {2.0, std::numeric_limits<double>::infinity(), 0.0}) {
    values[0] = first;
    EXPECT_EQ(product.execute().tensor().values<double>()[0], 14 + first * first);
    auto rows = db.execute("SELECT val FROM X WHERE i = 0 AND j = 0");
    ASSERT_TRUE(rows.next());
    EXPECT_EQ(rows.row().get<double>(0), first);
  }
}

TEST(ApiAttachedTensor, StandsBesideStoredTensorsAndTables) {
  const ScratchFile file;
  Connection db(file.path());
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  db.attach("M", TensorView::of(values.data(), {2, 3}).with_labels({"sample", "feature"}));
  db.execute_script(
      "CREATE TENSOR W AS EINSUM W[j 3] = j;"
      "CREATE TABLE names (feature INTEGER, name TEXT);"
      "INSERT INTO names VALUES (0, 'width'), (2, 'height')");
  EXPECT_EQ(evaluate(db, "EINSUM Z[i] = SUM(M[i,j] * W[j])"), (std::vector<double>{8, 17}));
  // Names of tensors match without regard to case.
  EXPECT_EQ(evaluate<float>(db, "EINSUM Z[] = MAX(m[i,j])"), std::vector<float>{6});
  auto rows = db.execute("SELECT name, SUM(val) AS s FROM m JOIN names USING (feature) GROUP BY name ORDER BY name");
  EXPECT_EQ(rows.columns()[1], "s");
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.row().get<std::string>(0), "height");
  EXPECT_EQ(rows.row().get<double>(1), 9);
  auto nested = db.execute("SELECT SUM(val) FROM (EINSUM Z[i] = SUM(M[i,j]))");
  ASSERT_TRUE(nested.next());
  EXPECT_EQ(nested.row().get<double>(0), 21);
  auto described = db.execute("DESCRIBE M");
  ASSERT_TRUE(described.next());
  EXPECT_EQ(described.row().get<std::string>(0), "sample");
  const auto exported = file.beside("m.npy");
  db.execute("COPY (EINSUM Z[i,j] = M[i,j]) TO '" + exported + "'");
  EXPECT_EQ(db.execute("COPY R FROM '" + exported + "'").status(), "COPY");
  EXPECT_EQ(evaluate<float>(db, "EINSUM Z[i,j] = R[i,j] - M[i,j]"), std::vector<float>(6, 0));
  // Inside a transaction, and after it.
  db.execute("BEGIN");
  db.execute("CREATE TENSOR N AS EINSUM N[i,j] = M[i,j]");
  db.execute("ROLLBACK");
  EXPECT_EQ(db.tensor_names(), (std::vector<std::string>{"R", "W"}));
  // Another connection does not see it.
  Connection other(file.path());
  EXPECT_EXCEPTION(other.execute("EINSUM Z[i,j] = M[i,j]"), UnknownName, "no tensor M");
}

TEST(ApiAttachedTensor, StatementsCannotChangeIt) {
  Connection db(":memory:");
  const std::vector<double> values{1, 2, 3};
  db.attach("X", TensorView::of(values.data(), {3}));
  db.execute("CREATE TENSOR A AS EINSUM A[i 2] = i");
  const auto error = exception_of([&] { db.execute("CREATE TENSOR x AS EINSUM Z[i 2] = i"); });
  EXPECT_EQ(error.message(), "X is an attached tensor");
  EXPECT_EQ(error.column(), 15U);
  EXPECT_EXCEPTION(db.execute("CREATE TENSOR IF NOT EXISTS X (i 3)"), DuplicateName, "X is an attached tensor");
  EXPECT_EXCEPTION(db.execute("DROP TENSOR X"), ReadOnly, "not a stored one");
  EXPECT_EXCEPTION(db.execute("DROP TENSOR IF EXISTS X"), ReadOnly, "not a stored one");
  EXPECT_EXCEPTION(db.execute("ALTER TENSOR X RENAME TO Y"), ReadOnly, "not a stored one");
  EXPECT_EXCEPTION(db.execute("ALTER TENSOR A RENAME TO X"), DuplicateName, "X is an attached tensor");
  EXPECT_EXCEPTION(db.execute("COPY X FROM 'nothing.npy'"), DuplicateName, "X is an attached tensor");
  EXPECT_EXCEPTION(db.execute("COPY X TO 'nothing.npy'"), Unsupported, "not a stored one");
  EXPECT_EXCEPTION(db.execute("INSERT INTO TENSOR X VALUES (0, 1)"), ReadOnly, "only read");
  EXPECT_EXCEPTION(db.execute("UPDATE TENSOR X[i] = 1"), ReadOnly, "only read");
  EXPECT_EXCEPTION(db.execute("INSERT INTO X VALUES (0, 1)"), ReadOnly, "only read");
  EXPECT_EXCEPTION(db.execute("UPDATE X SET val = 1"), ReadOnly, "only read");
  EXPECT_EXCEPTION(db.execute("CREATE TABLE X (a)"), DuplicateName, "X is an attached tensor");
  db.execute("PREPARE p AS DROP TENSOR X");
  EXPECT_EXCEPTION(db.execute("EXECUTE p"), ReadOnly, "not a stored one");
  EXPECT_EQ(evaluate(db, "EINSUM Z[i] = X[i]"), values);
}

TEST(ApiAttachedTensor, NamesAreFreeOrRefused) {
  const ScratchFile file;
  Connection db(file.path());
  const std::vector<double> values{1, 2, 3};
  const auto view = TensorView::of(values.data(), {3});
  db.execute_script("CREATE TENSOR A AS EINSUM A[i 2] = i; CREATE TABLE t (a); CREATE VIEW v AS SELECT 1");
  EXPECT_EXCEPTION(db.attach("a", view), DuplicateName, "a tensor A exists already");
  EXPECT_EXCEPTION(db.attach("T", view), DuplicateName, "a table t exists already");
  EXPECT_EXCEPTION(db.attach("v", view), DuplicateName, "a view v exists already");
  EXPECT_EXCEPTION(db.attach("json_each", view), DuplicateName, "table of SQL's own");
  EXPECT_EXCEPTION(db.attach("", view), Value, "cannot be empty");
  EXPECT_EXCEPTION(db.attach("eindb_tensors", view), Value, "reserved");
  db.attach("X", view);
  EXPECT_EXCEPTION(db.attach("x", view), DuplicateName, "attached already");
  EXPECT_EXCEPTION(db.detach("Y"), UnknownName, "no tensor Y is attached");
  // A tensor of the same name that another connection creates later is hidden until the name is free.
  Connection other(file.path());
  other.execute("CREATE TENSOR X AS EINSUM X[i 3] = 100.0 * i");
  EXPECT_EQ(evaluate(db, "EINSUM Z[i] = X[i]"), values);
  db.detach("x");
  EXPECT_EQ(evaluate(db, "EINSUM Z[i] = X[i]")[2], 200);
  auto rows = db.execute("SELECT MAX(val) FROM X");
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.row().get<double>(0), 200);
  // First visible to SQL as a stored tensor, then dropped by another connection, then attached.
  other.execute("DROP TENSOR X");
  db.attach("X", view);
  auto again = db.execute("SELECT MAX(val) FROM X");
  ASSERT_TRUE(again.next());
  EXPECT_EQ(again.row().get<double>(0), 3);
}

double sum_by_sql(Connection& db) {
  auto rows = db.execute("SELECT SUM(val) FROM X");
  return rows.next() ? rows.row().get<double>(0) : -1;
}

TEST(ApiAttachedTensor, AnotherTensorTakesThePlace) {
  Connection db(":memory:");
  const std::vector<double> first{1, 2, 3, 4};
  const std::vector<double> second{5, 6, 7, 8};
  const std::vector<float> third{9, 10};
  EXPECT_EXCEPTION(db.replace("X", TensorView::of(first.data(), {4})), UnknownName, "no tensor X is attached");
  db.attach("X", TensorView::of(first.data(), {4}));
  auto sum = db.prepare("EINSUM Z[] = SUM(X[i])");
  EXPECT_EQ(sum.execute().tensor().values<double>()[0], 10);
  EXPECT_EQ(sum_by_sql(db), 10);
  db.replace("x", TensorView::of(second.data(), {4}));
  EXPECT_EQ(sum.execute().tensor().values<double>()[0], 26);
  EXPECT_EQ(sum_by_sql(db), 26);
  // Open rows go on with what they began to read.
  auto rows = db.execute("SELECT val FROM X ORDER BY i");
  ASSERT_TRUE(rows.next());
  db.replace("X", TensorView::of(third.data(), {2}));
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.row().get<double>(0), 6);
  EXPECT_EQ(sum.execute().tensor().values<float>()[0], 19);
  EXPECT_EXCEPTION(db.replace("X", TensorView::of(first.data(), {-1})), Shape, "");
  EXPECT_EQ(sum.execute().tensor().values<float>()[0], 19);
  db.detach("X");
  EXPECT_EXCEPTION(db.replace("X", TensorView::of(first.data(), {4})), UnknownName, "no tensor X is attached");
}

TEST(ApiAttachedTensor, WhatMakesNoSenseIsRefused) {
  Connection db(":memory:");
  const std::vector<double> values(8);
  const auto* data = values.data();
  EXPECT_EXCEPTION(db.attach("X", TensorView::of(data, {2, 4}, {4})), Value, "2 extents, but 1 strides");
  EXPECT_EXCEPTION(db.attach("X", TensorView::of(data, {-1})), Shape, "");
  EXPECT_EXCEPTION(db.attach("X", TensorView::of(data, {std::int64_t{1} << 40, std::int64_t{1} << 40})), Shape, "");
  EXPECT_EXCEPTION(db.attach("X", TensorView::of(data, {4, 2}, {std::int64_t{1} << 62, 1})), Shape, "");
  EXPECT_EXCEPTION(db.attach("X", TensorView::of(data, {4, 2}, {std::numeric_limits<std::int64_t>::min(), 1})), Shape,
                   "");
  EXPECT_EXCEPTION(db.attach("X", TensorView::of(static_cast<const double*>(nullptr), {2})), Value, "pointer is null");
  auto crooked = TensorView::of(data, {2});
  crooked.data = reinterpret_cast<const char*>(data) + 1;
  EXPECT_EXCEPTION(db.attach("X", crooked), Value, "not aligned");
  EXPECT_EXCEPTION(db.attach("X", TensorView::of(data, {2, 2}).with_labels({"a"})), Label,
                   "2 dimensions, but 1 labels");
  EXPECT_EXCEPTION(db.attach("X", TensorView::of(data, {2, 2}).with_labels({"a", "a"})), DuplicateName, "given twice");
  auto untyped = TensorView::of(data, {2});
  untyped.type = static_cast<eindb::ElementType>(77);
  EXPECT_EXCEPTION(db.attach("X", untyped), Type, "no such element type");
  // None of these was attached.
  db.attach("X", TensorView::of(data, {8}));
}

TEST(ApiAttachedTensor, NoElementsAndScalarsAreTensorsToo) {
  Connection db(":memory:");
  const double scalar = 2.5;
  db.attach("s", TensorView::of(&scalar, {}));
  db.attach("none", TensorView::of(static_cast<const double*>(nullptr), {0, 3}));
  EXPECT_EQ(evaluate(db, "EINSUM Z[i 2] = s[] * (i + 1)"), (std::vector<double>{2.5, 5}));
  EXPECT_EQ(evaluate(db, "EINSUM Z[] = SUM(none[i,j])"), std::vector<double>{0});
  EXPECT_TRUE(evaluate(db, "EINSUM Z[i,j] = none[i,j]").empty());
  EXPECT_FALSE(db.execute("SELECT * FROM none").next());
}

}  // namespace
}  // namespace eindb_test

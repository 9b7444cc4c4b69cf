// Derivatives of the binder's graphs for statements in the language.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "common/error.hpp"
#include "derivatives/forward_mode.hpp"
#include "derivatives/reverse_mode.hpp"
#include "parser/binder/binder.hpp"
#include "parser/parser.hpp"
#include "plan/validator.hpp"
#include "tests/derivatives/finite_differences.hpp"

namespace eindb {
namespace {

using testing::evaluate_all;
using testing::Values;

const auto kInfinity = std::numeric_limits<double>::infinity();

// Tensors by name, with their values.
struct Data {
  std::map<std::string, TilePtr> tensors;

  void add(const std::string& name, const std::vector<std::int64_t>& extents, const std::vector<double>& values) {
    auto tensor = Tile::zeros(DType::Float64, Shape(extents));
    std::copy(values.begin(), values.end(), tensor.mutable_data<double>());
    tensors[name] = std::make_shared<DenseTensor>(std::move(tensor));
  }
  void add_complex(const std::string& name, const std::vector<std::complex<double>>& values) {
    auto tensor = Tile::zeros(DType::Complex128, Shape({static_cast<std::int64_t>(values.size())}));
    std::copy(values.begin(), values.end(), tensor.mutable_data<std::complex<double>>());
    tensors[name] = std::make_shared<DenseTensor>(std::move(tensor));
  }

  NameSource names() const {
    return {.find_tensor = [this](const std::string& name) -> std::optional<InputTensor> {
              const auto found = tensors.find(name);
              if (found == tensors.end()) return std::nullopt;
              const auto& shape = found->second->shape();
              return InputTensor{name, found->second->dtype(), TileGrid(shape, Partition(shape.rank(), 1))};
            },
            .tensor_names = [] { return std::vector<std::string>(); }};
  }

  Values values(const EinGraph& graph) const {
    Values out;
    for (std::size_t n = 0; n < graph.size(); ++n) {
      const auto& vertex = graph.vertex(VertexId(n));
      if (vertex.is_input() && !vertex.stored->selection) out.emplace(VertexId(n), tensors.at(vertex.stored->name));
    }
    return out;
  }
};

VertexId named(const EinGraph& graph, const std::string& name) {
  for (std::size_t n = 0; n < graph.size(); ++n)
    if (graph.vertex(VertexId(n)).name == name) return VertexId(n);
  throw std::logic_error("no vertex " + name);
}

EinGraph with_gradient(const Data& data, const std::string& query, const std::string& variable) {
  auto graph = bind_query(parse_query(query), data.names()).graph;
  graph.set_outputs(add_gradients(graph, graph.output(), {named(graph, variable)}));
  validate(graph);
  return graph;
}

std::vector<std::string> gradient_text(const Data& data, const std::string& query, const std::string& variable) {
  const auto before = bind_query(parse_query(query), data.names()).graph.size();
  const auto graph = with_gradient(data, query, variable);
  std::vector<std::string> out;
  for (auto n = before; n < graph.size(); ++n) out.push_back(graph.describe(VertexId(n)));
  return out;
}

template <class T = double>
std::vector<T> gradient(const Data& data, const std::string& query, const std::string& variable) {
  const auto graph = with_gradient(data, query, variable);
  const auto result = evaluate_all(graph, data.values(graph))[graph.output().index()];
  return {result->data<T>(), result->data<T>() + result->shape().element_count()};
}

void expect_near(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t n = 0; n < actual.size(); ++n) EXPECT_NEAR(actual[n], expected[n], 1e-12) << n;
}

std::string error_of(const Data& data, const std::string& query, const std::string& variable) {
  try {
    with_gradient(data, query, variable);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Type);
    return error.message();
  }
  return "no error";
}

struct StatementDerivatives : ::testing::Test {
  void SetUp() override {
    data.add("X", {2, 3}, {1, 2, 4, 0.5, -1, 3});
    data.add("W", {2, 3}, {1, -2, 3, 0.5, 1, 2});
    data.add("v", {3}, {2, 0, -3});
  }
  Data data;
};

TEST_F(StatementDerivatives, Softmax) {
  const std::string query = "WITH P[i,j] = softmax(X[i,j], j) EINSUM L[] = SUM(W[i,j] * P[i,j])";
  std::vector<double> expected;
  const double x[] = {1, 2, 4, 0.5, -1, 3};
  const double w[] = {1, -2, 3, 0.5, 1, 2};
  for (int i = 0; i < 2; ++i) {
    double sum = 0;
    double mean = 0;
    for (int j = 0; j < 3; ++j) sum += std::exp(x[3 * i + j]);
    for (int j = 0; j < 3; ++j) mean += std::exp(x[3 * i + j]) / sum * w[3 * i + j];
    for (int j = 0; j < 3; ++j) expected.push_back(std::exp(x[3 * i + j]) / sum * (w[3 * i + j] - mean));
  }
  expect_near(gradient(data, query, "X"), expected);
}

// The quotient cancels the maximum, so nothing is carried back through it.
TEST_F(StatementDerivatives, TheMaximumOfSoftmaxCancels) {
  EXPECT_EQ(gradient_text(data, "WITH P[i,j] = softmax(X[i,j], j) EINSUM L[] = SUM(W[i,j] * P[i,j])", "X"),
            (std::vector<std::string>{
                "dP.1[i,j] = W[i,j]", "dX.1[i,j] = dP.1[i,j] * P[i,j]", "dP.3.1[i] = SUM(-dP.1[i,j] * P[i,j] / P.3[i])",
                "dX.2[i,j] = dP.3.1[i] * EXP(X[i,j] - P.2[i])", "dX[i,j] = dX.1[i,j] + dX.2[i,j]"}));
  for (const auto& line : gradient_text(data, "EINSUM L[] = SUM[i](LOGSUMEXP[j](X[i,j]) * 2)", "X"))
    EXPECT_EQ(line.find("ties"), std::string::npos) << line;
  // A quotient by something else does not cancel it.
  const auto other = gradient_text(data, "WITH P[i,j] = EXP(X[i,j] - MAX[j](X[i,j])) EINSUM L[] = SUM(P[i,j])", "X");
  EXPECT_TRUE(
      std::any_of(other.begin(), other.end(), [](auto& line) { return line.find("ties") != std::string::npos; }));
}

// Maxima that cancel, and some that only seem to: whatever is omitted must be zero.
TEST_F(StatementDerivatives, ExtremesAreLeftOutOnlyWhereTheyCancel) {
  const std::pair<std::string, bool> statements[] = {
      {"WITH M[i] = MAX(X[i,j]), E[i,j] = EXP(X[i,j] - M[i]), S[i] = SUM(E[i,j]), P[i,j] = E[i,j] / S[i] "
       "EINSUM L[] = SUM(W[i,j] * P[i,j] * LOG(P[i,j]))",
       true},
      {"WITH M[i] = MAX(X[i,j]), E[i,j] = EXP(2 * (X[i,j] - M[i])), S[i] = SUM(EXP(X[i,j] - M[i])) "
       "EINSUM L[] = SUM(W[i,j] * E[i,j] / S[i]^2)",
       true},
      {"WITH M[i] = MAX(X[i,j]), E[i,j] = EXP(X[i,j] - M[i]), S[i] = SUM(E[i,j]) "
       "EINSUM L[] = SUM(W[i,j] * E[i,j] / S[i]^2)",
       false},
      {"WITH M[i] = MAX(X[i,j]), S[i] = SUM(EXP(X[i,j] - M[i])) EINSUM L[] = SUM(W[i,0] * (LOG(S[i]) + M[i]))", true},
      {"WITH M[i] = MAX(X[i,j]), S[i] = SUM(EXP(X[i,j] - M[i])) EINSUM L[] = SUM(W[i,0] * (LOG(S[i]) - M[i]))", false},
      {"WITH M[i] = MAX(X[i,j]), S[i] = SUM(EXP(X[i,j] - M[i])) EINSUM L[] = SUM(LOG(S[i]) + M[k] * W[k,j])", false},
      {"WITH M[i] = MAX(X[i,j]), S[] = SUM(EXP(X[i,j] - M[i])) EINSUM L[] = SUM(W[i,j] * EXP(X[i,j] - M[i]) / S)",
       false},
      {"WITH M[] = MAX(X[i,j]), S[] = SUM(EXP(X[i,j] - M)) EINSUM L[] = SUM(W[i,j] * EXP(X[i,j] - M) / S)", true},
      {"WITH M[j] = MAX(X[i,j]) EINSUM L[] = SUM(W[i,j] * ((X[i,j] - M[j]) - (X[i,j]^2 - M[j])))", true},
      {"WITH M[j] = MAX(X[i,j]) EINSUM L[] = SUM(W[i,j] * (X[i,j] - M[j])^2)", false},
      {"EINSUM L[] = SUM[i](W[i,1] * LOGSUMEXP[j](X[i,j] * 2)) + SUM(MAX[j](X[i,j]))", false},
  };
  for (const auto& [query, cancels] : statements) {
    const auto lines = gradient_text(data, query, "X");
    const auto is_search = [](const std::string& line) { return line.find(".ties") != std::string::npos; };
    EXPECT_EQ(std::none_of(lines.begin(), lines.end(), is_search), cancels) << query;
    const auto graph = bind_query(parse_query(query), data.names()).graph;
    const testing::KinkProbes probes(graph);
    const auto derivative = gradient(data, query, "X");
    for (std::size_t n = 0; n < derivative.size(); ++n) {
      auto direction = Tile::zeros(DType::Float64, Shape({2, 3}));
      direction.mutable_data<double>()[n] = 1;
      const auto expected = testing::directional_derivative(probes, data.values(graph), named(graph, "X"), direction);
      ASSERT_TRUE(expected.has_value());
      EXPECT_NEAR(derivative[n], *expected, 1e-8) << query << " at " << n;
    }
  }
}

TEST_F(StatementDerivatives, MaskedSoftmaxIsNotNaN) {
  data.add("S", {3, 3}, {0.3, 9, 9, 0.1, 0.7, 9, 1, 2, 3});
  data.add("V", {3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const auto d = gradient(data,
                          "WITH M[s,t] = CASE WHEN t <= s THEN S[s,t] ELSE -INFINITY END, P[s,t] = softmax(M[s,t], t) "
                          "EINSUM L[] = SUM(P[s,t] * V[s,t])",
                          "S");
  const double p = 1 / (1 + std::exp(0.6));
  EXPECT_NEAR(d[3], -p * (1 - p), 1e-12);
  EXPECT_NEAR(d[4], p * (1 - p), 1e-12);
  for (const int masked : {1, 2, 5}) EXPECT_EQ(d[static_cast<std::size_t>(masked)], 0);
  EXPECT_NEAR(d[6] + d[7] + d[8], 0, 1e-12);
}

TEST_F(StatementDerivatives, LogSumExpOfInfinities) {
  data.add("Y", {3, 2}, {0, 0, -kInfinity, 1, -kInfinity, -kInfinity});
  expect_near(gradient(data, "EINSUM L[] = SUM[i](EXP(LOGSUMEXP[j](Y[i,j])))", "Y"), {1, 1, 0, std::exp(1), 0, 0});
  expect_near(gradient(data, "EINSUM L[] = SUM[i](i * LOGSUMEXP[j](Y[i,j]))", "Y"), {0, 0, 0, 1, 0, 0});
}

TEST_F(StatementDerivatives, ProductsWithZeros) {
  data.add("Y", {3, 3}, {2, 3, 5, 0, 3, 5, 0, 3, 0});
  expect_near(gradient(data, "WITH p[i] = PROD(Y[i,j]) EINSUM L[] = SUM(p[i])", "Y"), {15, 10, 6, 15, 0, 0, 0, 0, 0});
  // With a function of the operand: (Y - 2) is 0, 1, 3; -2, 1, 3; -2, 1, -2.
  expect_near(gradient(data, "WITH p[i] = PROD[j](2 * (Y[i,j] - 2)) EINSUM L[] = SUM(p[i])", "Y"),
              {24, 0, 0, 24, -48, -16, -16, 32, -16});
}

TEST_F(StatementDerivatives, ExtremesShareEvenly) {
  data.add("Y", {2, 4}, {1, 3, 3, 2, 5, 5, 5, 5});
  expect_near(gradient(data, "EINSUM L[] = SUM[i](MAX[j](Y[i,j]))", "Y"), {0, .5, .5, 0, .25, .25, .25, .25});
  expect_near(gradient(data, "EINSUM L[] = SUM[i](MIN[j]((Y[i,j] - 2)^2))", "Y"), {0, 0, 0, 0, 1.5, 1.5, 1.5, 1.5});
}

TEST_F(StatementDerivatives, KinksAndPoles) {
  expect_near(gradient(data, "EINSUM L[] = SUM(ABS(v[i]))", "v"), {1, 0, -1});
  expect_near(gradient(data, "EINSUM L[] = SUM(RELU(v[i]))", "v"), {1, 0, 0});
  expect_near(gradient(data, "EINSUM L[] = SUM(v[i]^3)", "v"), {12, 0, 27});
  expect_near(gradient(data, "EINSUM L[] = SUM(GREATEST(v[i], 0))", "v"), {1, 0.5, 0});
  expect_near(gradient(data, "EINSUM L[] = SUM(CASE WHEN v[i] > 0 THEN LOG(v[i]) ELSE 0 END)", "v"), {0.5, 0, 0});
  EXPECT_EQ(gradient(data, "EINSUM L[] = SUM(SQRT(v[i]))", "v")[1], kInfinity);
  expect_near(gradient(data, "EINSUM L[] = SUM(v[i] % 1.5)", "v"), {1, 1, 1});
}

TEST_F(StatementDerivatives, IndicesHaveNoDerivative) {
  EXPECT_EQ(error_of(data, "EINSUM L[] = SUM[i](ARGMAX[j](X[i,j]))", "X"),
            "ARGMAX has no derivative, and L depends on it");
  EXPECT_EQ(error_of(data, "WITH a[i] = ARGMIN[j](X[i,j]) EINSUM L[] = SUM(2 * a[i])", "X"),
            "ARGMIN has no derivative, and a depends on it");
  EXPECT_EQ(error_of(data, "EINSUM L[] = SUM(v[i] * CAST(v[i] AS INT64))", "v"),
            "CAST to INT64 has no derivative, and L depends on it");
  // Values that only decide a comparison need no derivative.
  expect_near(gradient(data, "EINSUM L[] = SUM(v[i] * (ARGMAX(v[j]) = i))", "v"), {1, 0, 0});
  expect_near(gradient(data, "EINSUM L[] = SUM(v[i]) * COUNT_NONZERO(v[i])", "v"), {2, 2, 2});
  expect_near(gradient(data, "EINSUM L[] = SUM(v[i]) * COUNT(v[i])", "v"), {3, 3, 3});
}

TEST_F(StatementDerivatives, SelectionsOfTensorsAndOfDefinitions) {
  expect_near(gradient(data, "EINSUM L[] = SUM(X[1,j] * v[j]) + X[0,2]", "X"), {0, 0, 1, 2, 0, -3});
  expect_near(gradient(data, "WITH Y[i,j] = X[i,j]^2 EINSUM L[] = SUM(Y[1,j])", "X"), {0, 0, 0, 1, -2, 6});
  // On the diagonal of a result too.
  expect_near(gradient(data, "WITH D[j,j] = v[j] * 2 EINSUM L[] = SUM(D[j,k] * j) + D[1,1]", "v"), {0, 4, 4});
}

TEST_F(StatementDerivatives, FloatsAreDerivedInTheirType) {
  data.tensors["f"] = std::make_shared<DenseTensor>(Tile::zeros(DType::Float32, Shape({3})));
  const auto graph = with_gradient(data, "EINSUM L[] = SUM(f[i] * v[i])", "f");
  EXPECT_EQ(graph.vertex(graph.output()).dtype, DType::Float32);
}

TEST_F(StatementDerivatives, MatricesOfAPathStayInOrder) {
  data.add("A", {3, 3}, std::vector<double>(9, 1));
  const auto lines =
      gradient_text(data, "EINSUM L[] = SUM(A[i,j] * A[j,k] * A[k,l] * A[l,i]) USING PATH ((2,3),(1,2),(0,1))", "A");
  for (const auto& line : lines) EXPECT_LE(std::count(line.begin(), line.end(), '*'), 1) << line;
}

// The convention is dL = Re(dz * cotangent). For L = ABS(z)^2 = x^2 + y^2 the cotangent is 2x - 2yi.
TEST_F(StatementDerivatives, ComplexNumbers) {
  using C = std::complex<double>;
  data.add_complex("z", {C(1, 2), C(-0.5, 0.3), C(0, 0)});
  data.add_complex("w", {C(2, -1), C(0.1, 0.7), C(3, 0)});
  const auto expect = [](const std::vector<C>& actual, const std::vector<C>& expected) {
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t n = 0; n < actual.size(); ++n) EXPECT_NEAR(std::abs(actual[n] - expected[n]), 0, 1e-12) << n;
  };
  // The cotangent of a contraction has the other factor unconjugated.
  expect(gradient<C>(data, "EINSUM L[] = REAL(SUM(z[i] * w[i]))", "z"), {C(2, -1), C(0.1, 0.7), C(3, 0)});
  expect(gradient<C>(data, "EINSUM L[] = IMAG(SUM(z[i] * w[i]))", "z"), {C(-1, -2), C(0.7, -0.1), C(0, -3)});
  expect(gradient<C>(data, "EINSUM L[] = SUM(ABS(z[i])^2)", "z"), {C(2, -4), C(-1, -0.6), C(0, 0)});
  expect(gradient<C>(data, "EINSUM L[] = REAL(SUM(z[i] * CONJ(z[i])))", "z"), {C(2, -4), C(-1, -0.6), C(0, 0)});
  expect(gradient<C>(data, "EINSUM L[] = REAL(SUM(EXP(z[i])))", "z"),
         {std::exp(C(1, 2)), std::exp(C(-0.5, 0.3)), C(1, 0)});
  // For real numbers in complex products, the real part.
  expect_near(gradient(data, "EINSUM L[] = REAL(SUM(v[i] * z[i] * w[i]))", "v"), {4, -0.26, 0});
}

TEST_F(StatementDerivatives, ForwardModeOfTensors) {
  data.add("dX", {2, 3}, {1, 0, 0, 0, 0, 1});
  auto graph =
      bind_query(parse_query("WITH D[i,j] = dX[i,j] EINSUM Y[i] = SUM(X[i,j] * v[j]) + X[i,0]^2"), data.names()).graph;
  const auto y = graph.output();
  const auto dy = add_jvp(graph, y, {{named(graph, "X"), named(graph, "D")}});
  graph.set_output(dy);
  validate(graph);
  const auto result = evaluate_all(graph, data.values(graph))[dy.index()];
  expect_near({result->data<double>(), result->data<double>() + 2}, {4, -3});
  EXPECT_EQ(graph.vertex(dy).einsum.output, graph.vertex(y).einsum.output);
}

}  // namespace
}  // namespace eindb

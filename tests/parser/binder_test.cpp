#include "parser/binder/binder.hpp"

#include <gtest/gtest.h>

#include <map>

#include "common/error.hpp"
#include "parser/parser.hpp"

namespace eindb {
namespace {

// A catalog of three tensors: X (2 x 3) FLOAT32, Y (3 x 4) FLOAT64, s of rank 0.
NameSource names() {
  static const std::map<std::string, InputTensor> tensors{{"X", {"X", DType::Float32, TileGrid(Shape({2, 3}), {1, 1})}},
                                                          {"Y", {"Y", DType::Float64, TileGrid(Shape({3, 4}), {1, 1})}},
                                                          {"s", {"s", DType::Float64, TileGrid(Shape(), {})}}};
  return {.find_tensor = [](const std::string& name) -> std::optional<InputTensor> {
            const auto found = tensors.find(name);
            return found == tensors.end() ? std::nullopt : std::optional(found->second);
          },
          .tensor_names =
              [] {
                return std::vector<std::string>{"X", "Y", "s"};
              }};
}

// The vertices with an EinSum, as text.
std::vector<std::string> vertices(const std::string& query) {
  const auto bound = bind_query(parse_query(query), names());
  std::vector<std::string> out;
  for (std::size_t n = 0; n < bound.graph.size(); ++n)
    if (!bound.graph.vertices()[n].is_input()) out.push_back(bound.graph.describe(VertexId(n)));
  return out;
}

using Texts = std::vector<std::string>;

TEST(Binder, OneVertexForAJoinWithItsAggregate) {
  EXPECT_EQ(vertices("EINSUM Z[i,k] = SUM(X[i,j] * Y[j,k])"),
            (Texts{"Z[i,k] = SUM(CAST(X[i,j] AS FLOAT64) * Y[j,k])"}));
}

TEST(Binder, AggregatesInsideScalarsAreVerticesOfTheirOwn) {
  EXPECT_EQ(vertices("EINSUM Z[i] = EXP(MAX(X[i,j])) / SUM(Y[j,k])"),
            (Texts{"Z.1[i] = MAX(X[i,j])", "Z.2[] = SUM(Y[j,k])", "Z[i] = CAST(EXP(Z.1[i]) AS FLOAT64) / Z.2"}));
}

TEST(Binder, ExplicitLabelsOfAnAggregateStayBoundInside) {
  EXPECT_EQ(vertices("EINSUM Z[i,j] = X[i,j] - MAX[j](X[i,j])"),
            (Texts{"Z.1[i] = MAX(X[i,j])", "Z[i,j] = X[i,j] - Z.1[i]"}));
  EXPECT_EQ(vertices("EINSUM Z[] = SUM[i](MAX[j](X[i,j]))"), (Texts{"Z.1[i] = MAX(X[i,j])", "Z[] = SUM(Z.1[i])"}));
}

TEST(Binder, MeanIsASumDividedByTheCount) {
  EXPECT_EQ(vertices("EINSUM Z[i] = MEAN(X[i,j])"), (Texts{"Z.1[i] = SUM(X[i,j])", "Z[i] = Z.1[i] / 3"}));
}

TEST(Binder, EqualReferencesAreOneOperand) {
  const auto bound = bind_query(parse_query("EINSUM Z[i,j] = X[i,j] * X[i,j] + 1"), names());
  EXPECT_EQ(bound.graph.vertex(bound.graph.output()).inputs.size(), 1U);
}

TEST(Binder, LabelsOfADefinitionHideTensorsOfOthersDoNot) {
  EXPECT_EQ(vertices("EINSUM Z[s 2] = s"), (Texts{"Z[s] = s"}));
  const auto bound = bind_query(parse_query("WITH A[s 2] = 1 EINSUM Z[i 2] = s + i"), names());
  EXPECT_EQ(bound.graph.vertex(bound.graph.output()).inputs.size(), 1U) << "s is the tensor";
}

TEST(Binder, ConstantIndicesSelect) {
  EXPECT_EQ(vertices("EINSUM Z[j] = X[1,j]"), (Texts{"Z[j] = X(1,:)[j]"}));
  EXPECT_EQ(vertices("EINSUM z[] = X[1,0]"), (Texts{"z[] = X(1,0)"}));
  EXPECT_EQ(vertices("EINSUM z[] = X[1,0] + X[1,0]"), (Texts{"z[] = X(1,0) + X(1,0)"})) << "read once";
  EXPECT_EQ(vertices("WITH T[i,j] = 2 * X[i,j] EINSUM Z[j] = T[1,j]"),
            (Texts{"T[i,j] = 2 * X[i,j]", "T(1,:)[at2] = T[1,at2]", "Z[j] = T(1,:)[j]"}))
      << "computed, so there are no tiles to pick";
}

TEST(Binder, RepeatedHeadLabelsEmbedOnTheDiagonal) {
  const auto bound = bind_query(parse_query("EINSUM Z[i,i] = MAX(X[i,j])"), names());
  EXPECT_EQ(bound.results.front().label_names, (Texts{"i", "i_2"}));
  EXPECT_EQ(bound.graph.vertex(bound.graph.output()).bound, Shape({2, 2}));
}

TEST(Binder, SubscriptsWithImplicitOutput) {
  EXPECT_EQ(vertices("EINSUM 'ij,jk' (X, Y)"), (Texts{"result[i,k] = SUM(CAST(X[i,j] AS FLOAT64) * Y[j,k])"}));
  EXPECT_EQ(vertices("EINSUM 'ba' (X)"), (Texts{"result[a,b] = X[b,a]"}));
}

TEST(Binder, TypesAreThoseOfNumPy) {
  const auto type = [](const std::string& query) {
    const auto bound = bind_query(parse_query(query), names());
    return bound.graph.vertex(bound.graph.output()).dtype;
  };
  EXPECT_EQ(type("EINSUM Z[i,j] = 0.5 * X[i,j]"), DType::Float32);
  EXPECT_EQ(type("EINSUM Z[i,k] = SUM(X[i,j] * Y[j,k])"), DType::Float64);
  EXPECT_EQ(type("EINSUM Z[i,j] = CAST(X[i,j] AS INT64)"), DType::Int64);
  EXPECT_EQ(type("EINSUM Z[i,j] = CAST(X[i,j] AS INT64) / 2"), DType::Float64);
}

struct Refusal {
  const char* query;
  const char* message;
  std::string at;  // the text under the carets
};

TEST(Binder, ErrorsHaveTheirPlace) {
  const Refusal refusals[] = {
      {"EINSUM Z[i] = X[i,j]", "label j is neither in the head of Z nor aggregated", "j"},
      {"EINSUM Z[i,k] = SUM(X[i,j] * Q[j,k])", "there is no tensor Q", "Q"},
      {"EINSUM Z[i] = SUM(X[i])", "X has 2 dimensions, but 1 label is given", "X[i]"},
      {"EINSUM Z[i,k] = SUM(X(i,j) * Y[j,k])", "there is no function X", "X"},
      {"EINSUM Z[i,j] = X + 1", "X has 2 dimensions, but 0 labels are given", "X"},
      {"EINSUM Z[i,j] = CAST(COMPLEX(X[i,j], 1) AS INT64)", "INT64 cannot hold complex numbers", "INT64"},
      {"EINSUM Z[i] = SUM(X[i,j] * Y[i,j])", "label i has extent 2 in dimension 1 of X", "i"},
      {"EINSUM Z[i,q] = X[i,q] + q2", "q2 is neither a label", "q2"},
      {"EINSUM Z[a,b] = 1", "label a in the head of Z has no extent", "a"},
      {"EINSUM Z[i,j] = ABS(X[i,j], 1)", "ABS takes 1 argument, but 2 are given", "ABS(X[i,j], 1)"},
      {"EINSUM Z[j] = X[2,j]", "index 2 lies outside dimension 1 of X", "2"},
      {"EINSUM Z[] = MAX(CAST(X[i,j] AS COMPLEX64))", "MAX is not defined for complex",
       "MAX(CAST(X[i,j] AS COMPLEX64))"},
      {"EINSUM 'ij,jk' (X)", "describe 2 operands, but 1 is given", "'ij,jk'"},
      {"EINSUM 'ijk' (X)", "X has 2 dimensions, but its subscripts give 3 labels", "ijk"},
  };
  for (const auto& refusal : refusals) {
    const std::string text(refusal.query);
    try {
      bind_query(parse_query(text), names());
      ADD_FAILURE() << text << " was accepted";
    } catch (const Error& error) {
      EXPECT_NE(error.message().find(refusal.message), std::string::npos) << text << ": " << error.message();
      ASSERT_TRUE(error.span()) << text;
      EXPECT_EQ(text.substr(error.span()->begin, error.span()->end - error.span()->begin), refusal.at) << text;
    }
  }
}

}  // namespace
}  // namespace eindb

// Binding of queries with several results: derivatives, results by name, new values of stored tensors.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "parser/binder/binder.hpp"
#include "parser/parser.hpp"
#include "plan/validator.hpp"

namespace eindb {
namespace {

using Texts = std::vector<std::string>;

InputTensor tensor(std::string name, DType type, std::vector<std::int64_t> extents) {
  const Partition parts(extents.size(), 1);
  return {.name = std::move(name), .dtype = type, .grid = TileGrid(Shape(std::move(extents)), parts)};
}

// X (2 x 3) and W (3 x 4) are real, V (3) is integer, C (3) complex, s of rank 0, A attached.
NameSource tensor_names() {
  static const std::map<std::string, InputTensor> tensors = [] {
    std::map<std::string, InputTensor> all;
    for (auto t :
         {tensor("X", DType::Float32, {2, 3}), tensor("W", DType::Float32, {3, 4}), tensor("V", DType::Int64, {3}),
          tensor("C", DType::Complex128, {3}), tensor("s", DType::Float64, {}), tensor("A", DType::Float64, {3})}) {
      t.attached = t.name == "A";
      all.emplace(t.name, t);
    }
    return all;
  }();
  return {.find_tensor = [](const std::string& name) -> std::optional<InputTensor> {
            const auto found = tensors.find(name);
            return found == tensors.end() ? std::nullopt : std::optional(found->second);
          },
          .tensor_names = [] { return Texts{"X", "W", "V", "C", "s", "A"}; }};
}

ast::Query query_of(const std::string& text) {
  auto statement = parse_statement(text);
  if (auto* update = std::get_if<ast::UpdateTensor>(&statement.node)) return std::move(update->query);
  return std::get<ast::Query>(std::move(statement.node));
}

// Every output as "name(labels) TYPE extents".
Texts results_of(const BoundQuery& bound) {
  validate(bound.graph, SIZE_MAX);
  EXPECT_EQ(bound.results.size(), bound.graph.outputs().size());
  Texts out;
  for (std::size_t n = 0; n < bound.results.size(); ++n) {
    const auto& vertex = bound.graph.vertex(bound.graph.outputs()[n]);
    std::string text = bound.results[n].name + "(";
    for (const auto& label : bound.results[n].label_names) text += (text.back() == '(' ? "" : ",") + label;
    out.push_back(text + ") " + std::string(name_of(vertex.dtype)) + " " + vertex.bound.to_string());
  }
  return out;
}

Texts results(const std::string& text) { return results_of(bind_query(query_of(text), tensor_names())); }

Texts results(const std::string& text, const Texts& wanted) {
  std::vector<ast::Identifier> identifiers;
  for (const auto& name : wanted) identifiers.push_back({.text = name, .span = {0, 1}});
  return results_of(bind_query(query_of(text), tensor_names(), identifiers));
}

TEST(SeveralResults, OneIsNamedAfterItsHead) {
  EXPECT_EQ(results("EINSUM Z[i,k] = SUM(X[i,j] * W[j,k])"), (Texts{"Z(i,k) FLOAT32 [2, 4]"}));
  EXPECT_EQ(results("EINSUM 'ij,jk' (X, W)"), (Texts{"result(i,k) FLOAT32 [2, 4]"}));
}

TEST(SeveralResults, DefinitionsByName) {
  EXPECT_EQ(results("WITH Q[i] = SUM(X[i,j]), R[j] = SUM(X[i,j] * Q[i]) EINSUM (R, q)"),
            (Texts{"R(j) FLOAT32 [3]", "q(i) FLOAT32 [2]"}));
}

TEST(SeveralResults, TensorsThatAreStoredAreCopied) {
  const auto bound = bind_query(query_of("WITH Q[a] = SUM(X[a,b]) EINSUM (X, Q, s)"), tensor_names());
  EXPECT_EQ(results_of(bound), (Texts{"X(a,b) FLOAT32 [2, 3]", "Q(a) FLOAT32 [2]", "s() FLOAT64 []"}));
  EXPECT_EQ(bound.graph.describe(bound.graph.outputs()[0]), "X[a,b] = X[a,b]");
  EXPECT_EQ(results("EINSUM (W)"), (Texts{"W(d0,d1) FLOAT32 [3, 4]"})) << "nobody has named its labels";
}

TEST(SeveralResults, Wanted) {
  const std::string query = "WITH Q[i] = SUM(X[i,j]), R[j] = X[0,j] EINSUM Z[i] = 2 * Q[i]";
  EXPECT_EQ(results(query, {"r", "Z", "Q"}), (Texts{"r(j) FLOAT32 [3]", "Z(i) FLOAT32 [2]", "Q(i) FLOAT32 [2]"}));
  EXPECT_EQ(results("GRADIENT OF L = SUM(W[i,j]^2) WITH RESPECT TO (W)", {"L", "dW"}),
            (Texts{"L() FLOAT32 []", "dW(i,j) FLOAT32 [3, 4]"}));
}

TEST(SeveralResults, ATypeIsThatOfEachButNotOfWhatReadsIt) {
  const auto bound =
      bind_query(query_of("WITH Q[i] = SUM(X[i,j]), R[i] = 2 * Q[i] EINSUM (Q, R)"), tensor_names(), DType::Float64);
  EXPECT_EQ(results_of(bound), (Texts{"Q(i) FLOAT64 [2]", "R(i) FLOAT64 [2]"}));
  const auto& r = bound.graph.vertex(bound.graph.outputs()[1]);
  EXPECT_EQ(bound.graph.vertex(r.inputs.front()).dtype, DType::Float32);
}

TEST(Derivatives, AreNamedAfterTheirVariables) {
  EXPECT_EQ(results("GRADIENT OF L[] = SUM((X[b,i] * W[i,h])^2) WITH RESPECT TO (W AS g, X)"),
            (Texts{"g(i,h) FLOAT32 [3, 4]", "dX(b,i) FLOAT32 [2, 3]"}));
  EXPECT_EQ(results("WITH P[i] = SUM(X[j,i]), Q = SUM(P[i]^2) GRADIENT OF Q WITH RESPECT TO (P)"),
            (Texts{"dP(i) FLOAT32 [3]"}))
      << "a definition is a variable, too";
  EXPECT_EQ(results("GRADIENT OF L = SUM(X[i,j]) WITH RESPECT TO (W)"), (Texts{"dW(d0,d1) FLOAT32 [3, 4]"}))
      << "on which nothing depends";
}

TEST(Derivatives, AreDefinitionsForWhatFollows) {
  EXPECT_EQ(results("WITH GRADIENT OF L = SUM(W[i,j]^2) WITH RESPECT TO (W), N = SUM(dW[i,j]^2) EINSUM (N, L, dW)"),
            (Texts{"N() FLOAT32 []", "L() FLOAT32 []", "dW(i,j) FLOAT32 [3, 4]"}));
}

TEST(Derivatives, AlongDirections) {
  EXPECT_EQ(results("WITH U[i,j] = 2 * X[i,j] JVP OF Y[b] = SUM(EXP(X[b,k])) WITH RESPECT TO (X ALONG U)"),
            (Texts{"dY(b) FLOAT32 [2]"}));
  EXPECT_EQ(results("JVP OF Y[b] = X[b,0] WITH RESPECT TO (X ALONG X) AS g", {"g", "Y"}),
            (Texts{"g(b) FLOAT32 [2]", "Y(b) FLOAT32 [2]"}));
  EXPECT_EQ(results("JVP OF s WITH RESPECT TO (s ALONG s)"), (Texts{"ds() FLOAT64 []"})) << "of a stored tensor";
}

TEST(Derivatives, AnOrderIsThatOfTheDefinition) {
  const auto bound = bind_query(query_of("GRADIENT OF L = SUM(X[i,j] * W[j,k] * W[j,k]) WITH RESPECT TO (X) "
                                         "USING PATH ((1,2),(0,1))"),
                                tensor_names());
  std::size_t loss = 0;
  while (bound.graph.vertices()[loss].name != "L") ++loss;
  EXPECT_EQ(bound.graph.vertices()[loss].inputs.size(), 2U);
}

TEST(Updates, HaveTheTypeAndExtentsOfTheirTensor) {
  EXPECT_EQ(results("UPDATE TENSOR W[a,h] = 0, V[i] = V[i] / 2, s = s + 1.5, C[j] = V[j]"),
            (Texts{"W(a,h) FLOAT32 [3, 4]", "V(i) INT64 [3]", "s() FLOAT64 []", "C(j) COMPLEX128 [3]"}));
}

TEST(Updates, ReadWhatWasBefore) {
  const auto bound = bind_query(query_of("UPDATE TENSOR V[i] = V[i] + 1, s = SUM(V[i])"), tensor_names());
  const auto& sum = bound.graph.vertex(bound.graph.outputs()[1]);
  EXPECT_TRUE(bound.graph.vertex(sum.inputs.front()).is_input());
}

TEST(Updates, AnOrderIsThatOfTheOneDefinition) {
  EXPECT_EQ(results("UPDATE TENSOR X[i,k] = SUM(X[i,j] * W[j,h] * W[k,h]) USING PATH ((1,2),(0,1))"),
            (Texts{"X(i,k) FLOAT32 [2, 3]"}));
}

struct SeveralRefusal {
  const char* query;
  ErrorKind kind;
  const char* message;
  std::string at;  // the text under the carets
};

TEST(SeveralResults, ErrorsHaveTheirPlace) {
  const SeveralRefusal refusals[] = {
      {"EINSUM (W, Q)", ErrorKind::UnknownName, "there is no tensor Q", "Q"},
      {"WITH Q = s, R = s EINSUM (Q, R) USING PATH ((0,1))", ErrorKind::Value, "the body has no one definition",
       "USING PATH ((0,1))"},
      {"GRADIENT OF L[i] = X[i,0] WITH RESPECT TO (X)", ErrorKind::Shape,
       "a gradient is that of one number, but L has 1 dimension", "L[i]"},
      {"GRADIENT OF X WITH RESPECT TO (X)", ErrorKind::Shape, "but X has 2 dimensions", "X"},
      {"GRADIENT OF L = SUM(C[i]) WITH RESPECT TO (C)", ErrorKind::Type, "but L is complex", "L"},
      {"GRADIENT OF L = SUM(V[i]) WITH RESPECT TO (V)", ErrorKind::Type, "V holds integers", "V"},
      {"GRADIENT OF s WITH RESPECT TO (WW)", ErrorKind::UnknownName, "there is no tensor WW", "WW"},
      {"GRADIENT OF s WITH RESPECT TO (s, W, s AS t)", ErrorKind::DuplicateName, "the variable s is given twice", "s"},
      {"WITH dW = s GRADIENT OF dW WITH RESPECT TO (W)", ErrorKind::DuplicateName, "the statement defines dW twice",
       "W"},
      {"GRADIENT OF s WITH RESPECT TO (s) USING PATH 'left'", ErrorKind::Value, "the body has no one definition",
       "USING PATH 'left'"},
      {"JVP OF s WITH RESPECT TO (W ALONG X)", ErrorKind::Shape,
       "the direction X has extents [2, 3], but the variable W has [3, 4]", "X"},
      {"WITH r[i] = REAL(C[i]) JVP OF r WITH RESPECT TO (r ALONG C)", ErrorKind::Type, "the direction C is complex",
       "C"},
      {"UPDATE TENSOR Q[i] = 0", ErrorKind::UnknownName, "there is no tensor Q", "Q"},
      {"UPDATE TENSOR W[i] = 0", ErrorKind::Label, "W has 2 dimensions, but 1 label is given", "W[i]"},
      {"UPDATE TENSOR W[a,h] = X[a,h]", ErrorKind::Shape,
       "label a has extent 3 in dimension 1 of W but extent 2 in dimension 1 of X", "a"},
      {"UPDATE TENSOR W[a 5,h] = 0", ErrorKind::Shape,
       "label a has extent 3 in dimension 1 of W but extent 5 in the head of W", "a"},
      {"UPDATE TENSOR V[i] = C[i]", ErrorKind::Type, "INT64 cannot hold complex numbers", "V[i] = C[i]"},
      {"UPDATE TENSOR A[i] = 0", ErrorKind::ReadOnly, "A is in the memory of a program", "A"},
      {"WITH W[i] = V[i] UPDATE TENSOR W[i] = W[i]", ErrorKind::DuplicateName, "W is a definition of this statement",
       "W"},
      {"UPDATE TENSOR s = s, V[i] = V[i] * V[i] USING PATH 'left'", ErrorKind::Value, "the body has no one definition",
       "USING PATH 'left'"},
  };
  for (const auto& refusal : refusals) {
    const std::string text(refusal.query);
    try {
      bind_query(query_of(text), tensor_names());
      ADD_FAILURE() << text << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), refusal.kind) << text;
      EXPECT_NE(error.message().find(refusal.message), std::string::npos) << text << ": " << error.message();
      ASSERT_TRUE(error.span()) << text;
      EXPECT_EQ(text.substr(error.span()->begin, error.span()->end - error.span()->begin), refusal.at) << text;
      EXPECT_FALSE(error.hint().empty() && refusal.kind != ErrorKind::DuplicateName) << text;
    }
  }
}

TEST(SeveralResults, WantedNamesThatAreNotThere) {
  try {
    results("WITH Query[i] = SUM(X[i,j]) EINSUM Z[i] = Query[i]", {"Quer"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::UnknownName);
    EXPECT_EQ(error.message(), "the query has no result Quer, and defines none");
    EXPECT_EQ(error.hint(), "did you mean Query?");
  }
  EXPECT_THROW(results("EINSUM Z[i] = SUM(X[i,j])", {"X"}), Error) << "a tensor of the catalog is no definition";
}

}  // namespace
}  // namespace eindb

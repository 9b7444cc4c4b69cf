// A loop's body in one round: where the variable becomes a parameter, an integer or digits, and where it is left alone.

#include "parser/loop_variable.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "parser/parser.hpp"
#include "tests/parser/ast_dump.hpp"

namespace eindb {
namespace {

const LoopVariable kVariable{.name = {.text = "t", .span = {}}, .value = 7, .parameter = 3};

// The first statement of the body of REPEAT 10 AS t { text }, in the round of kVariable.
std::string in_round(const std::string& text) {
  auto loop = std::get<ast::Repeat>(parse_statement("REPEAT 10 AS t { " + text + " }").node);
  return ast::dump(with_loop_variable(std::move(loop.body.front()), kVariable));
}

struct LoopExample {
  const char* text;
  const char* tree;
};

void expect_loops(std::initializer_list<LoopExample> examples) {
  for (const auto& example : examples) EXPECT_EQ(in_round(example.text), example.tree) << example.text;
}

TEST(LoopVariable, IsAParameterInExpressionsAndIndicesAndAnIntegerInExtents) {
  expect_loops({
      {"EINSUM Z[i] = X[t,i] * t + f(t, CASE WHEN t = 1 THEN -t ELSE CAST(t AS FLOAT32) END)",
       "(query (Z[i] = ((X[$3,i] * $3) + (f $3 (case (when ($3 = 1) (neg $3)) (else (cast $3 FLOAT32)))))))"},
      {"EINSUM Z[i t] = SUM[j](Y[i,j,t])", "(query (Z[i 7] = (SUM[j] Y[i,j,$3])))"},
      {"CREATE TENSOR X (i t) AS SELECT 1", "(create X(i 7) (sql 'SELECT 1'))"},
      {"UPDATE TENSOR W[i] = W[i] - t", "(update (query (updates (W[i] = (W[i] - $3)))))"},
      {"WITH A[i] = X[t,i], GRADIENT OF L = t * SUM(W[i]) WITH RESPECT TO (W) EINSUM (A, dW)",
       "(query (A[i] = X[$3,i]) (gradient (L[] = ($3 * (SUM W[i]))) W) (results A,dW))"},
      {"JVP OF Y[i] = t * X[i] WITH RESPECT TO (X ALONG V)", "(query (jvp (Y[i] = ($3 * X[i])) X:V))"},
      {"EXPLAIN EINSUM Z = t", "(explain text (query (Z[] = $3)))"},
      {"COPY (EINSUM Z = t) TO 'x'", "(copy-to (query (Z[] = $3)) 'x')"},
      {"SELECT * FROM (EINSUM Z[i] = X[t,i] * t) WHERE a = :t",
       "(sql 'SELECT * FROM (EINSUM Z[i] = X[t,i] * t) WHERE a = :t' (query (Z[i] = (X[$3,i] * $3))))"},
  });
}

TEST(LoopVariable, IsAnIntegerWhereThereIsNoPlan) {
  expect_loops({
      {"INSERT INTO TENSOR X VALUES (t, t / 2)", "(insert X (7 (7 / 2)))"},
      {"EXECUTE p(t, 'x${t}', NULL)", "(execute p 7 'x7' NULL)"},
  });
}

TEST(LoopVariable, StandsInQuotedNamesAndStrings) {
  expect_loops({
      {"EINSUM \"z${t}\"[\"l${t}\"] = \"w.${t}.${t}\"[\"l${t}\"] + \"s${t}\"",
       "(query (\"z7\"[\"l7\"] = (\"w.7.7\"[\"l7\"] + \"s7\")))"},
      {"EINSUM 'ij' (\"w${t}\")", "(query (subscripts [i,j] of \"w7\"))"},
      {"CREATE OR REPLACE TENSOR (\"a${t}\") AS EINSUM (\"a${t}\")",
       "(create-tensors-or-replace \"a7\" (query (results \"a7\")))"},
      {"GRADIENT OF \"L${t}\" WITH RESPECT TO (\"w${t}\" AS \"g${t}\")", "(query (gradient \"L7\" \"w7\":\"g7\"))"},
      {"COPY \"w${t}\" FROM 'x.${t}.npy' (key 'w.${t}')", "(copy-from \"w7\" 'x.7.npy' (key='w.7'))"},
      {"COPY \"w${t}\" TO 'x.${t}.npy'", "(copy-to \"w7\" 'x.7.npy')"},
      {"DROP TENSOR \"w${t}\"", "(drop \"w7\")"},
      {"ALTER TENSOR \"w${t}\" RENAME TO \"v${t}\"", "(alter \"w7\" rename \"v7\")"},
      {"DESCRIBE \"w${t}\"", "(describe \"w7\")"},
      {"DESCRIBE \"w${u}{t}$t\"", "(describe \"w${u}{t}$t\")"},
  });
}

TEST(LoopVariable, LeavesOtherNamesAlone) {
  expect_loops({
      {"EINSUM Z[i] = T + \"t\" + t[i] + t(i)", "(query (Z[i] = (T + \"t\" + t[i] + (t i))))"},
      {"DROP TENSOR t", "(drop t)"},
      {"CREATE MACRO f(t) AS t + 1", "(macro f(t) (t + 1) 't + 1')"},
      {"EINSUM Z[i] = X[\"t\"]", "(query (Z[i] = X[\"t\"]))"},
  });
}

TEST(LoopVariable, ReachesLoopsInside) {
  EXPECT_EQ(in_round("REPEAT t AS u UNTIL u < t COMMIT EVERY t { EINSUM Z[i] = X[t,u,i] * u * t }"),
            "(repeat 7 as u until (u < $3) every 7 (query (Z[i] = (X[$3,u,i] * u * $3))))");
}

TEST(LoopVariable, InAnExpressionAlone) {
  EXPECT_EQ(ast::dump(with_loop_variable(parse_expression("t > 5 AND X[t] < 1"), kVariable)),
            "(($3 > 5) and (X[$3] < 1))");
}

}  // namespace
}  // namespace eindb

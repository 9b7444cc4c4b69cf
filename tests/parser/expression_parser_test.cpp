// Protects the grammar of expressions: precedence, names, constants, limits and spans.

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <variant>

#include "common/error.hpp"
#include "parser/parser.hpp"
#include "tests/parser/ast_dump.hpp"
#include "tests/processor_time.hpp"

namespace eindb {
namespace {

std::string parsed(const std::string& text) { return ast::dump(parse_expression(text)); }

struct Example {
  const char* text;
  const char* tree;
};

void expect_all(std::initializer_list<Example> examples) {
  for (const auto& example : examples) EXPECT_EQ(parsed(example.text), example.tree) << example.text;
}

TEST(ExpressionParser, Precedence) {
  expect_all({
      {"a + b * c", "(a + (b * c))"},
      {"(a + b) * c", "((a + b) * c)"},
      {"a - b + c - d", "(a - b + c - d)"},
      {"a - (b + c)", "(a - (b + c))"},
      {"a * b / c % d", "(a * b / c % d)"},
      {"a * b + c * d - e", "((a * b) + (c * d) - e)"},
      {"-x^2", "(neg (x ^ 2))"},
      {"-x * y", "((neg x) * y)"},
      {"a - -b", "(a - (neg b))"},
      {"a * -b ^ c", "(a * (neg (b ^ c)))"},
      {"2^-1", "(2 ^ (neg 1))"},
      {"2^-x^3", "(2 ^ (neg (x ^ 3)))"},
      {"2^3^4", "(2 ^ (3 ^ 4))"},
      {"(2^3)^4", "((2 ^ 3) ^ 4)"},
      {"2^3*4", "((2 ^ 3) * 4)"},
      {"+a + +b", "(a + b)"},
      {"a < b + c", "(a < (b + c))"},
      {"a = b AND c <> d", "((a = b) and (c <> d))"},
      {"a OR b AND c OR d", "(a or (b and c) or d)"},
      {"NOT a = b", "(not (a = b))"},
      {"NOT NOT a AND b", "((not (not a)) and b)"},
      {"a AND NOT b OR c", "((a and (not b)) or c)"},
      {"a == b", "(a = b)"},
      {"a != b", "(a <> b)"},
      {"a<=b and b>=c", "((a <= b) and (b >= c))"},
      {"(a < b) < c", "((a < b) < c)"},
  });
}

TEST(ExpressionParser, ReferencesAndNames) {
  expect_all({
      {"X[i,j]", "X[i,j]"},
      {"X[3, -1, $2, i]", "X[3,-1,$2,i]"},
      {"s[]", "s[]"},
      {"s", "s"},
      {"X [ i ]", "X[i]"},
      {"\"my tensor\"[\"a \"\"b\"\"\"]", "\"my tensor\"[\"a \"b\"\"]"},
      {"größe[ж,中]", "größe[ж,中]"},
      {"X[pi]", "X[pi]"},
      {"X[and, case]", "X[and,case]"},
      {"X[i + 1, 2*j - k]", "X[(i + 1),((2 * j) - k)]"},
      {"X[(i, j 3), k]", "X[(i j 3),k]"},
      {"X[:, 1:, :-1, ::2, 3:1:-1, $1:$2]", "X[:,1:,:-1,::2,3:1:-1,$1:$2]"},
      {"E[T[b,s], d PAD 0]", "E[T[b,s],d]PAD(0)"},
      {"X[i PAD EDGE]", "X[i]PAD(EDGE)"},
      {"X[pad, edge]", "X[pad,edge]"},
      {"X[(i)]", "X[i]"},
      {"X[-i + 3]", "X[((neg i) + 3)]"},
      {"X[CASE WHEN i > 2 THEN 1 ELSE i END]", "X[(case (when (i > 2) 1) (else i))]"},
      {"sum", "sum"},
      {"sum[i] + 1", "(sum[i] + 1)"},
      {"\"SUM\"(x)", "(\"SUM\" x)"},
      {"\"end\"[i]", "\"end\"[i]"},
      {"cast[i]", "cast[i]"},
  });
}

TEST(ExpressionParser, Constants) {
  expect_all({
      {"1", "1"},
      {"9223372036854775807", "9223372036854775807"},
      {"9223372036854775808", "9.22337e+18"},
      {"1.5", "1.5"},
      {".5", "0.5"},
      {"2.", "2.0"},
      {"1e-3", "0.001"},
      {"1.5E+20", "1.5e+20"},
      {"1e-999", "0.0"},
      {"0.0000000001e-320", "0.0"},
      {"Pi", "3.14159"},
      {"-infinity", "(neg inf)"},
      {"NAN", "nan"},
      {"pi[i]", "pi[i]"},
      {"\"PI\"", "\"PI\""},
      {"$12", "$12"},
  });
}

TEST(ExpressionParser, AggregatesAndFunctions) {
  expect_all({
      {"SUM(X[i,j] * Y[j,k])", "(SUM (X[i,j] * Y[j,k]))"},
      {"max[j,k](X[i,j,k])", "(MAX[j,k] X[i,j,k])"},
      {"PROD[](x)", "(PROD[] x)"},
      {"NORM(a) + CUMSUM[t](a, b) + QUANTILE(a, 0.5)", "((NORM a) + (CUMSUM[t] a b) + (QUANTILE a 0.5))"},
      {"SCAN[t](SUM, a, b) + scan(mine, a) + CUMLOGSUMEXP(a)",
       "((CUMSUM[t] a b) + (CUMaggregate-mine a) + (CUMLOGSUMEXP a))"},
      {"MIN(a) + MEAN(a) + LOGSUMEXP(a) + ARGMIN(a) + ARGMAX(a) + ANY(a) + ALL(a) + COUNT(a) + COUNT_NONZERO(a)",
       "((MIN a) + (MEAN a) + (LOGSUMEXP a) + (ARGMIN a) + (ARGMAX a) + (ANY a) + (ALL a) + (COUNT a) + (COUNT_NONZERO "
       "a))"},
      {"EXP(X[i,j] - MAX[j](X[i,j])) / SUM[j](EXP(X[i,j] - MAX[j](X[i,j])))",
       "((EXP (X[i,j] - (MAX[j] X[i,j]))) / (SUM[j] (EXP (X[i,j] - (MAX[j] X[i,j])))))"},
      {"softmax(X[i,j], j)", "(softmax X[i,j] j)"},
      {"f()", "(f)"},
      {"CAST(a + b AS float32)", "(cast (a + b) float32)"},
      {"CASE WHEN t <= s THEN X[s,t] ELSE -INFINITY END", "(case (when (t <= s) X[s,t]) (else (neg inf)))"},
      {"case x when 1 then a when 2 then b end", "(case x (when 1 a) (when 2 b))"},
      {"1 + CASE WHEN a THEN b END * 2", "(1 + ((case (when a b)) * 2))"},
  });
}

TEST(ExpressionParser, SpansCoverTheText) {
  const std::string text = "a + SUM[j]( X[i,j] ) * (b - c)";
  const auto expression = parse_expression(text);
  const auto text_of = [&](SourceSpan span) { return text.substr(span.begin, span.end - span.begin); };
  EXPECT_EQ(text_of(expression.span), text);
  const auto& product = std::get<ast::Infix>(expression.node).operands[1];
  EXPECT_EQ(text_of(product.span), "SUM[j]( X[i,j] ) * (b - c)");
  const auto& factors = std::get<ast::Infix>(product.node).operands;
  EXPECT_EQ(text_of(factors[0].span), "SUM[j]( X[i,j] )");
  EXPECT_EQ(text_of(std::get<ast::Aggregate>(factors[0].node).op_span), "SUM");
  EXPECT_EQ(text_of(factors[1].span), "(b - c)");
  const auto& reference = std::get<ast::Reference>(std::get<ast::Aggregate>(factors[0].node).argument[0].node);
  EXPECT_EQ(text_of(reference.terms[1].span), "j");
}

/// A long product is one node, so parsing, binding and destroying it need no recursion.
TEST(ExpressionParser, HundredThousandFactorsAreOneNode) {
  std::string text = "X0[i0,i1]";
  for (int i = 1; i < 100'000; ++i)
    text += "*X" + std::to_string(i) + "[i" + std::to_string(i) + ",i" + std::to_string(i + 1) + "]";
  const auto expression = parse_expression(text);
  EXPECT_EQ(std::get<ast::Infix>(expression.node).operands.size(), 100'000U);
  std::string sum = "1";
  for (int i = 0; i < 100'000; ++i) sum += i % 2 == 0 ? "-a" : "+b";
  EXPECT_EQ(std::get<ast::Infix>(parse_expression(sum).node).operators.size(), 100'000U);
}

std::string repeated(const std::string& text, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

TEST(ExpressionParser, NestingIsBounded) {
  const struct {
    const char* open;
    const char* close;
  } kinds[] = {{"(", ")"},          {"- ", ""},
               {"NOT ", ""},        {"f(", ")"},
               {"SUM(", ")"},       {"2^", ""},
               {"CAST(", " AS t)"}, {"CASE WHEN 1 THEN ", " END"},
               {"(1+", ")"},        {"(1 or 1 and 1=1+1*2^", ")"}};
  for (const auto& kind : kinds) {
    EXPECT_NO_THROW(parse_expression(repeated(kind.open, 60) + "x" + repeated(kind.close, 60))) << kind.open;
    for (const std::size_t depth : {kMaxNesting + 1, std::size_t{200'000}}) {
      try {
        parse_expression(repeated(kind.open, depth) + "x" + repeated(kind.close, depth));
        FAIL() << kind.open;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::Syntax);
        EXPECT_EQ(error.message(), "an expression nests more than 500 deep") << kind.open;
      }
    }
  }
}

/// Operators left of a parenthesis deepen the tree without deepening the parser's recursion.
TEST(ExpressionParser, LeftLeaningTreesAreBoundedToo) {
  const std::size_t depth = 400;
  EXPECT_NO_THROW(parse_expression(repeated("(", depth) + "x" + repeated(")", depth)));
  EXPECT_NO_THROW(parse_expression(repeated("(", 70) + "x" + repeated("^1*1+1=1 AND 1 OR 1)", 70)));
  EXPECT_THROW(parse_expression(repeated("(", depth) + "x" + repeated("^1*1+1=1 AND 1 OR 1)", depth)), Error);
}

/// The bound, of processor time, allows for sanitizers; a quadratic algorithm on 200,000 factors would far exceed it.
TEST(ExpressionParser, TimeIsLinear) {
  std::string text = "SUM(X[a,b]";
  for (int i = 0; i < 200'000; ++i) text += " * SUM[b](X[a,b])";
  const double start = testing::thread_seconds();
  parse_expression(text + ")");
  EXPECT_LT(testing::thread_seconds() - start, 20);
}

}  // namespace
}  // namespace eindb

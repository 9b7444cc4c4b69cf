// Statements as programs write them: many operands, long chains. They bind in linear time, and beyond the limits there
// is a clear error.

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "common/error.hpp"
#include "parser/binder/binder.hpp"
#include "parser/parser.hpp"

namespace eindb {
namespace {

NameSource one_matrix() {
  return {.find_tensor = [](const std::string& name) -> std::optional<InputTensor> {
            return InputTensor{.name = name, .dtype = DType::Float64, .grid = {Shape({2, 2}), {1, 1}}};
          },
          .tensor_names = [] { return std::vector<std::string>{"X"}; }};
}

std::string repeated(std::size_t count, const std::string& first, const std::string& more) {
  std::string out = first;
  for (std::size_t n = 1; n < count; ++n) out += more;
  return out;
}

// '[a0,a1],[a1,a2],...' (X, X, ...)
std::string chain(std::size_t operands) {
  std::string terms;
  for (std::size_t n = 0; n < operands; ++n)
    terms += (n == 0 ? "[a" : ",[a") + std::to_string(n) + ",a" + std::to_string(n + 1) + "]";
  return "EINSUM '" + terms + "' (" + repeated(operands, "X", ",X") + ")";
}

double seconds_to_bind(std::size_t operands) {
  const auto text = chain(operands);
  const auto start = std::chrono::steady_clock::now();
  bind_query(parse_query(text), one_matrix());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string message_of(const std::string& text) {
  try {
    bind_query(parse_query(text), one_matrix());
  } catch (const Error& error) {
    return error.message();
  }
  return "bound";
}

TEST(LargeStatements, AHundredThousandOperandsInTheListForm) {
  const auto bound = bind_query(parse_query(chain(100'000)), one_matrix());
  const auto& vertex = bound.graph.vertex(bound.graph.output());
  EXPECT_EQ(vertex.inputs.size(), 100'000U);
  EXPECT_EQ(vertex.einsum.output.size(), 2U);
  EXPECT_EQ(vertex.einsum.aggregated.size(), 99'999U);
}

TEST(LargeStatements, AHundredThousandFactorsInIndexNotation) {
  std::string product = "X[a0,a1]";
  for (int n = 1; n < 100'000; ++n) product += "*X[a" + std::to_string(n) + ",a" + std::to_string(n + 1) + "]";
  const auto bound = bind_query(parse_query("EINSUM Z[a0,a100000] = SUM(" + product + ")"), one_matrix());
  EXPECT_EQ(bound.graph.vertex(bound.graph.output()).inputs.size(), 100'000U);
}

// Quadratic work would take 64 times as long; caches and noise are allowed a factor of 3.
TEST(LargeStatements, BindingGrowsLinearly) {
  seconds_to_bind(5'000);
  double ratio = 1e9;
  for (int n = 0; n < 5 && ratio > 24; ++n) ratio = std::min(ratio, seconds_to_bind(40'000) / seconds_to_bind(5'000));
  EXPECT_LT(ratio, 24);
}

TEST(LargeStatements, OperandsHaveALimit) {
  EXPECT_EQ(message_of("EINSUM '" + repeated(kMaxOperands + 1, "a", ",a") + "' (X)"),
            "subscripts have more than 1000000 operands");
  EXPECT_EQ(message_of("EINSUM Z = " + repeated(kMaxOperands + 1, "1", "+1")),
            "a chain of operators has more than 1000000 operands");
}

TEST(LargeStatements, NestingHasALimit) {
  const auto deep = [](std::size_t depth) { return std::string(depth, '(') + "1" + std::string(depth, ')'); };
  EXPECT_EQ(message_of("EINSUM Z = " + deep(kMaxNesting - 1)), "bound");
  EXPECT_EQ(message_of("EINSUM Z = " + deep(kMaxNesting + 1)), "an expression nests more than 500 deep");
  EXPECT_EQ(message_of("EINSUM '" + std::string(501, '(') + "ab" + std::string(501, ')') + "' (X)"),
            "subscripts nest more than 500 deep");
}

TEST(LargeStatements, StatementsHaveALimit) {
  const std::string text = "EINSUM Z = 1" + std::string(kMaxStatementBytes, ' ');
  EXPECT_NE(message_of(text).find("64 MiB"), std::string::npos) << message_of(text);
}

// Aggregates of aggregates: each level looks at what is below it once.
TEST(LargeStatements, NestedAggregatesBindInTime) {
  std::string text = "X[i,j]";
  for (int n = 0; n < 200; ++n) text = "SUM(" + text + " + 1)";
  EXPECT_EQ(message_of("EINSUM Z = " + text), "bound");
}

}  // namespace
}  // namespace eindb

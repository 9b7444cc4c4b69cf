// Statements of a hundred thousand parts run, and statements nested too deeply are refused with a message.
// tests/shell/statement_cost_test.py checks that the work grows linearly with the text.

#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "common/stack_guard.hpp"
#include "engine/session.hpp"

namespace eindb {
namespace {

/// `text` n times, with the number in place of each #.
std::string numbered(int n, const std::string& text, const std::string& between) {
  std::string out;
  for (int k = 0; k < n; ++k) {
    if (k > 0) out += between;
    for (const char c : text) out += c == '#' ? std::to_string(k) : std::string(1, c);
  }
  return out;
}

class LargeStatements : public ::testing::Test {
 protected:
  LargeStatements() { session.execute("CREATE TENSOR X (i 2)"); }

  std::string message_of(const std::string& statement) {
    try {
      session.execute(statement);
    } catch (const Error& error) {
      EXPECT_NE(error.kind(), ErrorKind::Internal) << error.message();
      return error.message();
    }
    return "done";
  }

  Session session{":memory:", {}};
};

TEST_F(LargeStatements, AHundredThousandOfEachAreDone) {
  constexpr int kMany = 100'000;
  EXPECT_EQ(message_of("EINSUM z[i] = CASE " + numbered(kMany, "WHEN X[i] > 0 THEN 1", " ") + " ELSE 0 END"), "done");
  EXPECT_EQ(message_of("EINSUM z[i] = " + numbered(kMany, "X[i]", " OR ")), "done");
  EXPECT_EQ(message_of("EINSUM z[i] = " + numbered(kMany, "X[i]", " - ")), "done");
}

TEST_F(LargeStatements, WhatWouldNestTooDeepIsRefused) {
  const std::string deep = "an expression nests more than 2000 operations in each other";
  EXPECT_EQ(message_of("EINSUM z[i] = " + numbered(1900, "X[i]", " / ")), "done");
  EXPECT_EQ(message_of("EINSUM z[i] = " + numbered(100'000, "X[i]", " / ")), deep);
  EXPECT_EQ(message_of("EXPLAIN EINSUM z[i] = " + numbered(100'000, "X[i]", " % ")), deep);
  EXPECT_EQ(message_of("GRADIENT OF L[] = SUM(" + numbered(100'000, "X[i]", " / ") + ") WITH RESPECT TO (X)"), deep);
  EXPECT_NE(message_of("EINSUM z[" + numbered(100'000, "a# 1", ", ") + "] = 1")
                .find(" has 100000 dimensions, more than the 1000 that a result may have"),
            std::string::npos);
  EXPECT_EQ(message_of("WITH " + numbered(5000, "d# AS (SELECT 1)", ", ") + " SELECT 1"),
            "a statement defines more than 2000 tables in WITH");
}

// The branches become parts of two operands each, whatever tensors they read.
TEST_F(LargeStatements, ManyBranchesOverManyOperandsHaveTheValueOfAll) {
  session.execute("INSERT INTO TENSOR X VALUES (0, 3), (1, 1000)");
  session.execute("CREATE TENSOR V AS EINSUM V[k 200] = k");
  const auto branches = numbered(199, "WHEN X[i] = # THEN V[#] * 10", " ");
  auto result = session.execute("EINSUM Z[i] = CASE " + branches + " ELSE V[199] END");
  std::vector<double> values;
  for (Row row; result.rows->next(row);) values.push_back(std::get<double>(row.back()));
  EXPECT_EQ(values, (std::vector<double>{30, 199}));
}

// Threads created by the embedding program may have small stacks.
TEST(StackGuard, ASmallStackIsNoReasonToDie) {
  std::string message;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, std::size_t{512} << 10U);
  const auto run = [](void* out) -> void* {
    const std::function<int(int)> down = [&](int depth) {
      require_stack();
      return depth == 0 ? 0 : 1 + down(depth - 1);
    };
    try {
      down(10'000'000);
    } catch (const Error& error) {
      *static_cast<std::string*>(out) = error.message();
    }
    return nullptr;
  };
  pthread_t thread{};
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &message), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  EXPECT_EQ(message, "the statement nests too deep for the stack of its thread");
}

}  // namespace
}  // namespace eindb

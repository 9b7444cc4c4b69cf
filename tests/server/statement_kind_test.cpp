// Protects what statements are counted as.
#include "server/statement_kind.hpp"

#include <gtest/gtest.h>

namespace eindb {
namespace {

TEST(StatementKind, IsThatOfTheFirstWord) {
  EXPECT_EQ(statement_kind("select 1"), StatementKind::Select);
  EXPECT_EQ(statement_kind("EINSUM Z[i] = X[i]"), StatementKind::Einsum);
  EXPECT_EQ(statement_kind("WITH t AS (SELECT 1) SELECT * FROM t"), StatementKind::Select);
  EXPECT_EQ(statement_kind("Create Tensor X(i 3)"), StatementKind::Create);
  EXPECT_EQ(statement_kind("copy X to stdout"), StatementKind::Copy);
  EXPECT_EQ(statement_kind("END"), StatementKind::Transaction);
  EXPECT_EQ(statement_kind("SHOW threads"), StatementKind::Setting);
  EXPECT_EQ(statement_kind("PRAGMA user_version"), StatementKind::Other);
}

TEST(StatementKind, SkipsWhatStandsBeforeIt) {
  EXPECT_EQ(statement_kind(" \t\n((select 1))"), StatementKind::Select);
  EXPECT_EQ(statement_kind("-- insert\n/* update */ delete from t"), StatementKind::Delete);
  EXPECT_EQ(statement_kind("/**/update"), StatementKind::Update);
}

TEST(StatementKind, TakesAnyBytes) {
  for (const auto* text : {"", " ", "--", "/*", "/*/", "-- select", "/* select", "selects", "\xff\x80", "'"})
    EXPECT_EQ(statement_kind(text), StatementKind::Other) << text;
}

}  // namespace
}  // namespace eindb

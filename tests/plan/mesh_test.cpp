#include "plan/mesh.hpp"

#include <gtest/gtest.h>

#include "common/error.hpp"

namespace eindb {
namespace {

std::string refused_mesh(std::string_view text) {
  try {
    Mesh::parse(text);
  } catch (const Error& error) {
    return render(error, text);
  }
  return "accepted";
}

TEST(Mesh, TheFirstAxisIsTheFastest) {
  const Mesh mesh({{"x", 4}, {"y", 6}});
  EXPECT_EQ(mesh.rank_count(), 24);
  EXPECT_EQ(mesh.coordinate(4 * 5 + 3, 0), 3);
  EXPECT_EQ(mesh.coordinate(4 * 5 + 3, 1), 5);
}

TEST(Mesh, TextGoesBothWays) {
  for (const auto* text : {"{x:4, y:6}", "{}", "{a_1.2:3}"}) EXPECT_EQ(Mesh::parse(text).to_string(), text);
  EXPECT_EQ(Mesh::parse(" { x : 2,y:3 } ").to_string(), "{x:2, y:3}");
}

TEST(Mesh, MistakesAreSaidWithTheirPlace) {
  EXPECT_NE(refused_mesh("{x:4").find("expected ',' or '}' after an axis, found the end"), std::string::npos);
  EXPECT_NE(refused_mesh("{x}").find("expected ':' after the name of an axis, found '}'"), std::string::npos);
  EXPECT_NE(refused_mesh("{4:x}").find("expected the name of an axis, found '4'"), std::string::npos);
  EXPECT_NE(refused_mesh("{x:y}").find("expected the size of an axis, found 'y'"), std::string::npos);
  EXPECT_NE(refused_mesh("{x:2} z").find("expected nothing more, found 'z'"), std::string::npos);
  EXPECT_NE(refused_mesh("{x:2, x:2}").find("two axes named x"), std::string::npos);
  EXPECT_NE(refused_mesh("{x:0}").find("axis x of a mesh has size 0"), std::string::npos);
  EXPECT_NE(refused_mesh("{x:65536, y:2}").find("more than 65536 ranks"), std::string::npos);
  EXPECT_NE(refused_mesh("{x:99999999999999999999}").find("expected the size"), std::string::npos);
}

TEST(Mesh, FactorsNumberTheSameRanks) {
  const Mesh mesh({{"x", 12}, {"y", 3}, {"z", 1}});
  const auto factored = mesh.factored();
  EXPECT_EQ(factored.to_string(), "{x.0:2, x.1:2, x.2:3, y:3}");
  for (std::int64_t rank = 0; rank < mesh.rank_count(); ++rank) {
    EXPECT_EQ(mesh.coordinate(rank, 0),
              factored.coordinate(rank, 0) + 2 * factored.coordinate(rank, 1) + 4 * factored.coordinate(rank, 2));
    EXPECT_EQ(mesh.coordinate(rank, 1), factored.coordinate(rank, 3));
  }
}

TEST(Mesh, NamesOfFactorsAreNobodysElse) {
  EXPECT_EQ(Mesh::parse("{x:4, x.0:2}").factored().to_string(), "{x..0:2, x.1:2, x.0:2}");
}

TEST(Mesh, RanksHaveAnAxisForEachPrimeFactor) {
  EXPECT_EQ(Mesh::of_primes(12).to_string(), "{x0:2, x1:2, x2:3}");
  EXPECT_EQ(Mesh::of_primes(7).to_string(), "{x0:7}");
  EXPECT_EQ(Mesh::of_primes(1).rank_count(), 1);
}

}  // namespace
}  // namespace eindb

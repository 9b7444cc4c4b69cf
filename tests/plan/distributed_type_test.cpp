#include "plan/distributed_type.hpp"

#include <gtest/gtest.h>

#include "common/error.hpp"

namespace eindb {
namespace {

const Mesh kMesh = Mesh::parse("{x:4, y:6}");

std::string refused(std::string_view text) {
  try {
    DistributedType::parse(text, kMesh);
  } catch (const Error& error) {
    return render(error, text);
  }
  return "accepted";
}

TEST(DistributedType, TextGoesBothWays) {
  for (const auto* text : {"[3{x}12, 2{y}12]", "[]", "[12, 7]", "[1{y,x}24]", "[3{x}10]", "[0]"})
    EXPECT_EQ(DistributedType::parse(text, kMesh).to_string(), text);
  EXPECT_EQ(DistributedType::parse(" [ 8{}8 ,3 { x } 12 ] ", kMesh).to_string(), "[8, 3{x}12]");
}

TEST(DistributedType, MistakesAreSaidWithTheirPlace) {
  EXPECT_NE(refused("3{x}12").find("expected '[' before the dimensions of a type, found '3'"), std::string::npos);
  EXPECT_NE(refused("[3{x 12]").find("expected ',' or '}' after the name of an axis, found '1'"), std::string::npos);
  EXPECT_NE(refused("[3{x}]").find("expected the global size after '}', found ']'"), std::string::npos);
  EXPECT_NE(refused("[3{z}12]").find("the mesh {x:4, y:6} has no axis z"), std::string::npos);
  EXPECT_NE(refused("[3{z}12]").find("[3{z}12]\n       ^"), std::string::npos);
  EXPECT_NE(refused("[4{x}12]").find("size 12 in 4 parts has parts of size 3, not 4"), std::string::npos);
  EXPECT_NE(refused("[8{}9]").find("has parts of size 9, not 8"), std::string::npos);
  EXPECT_NE(refused("[3{x}12, 1{x}4]").find("axis x cuts a tensor twice"), std::string::npos);
  EXPECT_NE(refused("[1{x}3]").find("cannot be cut into 4 parts"), std::string::npos);
  EXPECT_NE(refused("[9223372036854775807, 3]").find("shape error"), std::string::npos);
}

TEST(DistributedType, AxesStandFromMinorToMajor) {
  // c{x, rest}n lies at c i_x plus the offset of (c k){rest}n.
  const auto type = DistributedType::parse("[1{x,y}24, 5]", kMesh);
  const auto placement = type.placement();
  EXPECT_EQ(placement.parts, (Partition{24, 1}));
  for (std::int64_t rank = 0; rank < 24; ++rank)
    EXPECT_EQ(placement.at[static_cast<std::size_t>(rank)],
              (TileKey{kMesh.coordinate(rank, 0) + 4 * kMesh.coordinate(rank, 1), 0}));
  const auto other = DistributedType::parse("[1{y,x}24, 5]", kMesh).placement();
  for (std::int64_t rank = 0; rank < 24; ++rank)
    EXPECT_EQ(other.at[static_cast<std::size_t>(rank)],
              (TileKey{kMesh.coordinate(rank, 1) + 6 * kMesh.coordinate(rank, 0), 0}));
}

TEST(DistributedType, UnevenExtentsHaveTheSizeOfTheLargestPart) {
  const auto type = DistributedType::parse("[3{x}10, 7]", kMesh);
  EXPECT_EQ(type.local_shape(), Shape({3, 7}));
  EXPECT_EQ(type.local_size(), 21);
  EXPECT_EQ(type.global_shape(), Shape({10, 7}));
}

TEST(DistributedType, PrimeAxesPlaceBlocksAlike) {
  const auto type = DistributedType::parse("[3{x}12, 2{y}12]", kMesh);
  EXPECT_EQ(type.factored().to_string(), "[3{x.0,x.1}12, 2{y.0,y.1}12]");
  EXPECT_EQ(type.factored().placement(), type.placement());
}

TEST(DistributedType, IsFoundFromAPlacement) {
  for (const auto* text : {"[3{x}12, 2{y}12]", "[12, 12]", "[1{y,x}24, 12]", "[3{x}10, 7]"}) {
    const auto type = DistributedType::parse(text, kMesh);
    EXPECT_EQ(type_of(type.placement(), type.global_shape(), kMesh), type) << text;
    EXPECT_EQ(type_of(type.placement(), type.global_shape(), kMesh.factored()), type.factored()) << text;
  }
}

TEST(DistributedType, TheMeshMayBeSomeRanksOfACluster) {
  const auto type = DistributedType::parse("[1{a}2, 5]", Mesh::parse("{a:2}"));
  const auto placement = type.placement(std::vector<Rank>{3, 1}, 4);
  EXPECT_EQ(placement.at, (std::vector<std::optional<TileKey>>{{}, TileKey{1, 0}, {}, TileKey{0, 0}}));
  EXPECT_EQ(type_of(type.placement(std::vector<Rank>{1, 3}, 4), type.global_shape(), type.mesh()), type);
  EXPECT_EQ(type_of(placement, type.global_shape(), type.mesh()), std::nullopt);
}

TEST(DistributedType, AxesDoNotSayEveryPlacement) {
  const auto type = DistributedType::parse("[3{x}12, 12]", kMesh);
  auto placement = type.placement();
  std::swap(placement.at[5], placement.at[6]);
  EXPECT_EQ(type_of(placement, type.global_shape(), kMesh), std::nullopt);
  placement.at[5] = std::nullopt;
  EXPECT_EQ(type_of(placement, type.global_shape(), kMesh), std::nullopt);
}

TEST(DistributedType, AnAxisMayHoldEverythingAtItsFirstPlace) {
  const DistributedType type(Mesh::of_primes(8), {{8, {1}}, {6, {0}}}, {2});
  EXPECT_EQ(type.to_string(), "[4{x1}8, 3{x0}6] at x2=0");
  const auto blocks = type.placement(9);
  EXPECT_EQ(blocks.parts, (Partition{2, 2}));
  EXPECT_EQ(blocks.at[0], (TileKey{0, 0}));
  EXPECT_EQ(blocks.at[1], (TileKey{0, 1}));
  EXPECT_EQ(blocks.at[2], (TileKey{1, 0}));
  EXPECT_EQ(blocks.at[4], std::nullopt);
  EXPECT_EQ(blocks.at[8], std::nullopt);
  EXPECT_EQ(type.factored(), type);
  EXPECT_THROW(DistributedType(Mesh::of_primes(2), {{8, {0}}}, {0}), Error) << "it cuts";
}

}  // namespace
}  // namespace eindb

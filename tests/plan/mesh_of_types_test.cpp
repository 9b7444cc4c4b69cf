#include "plan/mesh_of_types.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "common/error.hpp"

namespace eindb {
namespace {

std::string mesh_of(const std::vector<std::string_view>& texts) {
  MeshOfTypes types;
  for (const auto text : texts) types.read(text);
  return types.mesh().to_string();
}

TEST(MeshOfTypes, SizesFollowFromLocalSizes) {
  EXPECT_EQ(mesh_of({"[3{x}12, 2{y}12]", "[2{y}12, 3{x}12]"}), "{x:4, y:6}");
  EXPECT_EQ(mesh_of({"[16]", "[4{x}16]"}), "{x:4}");
  EXPECT_EQ(mesh_of({"[4{x}10]"}), "{x:3}") << "uneven parts";
  EXPECT_EQ(mesh_of({"[1{x,y}24]", "[6{x}24]"}), "{x:4, y:6}") << "what one axis of two leaves";
  EXPECT_EQ(mesh_of({"[8, 8]"}), "{}");
}

TEST(MeshOfTypes, WhatStaysOpenOrContradictsIsRefused) {
  EXPECT_THROW(mesh_of({"[1{x,y}24]"}), Error);
  EXPECT_THROW(mesh_of({"[5{x}12]"}), Error) << "no number of parts has a largest of 5";
  EXPECT_THROW(mesh_of({"[0{x}12]"}), Error);
  EXPECT_THROW(mesh_of({"[3{x}12"}), Error);
  EXPECT_THROW(mesh_of({"[3{x}12] 5"}), Error);
  EXPECT_THROW(mesh_of({"[1{x}9223372036854775807]"}), Error) << "too many ranks";
}

}  // namespace
}  // namespace eindb

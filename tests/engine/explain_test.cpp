#include "engine/explain/explain.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace eindb {
namespace {

// A plan with an unknown operator: the writers of plans know no operators.
PlanDescription plan_of_an_unknown_operator() {
  PlanDescription plan;
  plan.strategy = "eindecomp";
  plan.path.optimizer = "auto";
  plan.path.objective = "flops";
  plan.vertices.push_back({.name = "Z",
                           .einsum = "Z[i] = SUM(X[i,j])",
                           .bound = {4},
                           .partition = {{"i", 2}, {"j", 1}},
                           .kernel_calls = 2,
                           .predicted = {}});
  plan.operators.push_back({.id = 0, .name = "scan", .vertex = "X", .inputs = {}, .grid = {1, 1}, .own = {}});
  plan.operators.push_back(
      {.id = 1,
       .name = "sorted join",
       .vertex = "Z",
       .computes = 0,
       .inputs = {0},
       .grid = {2},
       .own = {{"runs", "3 runs"}, {"keys", std::vector<std::string>{"i", "j"}, "by", DescriptionField::Place::Line}},
       .slices = 3,
       .density = 0.25});
  return plan;
}

TEST(Explain, TextHasTheFieldsOfAnyOperator) {
  const auto text = explain_text(plan_of_an_unknown_operator());
  EXPECT_NE(text.find("  1 sorted join Z #0 -> grid [2], 3 runs, by i, j, density 0.25, in 3 slices\n"),
            std::string::npos)
      << text;
}

TEST(Explain, JsonHasTheFieldsOfAnyOperator) {
  const auto json = nlohmann::ordered_json::parse(explain_json(plan_of_an_unknown_operator()));
  EXPECT_EQ(
      json["operators"][1].dump(),
      R"({"id":1,"operator":"sorted join","vertex":"Z","inputs":[0],"grid":[2],"computes":0,"runs":"3 runs","keys":["i","j"],)"
      R"("slices":3,"density":0.25})");
}

TEST(Explain, APageHasTheJsonAndNothingFromElsewhere) {
  auto plan = plan_of_an_unknown_operator();
  plan.operators[0].vertex = "</script><b>\"\\&";
  const auto page = explain_html(plan);
  EXPECT_TRUE(page.starts_with("<!doctype html>")) << page.substr(0, 100);
  const std::string begin = R"(<script type="application/json" id="data">)";
  const auto from = page.find(begin) + begin.size();
  const auto json = page.substr(from, page.find("</script>", from) - from);
  EXPECT_EQ(nlohmann::json::parse(json), nlohmann::json::parse(explain_json(plan)));
  EXPECT_NE(page.find("EindbPlan.draw("), std::string::npos);
  for (const auto* outside : {"src=", "href=", "@import", "url("}) EXPECT_EQ(page.find(outside), std::string::npos);
}

TEST(Explain, DrawingsHaveTheFieldsOfAnyOperator) {
  const auto dot = explain_dot(plan_of_an_unknown_operator());
  EXPECT_NE(dot.find(R"(n1 [label="sorted join Z\lZ[i] = SUM(X[i,j])\lparts i:2 j:1, 2 kernel calls\lkeys i, j\l)"
                     R"(grid [2], 3 runs\l"];)"),
            std::string::npos)
      << dot;
  EXPECT_NE(dot.find("n0 -> n1;"), std::string::npos);
}

// Passes may give two vertices the same name.
TEST(Explain, DrawingsShowTheVertexThatAKernelComputes) {
  auto plan = plan_of_an_unknown_operator();
  plan.vertices.push_back({.name = "Z",
                           .einsum = "Z[p] = X[p,p]",
                           .bound = {4},
                           .partition = {{"p", 1}},
                           .kernel_calls = 1,
                           .predicted = {}});
  EXPECT_EQ(explain_dot(plan).find("X[p,p]"), std::string::npos);
}

}  // namespace
}  // namespace eindb

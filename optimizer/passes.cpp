#include "optimizer/passes.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/stopwatch.hpp"
#include "optimizer/rewrites/chain_fusion.hpp"
#include "optimizer/rewrites/common_subexpressions.hpp"
#include "optimizer/rewrites/constant_folding.hpp"
#include "optimizer/rewrites/contraction_order.hpp"
#include "optimizer/rewrites/dead_vertices.hpp"
#include "optimizer/rewrites/definition_inlining.hpp"
#include "optimizer/rewrites/early_summation.hpp"
#include "optimizer/rewrites/elementwise_fusion.hpp"
#include "optimizer/rewrites/input_types.hpp"
#include "optimizer/rewrites/log_sum_exp_parts.hpp"
#include "optimizer/rewrites/long_lines.hpp"
#include "optimizer/rewrites/needed_factors.hpp"
#include "optimizer/rewrites/placed_extremes.hpp"
#include "optimizer/rewrites/plain_operands.hpp"
#include "optimizer/rewrites/repeated_joins.hpp"
#include "optimizer/rewrites/selection_pushdown.hpp"
#include "optimizer/rewrites/tall_factors.hpp"
#include "plan/validator.hpp"

namespace eindb {
namespace {

void check_disabled(const std::set<std::string>& disabled) {
  for (const auto& name : disabled) {
    if (name == kRecomputation || name == kCellChoice || name == kPartReads) continue;
    const auto same = [&](const Pass& pass) { return pass.name == name; };
    const auto pass = std::find_if(all_passes().begin(), all_passes().end(), same);
    if (pass == all_passes().end()) {
      std::string known;
      for (const auto& other : all_passes()) known += (known.empty() ? "" : ", ") + std::string(other.name);
      known += ", " + std::string(kRecomputation) + ", " + std::string(kCellChoice) + ", " + std::string(kPartReads);
      throw Error(ErrorKind::UnknownName, "there is no optimiser pass '" + name + "'", std::nullopt,
                  "the passes are " + known);
    }
    if (!pass->switchable)
      throw Error(ErrorKind::Value, "the pass '" + name + "' cannot be switched off", std::nullopt,
                  std::string(pass->reason));
  }
}

}  // namespace

const std::vector<Pass>& all_passes() {
  static const std::vector<Pass> kPasses{
      {"tall_factors", factorise_tall,
       "first: it knows what reads the factors of a matrix as statements have it, and all that follows may rewrite its "
       "parts"},
      {"needed_factors", compute_needed_factors,
       "after it, which needs all factors of some blocks; while what reads them is as statements have it"},
      {"long_lines", cut_long_lines,
       "likewise, while scans and recurrences are whole vertices; before the passes that know their parts"},
      {"selection_pushdown", push_selections,
       "after it, before all others: it knows selections as statements have them, and what is not read need not be "
       "rewritten"},
      {"constant_folding", fold_constants, "after it, for the indices that it puts in the place of label values"},
      {"common_subexpressions", unite_common_subexpressions,
       "before the passes that take vertices apart, which need not do so twice for equal ones"},
      {"inlining", inline_definitions,
       "after it, which says what is read once; before those that need to see a contraction whole"},
      {"early_summation", sum_early, "before the contraction order, which then sees operands of their final size"},
      {"contraction_order", order_contractions,
       "after all passes that see a contraction whole; execution takes vertices of at most two inputs", false},
      {"plain_operands", make_operands_plain, "after it: kernels are for vertices of two operands"},
      {"log_sum_exp", expand_log_sum_exp, "after both: what is left of LOGSUMEXP then has no kernel of its own", false},
      {"common_parts", unite_common_subexpressions,
       "after the passes that split vertices: the parts of different vertices may be equal"},
      {"placed_extremes", place_extremes,
       "after it, by which a statement's MAX is that of its ARGMAX; after the passes that know MIN and MAX by name"},
      {"repeated_joins", repeat_joins, "after both, which would unite the copies; before the passes that fuse them"},
      {"elementwise_fusion", fuse_elementwise,
       "after it: only then it is known how often a vertex is read, and how many operands its reader has"},
      {"dead_vertices", drop_dead_vertices,
       "after all that change vertices: whatever they leave unread is neither decomposed nor executed"},
      {"input_types", read_in_compute_types,
       "after all that decide in which type an input is read, and by whom; before chains, whose steps have types"},
      {"chain_fusion", fuse_chains, "last: it says of the vertices that there are which are computed together"},
  };
  return kPasses;
}

EinGraph fuse_again(const EinGraph& graph, const std::set<std::string>& disabled) {
  auto fused = disabled.contains("elementwise_fusion") ? graph : fuse_elementwise(graph);
  return disabled.contains("chain_fusion") ? fused : fuse_chains(fused);
}

EinGraph run_passes(PassStage stage, EinGraph graph, const std::set<std::string>& disabled,
                    std::vector<StageTiming>& timings, PathSearch& paths, const PlanningTerms& terms) {
  if (stage == PassStage::Rewrite) {
    check_disabled(disabled);
    validate(graph);
  }
  auto max_arity = std::numeric_limits<std::size_t>::max();
  const auto ordering =
      std::find_if(all_passes().begin(), all_passes().end(), [](auto& pass) { return pass.run.orders(); });
  CHECK(ordering != all_passes().end(), "one pass orders contractions");
  const auto begin = stage == PassStage::Rewrite ? all_passes().begin() : ordering;
  const auto end = stage == PassStage::Rewrite ? ordering : all_passes().end();
  for (const auto& pass : std::span(begin, end)) {
    if (disabled.contains(std::string(pass.name))) continue;
    const Stopwatch watch;
    const auto outputs = graph.outputs().size();
    auto rewritten = pass.run(graph, terms, paths);
    CHECK(rewritten.outputs().size() == outputs, "a pass keeps the results of a statement");
    timings.push_back({std::string(pass.name), watch.seconds(), rewritten.size()});
    if (pass.run.orders()) max_arity = 2;
    validate(rewritten, max_arity, pass.run.orders() ? nullptr : &graph);
    graph = std::move(rewritten);
  }
  return graph;
}

EinGraph run_passes(EinGraph graph, const std::set<std::string>& disabled, std::vector<StageTiming>& timings,
                    PathSearch& paths, const PlanningTerms& terms) {
  graph = run_passes(PassStage::Rewrite, std::move(graph), disabled, timings, paths, terms);
  return run_passes(PassStage::Order, std::move(graph), disabled, timings, paths, terms);
}

}  // namespace eindb

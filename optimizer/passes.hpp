#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/check.hpp"
#include "optimizer/paths/path_optimizer.hpp"
#include "optimizer/rewrites/planning_terms.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// The function of a pass: of the graph alone, of the graph and what it is planned for, or of the graph and a search
/// for contraction paths.
class PassFunction {
 public:
  using Rewrite = EinGraph (*)(const EinGraph&);
  using RewriteFor = EinGraph (*)(const EinGraph&, const PlanningTerms&);
  using Ordering = EinGraph (*)(const EinGraph&, PathSearch&);

  // The constructors are implicit so that the list of passes can name functions.
  PassFunction(Rewrite rewrite) : rewrite_(rewrite) {}         // NOLINT(google-explicit-constructor)
  PassFunction(RewriteFor rewrite) : rewrite_for_(rewrite) {}  // NOLINT(google-explicit-constructor)
  PassFunction(Ordering ordering) : ordering_(ordering) {}     // NOLINT(google-explicit-constructor)

  EinGraph operator()(const EinGraph& graph, const PlanningTerms& terms, PathSearch& paths) const {
    CHECK(ordering_ != nullptr || rewrite_ != nullptr || rewrite_for_ != nullptr, "a pass has a function to run");
    if (rewrite_for_ != nullptr) return rewrite_for_(graph, terms);
    return ordering_ != nullptr ? ordering_(graph, paths) : rewrite_(graph);
  }
  /// Whether vertices have at most two inputs afterwards.
  bool orders() const { return ordering_ != nullptr; }

 private:
  Rewrite rewrite_ = nullptr;
  RewriteFor rewrite_for_ = nullptr;
  Ordering ordering_ = nullptr;
};

/// A rewrite of the logical plan. It maps a valid graph to a valid graph with the same result, output name, head and
/// type. Each pass is a function in a file of its own; this header has only their order.
struct Pass {
  std::string_view name;
  PassFunction run;
  std::string_view reason;  ///< the reason for its position in the list
  bool switchable = true;   ///< false: execution needs the property that it establishes
};

/// The pass of optimizer/recomputation. It needs a memory limit and so is not among all_passes(), but it is disabled by
/// name like them.
inline constexpr std::string_view kRecomputation = "recomputation";
/// Likewise that of optimizer/cell_choice, which needs a model of costs.
inline constexpr std::string_view kCellChoice = "cells";
/// Likewise that of optimizer/part_reads, which works on plans that are lowered.
inline constexpr std::string_view kPartReads = "part_reads";

/// All passes, in the order in which they run.
const std::vector<Pass>& all_passes();

/// The duration of one planning stage, and the size of the graph after it.
struct StageTiming {
  std::string name;
  double seconds = 0;
  /// Vertices of the graph after the stage, inputs included; 0 if the stage does not change the graph.
  std::size_t vertices = 0;
};

/// Runs the enabled ones of the passes that decide which vertices are computed together. `graph` has been through all
/// passes, but its vertices have changed since.
EinGraph fuse_again(const EinGraph& graph, const std::set<std::string>& disabled);

/// The passes that see a contraction whole, and those from the contraction order on, which see at most two inputs.
enum class PassStage : std::uint8_t { Rewrite, Order };

/// Runs the passes of a stage that are not disabled; Order takes what Rewrite gives. Validates the graph before the
/// first pass and after each one, and appends the duration of each (without validation) to `timings`. `paths` orders
/// contractions. Throws Error{UnknownName} if a disabled pass does not exist, Error{Value} if it cannot be switched
/// off.
EinGraph run_passes(PassStage stage, EinGraph graph, const std::set<std::string>& disabled,
                    std::vector<StageTiming>& timings, PathSearch& paths, const PlanningTerms& terms = {});
/// Runs both stages.
EinGraph run_passes(EinGraph graph, const std::set<std::string>& disabled, std::vector<StageTiming>& timings,
                    PathSearch& paths, const PlanningTerms& terms = {});

}  // namespace eindb

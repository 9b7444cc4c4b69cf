#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "optimizer/partitions/labelling.hpp"

namespace eindb {

/// The rule that chooses partition vectors (SET strategy). All strategies are costed by the same model.
struct Strategy {
  enum class Kind {
    EinDecomp,   ///< optimizer/partitions/eindecomp
    Linearised,  ///< the paper's method for general graphs alone (section 8.4), which EinDecomp begins with
    Sqrt,        ///< the paper's SQRT: every label is cut sqrt(p) ways, so a matrix product makes p^1.5 calls
    Data,        ///< cuts the batch (optimizer/partitions/label_rules)
    Sequence,    ///< cuts the positions of a sequence
    Attention,   ///< cuts the heads of attention
    Megatron,    ///< cuts weight matrices alternately by columns and rows
    Partition,   ///< cuts the labels that are named into the numbers of parts that are given, and no others
  };

  Kind kind = Kind::EinDecomp;
  /// Given in parentheses; empty: the strategy's default labels. Of Partition each has its number of parts: "i 4".
  std::vector<std::string> labels = {};

  /// The form that parse_strategy reads: "eindecomp", "data(b)".
  std::string to_string() const;

  friend bool operator==(const Strategy&, const Strategy&) = default;
};

/// Parses "eindecomp", "sqrt", "data", "data(batch)", "megatron(h, f)", "partition(i 4, j 2)". The name is
/// case-insensitive, labels are not.
/// Throws Error{Value} that lists the strategies, or shows the form of the labels.
Strategy parse_strategy(std::string_view text);
/// Every strategy that has default labels, or takes none, with these; EinDecomp first.
std::vector<Strategy> all_strategies();
/// Rules that are worth a try beside EinDecomp, whatever the labels are called: data(l) for those labels that most
/// vertices have, a dozen at most, and Megatron. One that does not apply to the graph throws when it is used.
std::vector<Strategy> rules_of_labels(const EinGraph& graph);

/// The partition vectors of the given strategy, which label() costs; of EinDecomp without a look at the rules of
/// labels.
std::vector<LabelPartition> partitions_by(const EinGraph& graph, const Strategy& strategy,
                                          const DecompositionOptions& options);
/// The labelling of the given strategy. For Sqrt, sqrt(p) is rounded down to a power of two, and a label is cut at most
/// as often as its extent allows. In a graph with chains, EinDecomp costs no more than the label rules. Throws
/// Error{Value} if the parallelism is not a power of two, Error{Label} if no vertex has a label of the strategy, or a
/// label has fewer indices than Partition gives it parts.
Labelling label(const EinGraph& graph, const Strategy& strategy, const DecompositionOptions& options);

}  // namespace eindb

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "optimizer/partitions/labelling.hpp"

namespace eindb {

/// How partition vectors are chosen (SET strategy). All are costed by the same model.
struct Strategy {
  enum class Kind {
    EinDecomp,  ///< optimizer/partitions/eindecomp
    Sqrt,       ///< the paper's SQRT: every label cut sqrt(p) ways, so that a matrix product makes p^1.5 calls
    Data,       ///< optimizer/partitions/label_rules: the batch is cut
    Sequence,   ///< the positions of a sequence are cut
    Attention,  ///< the heads of attention are cut
    Megatron,   ///< weight matrices are cut by columns and rows in turn
  };

  Kind kind = Kind::EinDecomp;
  std::vector<std::string> labels = {};  ///< given in parentheses; empty: the kind's own

  /// "eindecomp", "data(b)".
  std::string to_string() const;

  friend bool operator==(const Strategy&, const Strategy&) = default;
};

/// "eindecomp", "sqrt", "data", "data(batch)", "megatron(h, f)": the name case-insensitive, labels as they are written.
/// Throws Error{Value} with the names that exist, or with what the labels should look like.
Strategy parse_strategy(std::string_view text);
/// One of every kind with its own labels; EinDecomp first.
std::vector<Strategy> all_strategies();

/// Partition vectors by the given strategy. Under Sqrt, sqrt(p) is rounded down to a power of two, and a label is cut
/// at most as often as its extent allows. EinDecomp in a graph with chains is no dearer than the rules on labels are.
/// Throws Error{Value} if the parallelism is not a power of two, Error{Label} if no vertex has a label that the
/// strategy is about.
Labelling label(const EinGraph& graph, const Strategy& strategy, const DecompositionOptions& options);

}  // namespace eindb

#pragma once

#include <string_view>
#include <vector>

#include "optimizer/labelling.hpp"

namespace eindb {

/// How partition vectors are chosen (SET strategy). All are costed by the same model.
enum class Strategy {
  EinDecomp,  ///< optimizer/eindecomp
  Sqrt,       ///< the paper's SQRT: every label cut sqrt(p) ways, so that a matrix product makes p^1.5 calls
};

/// "eindecomp", "sqrt".
std::string_view name_of(Strategy strategy);
/// All names, for completion and comparison.
std::vector<std::string_view> strategy_names();
/// Case-insensitive. Throws Error{Value} with the names that exist.
Strategy parse_strategy(std::string_view name);

/// Partition vectors by the given strategy. Under Sqrt, sqrt(p) is rounded down to a power of two, and a label is cut
/// at most as often as its extent allows. Throws Error{Value} if the parallelism is not a power of two.
Labelling label(const EinGraph& graph, Strategy strategy, const DecompositionOptions& options);

}  // namespace eindb

#pragma once

#include <optional>

#include "plan/fragment.hpp"

namespace eindb {

/// Lets joins read parts of larger tiles where these lie (JoinNode::in_parts), in place of copies that are cut as the
/// joins are: a repartition goes where all its readers can do without it. nullopt if none goes.
///
/// `memory`: the bytes that tasks of so many threads may take together, which whole tiles must not make scarce;
/// infinite without a limit. Plans that run in slices, and those of windows, stay as they are. `plan` is valid.
std::optional<Fragment> read_in_parts(const Fragment& plan, double memory, int threads);

}  // namespace eindb

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plan/plan_operator.hpp"

namespace eindb {

/// Text for parts of descriptions, as EXPLAIN's text and dot output write them. A list: "[2,3]".
std::string list_text(std::span<const std::int64_t> values);
/// A list of names: "M, E, Z".
std::string names_text(std::span<const std::string> names);
/// A partition vector: "i:4 j:1", or "-" without labels.
std::string partition_text(std::span<const std::pair<std::string, std::int64_t>> partition);
/// The value of an operator's field.
std::string value_text(const DescriptionField& field);

}  // namespace eindb

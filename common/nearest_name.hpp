#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace eindb {

/// The candidate that a misspelt `name` most likely means: the one with the smallest number of insertions, deletions,
/// replacements and swaps of neighbours, ignoring the case of ASCII letters ("TENOSR" is one swap from "TENSOR"). At
/// most a third of the longer length may differ; from two characters on, at least one edit is allowed. nullopt if no
/// candidate is close enough; the first of equally close ones wins. Counts bytes.
std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string_view> candidates);
std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> candidates);

}  // namespace eindb

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace eindb {

/// The candidate that a misspelt `name` most likely meant: the one with the fewest insertions, deletions,
/// replacements and swaps of neighbours between them, ignoring the case of ASCII letters ("TENOSR" is one swap from
/// "TENSOR"). At most a third of the longer length may differ, and at least one edit is allowed from two characters
/// on; nothing if no candidate is so near. The first of equally near ones wins. Counts bytes.
std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string_view> candidates);
std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> candidates);

}  // namespace eindb

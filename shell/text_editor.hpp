#pragma once

#include <optional>
#include <string>

namespace eindb {

/// Lets the user edit a text with $VISUAL, $EDITOR or vi, in a temporary file. nullopt if it was left as it was, or
/// nothing remains of it. Throws Error{Io} if the file cannot be made or the editor fails.
std::optional<std::string> edited_text(const std::string& text);

}  // namespace eindb

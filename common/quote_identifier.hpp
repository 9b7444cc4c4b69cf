#pragma once

#include <string>
#include <string_view>

namespace eindb {

/// The name as SQL writes it in double quotes, with quotes inside doubled.
inline std::string quote_identifier(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) out.append(c == '"' ? 2 : 1, c);
  return out + '"';
}

}  // namespace eindb

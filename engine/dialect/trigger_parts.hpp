#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eindb::dialect {

/// CREATE TRIGGER in SQLite's words: the condition behind WHEN, and the statements between BEGIN and END.
struct TriggerParts {
  struct Part {
    std::size_t begin = 0;  ///< in the text
    std::size_t end = 0;
    bool is_condition = false;
  };
  std::string table;
  std::vector<Part> parts = {};  ///< in the order of the text
};

/// nullopt for other statements, and for a trigger that does not end.
std::optional<TriggerParts> trigger_parts(std::string_view statement);

}  // namespace eindb::dialect

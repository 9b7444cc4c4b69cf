#pragma once

#include <map>
#include <optional>
#include <string>

#include "engine/plans/plan_lookups.hpp"
#include "engine/session/open_database.hpp"
#include "parser/binder/name_source.hpp"

namespace eindb {

/// Whether every lookup would give the same result now. `same_data` states that the database has not changed since the
/// lookups were made: then only attached tensors are checked, which change independently of it, and no SQL runs.
bool holds(const PlanLookups& lookups, OpenDatabase& database, bool same_data);

/// Answers the binder's lookups and records each name once with its answer. Lives while the query is bound, and refers
/// to the database.
class LookupRecorder {
 public:
  LookupRecorder(NameSource names, OpenDatabase& database);
  LookupRecorder(const LookupRecorder&) = delete;
  LookupRecorder& operator=(const LookupRecorder&) = delete;

  /// The names with recorded lookups; their functions refer to this recorder.
  NameSource& names() { return names_; }
  PlanLookups take();

 private:
  std::optional<InputTensor> find_tensor(const std::string& name);
  MacroPtr find_macro(const std::string& name);

  struct FoundMacro {
    std::optional<StoredMacro> stored;
    MacroPtr parsed;
  };

  OpenDatabase& database_;
  NameSource names_;
  std::map<std::string, std::optional<InputTensor>> tensors_;
  std::map<std::string, FoundMacro> macros_;
};

}  // namespace eindb

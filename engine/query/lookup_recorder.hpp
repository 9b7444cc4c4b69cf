#pragma once

#include <map>
#include <optional>
#include <string>

#include "engine/plans/plan_lookups.hpp"
#include "engine/session/open_database.hpp"
#include "parser/binder/name_source.hpp"

namespace eindb {

/// Whether all lookups would find the same now. With `same_data` the database is as it was when they were last made:
/// only attached tensors, which come and go without it, are looked at, and no SQL runs.
bool holds(const PlanLookups& lookups, OpenDatabase& database, bool same_data);

/// Gives the binder its names and writes down what it asked and was told, each name once. Lives while the query is
/// bound, and refers to the database.
class LookupRecorder {
 public:
  LookupRecorder(NameSource names, OpenDatabase& database);
  LookupRecorder(const LookupRecorder&) = delete;
  LookupRecorder& operator=(const LookupRecorder&) = delete;

  /// The names given; the functions refer to this recorder.
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

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "catalog/macro_catalog.hpp"
#include "parser/binder/binder.hpp"

namespace eindb {

struct SessionState;

/// The names that a query was bound with and what was found under each. A plan holds as long as every one of them
/// would find the same: a tensor of the same type, extents and partition, a macro of the same text, or nothing.
struct PlanLookups {
  struct Tensor {
    std::string name;  ///< as asked for
    std::optional<InputTensor> found;
  };
  struct Macro {
    std::string name;
    std::optional<StoredMacro> found;
  };

  std::vector<Tensor> tensors;
  std::vector<Macro> macros;

  /// Whether all would find the same now. With `same_data` the database is as it was when they were last looked up:
  /// only attached tensors, which come and go without it, are looked at, and no SQL runs.
  bool hold(SessionState& session, bool same_data) const;
};

/// Gives the binder its names and writes down what it asked and was told, each name once. Lives while the query is
/// bound, and refers to the session.
class LookupRecorder {
 public:
  explicit LookupRecorder(SessionState& session);
  LookupRecorder(const LookupRecorder&) = delete;
  LookupRecorder& operator=(const LookupRecorder&) = delete;

  /// The session's names; the functions refer to this recorder.
  NameSource& names() { return names_; }
  PlanLookups take();

 private:
  std::optional<InputTensor> find_tensor(const std::string& name);
  MacroPtr find_macro(const std::string& name);

  struct FoundMacro {
    std::optional<StoredMacro> stored;
    MacroPtr parsed;
  };

  SessionState& session_;
  NameSource names_;
  std::map<std::string, std::optional<InputTensor>> tensors_;
  std::map<std::string, FoundMacro> macros_;
};

}  // namespace eindb

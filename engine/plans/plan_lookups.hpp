#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalog/macro_catalog.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

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
};

}  // namespace eindb

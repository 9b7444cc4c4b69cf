#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalog/macro_catalog.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// The names that a query was bound with, and the result of each lookup. A plan holds while every lookup would give the
/// same result: a tensor of the same type, extents and partition, a macro of the same text, or nothing.
struct PlanLookups {
  struct Tensor {
    std::string name;  ///< as requested
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

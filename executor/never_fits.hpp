#pragma once

#include "common/error.hpp"

namespace eindb {

/// Error{MemoryLimit} for more bytes at once than the whole limit: no end of another task makes room for them.
class NeverFits final : public Error {
 public:
  using Error::Error;
};

}  // namespace eindb

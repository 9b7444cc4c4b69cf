#pragma once

#include <eindb/eindb.hpp>
#include <string>
#include <vector>

#include "api/arrow_import.hpp"
#include "engine/arrow/arrow_column.hpp"
#include "engine/session.hpp"

namespace eindb {

struct ArrowInput::Impl {
  explicit Impl(ArrowArrayStream& stream);
  ArrowBatches batches;
  ArrowType type;                    // of a batch
  std::vector<std::string> columns;  // none without rows
};

/// Loads all rows into the tensor or table `name`, and returns how many there were: Connection::load.
std::int64_t load_rows_of(ArrowBatches& batches, const std::string& name, Session& session);

}  // namespace eindb

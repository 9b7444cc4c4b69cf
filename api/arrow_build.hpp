#pragma once

#include <cstddef>
#include <cstdint>
#include <eindb/arrow.hpp>
#include <memory>
#include <string>
#include <vector>

namespace eindb {

/// A column or a row type that is to be handed over.
struct ArrowField {
  std::string name;
  std::string format;  ///< "l", "+s", ...
  bool is_nullable = false;
  std::vector<std::pair<std::string, std::string>> metadata = {};
  std::vector<ArrowField> children = {};
};

/// Bytes of a column, and who keeps them.
struct ArrowBytes {
  const void* data = nullptr;
  std::shared_ptr<const void> owner;
};

/// Values that are to be handed over.
struct ArrowValues {
  std::int64_t length = 0;
  std::int64_t null_count = 0;
  std::vector<ArrowBytes> buffers;  ///< as the format has them; no data: none
  std::vector<ArrowValues> children = {};
};

/// Fills a struct of Arrow's, which then owns all of it until its release callback is called. The struct may be moved,
/// and so may its children.
void hand_over(const ArrowField& field, ArrowSchema& out);
void hand_over(ArrowValues values, ArrowArray& out);

}  // namespace eindb

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace eindb {

/// A column or a row type of Arrow, with the format that its C data interface has for it.
struct ArrowField {
  std::string name;
  std::string format;  ///< "l", "+s", ...
  bool is_nullable = false;
  std::vector<std::pair<std::string, std::string>> metadata = {};
  std::vector<ArrowField> children = {};
  std::vector<ArrowField> dictionary = {};  ///< of what its keys stand for: one or none
};

/// Bytes of a column, and who keeps them.
struct ArrowBytes {
  static constexpr std::int64_t kUnknown = -1;
  const void* data = nullptr;
  std::shared_ptr<const void> owner = nullptr;
  std::int64_t size = 0;  ///< kUnknown: of buffers of other libraries, which do not say
};

/// Values of a column, or of a batch of rows.
struct ArrowValues {
  std::int64_t length = 0;
  std::int64_t null_count = 0;      ///< -1: unknown
  std::vector<ArrowBytes> buffers;  ///< as the format has them; no data: none
  std::vector<ArrowValues> children = {};
  std::int64_t offset = 0;                      ///< of the first value in the buffers and children
  std::vector<ArrowValues> dictionary = {};     ///< of what keys stand for: one or none
  std::shared_ptr<const void> owner = nullptr;  ///< of all of it, beside those of the buffers
};

}  // namespace eindb

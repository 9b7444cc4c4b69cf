#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace eindb {

/// The progress of a long statement. The callback is called now and then from the thread that executes the statement.
struct Progress {
  std::string_view stage;  ///< "join", "import", ...
  std::int64_t done = 0;
  std::int64_t total = 0;  ///< 0: unknown
};
using ProgressCallback = std::function<void(const Progress&)>;

/// A notice to the user about a statement that is not an error: one sentence or more, without a final full stop. Called
/// from the thread that executes the statement.
using NoticeCallback = std::function<void(const std::string&)>;

}  // namespace eindb

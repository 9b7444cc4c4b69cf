#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace eindb {

/// How far a long statement is; called now and then from the thread that executes it.
struct Progress {
  std::string_view stage;  ///< "join", "import", ...
  std::int64_t done = 0;
  std::int64_t total = 0;  ///< 0: unknown
};
using ProgressCallback = std::function<void(const Progress&)>;

/// What a user should know of a statement that is no error: one sentence or more, without a full stop. Called from the
/// thread that executes it.
using NoticeCallback = std::function<void(const std::string&)>;

}  // namespace eindb

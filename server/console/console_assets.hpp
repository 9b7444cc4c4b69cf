#pragma once

#include <span>
#include <string_view>

namespace eindb {

/// A file of the console's page, as web/ builds it.
struct ConsoleAsset {
  std::string_view path;  ///< "/" or "/console.js"
  std::string_view content_type;
  std::string_view bytes;  ///< compressed by gzip
};

/// All files of the page; none in a build without the console (EINDB_CONSOLE).
std::span<const ConsoleAsset> console_assets();

}  // namespace eindb

// Stands for the page in a build without the console; not one of the folder's other sources, as it is chosen.
#include "server/console/console_assets.hpp"

namespace eindb {

std::span<const ConsoleAsset> console_assets() { return {}; }

}  // namespace eindb

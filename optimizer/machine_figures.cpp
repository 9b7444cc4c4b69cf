#include "optimizer/machine_figures.hpp"

namespace eindb {

MachineFigures built_in_figures() { return {}; }

}  // namespace eindb

#include "engine/plans/plan_source.hpp"

namespace eindb {

std::string_view name_of(PlanSource source) {
  static constexpr std::string_view kNames[] = {"miss", "hit", "off"};
  return kNames[static_cast<std::size_t>(source)];
}

}  // namespace eindb

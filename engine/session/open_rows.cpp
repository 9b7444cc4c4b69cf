#include "engine/session/open_rows.hpp"

namespace eindb {

void OpenRows::keep_all(std::size_t most) {
  while (!rows_.empty()) {
    auto* const rows = *rows_.begin();
    most -= rows->keep(most);
    rows_.erase(rows);
  }
}

void OpenRows::keep_what_fits(std::size_t most) noexcept {
  while (!rows_.empty()) {
    auto* const rows = *rows_.begin();
    try {
      most -= rows->keep(most);
    } catch (...) {
      rows->give_up(std::current_exception());
    }
    rows_.erase(rows);
  }
}

}  // namespace eindb

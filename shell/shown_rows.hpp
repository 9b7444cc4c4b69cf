#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/results/result.hpp"

namespace eindb {

/// The rows of a result that a box shows: all of them, or the first and the last ones.
///
/// A result with a tensor knows its number of rows and gives any of them at once: nothing between the shown rows is
/// read. SQL gives rows one after the other, and says only at the end how many there are: up to kMostCounted of them
/// are read, and of more the box shows the first ones alone.
struct ShownRows {
  /// Rows of SQL that are read in order to show the last ones and to count them.
  static constexpr std::size_t kMostCounted = 1000;

  std::vector<Row> head;
  std::vector<Row> tail;              ///< empty if the end is not known, or all rows are in head
  std::optional<std::int64_t> count;  ///< all rows; nullopt: more than were read
  std::size_t read = 0;               ///< rows that were read, and counted

  /// `limit`: the rows to show; 0: all of them.
  static ShownRows of(Result& result, std::size_t limit);

  std::size_t shown() const { return head.size() + tail.size(); }
  bool is_all() const { return count && static_cast<std::size_t>(*count) == shown(); }
};

}  // namespace eindb

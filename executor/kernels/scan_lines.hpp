#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/poll_steps.hpp"
#include "executor/kernels/loop_nest.hpp"

namespace eindb {

/// The most lines that are scanned side by side.
inline constexpr std::int64_t kScanLanes = 256;

/// The lines of one call of a scan, in the order in which their cells are taken. Strides are in elements.
struct ScanLines {
  std::int64_t cells = 0;  ///< of a line of the operand
  std::int64_t results = 0;
  std::int64_t step_source = 0;
  std::int64_t step_output = 0;
  std::int64_t taken_first = 0;  ///< how many cells the first result has, if there were as many before it
  std::int64_t element_size = 0;
  const std::byte* source = nullptr;
  std::byte* output = nullptr;
  std::vector<Loop> loops = {};  ///< over the other labels but one, with strides in the source and in the output
  std::int64_t lanes = 1;        ///< lines along that label, which is the innermost one
  std::int64_t lane_source = 1;
  std::int64_t lane_output = 1;

  /// The number of cells in result n.
  std::int64_t taken_by(std::int64_t n) const { return std::clamp<std::int64_t>(taken_first + n, 0, cells); }
};

/// Calls f(source, output, lanes) for groups of up to kScanLanes lines.
template <class F>
void for_each_group(const ScanLines& lines, F&& f) {
  StreamOffsets offsets{0, 0};
  Odometer rows(lines.loops);
  do {
    for (std::int64_t begin = 0; begin < lines.lanes; begin += kScanLanes) {
      const auto lanes = std::min(kScanLanes, lines.lanes - begin);
      poll_cancellation_after(static_cast<std::size_t>((lines.cells + lines.results) * lanes / 4 + 1));
      f(lines.source + (static_cast<std::int64_t>(offsets[0]) + begin * lines.lane_source) * lines.element_size,
        lines.output + (static_cast<std::int64_t>(offsets[1]) + begin * lines.lane_output) * lines.element_size, lanes);
    }
  } while (!lines.loops.empty() && rows.advance(offsets));
}

}  // namespace eindb

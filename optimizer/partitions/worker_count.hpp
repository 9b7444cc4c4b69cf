#pragma once

#include <cstdint>
#include <optional>

#include "plan/ein_graph.hpp"

namespace eindb {

/// How many workers compute a graph, and p: the kernel calls that its vertices aim at.
struct WorkerCount {
  std::int64_t workers = 1;
  std::int64_t calls = 1;  ///< a multiple of the workers, or a divisor

  friend bool operator==(const WorkerCount&, const WorkerCount&) = default;
};

/// All of `up` workers, each with a call of every vertex, unless extents are too small: vertices make calls by which
/// the prime factors of the workers' number go to their labels (viable.hpp), so that a tensor with labels of extent 2
/// gives seven workers nothing to share. Then it is the number of at most `up`, and more than half of it, by which the
/// worker that computes most computes least, in points of label spaces; the others idle. `up` is at least 1.
///
/// `wanted` calls are rounded up to a multiple of the workers. If they are fewer than `up`, the workers are the largest
/// multiple of them, and share calls.
///
/// Examples, of large extents: 6 workers, 6 calls; for 16 wanted calls 6 and 18. For 4 wanted calls 4 and 4, for 2 of
/// them 6 and 2. Of a network of labels of extent 2, for 6 workers: 4 and 4.
WorkerCount count_workers(const EinGraph& graph, std::int64_t up, std::optional<std::int64_t> wanted);

}  // namespace eindb

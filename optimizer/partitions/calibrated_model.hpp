#pragma once

#include <vector>

#include "optimizer/partitions/cost_model.hpp"
#include "optimizer/partitions/machine_figures.hpp"

namespace eindb {

/// The `calibrated` cost model: seconds on this machine, as measured by `eindb calibrate`.
///
/// A vertex makes N(d) kernel calls on T threads, in ceil(N / T) waves of u = min(N, T) at a time. With w the seconds
/// that one thread needs for a call's arithmetic, slow(u) >= 1 how much slower a thread is beside u - 1 others, o the
/// fixed seconds per call, x and z the bytes that a call reads and writes, and L(u) and S(u) the bytes per second that
/// u threads load and store,
///
///     join = start + waves * o + (waves * w * slow(u) + N (x / L(u') + z / S(u'))) (1 + e / waves), u' = N / waves
///
/// where e is how much longer the last call takes, that all threads wait for, and w, x and z are those of the largest
/// parts. Matrix products take w = 2 m n k / rate(side) with the side of the square matrices that are as efficient: the
/// harmonic mean of m, n and k, for a product costs m n k (a + b / m + b / n + b / k). Rates were measured with
/// operands in caches, but for the rate of a matrix times a vector, which is that of memory. Operands that do not lie
/// as matrices are copied first. Everything else is loops: the cells of the call's join times the seconds of its
/// operations.
///
/// An epilogue adds its operations on the elements of the result. Calls of a group accumulate into one tile: what
/// aggregation costs is reading and writing that tile again for every call but the first. A repartition costs its
/// bytes, once more from memory where its tiles are too large for the caches, and a fixed time per piece cut out
/// of a tile. Vertices of a chain are steps of the same calls: what one of them has made or read comes from a cache.
///
/// A value: holds its figures, any number of threads may ask it.
class CalibratedModel final : public CostModel {
 public:
  /// `threads`: those that will work on tiles, at least 1.
  CalibratedModel(const MachineFigures& figures, int threads);

  std::string_view name() const override { return "calibrated"; }
  double join(const VertexShape& shape, const Partition& d) const override;
  double aggregation(const VertexShape& shape, const Partition& d) const override;
  double repartition(const Partition& producer, const Partition& consumer, const std::vector<std::int64_t>& extents,
                     std::size_t element_bytes) const override;

  /// Reading `tiles` stored tiles, and writing them; writing has one thread.
  double read(double tiles, double bytes) const;
  /// Bytes written to a scratch file and read again, in the page cache or close to it.
  double scratch(double written, double read) const;
  /// The seconds that a statement takes before its first operator.
  double start() const { return threads_ > 1 ? figures_.start_seconds : 0; }
  double write(double tiles, double bytes) const;

  const MachineFigures& figures() const { return figures_; }
  int threads() const { return threads_; }

 private:
  // One thread, one kernel call.
  struct CallCost {
    double seconds = 0;
    double loaded = 0;  // bytes
    double stored = 0;
  };
  // By the number of threads that work at the same time.
  struct Crowd {
    double slowdown = 1;  // of each one's arithmetic
    double load = 1;      // bytes per second of all
    double store = 1;
    double repartition = 1;
    double read = 1;
  };

  CallCost call(const VertexShape& shape, const Partition& d) const;
  double loops(const VertexShape& shape, const Partition& d) const;
  double matrices(const VertexShape& shape, const Partition& d, const RoleSizes& sizes) const;
  double epilogue(const VertexShape& shape, const Partition& d) const;
  const Crowd& crowd(double tasks) const;

  MachineFigures figures_;
  int threads_;
  std::vector<Crowd> crowds_;  // entry u - 1 for u threads
};

}  // namespace eindb

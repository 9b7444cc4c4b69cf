#pragma once

#include <vector>

#include "optimizer/partitions/cost_model.hpp"
#include "optimizer/partitions/machine_figures.hpp"

namespace eindb {

/// The `calibrated` cost model: seconds on this machine, as measured by `eindb calibrate`.
///
/// A vertex makes N(d) kernel calls on T threads, in ceil(N / T) waves of u = min(N, T) calls. Let w be the seconds
/// that one thread needs for a call's arithmetic, slow(u) >= 1 the slowdown of a thread beside u - 1 others, o the
/// fixed seconds per call, x and z the bytes that a call reads and writes, and L(u) and S(u) the bytes per second that
/// u threads load and store. Then
///
///     join = start + waves * o + (waves * w * slow(u) + N (x / L(u') + z / S(u'))) (1 + e / waves), u' = N / waves
///
/// where e is the relative excess of the slowest call of the last wave, which all threads wait for; w, x and z are
/// taken for the largest parts. Matrix products take w = 2 m n k / rate(side), with the side of the square matrices of
/// the same efficiency: the harmonic mean of m, n and k, since a product costs m n k (a + b / m + b / n + b / k). Rates
/// were measured with operands in caches, except for the rate of a matrix times a vector, which is bound by memory.
/// Operands that do not lie as matrices are copied first. Every other kernel is a loop: the cells of the call's join
/// times the seconds of its operations.
///
/// An epilogue adds its operations on the elements of the result. Calls of a group accumulate into one tile, so
/// aggregation costs reading and writing that tile again for every call but the first. A repartition costs its bytes,
/// once more from memory if its tiles exceed the caches, and a fixed time per piece cut out of a tile. Vertices of a
/// chain are steps of the same calls: a value that one step has made or read is in a cache for the next.
///
/// Immutable; any number of threads may call it.
class CalibratedModel final : public CostModel {
 public:
  /// `threads`: the number of threads that will work on tiles, at least 1.
  CalibratedModel(const MachineFigures& figures, int threads);

  std::string_view name() const override { return "calibrated"; }
  double join(const VertexShape& shape, const Partition& d) const override;
  double aggregation(const VertexShape& shape, const Partition& d) const override;
  double repartition(const Partition& producer, const Partition& consumer, const std::vector<std::int64_t>& extents,
                     std::size_t element_bytes) const override;

  /// Seconds to read `tiles` stored tiles with `bytes` bytes in all. write() is the reverse and runs on one thread.
  double read(double tiles, double bytes) const;
  /// Seconds to write bytes to a scratch file and read them again, in the page cache or close to it.
  double scratch(double written, double read) const;
  /// The seconds that a statement takes to wake threads, if its vertices make at most so many calls each: a single call
  /// runs in the caller's thread.
  double start(double most_calls) const { return threads_ > 1 && most_calls > 1 ? figures_.start_seconds : 0; }
  double write(double tiles, double bytes) const;

  const MachineFigures& figures() const { return figures_; }
  int threads() const { return threads_; }

 private:
  // The cost of one kernel call on one thread.
  struct CallCost {
    double seconds = 0;
    double loaded = 0;  // bytes
    double stored = 0;
  };
  // Figures that depend on the number of threads that work at the same time.
  struct Crowd {
    double slowdown = 1;  // factor on each thread's arithmetic
    double load = 1;      // bytes per second of all threads together
    double store = 1;
    double repartition = 1;
    double read = 1;
  };

  double rows(const VertexShape& shape, const Partition& d) const;
  CallCost access(const VertexShape& shape, const Partition& d) const;
  CallCost call(const VertexShape& shape, const Partition& d) const;
  static double lines_of_cells(const VertexShape& shape, const Partition& d);
  double loops(const VertexShape& shape, const Partition& d) const;
  double matrices(const VertexShape& shape, const Partition& d, const RoleSizes& sizes) const;
  double pairs(const VertexShape& shape, const Partition& d, const RoleSizes& sizes) const;
  double epilogue(const VertexShape& shape, const Partition& d) const;
  const Crowd& crowd(double tasks) const;

  MachineFigures figures_;
  int threads_;
  std::vector<Crowd> crowds_;  // entry u - 1 for u threads
};

}  // namespace eindb

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "plan/transport_costs.hpp"
#include "tensor/dtype.hpp"

namespace eindb {

/// Classes of scalar operations by their cost. Functions differ by a factor of a hundred, as some have vector code for
/// some types.
// clang-format off
enum class Operation : std::uint8_t {
  Simple,  ///< additions, multiplications, comparisons, selections, conversions
  Divide, Sqrt, Uniform, Normal,
  Exp, Log, Log2, Log1p, Expm1, Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Tanh, Erf, Sigmoid, Power, Atan2,
};
// clang-format on
inline constexpr std::size_t kOperations = static_cast<std::size_t>(Operation::Atan2) + 1;

/// Sides of the square matrices whose products are timed: 4, 8, ..., 1024.
inline constexpr std::size_t kMatrixSides = 9;
inline constexpr int kFirstMatrixSideLog2 = 2;

/// Rates of one thread's kernels on one element type, per second.
struct KernelRates {
  std::array<double, kMatrixSides> matrix_product{};  ///< flops (2 per multiplication), by the side of the matrices
  double matrix_vector = 0;                           ///< flops, with a matrix too large for caches
  std::array<double, kOperations> operations{};
  double fold = 0;          ///< elements aggregated
  double product_fold = 0;  ///< products of two elements summed
  double crosswise = 0;     ///< elements read non-contiguously
};

/// A rate of one thread, and the rate of all threads together.
struct Throughput {
  double one = 0;
  double all = 0;
};

/// The figures that `eindb calibrate` measures of a machine and that the model `calibrated` uses. All figures are
/// positive and finite.
struct MachineFigures {
  std::string source = "built in";  ///< the file they were read from
  int threads = 1;                  ///< the number of threads that the "all" figures refer to
  double compute_scaling = 1;       ///< the speed of all threads' arithmetic relative to one thread

  double start_seconds = 0;     ///< to wake the threads for a statement
  double operator_seconds = 0;  ///< to start an operator
  double call_seconds = 0;      ///< per kernel call, without its work
  double piece_seconds = 0;     ///< per piece that a repartition cuts out of a tile

  Throughput load;                ///< bytes per second of operands too large for caches
  Throughput store;               ///< bytes per second of results, in fresh memory
  Throughput repartition;         ///< bytes per second of a tensor being repartitioned
  Throughput read;                ///< bytes per second of stored tiles
  double read_tile_seconds = 0;   ///< per stored tile, without its bytes
  double write = 0;               ///< bytes per second of tiles stored
  double write_tile_seconds = 0;  ///< per tile stored, without its bytes

  std::array<KernelRates, 5>
      kernels{};  ///< by element type; INT64 has no matrix products, its figures are those of loops

  /// The costs of moving relations between the workers of a cluster, by its transport; nullopt: not measured, built-in
  /// ones are used.
  std::optional<TransportCosts> tcp = {};
  std::optional<TransportCosts> mpi = {};

  static constexpr std::size_t slot_of(DType type) { return static_cast<std::size_t>(type) - 1; }
  const KernelRates& of(DType type) const { return kernels[slot_of(type)]; }
  KernelRates& of(DType type) { return kernels[slot_of(type)]; }
};

/// Figures of an ordinary server core, for machines without measurements; correct within some factor.
MachineFigures built_in_figures();

}  // namespace eindb

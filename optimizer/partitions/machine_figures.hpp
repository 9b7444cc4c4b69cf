#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "tensor/dtype.hpp"

namespace eindb {

/// Scalar operations by what they take. Functions differ by a factor of a hundred: some are vector code for some types.
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

/// How fast one thread's kernels work on one element type; everything per second.
struct KernelRates {
  std::array<double, kMatrixSides> matrix_product{};  ///< flops (2 per multiplication), by the matrices' side
  double matrix_vector = 0;                           ///< flops, with a matrix that no cache holds
  std::array<double, kOperations> operations{};
  double fold = 0;          ///< elements aggregated
  double product_fold = 0;  ///< products of two elements summed
  double crosswise = 0;     ///< elements read across the order in which they lie
};

/// A rate of one thread, and the rate of all threads together.
struct Throughput {
  double one = 0;
  double all = 0;
};

/// What `eindb calibrate` measures of a machine, and the model `calibrated` counts with. All figures are positive and
/// finite.
struct MachineFigures {
  std::string source = "built in";  ///< the file they were read from
  int threads = 1;                  ///< "all" threads of the figures
  double compute_scaling = 1;       ///< how many times as fast as one thread all of them compute

  double start_seconds = 0;     ///< to wake the threads for a statement
  double operator_seconds = 0;  ///< to begin an operator
  double call_seconds = 0;      ///< a kernel call apart from its work
  double piece_seconds = 0;     ///< a piece cut out of a tile in a repartition

  Throughput load;                ///< bytes per second of operands, which no cache holds
  Throughput store;               ///< bytes per second of results, in memory that was not used before
  Throughput repartition;         ///< bytes per second of a tensor whose tiles are cut anew
  Throughput read;                ///< bytes per second of stored tiles
  double read_tile_seconds = 0;   ///< a stored tile apart from its bytes
  double write = 0;               ///< bytes per second of tiles stored
  double write_tile_seconds = 0;  ///< a tile stored apart from its bytes

  std::array<KernelRates, 5> kernels{};  ///< by element type; INT64 has no matrix products: its are those of loops

  static constexpr std::size_t slot_of(DType type) { return static_cast<std::size_t>(type) - 1; }
  const KernelRates& of(DType type) const { return kernels[slot_of(type)]; }
  KernelRates& of(DType type) { return kernels[slot_of(type)]; }
};

/// Figures of an ordinary server core, for machines that were not measured: right within some factor.
MachineFigures built_in_figures();

}  // namespace eindb

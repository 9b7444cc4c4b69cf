#include "optimizer/partitions/machine_figures.hpp"

namespace eindb {
namespace {

// Measured with four threads on a server processor with 512-bit vectors, rounded.
constexpr KernelRates kFloat32{
    .matrix_product = {1.4e9, 4.8e9, 2.5e10, 6.4e10, 8.4e10, 1e11, 1e11, 1e11},
    .matrix_vector = 1.3e10,
    .operations = {9.5e9, 8.4e9, 5e9, 9.4e7, 1.8e7, 3.6e9, 9.6e8, 3.4e8, 1.6e8, 1.7e8, 2.8e8, 2.9e8,
                   1.3e8, 2e8,   2e8, 1.9e8, 9.2e7, 1.5e8, 3.3e9, 2.7e8, 2.4e9, 1.7e8, 9.3e7},
    .fold = 9.6e9,
    .product_fold = 7e9,
    .crosswise = 8e8};

constexpr KernelRates kFloat64{
    .matrix_product = {1.7e9, 7.7e9, 2.3e10, 4.3e10, 4.9e10, 6.7e10, 7.3e10, 7e10},
    .matrix_vector = 6.7e9,
    .operations = {4.9e9, 2e9,   1.2e9, 9.5e7, 1.8e7, 8e8,   3.3e8, 2.1e8, 1.2e8, 1.6e8, 1.4e8, 1.4e8,
                   9.7e7, 1.9e8, 1.1e8, 1.2e8, 6.3e7, 9.4e7, 6.2e7, 1.8e8, 4.5e8, 7.6e7, 7.7e7},
    .fold = 6e9,
    .product_fold = 4.2e9,
    .crosswise = 4.4e8};

constexpr KernelRates kComplex64{
    .matrix_product = {5.2e8, 6e9, 1.7e10, 2.5e10, 2.9e10, 3.5e10, 3.9e10, 3.6e10},
    .matrix_vector = 6.5e9,
    .operations = {4.6e9, 8.8e7, 8.7e7, 9.4e7, 1.8e7, 7.4e7, 5.7e7, 6e7, 6e7, 6e7,   6e7, 2.8e7,
                   6e7,   6e7,   6e7,   6e7,   6e7,   6e7,   3.9e7, 6e7, 6e7, 9.9e6, 6e7},
    .fold = 4.8e9,
    .product_fold = 1.8e9,
    .crosswise = 4.5e8};

constexpr KernelRates kComplex128{
    .matrix_product = {4.3e8, 4.4e9, 9.2e9, 1.2e10, 1.5e10, 1.8e10, 1.8e10, 1.6e10},
    .matrix_vector = 3.2e9,
    .operations = {2.3e9, 1.4e8, 2.2e8, 9.1e7, 1.7e7, 1.3e8, 6.8e7, 6.3e7, 6.3e7, 6.3e7, 6.3e7, 6.1e7,
                   6.3e7, 6.3e7, 6.3e7, 6.3e7, 6.3e7, 6.3e7, 4.9e7, 6.3e7, 6.3e7, 3.9e7, 6.3e7},
    .fold = 4.8e9,
    .product_fold = 1.3e9,
    .crosswise = 5.6e8};

constexpr KernelRates kInt64{
    .matrix_product = {8.9e9, 8.9e9, 8.9e9, 8.9e9, 8.9e9, 8.9e9, 8.9e9, 8.9e9},
    .matrix_vector = 6.1e9,
    .operations = {5.3e9, 2e9,   1.2e9, 9.5e7, 1.8e7, 8e8,   3.3e8, 2.1e8, 1.2e8, 1.6e8, 1.4e8, 1.4e8,
                   9.7e7, 1.9e8, 1.1e8, 1.2e8, 6.3e7, 9.4e7, 6.2e7, 1.8e8, 4.5e8, 7.6e7, 7.7e7},
    .fold = 6.3e9,
    .product_fold = 4.4e9,
    .crosswise = 4.8e8};

}  // namespace

MachineFigures built_in_figures() {
  return {.source = "built in",
          .threads = 4,
          .compute_scaling = 3.6,
          .start_seconds = 1.5e-5,
          .operator_seconds = 8.2e-6,
          .call_seconds = 2.2e-6,
          .piece_seconds = 3.4e-7,
          .load = {1.9e10, 7.1e10},
          .store = {1.7e9, 7.2e9},
          .repartition = {1.5e9, 1.6e10},
          .read = {1.1e9, 5.5e9},
          .read_tile_seconds = 3e-6,
          .write = 5.3e8,
          .write_tile_seconds = 9.5e-6,
          .kernels = {kFloat32, kFloat64, kComplex64, kComplex128, kInt64}};
}

}  // namespace eindb

#include "optimizer/partitions/machine_figures.hpp"

namespace eindb {
namespace {

// Measured on a server processor with 512-bit vectors, rounded; the figures of all threads are for four threads.
constexpr KernelRates kFloat32{
    .matrix_product = {1e10, 2.5e10, 3.5e10, 7.6e10, 1e11, 1.4e11, 1.5e11, 1.6e11, 1.65e11},
    .matrix_vector = 1.4e10,
    .operations = {1e10,  9.8e9, 8.1e9, 1.2e8, 2.2e7, 4.6e9, 1.2e9, 4.9e8, 2.2e8, 2.4e8, 3.8e8, 3.8e8,
                   1.7e8, 3.5e8, 2.6e8, 2.6e8, 1.4e8, 2.5e8, 4.5e9, 3.7e8, 2.9e9, 2.2e8, 1.2e8},
    .fold = 9.3e9,
    .product_fold = 7.3e9,
    .crosswise = 7.5e8};

constexpr KernelRates kFloat64{
    .matrix_product = {7.7e9, 1.4e10, 3.1e10, 4.4e10, 5.3e10, 6.8e10, 7.7e10, 7.8e10, 8.1e10},
    .matrix_vector = 7.2e9,
    .operations = {6.4e9, 2.5e9, 1.4e9, 1.2e8, 2.2e7, 1e9,   4.1e8, 3.3e8, 2.4e8, 2.9e8, 2.5e8, 2.6e8,
                   2.3e8, 2.6e8, 2.5e8, 2.9e8, 1.5e8, 2.3e8, 1.3e8, 3.8e8, 6.5e8, 9.9e7, 1e8},
    .fold = 1e10,
    .product_fold = 7.5e9,
    .crosswise = 4.2e8};

constexpr KernelRates kComplex64{
    .matrix_product = {1.7e9, 4.8e9, 1.5e10, 2.2e10, 2.8e10, 3.5e10, 4e10, 4e10, 4.1e10},
    .matrix_vector = 3e9,
    .operations = {5.6e9, 1.2e8, 1.1e8, 1.2e8, 2.2e7, 9.3e7, 7.4e7, 7.8e7, 7.8e7, 7.8e7, 7.8e7, 3.4e7,
                   7.8e7, 7.8e7, 7.8e7, 7.8e7, 7.8e7, 7.8e7, 5.6e7, 7.8e7, 7.8e7, 1.2e7, 7.8e7},
    .fold = 5.5e9,
    .product_fold = 2.2e9,
    .crosswise = 4.1e8};

constexpr KernelRates kComplex128{
    .matrix_product = {1.3e9, 4.1e9, 6.4e9, 1e10, 1.3e10, 1.7e10, 1.7e10, 1.7e10, 1.8e10},
    .matrix_vector = 1.1e9,
    .operations = {2.5e9, 1.9e8, 3.9e8, 1.2e8, 2.2e7, 2e8,   9.7e7, 8.4e7, 8.4e7, 8.4e7, 8.4e7, 8.4e7,
                   8.4e7, 8.4e7, 8.4e7, 8.4e7, 8.4e7, 8.4e7, 6.9e7, 8.4e7, 8.4e7, 5e7,   8.4e7},
    .fold = 5.8e9,
    .product_fold = 1.6e9,
    .crosswise = 4.5e8};

constexpr KernelRates kInt64{
    .matrix_product = {9.5e9, 9.5e9, 9.5e9, 9.5e9, 9.5e9, 9.5e9, 9.5e9, 9.5e9, 9.5e9},
    .matrix_vector = 5.1e9,
    .operations = {6.3e9, 2.5e9, 1.4e9, 1.2e8, 2.2e7, 1e9,   4.1e8, 3.3e8, 2.4e8, 2.9e8, 2.5e8, 2.6e8,
                   2.3e8, 2.6e8, 2.5e8, 2.9e8, 1.5e8, 2.3e8, 1.3e8, 3.8e8, 6.5e8, 9.9e7, 1e8},
    .fold = 8.1e9,
    .product_fold = 4.8e9,
    .crosswise = 4.7e8};

}  // namespace

MachineFigures built_in_figures() {
  return {.source = "built in",
          .threads = 4,
          .compute_scaling = 3.7,
          .start_seconds = 2e-5,
          .operator_seconds = 1.5e-6,
          .call_seconds = 1e-6,
          .piece_seconds = 2e-7,
          .load = {2e10, 6e10},
          .store = {1.2e10, 2.4e10},
          .repartition = {1.2e10, 2.4e10},
          .read = {1.2e10, 3.6e10},
          .read_tile_seconds = 4e-6,
          .write = 5e8,
          .write_tile_seconds = 5e-6,
          .kernels = {kFloat32, kFloat64, kComplex64, kComplex128, kInt64}};
}

}  // namespace eindb

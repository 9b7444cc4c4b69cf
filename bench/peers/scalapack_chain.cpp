// (A x B) + (C x (D x E)) by ScaLAPACK: one process per core, matrices in block-cyclic distribution.
//
// Usage: mpirun -n P scalapack_chain fp32|fp64 M K1 N K2 K3 BLOCK [ROWS [STEP]], for A: M x K1, B: K1 x N, C: M x K2,
// D: K2 x K3, E: K3 x N, on a grid of ROWS x P / ROWS processes, as square as possible by default. Products advance in
// steps of STEP along the summed dimension, by default BLOCK. The first result is compared with matrix-vector products;
// a wrong one ends the program. Each line on standard input requests a repetition, which is answered by its seconds (of
// the slowest process); the first answer is "ready". Between repetitions the processes sleep: Open MPI's would wait in
// a busy loop, on the cores where another contestant is measured.

#include <mpi.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridinfo(int context, int* rows, int* columns, int* row, int* column);
int numroc_(const int* n, const int* block, const int* process, const int* first, const int* processes);
void descinit_(int* descriptor, const int* m, const int* n, const int* mb, const int* nb, const int* first_row,
               const int* first_column, const int* context, const int* leading, int* info);
void psgemm_(const char* ta, const char* tb, const int* m, const int* n, const int* k, const float* alpha,
             const float* a, const int* ia, const int* ja, const int* da, const float* b, const int* ib, const int* jb,
             const int* db, const float* beta, float* c, const int* ic, const int* jc, const int* dc);
void pdgemm_(const char* ta, const char* tb, const int* m, const int* n, const int* k, const double* alpha,
             const double* a, const int* ia, const int* ja, const int* da, const double* b, const int* ib,
             const int* jb, const int* db, const double* beta, double* c, const int* ic, const int* jc, const int* dc);
}

namespace {

int logical_block = 0;

}  // namespace

/// PBLAS asks this function for the width of its steps. The library's own version returns 32 and is meant to be
/// replaced: for a sum that is long relative to the result, that takes twice the time.
extern "C" int pilaenv_(const int* /*context*/, const char* /*type*/);
int pilaenv_(const int* /*context*/, const char* /*type*/) { return logical_block; }

namespace {

struct Grid {
  int context = 0, rows = 0, columns = 0, row = 0, column = 0;
};

int rows_of_squarest_grid(int processes) {
  int rows = static_cast<int>(std::sqrt(processes));
  while (processes % rows != 0) --rows;
  return rows;
}

Grid make_grid(int processes, int rows) {
  Grid grid;
  grid.rows = rows;
  grid.columns = processes / grid.rows;
  Cblacs_get(-1, 0, &grid.context);
  Cblacs_gridinit(&grid.context, "Row", grid.rows, grid.columns);
  Cblacs_gridinfo(grid.context, &grid.rows, &grid.columns, &grid.row, &grid.column);
  return grid;
}

/// This process's part of a distributed matrix, column-major.
template <typename T>
struct Matrix {
  Matrix(const Grid& grid, int m, int n, int block) : rows(m), columns(n) {
    const int zero = 0;
    const int mine = numroc_(&m, &block, &grid.row, &zero, &grid.rows);
    const int across = numroc_(&n, &block, &grid.column, &zero, &grid.columns);
    const int leading = mine > 0 ? mine : 1;
    int info = 0;
    descinit_(descriptor.data(), &m, &n, &block, &block, &zero, &zero, &grid.context, &leading, &info);
    if (info != 0) std::abort();
    values.resize(static_cast<std::size_t>(leading) * static_cast<std::size_t>(across > 0 ? across : 1));
    unsigned state = 12345U + static_cast<unsigned>(grid.row * 31 + grid.column);
    for (auto& value : values) {
      state = state * 1664525U + 1013904223U;
      value = static_cast<T>(state >> 8U) / static_cast<T>(1U << 24U);
    }
  }

  int rows;
  int columns;
  std::array<int, 9> descriptor{};
  std::vector<T> values;
};

void gemm(const Matrix<float>& a, const Matrix<float>& b, float beta, Matrix<float>& c) {
  const int one = 1;
  const float alpha = 1;
  psgemm_("N", "N", &c.rows, &c.columns, &a.columns, &alpha, a.values.data(), &one, &one, a.descriptor.data(),
          b.values.data(), &one, &one, b.descriptor.data(), &beta, c.values.data(), &one, &one, c.descriptor.data());
}

void gemm(const Matrix<double>& a, const Matrix<double>& b, double beta, Matrix<double>& c) {
  const int one = 1;
  const double alpha = 1;
  pdgemm_("N", "N", &c.rows, &c.columns, &a.columns, &alpha, a.values.data(), &one, &one, a.descriptor.data(),
          b.values.data(), &one, &one, b.descriptor.data(), &beta, c.values.data(), &one, &one, c.descriptor.data());
}

/// Waits until rank 0 has read a line; false at the end of input. The other ranks poll for its message.
bool next_repetition(int rank, int processes) {
  int go = 0;
  if (rank == 0) {
    std::string line;
    go = static_cast<int>(static_cast<bool>(std::getline(std::cin, line)));
    for (int to = 1; to < processes; ++to) MPI_Send(&go, 1, MPI_INT, to, 7, MPI_COMM_WORLD);
    return go != 0;
  }
  int arrived = 0;
  while (arrived == 0) {
    MPI_Iprobe(0, 7, MPI_COMM_WORLD, &arrived, MPI_STATUS_IGNORE);
    if (arrived == 0) usleep(500);
  }
  MPI_Recv(&go, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return go != 0;
}

/// Z v = A (B v) + C (D (E v)) for a vector v. All elements are at least 0, so no sum is much smaller than its terms,
/// and each result is off by at most as many roundings as it has terms.
template <typename T>
void check_result(const Grid& grid, int block, const std::array<const Matrix<T>*, 5>& inputs, const Matrix<T>& z) {
  const auto& [a, b, c, d, e] = inputs;
  const auto times = [&](const Matrix<T>& matrix, const Matrix<T>& vector) {
    Matrix<T> product(grid, matrix.rows, 1, block);
    gemm(matrix, vector, 0, product);
    return product;
  };
  const Matrix<T> v(grid, z.columns, 1, block);
  const auto actual = times(z, v);
  auto expected = times(*a, times(*b, v));
  gemm(*c, times(*d, times(*e, v)), 1, expected);
  const double terms = static_cast<double>(z.columns) + a->columns + c->columns + d->columns + e->rows;
  const double tolerance = 4 * terms * static_cast<double>(std::numeric_limits<T>::epsilon());
  for (std::size_t n = 0; n < actual.values.size(); ++n) {
    const double difference = std::abs(static_cast<double>(actual.values[n]) - static_cast<double>(expected.values[n]));
    if (difference <= tolerance * static_cast<double>(expected.values[n])) continue;
    std::fputs("scalapack_chain: the result is wrong\n", stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

template <typename T>
void serve(const Grid& grid, int rank, int processes, const std::array<int, 6>& sizes) {
  const auto [m, k1, n, k2, k3, block] = sizes;
  const Matrix<T> a(grid, m, k1, block);
  const Matrix<T> b(grid, k1, n, block);
  const Matrix<T> c(grid, m, k2, block);
  const Matrix<T> d(grid, k2, k3, block);
  const Matrix<T> e(grid, k3, n, block);
  Matrix<T> de(grid, k2, n, block);
  Matrix<T> z(grid, m, n, block);
  const auto chain = [&] {
    gemm(a, b, 0, z);
    gemm(d, e, 0, de);
    gemm(c, de, 1, z);
  };
  chain();
  check_result(grid, block, {&a, &b, &c, &d, &e}, z);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::puts("ready");
  std::fflush(stdout);
  while (next_repetition(rank, processes)) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    chain();
    double seconds = MPI_Wtime() - start;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) std::printf("%.9g\n", seconds);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int processes = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  if (argc < 8 || argc > 10) return 2;
  logical_block = std::atoi(argv[argc == 10 ? 9 : 7]);
  std::array<int, 6> sizes{};
  for (std::size_t n = 0; n < sizes.size(); ++n) sizes[n] = std::atoi(argv[n + 2]);
  const Grid grid = make_grid(processes, argc > 8 ? std::atoi(argv[8]) : rows_of_squarest_grid(processes));
  if (std::strcmp(argv[1], "fp32") == 0) {
    serve<float>(grid, rank, processes, sizes);
  } else {
    serve<double>(grid, rank, processes, sizes);
  }
  MPI_Finalize();
  return 0;
}

// The product of two stored 4096 x 4096 FLOAT32 tensors, timed by EXPLAIN ANALYZE, compared with Eigen's product of the
// same matrices with the same number of threads. Runs alternate; the figures are medians. Usage: product_bench [SIZE]
// [RUNS]

#include <Eigen/Core>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "bench/median.hpp"
#include "engine/session.hpp"

namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Matrix read_matrix(eindb::Session& session, const std::string& name, Eigen::Index size) {
  auto result = session.execute("EINSUM M[i,j] = " + name + "[i,j]");
  Matrix matrix(size, size);
  eindb::Row row;
  for (Eigen::Index n = 0; result.rows->next(row); ++n) matrix.data()[n] = std::get<float>(row[2]);
  return matrix;
}

double eindb_seconds(eindb::Session& session) {
  auto result = session.execute("EXPLAIN (ANALYZE, FORMAT json) EINSUM Z[i,k] = SUM(X[i,j] * Y[j,k])");
  eindb::Row row;
  result.rows->next(row);
  return nlohmann::json::parse(std::get<std::string>(row[0]))["execution_seconds"].get<double>();
}

double eigen_seconds(const Matrix& x, const Matrix& y, Matrix& z) {
  const auto start = std::chrono::steady_clock::now();
  z.noalias() = x * y;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  const auto size = argc > 1 ? std::atol(argv[1]) : 4096;
  const int runs = argc > 2 ? std::atoi(argv[2]) : 7;
  const auto threads = static_cast<int>(std::thread::hardware_concurrency());
  const auto folder = std::filesystem::temp_directory_path() / ("eindb-product-bench-" + std::to_string(size));
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  {
    eindb::Session session((folder / "bench.db").string());
    session.execute("SET threads = " + std::to_string(threads));
    const auto extents = "[i " + std::to_string(size) + ", j " + std::to_string(size) + "]";
    session.execute("CREATE TENSOR X FLOAT32 AS EINSUM X" + extents + " = RANDN(1)");
    session.execute("CREATE TENSOR Y FLOAT32 AS EINSUM Y" + extents + " = RANDN(2)");
    const auto x = read_matrix(session, "X", size);
    const auto y = read_matrix(session, "Y", size);
    Matrix z(size, size);
    Eigen::setNbThreads(threads);

    eindb_seconds(session);
    eigen_seconds(x, y, z);
    std::vector<double> ours;
    std::vector<double> theirs;
    for (int run = 0; run < runs; ++run) {
      ours.push_back(eindb_seconds(session));
      theirs.push_back(eigen_seconds(x, y, z));
    }
    const double gflop = 2e-9 * static_cast<double>(size) * static_cast<double>(size) * static_cast<double>(size);
    std::printf("product of two stored %ld x %ld FLOAT32 tensors, %d threads, median of %d\n", size, size, threads,
                runs);
    std::printf("  eindb  %8.4f s  %7.1f GFLOP/s\n", eindb::median(ours), gflop / eindb::median(ours));
    std::printf("  Eigen  %8.4f s  %7.1f GFLOP/s\n", eindb::median(theirs), gflop / eindb::median(theirs));
    std::printf("  ratio of speeds, eindb / Eigen: %.3f (0.75 wanted)\n", eindb::median(theirs) / eindb::median(ours));
  }
  std::filesystem::remove_all(folder);
  return 0;
}

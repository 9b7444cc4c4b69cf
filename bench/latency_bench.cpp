// End-to-end latency of a small statement, in process: three 8 x 8 tensors, prepared, executed repeatedly, the result
// read. Medians and quantiles of each way to run it, in microseconds. Usage: latency [RUNS] [CASE]

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "engine/results/result.hpp"
#include "engine/session.hpp"

namespace eindb {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kQuery = "EINSUM Z[i,l] = SUM(A[i,j] * B[j,k] * C[k,l])";

void report(const char* name, int runs, const std::function<void()>& work) {
  for (int n = 0; n < 100; ++n) work();
  std::vector<double> times;
  for (int run = 0; run < runs; ++run) {
    const auto start = Clock::now();
    work();
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  const auto at = [&](double share) { return times[static_cast<std::size_t>(share * (runs - 1))]; };
  std::printf("  %-40s %9.1f %9.1f %9.1f\n", name, at(0.1), at(0.5), at(0.99));
}

// The value of the last cell; using it keeps the result from being optimised away.
double last_value(const Result& result) {
  const auto tile = result.tensor->tile(0);
  return tile == nullptr ? 0 : tile->data<double>()[63];
}

void measure(const std::string& database, const char* where, int runs, const std::string& only) {
  Session session(database);
  for (const char* name : {"A", "B", "C"}) {
    const std::string head(name);
    session.execute("CREATE TENSOR " + head + " AS EINSUM " + head + "[i 8, j 8] = i + j");
  }
  const auto statement = session.prepare(kQuery);
  session.execute(std::string("PREPARE p AS ") + kQuery);
  double sum = 0;
  std::printf("%s%32s %9s %9s %9s\n", where, "", "10 %", "median", "99 %");
  const auto measured = [&](const char* name, const std::function<void()>& work) {
    if (only.empty() || only == name) report(name, runs, work);
  };
  measured("prepared statement of the API", [&] { sum += last_value(session.execute(*statement, {})); });
  measured("EXECUTE p", [&] { sum += last_value(session.execute("EXECUTE p")); });
  measured("the statement's text", [&] { sum += last_value(session.execute(kQuery)); });
  if (sum == 0.5) std::printf("%f\n", sum);  // never: the sums are whole numbers
}

}  // namespace
}  // namespace eindb

int main(int count, char** arguments) {
  const int runs = count > 1 ? std::max(100, std::atoi(arguments[1])) : 10000;
  const std::string only = count > 2 ? arguments[2] : "";
  const auto path = std::filesystem::temp_directory_path() / ("eindb_latency_" + std::to_string(getpid()) + ".db");
  eindb::measure(path.string(), "in a file   ", runs, only);
  eindb::measure(":memory:", "in memory   ", runs, only);
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path.string() + suffix);
  return 0;
}

// Parsing and binding contractions of many operands: a chain of matrices in the list form and in index notation, over
// one tensor and over a tensor per operand. Usage: binding [RUNS]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "parser/binder/binder.hpp"
#include "parser/parser.hpp"

namespace eindb {
namespace {

std::string name_of(std::size_t operand, bool distinct) { return distinct ? "X" + std::to_string(operand) : "X"; }

// '[a0,a1],[a1,a2],...->[a0,an]' (X, X, ...)
std::string list_form(std::size_t operands, bool distinct) {
  std::string terms;
  std::string names;
  for (std::size_t n = 0; n < operands; ++n) {
    terms += (n == 0 ? "[a" : ",[a") + std::to_string(n) + ",a" + std::to_string(n + 1) + "]";
    names += (n == 0 ? "" : ",") + name_of(n, distinct);
  }
  return "EINSUM '" + terms + "->[a0,a" + std::to_string(operands) + "]' (" + names + ")";
}

// Z[a0,an] = SUM(X[a0,a1] * X[a1,a2] * ...)
std::string index_notation(std::size_t operands, bool distinct) {
  std::string product;
  for (std::size_t n = 0; n < operands; ++n)
    product +=
        (n == 0 ? "" : "*") + name_of(n, distinct) + "[a" + std::to_string(n) + ",a" + std::to_string(n + 1) + "]";
  return "EINSUM Z[a0,a" + std::to_string(operands) + "] = SUM(" + product + ")";
}

double seconds(const std::string& text, const NameSource& names, int runs) {
  std::vector<double> times;
  for (int run = 0; run < runs; ++run) {
    const auto start = std::chrono::steady_clock::now();
    bind_query(parse_query(text), names);
    times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace
}  // namespace eindb

int main(int argc, char** argv) {
  using eindb::DType, eindb::InputTensor, eindb::NameSource, eindb::Shape;
  const int runs = argc > 1 ? std::atoi(argv[1]) : 5;
  const NameSource names{
      .find_tensor =
          [](const std::string& name) {
            return InputTensor{.name = name, .dtype = DType::Float64, .grid = {Shape({2, 2}), {1, 1}}};
          },
      .tensor_names = [] { return std::vector<std::string>(); }};
  std::printf("parsing and binding a chain of n matrices, seconds, median of %d (0.2 wanted for n = 10000)\n", runs);
  std::printf("%9s %14s %14s %14s %14s\n", "n", "list", "list, names", "index", "index, names");
  for (const std::size_t n : {1000, 10000, 100000}) {
    std::printf("%9zu", n);
    for (const bool is_list : {true, false})
      for (const bool distinct : {false, true})
        std::printf(
            " %14.4f",
            eindb::seconds(is_list ? eindb::list_form(n, distinct) : eindb::index_notation(n, distinct), names, runs));
    std::printf("\n");
  }
  return 0;
}

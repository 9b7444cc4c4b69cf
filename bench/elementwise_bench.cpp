// Kernels other than contractions, on tiles in memory: reductions and element-wise expressions in bytes per second,
// compared with reading (or copying) the same bytes in the same run, and every join function with every aggregate in
// operations per second. Kernel calls of one tile each are distributed over the threads; results go to memory written
// before. Figures are medians. Usage: elementwise_bench [FILTER] [RUNS]

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "bench/median.hpp"
#include "executor/kernels/kernel.hpp"
#include "tensor/random.hpp"

namespace eindb {
namespace {
using Op = ScalarOp;

constexpr int kTiles = 8;

void in_parallel(int threads, const std::function<void(int)>& tile) {
  std::atomic<int> next{0};
  std::vector<std::thread> workers;
  const auto work = [&] {
    for (int n = next++; n < kTiles; n = next++) tile(n);
  };
  for (int t = 1; t < threads; ++t) workers.emplace_back(work);
  work();
  for (auto& worker : workers) worker.join();
}

double seconds(int runs, const std::function<void()>& run) {
  run();
  std::vector<double> times;
  for (int n = 0; n < runs; ++n) {
    const auto start = std::chrono::steady_clock::now();
    run();
    times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return median(times);
}

ScalarPtr x(std::size_t n = 0) { return ScalarExpression::operand(n); }
ScalarPtr call(Op op, std::vector<ScalarPtr> arguments) { return ScalarExpression::call(op, std::move(arguments)); }
ScalarPtr real(double value) { return ScalarExpression::real(value); }

struct ElementwiseCase {
  std::string name;
  std::vector<std::string> inputs;  // one letter per label
  std::string output;
  std::vector<std::int64_t> extents;  // of a, b, c, ... in one tile
  Aggregate aggregate = Aggregate::None;
  ScalarPtr expression;
  DType type = DType::Float32;
  bool per_operation = false;  // figures count operations of the inner loop instead of bytes
};

class Bench {
 public:
  Bench(ElementwiseCase what, int threads, int runs) : what_(std::move(what)), threads_(threads), runs_(runs) {}

  void run(double read_bandwidth, double copy_bandwidth) {
    LabelTable labels;
    Labels all;
    for (std::size_t n = 0; n < what_.extents.size(); ++n)
      all.push_back(labels.add(std::string(1, static_cast<char>('a' + n)), what_.extents[n]));
    const auto named = [&](const std::string& letters) {
      Labels out;
      for (const char letter : letters) out.push_back(all[static_cast<std::size_t>(letter - 'a')]);
      return out;
    };
    EinSum einsum;
    for (const auto& input : what_.inputs) einsum.inputs.push_back(named(input));
    einsum.output = named(what_.output);
    for (const auto label : all)
      if (!contains(einsum.output, label)) einsum.aggregated.push_back(label);
    einsum.expression = what_.expression;
    einsum.aggregate = what_.aggregate;

    const Kernel kernel(einsum, labels, std::vector<DType>(what_.inputs.size(), what_.type), what_.type, what_.type);
    std::vector<std::vector<Tile>> operands(kTiles);
    std::vector<Tile> results;
    for (auto& tiles : operands)
      for (const auto& input : einsum.inputs) tiles.push_back(filled(Shape(labels.extents(input))));
    for (int n = 0; n < kTiles; ++n) results.push_back(Tile::zeros(what_.type, Shape(labels.extents(einsum.output))));
    std::vector<PartRange> ranges;
    for (const auto label : einsum.labels()) ranges.push_back({0, labels.extent(label)});

    const auto time = seconds(runs_, [&] {
      in_parallel(threads_, [&](int n) {
        std::vector<const Tile*> pointers;
        for (const auto& tile : operands[static_cast<std::size_t>(n)]) pointers.push_back(&tile);
        kernel.run(pointers, ranges, results[static_cast<std::size_t>(n)], true);
      });
    });
    double bytes_in = 0;
    for (const auto& tile : operands[0]) bytes_in += kTiles * static_cast<double>(tile.byte_size());
    const double bytes_out = kTiles * static_cast<double>(results[0].byte_size());
    double cells = kTiles;
    for (const auto extent : what_.extents) cells *= static_cast<double>(extent);
    if (what_.per_operation) {
      std::printf("  %-44s %9.3f ms  %7.2f G inner steps/s\n", what_.name.c_str(), time * 1e3, cells / time * 1e-9);
    } else {
      const double ideal =
          bytes_out > bytes_in / 100 ? (bytes_in + bytes_out) / copy_bandwidth : bytes_in / read_bandwidth;
      std::printf("  %-44s %9.3f ms  %7.2f GB/s  %5.2f of one pass\n", what_.name.c_str(), time * 1e3,
                  (bytes_in + bytes_out) / time * 1e-9, time / ideal);
    }
  }

 private:
  Tile filled(const Shape& shape) const {
    auto tile = Tile::uninitialized(DType::Float64, shape);
    auto* values = tile.mutable_data<double>();
    for (std::int64_t n = 0; n < shape.element_count(); ++n)
      values[n] = static_cast<double>((n * 7919 + 13) % 1009) / 1009.0 * (what_.type == DType::Int64 ? 100 : 4) - 2;
    return convert(tile, what_.type);
  }

  ElementwiseCase what_;
  int threads_;
  int runs_;
};

// Bytes per second of reading, and of copying (counting bytes read and written).
double read_bandwidth(int threads, int runs) {
  std::vector<Tile> tiles;
  for (int n = 0; n < kTiles; ++n) tiles.push_back(Tile::zeros(DType::Int64, Shape({1 << 20})));
  for (auto& tile : tiles) std::memset(tile.mutable_bytes().data(), 1, tile.byte_size());
  std::atomic<std::int64_t> sink{0};
  const auto time = seconds(runs, [&] {
    in_parallel(threads, [&](int n) {
      const auto* values = tiles[static_cast<std::size_t>(n)].data<std::int64_t>();
      std::int64_t lanes[32] = {};
      for (std::int64_t i = 0; i < (1 << 20); i += 32)
        for (std::int64_t l = 0; l < 32; ++l) lanes[l] |= values[i + l];
      std::int64_t total = 0;
      for (const auto lane : lanes) total |= lane;
      sink += total;
    });
  });
  return kTiles * 8.0 * (1 << 20) / time;
}
double copy_bandwidth(int threads, int runs) {
  std::vector<Tile> from;
  std::vector<Tile> to;
  for (int n = 0; n < kTiles; ++n) {
    from.push_back(Tile::zeros(DType::Int64, Shape({1 << 20})));
    to.push_back(Tile::zeros(DType::Int64, Shape({1 << 20})));
    std::memset(from.back().mutable_bytes().data(), 1, from.back().byte_size());
    std::memset(to.back().mutable_bytes().data(), 1, to.back().byte_size());
  }
  const auto time = seconds(runs, [&] {
    in_parallel(threads, [&](int n) {
      const auto t = static_cast<std::size_t>(n);
      std::memcpy(to[t].mutable_bytes().data(), from[t].bytes().data(), from[t].byte_size());
    });
  });
  return 2 * kTiles * 8.0 * (1 << 20) / time;
}

std::vector<ElementwiseCase> elementwise_cases() {
  constexpr auto f32 = DType::Float32;
  constexpr auto f64 = DType::Float64;
  constexpr auto i64 = DType::Int64;
  using enum Aggregate;
  std::vector<ElementwiseCase> out;
  const std::vector<std::pair<std::string, DType>> types{
      {"float32", f32}, {"float64", f64}, {"int64", i64}, {"complex64", DType::Complex64}};
  for (const auto& named : types) {
    const auto& name = named.first;
    const auto type = named.second;
    const std::int64_t side = 8 / static_cast<std::int64_t>(size_of(type)) > 0 ? 1448 : 1024;
    out.push_back({"sum all " + name, {"ab"}, "", {side, side}, Sum, x(), type});
    out.push_back({"sum last " + name, {"ab"}, "a", {side, side}, Sum, x(), type});
    out.push_back({"sum first " + name, {"ab"}, "b", {side, side}, Sum, x(), type});
    out.push_back({"sum middle 64x512x64 " + name, {"abc"}, "ac", {64, 512, 64}, Sum, x(), type});
    out.push_back({"sum middle 512x64x64 " + name, {"abc"}, "ac", {512, 64, 64}, Sum, x(), type});
    out.push_back({"sum first,last " + name, {"abc"}, "b", {64, 512, 64}, Sum, x(), type});
    out.push_back({"sum last of 5 " + name, {"ab"}, "a", {400000, 5}, Sum, x(), type});
    out.push_back({"sum last of 16 " + name, {"ab"}, "a", {131072, 16}, Sum, x(), type});
    out.push_back({"sum middle of 3 inner 7 " + name, {"abc"}, "ac", {100000, 3, 7}, Sum, x(), type});
    out.push_back({"sum first, b inner transposed " + name, {"abc"}, "cb", {128, 128, 128}, Sum, x(), type});
    if (type != DType::Complex64) {
      out.push_back({"max all " + name, {"ab"}, "", {side, side}, Max, x(), type});
      out.push_back({"max last " + name, {"ab"}, "a", {side, side}, Max, x(), type});
      out.push_back({"max first " + name, {"ab"}, "b", {side, side}, Max, x(), type});
      out.push_back({"min last of 16 " + name, {"ab"}, "a", {131072, 16}, Min, x(), type});
      out.push_back({"prod all " + name, {"ab"}, "", {side, side}, Prod, x(), type});
      out.push_back({"sum of squares " + name, {"ab"}, "", {side, side}, Sum, call(Op::Multiply, {x(), x()}), type});
      out.push_back({"sum of abs " + name, {"ab"}, "", {side, side}, Sum, call(Op::Abs, {x()}), type});
    }
  }
  for (const auto& named : std::vector<std::pair<std::string, DType>>{{"float32", f32}, {"float64", f64}}) {
    const auto& name = named.first;
    const auto type = named.second;
    const auto map = [&](const std::string& title, const ScalarPtr& e) {
      out.push_back({title + " " + name, {"ab", "ab"}, "ab", {1024, 1024}, None, e, type});
    };
    const auto map1 = [&](const std::string& title, const ScalarPtr& e) {
      out.push_back({title + " " + name, {"ab"}, "ab", {1024, 1024}, None, e, type});
    };
    map("x + y", call(Op::Add, {x(), x(1)}));
    map("relu(x*2 + y)", call(Op::Relu, {call(Op::Add, {call(Op::Multiply, {x(), real(2)}), x(1)})}));
    map1("x*2", call(Op::Multiply, {x(), real(2)}));
    out.push_back({"exp(x - m) " + name,
                   {"ab", "a"},
                   "ab",
                   {1024, 1024},
                   None,
                   call(Op::Exp, {call(Op::Subtract, {x(), x(1)})}),
                   type});
    out.push_back({"x / m " + name, {"ab", "a"}, "ab", {1024, 1024}, None, call(Op::Divide, {x(), x(1)}), type});
    for (const auto& [op, title] : std::vector<std::pair<Op, std::string>>{{Op::Exp, "exp"},
                                                                           {Op::Sigmoid, "sigmoid"},
                                                                           {Op::Tanh, "tanh"},
                                                                           {Op::Sin, "sin"},
                                                                           {Op::Cos, "cos"},
                                                                           {Op::Erf, "erf"},
                                                                           {Op::Sqrt, "sqrt"},
                                                                           {Op::Tan, "tan"},
                                                                           {Op::Floor, "floor"},
                                                                           {Op::Sinh, "sinh"},
                                                                           {Op::Atan, "atan"},
                                                                           {Op::Expm1, "expm1"}})
      map1(title, call(op, {x()}));
    map1("log", call(Op::Log, {call(Op::Abs, {x()})}));
    map1("log2", call(Op::Log2, {call(Op::Abs, {x()})}));
    map1("log1p", call(Op::Log1p, {call(Op::Abs, {x()})}));
    map1("pow", call(Op::Power, {call(Op::Abs, {x()}), real(1.7)}));
    map1("gelu",
         call(Op::Multiply, {real(0.5), x(),
                             call(Op::Add, {real(1), call(Op::Erf, {call(Op::Multiply, {x(), real(0.70710678)})})})}));
    map("modulo", call(Op::Modulo, {x(), x(1)}));
  }
  for (const auto& named :
       std::vector<std::pair<std::string, DType>>{{"float32", f32}, {"float64", f64}, {"int64", i64}}) {
    const auto& name = named.first;
    const auto type = named.second;
    const auto pair = [&](const std::string& title, Aggregate aggregate, const ScalarPtr& e) {
      out.push_back({title + " " + name, {"ab", "bc"}, "ac", {128, 1000, 1000}, aggregate, e, type, true});
      out.push_back({title + " rows " + name, {"ab", "cb"}, "ac", {128, 1000, 1000}, aggregate, e, type, true});
    };
    const auto difference = call(Op::Subtract, {x(), x(1)});
    pair("max-plus", Max, call(Op::Add, {x(), x(1)}));
    pair("min-plus", Min, call(Op::Add, {x(), x(1)}));
    pair("squared distance", Sum, call(Op::Power, {difference, ScalarExpression::integer(2)}));
    pair("manhattan", Sum, call(Op::Abs, {difference}));
    pair("chebyshev", Max, call(Op::Abs, {difference}));
    pair("max-times", Max, call(Op::Multiply, {x(), x(1)}));
    pair("and-or", Max, call(Op::And, {x(), x(1)}));
    pair("min-max", Min, call(Op::Greatest, {x(), x(1)}));
    if (type != i64) pair("sum of exp", Sum, call(Op::Exp, {call(Op::Add, {x(), x(1)})}));
    pair("product", Sum, call(Op::Multiply, {x(), x(1)}));
  }
  return out;
}

int run_elementwise(int argc, char** argv) {
  const std::string filter = argc > 1 ? argv[1] : "";
  const int runs = argc > 2 ? std::atoi(argv[2]) : 7;
  const auto threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const auto read = read_bandwidth(threads, 15);
  const auto copy = copy_bandwidth(threads, 15);
  std::printf("%d threads: reading %.1f GB/s, copying %.1f GB/s\n", threads, read * 1e-9, copy * 1e-9);
  for (auto& one : elementwise_cases())
    if (one.name.find(filter) != std::string::npos) Bench(one, threads, runs).run(read, copy);
  return 0;
}

}  // namespace
}  // namespace eindb

int main(int argc, char** argv) { return eindb::run_elementwise(argc, argv); }

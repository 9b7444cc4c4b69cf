// Contractions of two tiles by one kernel call per thread: GFLOP/s per instruction-set level, beside the FMA peak
// measured in the same run, and GB/s of operands and result. Usage: contraction_bench [PATTERN-PART] [THREADS] [LEVEL]

#include <algorithm>
#include <array>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "executor/kernels/instruction_set.hpp"
#include "executor/kernels/kernel.hpp"

namespace eindb {
namespace {

struct Case {
  const char* pattern;  // "ij,jk->ik"
  std::map<char, std::int64_t> extents;
  DType type = DType::Float32;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Twelve independent chains of multiply-adds in registers, long enough for the clock frequency to settle.
template <class T>
double fma_peak() {
  typedef T Vector __attribute__((vector_size(64)));
  Vector sums[12] = {};
  Vector x = T(0.999) - Vector{};
  Vector y = T(0.001) - Vector{};
  constexpr int kSteps = 300000;
  double best = 1e9;
  for (int run = 0; run < 40; ++run) {
    const auto start = std::chrono::steady_clock::now();
    for (int n = 0; n < kSteps; ++n) {
      for (auto& sum : sums) sum = sum * x + y;
      asm volatile("" : "+v"(x), "+v"(y));
    }
    best = std::min(best, seconds_since(start));
  }
  for (auto& sum : sums) asm volatile("" ::"v"(sum));
  constexpr auto kLanes = 64 / sizeof(T);
  return 12.0 * kSteps * 2 * static_cast<double>(kLanes) / best;
}

EinSum einsum_of(const Case& c, LabelTable& labels) {
  EinSum e;
  std::map<char, Label> known;
  const auto list = [&](const std::string& text) {
    Labels out;
    for (const char name : text) {
      if (!known.contains(name)) known.emplace(name, labels.add(std::string(1, name), c.extents.at(name)));
      out.push_back(known.at(name));
    }
    return out;
  };
  const std::string text = c.pattern;
  const auto comma = text.find(',');
  const auto arrow = text.find("->");
  e.inputs = {list(text.substr(0, comma)), list(text.substr(comma + 1, arrow - comma - 1))};
  e.output = list(text.substr(arrow + 2));
  for (const auto& [name, label] : known)
    if (!contains(e.output, label)) e.aggregated.push_back(label);
  e.aggregate = e.aggregated.empty() ? Aggregate::None : Aggregate::Sum;
  e.expression =
      ScalarExpression::call(ScalarOp::Multiply, {ScalarExpression::operand(0), ScalarExpression::operand(1)});
  return e;
}

Tile filled(DType type, const Labels& of, const LabelTable& labels) {
  auto tile = Tile::zeros(type, Shape(labels.extents(of)));
  dispatch(type, [&](auto t) {
    using T = typename decltype(t)::type;
    for (std::int64_t n = 0; n < tile.shape().element_count(); ++n)
      tile.mutable_data<T>()[n] = static_cast<T>(static_cast<float>(n * 7919 % 1021) / 512.0F - 1.0F);
  });
  return tile;
}

struct Figures {
  double seconds;
  double flops;
  double bytes;
  std::string kernel;
};

Figures measure(const Case& c, const LevelTable& level, int threads) {
  LabelTable labels;
  const auto e = einsum_of(c, labels);
  const Kernel kernel(e, labels, {c.type, c.type}, c.type, c.type, level);
  std::vector<PartRange> ranges;
  double flops = is_complex(c.type) ? 8 : 2;
  for (const auto label : e.labels()) {
    ranges.push_back({0, labels.extent(label)});
    flops *= static_cast<double>(labels.extent(label));
  }
  const auto x = filled(c.type, e.inputs[0], labels);
  const auto y = filled(c.type, e.inputs[1], labels);
  const std::array<const Tile*, 2> operands{&x, &y};
  std::vector<double> best(static_cast<std::size_t>(threads), 1e9);
  std::barrier together(threads);
  std::vector<std::thread> workers;
  double bytes = 0;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      auto result = Tile::zeros(c.type, Shape(labels.extents(e.output)));
      if (t == 0) bytes = static_cast<double>(x.bytes().size() + y.bytes().size() + result.bytes().size());
      const double guess = std::max(flops / 1e11, 1e-7);
      const int repeats = static_cast<int>(std::max(1.0, 0.003 / guess));
      for (int run = 0; run < 8; ++run) {
        together.arrive_and_wait();
        const auto start = std::chrono::steady_clock::now();
        for (int n = 0; n < repeats; ++n) kernel.run(operands, ranges, result, true);
        auto& mine = best[static_cast<std::size_t>(t)];
        mine = std::min(mine, seconds_since(start) / repeats);
      }
    });
  }
  for (auto& worker : workers) worker.join();
  return {*std::max_element(best.begin(), best.end()), flops, bytes, kernel.describe()};
}

const std::vector<Case>& cases() {
  static const std::vector<Case> list{
      {"ij,jk->ik", {{'i', 2000}, {'j', 2000}, {'k', 2000}}},
      {"ij,jk->ik", {{'i', 2000}, {'j', 2000}, {'k', 2000}}, DType::Float64},
      {"ij,jk->ik", {{'i', 800}, {'j', 800}, {'k', 800}}, DType::Complex64},
      {"ij,jk->ik", {{'i', 600}, {'j', 600}, {'k', 600}}, DType::Complex128},
      {"ij,jk->ik", {{'i', 512}, {'j', 512}, {'k', 512}}},
      {"ij,jk->ik", {{'i', 512}, {'j', 512}, {'k', 512}}, DType::Float64},
      {"ji,kj->ki", {{'i', 1000}, {'j', 1000}, {'k', 1000}}},
      {"ij,kj->ik", {{'i', 1000}, {'j', 1000}, {'k', 1000}}},
      {"ji,jk->ik", {{'i', 1000}, {'j', 1000}, {'k', 1000}}},
      {"ij,jk->ik", {{'i', 256}, {'j', 256}, {'k', 256}}},
      {"ij,jk->ik", {{'i', 64}, {'j', 64}, {'k', 64}}},
      {"ij,jk->ik", {{'i', 64}, {'j', 64}, {'k', 64}}, DType::Float64},
      {"ij,jk->ik", {{'i', 4096}, {'j', 16}, {'k', 4096}}},
      {"ij,jk->ik", {{'i', 16}, {'j', 4096}, {'k', 4096}}},
      {"ij,kj->ik", {{'i', 16}, {'j', 4096}, {'k', 4096}}},
      {"ij,jk->ik", {{'i', 4}, {'j', 4096}, {'k', 4096}}},
      {"ij,jk->ik", {{'i', 100000}, {'j', 32}, {'k', 32}}},
      {"ij,jk->ik", {{'i', 100000}, {'j', 64}, {'k', 8}}},
      {"ij,jk->ik", {{'i', 16}, {'j', 100000}, {'k', 16}}},
      {"abcde,efbad->cf", {{'a', 20}, {'b', 20}, {'c', 60}, {'d', 20}, {'e', 20}, {'f', 60}}},
      {"abcde,efbad->cf", {{'a', 16}, {'b', 16}, {'c', 256}, {'d', 16}, {'e', 16}, {'f', 256}}},
      {"efbad,cf->abcde", {{'a', 20}, {'b', 20}, {'c', 60}, {'d', 20}, {'e', 20}, {'f', 60}}},
      {"eb,aecd->abcd", {{'a', 40}, {'b', 60}, {'c', 40}, {'d', 60}, {'e', 60}}},
      {"cad,dcb->ab", {{'a', 500}, {'b', 500}, {'c', 40}, {'d', 60}}},
      {"abcd,dcef->abef", {{'a', 30}, {'b', 30}, {'c', 30}, {'d', 30}, {'e', 30}, {'f', 30}}},
      {"abc,cd->abd", {{'a', 100}, {'b', 100}, {'c', 100}, {'d', 100}}},
      {"abc,bd->adc", {{'a', 100}, {'b', 100}, {'c', 100}, {'d', 100}}},
      {"bij,bjk->bik", {{'b', 32}, {'i', 256}, {'j', 256}, {'k', 256}}},
      {"bij,bjk->bik", {{'b', 512}, {'i', 64}, {'j', 64}, {'k', 64}}},
      {"bij,bjk->bik", {{'b', 2000}, {'i', 32}, {'j', 32}, {'k', 32}}},
      {"bij,bjk->bik", {{'b', 10000}, {'i', 16}, {'j', 16}, {'k', 16}}},
      {"bij,bjk->bik", {{'b', 40000}, {'i', 8}, {'j', 8}, {'k', 8}}},
      {"bij,bjk->bik", {{'b', 100000}, {'i', 4}, {'j', 4}, {'k', 4}}},
      {"bij,bjk->bik", {{'b', 200000}, {'i', 2}, {'j', 2}, {'k', 2}}},
      {"bij,bkj->bik", {{'b', 100000}, {'i', 4}, {'j', 4}, {'k', 4}}, DType::Float64},
      {"ijb,jkb->ikb", {{'b', 4096}, {'i', 8}, {'j', 8}, {'k', 8}}},
      {"ijb,jkb->ikb", {{'b', 256}, {'i', 64}, {'j', 64}, {'k', 64}}},
      {"ijb,jkb->ikb", {{'b', 50000}, {'i', 3}, {'j', 3}, {'k', 3}}},
      {"bhqd,bhkd->bhqk", {{'b', 1}, {'h', 32}, {'q', 512}, {'k', 512}, {'d', 64}}},
      {"bhqk,bhkd->bhqd", {{'b', 1}, {'h', 32}, {'q', 512}, {'k', 512}, {'d', 64}}},
      {"ij,j->i", {{'i', 4096}, {'j', 4096}}},
      {"ij,i->j", {{'i', 4096}, {'j', 4096}}},
      {"ij,j->i", {{'i', 4096}, {'j', 4096}}, DType::Float64},
      {"ij,i->j", {{'i', 4096}, {'j', 4096}}, DType::Float64},
      {"ij,j->i", {{'i', 256}, {'j', 256}}},
      {"ij,i->j", {{'i', 256}, {'j', 256}}},
      {"bij,bj->bi", {{'b', 512}, {'i', 64}, {'j', 64}}},
      {"abcd,bd->ac", {{'a', 64}, {'b', 64}, {'c', 64}, {'d', 64}}},
      {"i,i->", {{'i', 4000000}}},
      {"ij,ij->", {{'i', 2000}, {'j', 2000}}},
      {"ij,ij->i", {{'i', 2000}, {'j', 2000}}},
      {"ij,ij->j", {{'i', 2000}, {'j', 2000}}},
      {"i,j->ij", {{'i', 4096}, {'j', 4096}}},
      {"bi,bj->bij", {{'b', 64}, {'i', 512}, {'j', 512}}},
      {"ib,jb->ij", {{'b', 2}, {'i', 4096}, {'j', 4096}}},
      {"abij,abjk->ik", {{'a', 20}, {'b', 20}, {'i', 64}, {'j', 64}, {'k', 64}}},
      {"ij,jk->ik", {{'i', 500}, {'j', 500}, {'k', 500}}, DType::Int64},
  };
  return list;
}

void print(const Case& c, const Figures& figures, double peak) {
  std::string sizes;
  for (const auto& [name, extent] : c.extents) sizes += std::string(" ") + name + "=" + std::to_string(extent);
  std::printf("%-17s%-46s %-10s %8.2f GF/s %5.2f %6.1f GB/s  %s\n", c.pattern, sizes.c_str(),
              std::string(name_of(c.type)).c_str(), figures.flops / figures.seconds / 1e9,
              figures.flops / figures.seconds / peak, figures.bytes / figures.seconds / 1e9, figures.kernel.c_str());
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  const std::string part = argc > 1 ? argv[1] : "";
  const int threads = argc > 2 ? std::atoi(argv[2]) : 1;
  const std::string wanted = argc > 3 ? argv[3] : std::string(name_of(preferred_instruction_set()));
  const double single = fma_peak<float>();
  const double twice = fma_peak<double>();
  std::printf("FMA peak of a core: FLOAT32 %.1f, FLOAT64 %.1f GFLOP/s; figures per thread, of %d\n", single / 1e9,
              twice / 1e9, threads);
  for (const auto set : available_instruction_sets()) {
    if (name_of(set) != wanted && wanted != "all") continue;
    std::printf("level %s\n", std::string(name_of(set)).c_str());
    for (const auto& c : cases()) {
      if (std::string(c.pattern).find(part) == std::string::npos) continue;
      if (argc > 4 && &c - cases().data() != std::atoi(argv[4])) continue;
      const bool is_single = c.type == DType::Float32 || c.type == DType::Complex64;
      print(c, measure(c, level_table(set), threads), is_single ? single : twice);
    }
  }
  return 0;
}

}  // namespace
}  // namespace eindb

int main(int argc, char** argv) { return eindb::run(argc, argv); }

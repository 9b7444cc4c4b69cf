// The peak performance of this machine, for measurements reported as shares of it: fused multiply-adds in registers,
// and passes over memory far larger than its caches, by one core and by all.
//
// Usage: machine [THREADS] prints all figures as JSON. machine --serve [THREADS] reads the name of a figure per line
// and answers with its value, so that a run can measure the peaks between the calls that it compares with them.
// Figures: fp32 fp64 (GFLOP/s of all cores), fp32-core fp64-core, read write copy (GB/s of all cores; a copy counts
// both reads and writes).
//
// The multiply-adds are written in assembly, one instruction per accumulator, because a compiler may spill accumulators
// or recognise that the sums are constant. Twelve accumulators hide a latency of four cycles on two pipes with some to
// spare, and leave registers of the smallest set (16) for the factor.

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// clang-format off
#define EINDB_TWELVE(line) \
  line(0) line(1) line(2) line(3) line(4) line(5) line(6) line(7) line(8) line(9) line(10) line(11)
#define EINDB_FMA_ZMM_PS(n) "vfmadd231ps %%zmm15, %%zmm15, %%zmm" #n "\n\t"
#define EINDB_FMA_ZMM_PD(n) "vfmadd231pd %%zmm15, %%zmm15, %%zmm" #n "\n\t"
#define EINDB_FMA_YMM_PS(n) "vfmadd231ps %%ymm15, %%ymm15, %%ymm" #n "\n\t"
#define EINDB_FMA_YMM_PD(n) "vfmadd231pd %%ymm15, %%ymm15, %%ymm" #n "\n\t"
#define EINDB_MULADD_PS(n) "mulps %%xmm15, %%xmm14\n\taddps %%xmm15, %%xmm" #n "\n\t"
#define EINDB_MULADD_PD(n) "mulpd %%xmm15, %%xmm14\n\taddpd %%xmm15, %%xmm" #n "\n\t"
// All factors are 0, so that no denormals slow down the processor.
#define EINDB_CLEAR_VECTORS "vzeroall\n\t"
#define EINDB_CLEAR_SSE "pxor %%xmm14, %%xmm14\n\tpxor %%xmm15, %%xmm15\n\t"
#define EINDB_REPEAT(name, clear, line)                                                                              \
  void name(long count) {                                                                                           \
    asm volatile(clear "1:\n\t" EINDB_TWELVE(line) EINDB_TWELVE(line) "dec %0\n\tjnz 1b\n\t"                         \
                 : "+r"(count)                                                                                      \
                 :                                                                                                  \
                 : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", \
                   "xmm12", "xmm13", "xmm14", "xmm15", "cc");                                                       \
  }
// clang-format on

EINDB_REPEAT(repeat_avx512_fp32, EINDB_CLEAR_VECTORS, EINDB_FMA_ZMM_PS)
EINDB_REPEAT(repeat_avx512_fp64, EINDB_CLEAR_VECTORS, EINDB_FMA_ZMM_PD)
EINDB_REPEAT(repeat_avx2_fp32, EINDB_CLEAR_VECTORS, EINDB_FMA_YMM_PS)
EINDB_REPEAT(repeat_avx2_fp64, EINDB_CLEAR_VECTORS, EINDB_FMA_YMM_PD)
EINDB_REPEAT(repeat_sse2_fp32, EINDB_CLEAR_SSE, EINDB_MULADD_PS)
EINDB_REPEAT(repeat_sse2_fp64, EINDB_CLEAR_SSE, EINDB_MULADD_PD)

struct Repetition {
  void (*run)(long);
  double flops;  ///< of one repetition: 24 instructions
};

Repetition widest_fp32() {
  if (__builtin_cpu_supports("avx512f") != 0) return {repeat_avx512_fp32, 24 * 16 * 2};
  if (__builtin_cpu_supports("fma") != 0) return {repeat_avx2_fp32, 24 * 8 * 2};
  return {repeat_sse2_fp32, 24 * 4 * 2};
}

Repetition widest_fp64() {
  if (__builtin_cpu_supports("avx512f") != 0) return {repeat_avx512_fp64, 24 * 8 * 2};
  if (__builtin_cpu_supports("fma") != 0) return {repeat_avx2_fp64, 24 * 4 * 2};
  return {repeat_sse2_fp64, 24 * 2 * 2};
}

/// Runs `work(thread)` on `threads` threads that start together; returns the seconds of the slowest.
double seconds_on(int threads, const std::function<void(int)>& work) {
  std::barrier start(threads);
  std::vector<double> seconds(static_cast<std::size_t>(threads));
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      start.arrive_and_wait();
      const auto begin = Clock::now();
      work(t);
      seconds[static_cast<std::size_t>(t)] = seconds_since(begin);
    });
  }
  for (auto& worker : workers) worker.join();
  return *std::max_element(seconds.begin(), seconds.end());
}

/// The best of three, as a peak is an upper bound.
double best_of_three(const std::function<double()>& rate) { return std::max({rate(), rate(), rate()}); }

double gflops(const Repetition& repetition, int threads) {
  constexpr long count = 1'000'000;
  return best_of_three([&] {
    const double seconds = seconds_on(threads, [&](int) { repetition.run(count); });
    return 1e-9 * repetition.flops * static_cast<double>(count) * threads / seconds;
  });
}

/// Memory in huge pages, like that of allocators for large arrays.
class Pages {
 public:
  Pages() : memory_(std::aligned_alloc(huge_page, bytes)) {
    if (memory_ == nullptr) throw std::bad_alloc();
    madvise(memory_, bytes, MADV_HUGEPAGE);
    std::memset(memory_, 1, bytes);
  }
  ~Pages() { std::free(memory_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  char* data() const { return static_cast<char*>(memory_); }

  static constexpr std::size_t bytes = std::size_t{256} << 20;  ///< many times the size of caches

 private:
  static constexpr std::size_t huge_page = std::size_t{2} << 20;

  void* memory_;
};

/// Passes over memory by all threads, each over its own share.
class Passes {
 public:
  explicit Passes(int threads) : threads_(threads) {}

  double read() const {
    std::atomic<std::uint64_t> sum = 0;
    const double rate = rate_of(1, [&](std::size_t begin, std::size_t end) { sum += sum_of(begin, end); });
    if (sum == 0) std::abort();  // the sums are used: of words that are not 0
    return rate;
  }
  double write() const {
    return rate_of(1, [&](std::size_t begin, std::size_t end) { std::memset(to_.data() + begin, 3, end - begin); });
  }
  double copy() const {
    return rate_of(2, [&](std::size_t begin, std::size_t end) {
      std::memcpy(to_.data() + begin, from_.data() + begin, end - begin);
    });
  }

 private:
  using Words [[gnu::vector_size(64)]] = std::uint64_t;
  static constexpr std::size_t stride = 4 * sizeof(Words);

  std::uint64_t sum_of(std::size_t begin, std::size_t end) const {
    std::array<Words, 4> sums{};
    const auto* words = reinterpret_cast<const Words*>(from_.data());
    for (std::size_t n = begin / sizeof(Words); n + 4 <= end / sizeof(Words); n += 4) {
      for (std::size_t k = 0; k < 4; ++k) sums[k] += words[n + k];
    }
    return (sums[0] + sums[1] + sums[2] + sums[3])[0];
  }
  template <typename Pass>
  double rate_of(int ways, const Pass& pass) const {
    const auto share = Pages::bytes / static_cast<std::size_t>(threads_) / stride * stride;
    return best_of_three([&] {
      const double seconds = seconds_on(threads_, [&](int t) {
        const auto begin = share * static_cast<std::size_t>(t);
        pass(begin, begin + share);
      });
      return 1e-9 * static_cast<double>(share) * threads_ * ways / seconds;
    });
  }

  int threads_;
  Pages from_;
  Pages to_;
};

double figure(const std::string& name, int threads, const Passes& passes) {
  if (name == "fp32") return gflops(widest_fp32(), threads);
  if (name == "fp64") return gflops(widest_fp64(), threads);
  if (name == "fp32-core") return gflops(widest_fp32(), 1);
  if (name == "fp64-core") return gflops(widest_fp64(), 1);
  if (name == "read") return passes.read();
  if (name == "write") return passes.write();
  if (name == "copy") return passes.copy();
  return 0;
}

void serve(int threads) {
  const Passes passes(threads);
  for (std::string name; std::getline(std::cin, name);) {
    std::printf("%.6g\n", figure(name, threads, passes));
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool serves = argc > 1 && std::strcmp(argv[1], "--serve") == 0;
  const int after = serves ? 2 : 1;
  const int threads = argc > after ? std::atoi(argv[after]) : static_cast<int>(std::thread::hardware_concurrency());
  if (threads < 1) return 2;
  if (serves) {
    serve(threads);
    return 0;
  }
  const Passes passes(threads);
  nlohmann::ordered_json out{{"threads", threads}};
  for (const char* name : {"fp32", "fp64", "fp32-core", "fp64-core", "read", "write", "copy"}) {
    out[name] = figure(name, threads, passes);
  }
  std::printf("%s\n", out.dump(2).c_str());
  return 0;
}

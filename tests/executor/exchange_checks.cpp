#include "tests/executor/exchange_checks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <complex>
#include <cstring>
#include <numeric>
#include <random>
#include <thread>

#include "common/cancellation.hpp"
#include "common/error.hpp"
#include "tensor/scalar_semantics.hpp"

namespace eindb {
namespace {

using namespace std::chrono_literals;
using Bytes = std::vector<std::byte>;
using Group = Exchange::Group;

// ---- The data of ranks
// ------------------------------------------------------------------------------------------------

/// Bytes unique to the seed, cheap to generate and compare.
Bytes bytes_of(std::uint64_t seed, std::size_t size) {
  Bytes bytes(size);
  std::uint64_t state = seed * 0x9E3779B97F4A7C15U + 1;
  for (std::size_t n = 0; n < size; n += sizeof state) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    std::memcpy(bytes.data() + n, &state, std::min(sizeof state, size - n));
  }
  return bytes;
}

std::uint64_t seed_of(std::uint64_t a, std::uint64_t b, std::uint64_t c) { return (a * 1000 + b) * 100000 + c; }

struct Message {
  Bytes header;
  Bytes payload;
};

/// The messages of a stream from one rank to another: payloads of `sizes`, with headers of various sizes.
std::vector<std::size_t> header_sizes(Rank from, Rank to, std::size_t count) {
  std::mt19937 random(static_cast<unsigned>(seed_of(from, to, count)));
  std::vector<std::size_t> sizes(count);
  for (auto& size : sizes) size = random() % (Exchange::kMaxHeader + 1);
  return sizes;
}

Message message_of(Rank from, Rank to, std::size_t n, std::size_t header_size, std::size_t size) {
  return {bytes_of(seed_of(to, from, n), header_size), bytes_of(seed_of(from, to, n), size)};
}

using SizesOf = std::vector<std::size_t> (*)(Rank from, Rank to);

class Sender : public OutgoingStreams {
 public:
  Sender(Rank self, std::size_t ranks, SizesOf sizes_of) : self_(self), streams_(ranks), sizes_of_(sizes_of) {}

  std::optional<OutgoingMessage> next(Rank peer) override {
    auto& stream = streams_[peer];
    const auto sizes = sizes_of_(self_, peer);
    // Overwritten, since it is no longer needed.
    std::fill(stream.message.payload.begin(), stream.message.payload.end(), std::byte{0xEE});
    if (stream.sent == sizes.size()) return std::nullopt;
    const auto header_size = header_sizes(self_, peer, sizes.size())[stream.sent];
    stream.message = message_of(self_, peer, stream.sent, header_size, sizes[stream.sent]);
    ++stream.sent;
    return OutgoingMessage{stream.message.header, stream.message.payload};
  }

 private:
  struct Stream {
    std::size_t sent = 0;
    Message message;
  };
  const Rank self_;
  std::vector<Stream> streams_;
  const SizesOf sizes_of_;
};

class Receiver : public IncomingStreams {
 public:
  Receiver(Rank self, std::size_t ranks, SizesOf sizes_of, std::chrono::microseconds pause = 0us)
      : self_(self), streams_(ranks), sizes_of_(sizes_of), pause_(pause) {}

  std::span<std::byte> begin(Rank peer, std::span<const std::byte> header, std::size_t size) override {
    auto& stream = streams_[peer];
    EXPECT_FALSE(stream.is_open) << "one message at a time";
    stream.is_open = true;
    stream.message.header.assign(header.begin(), header.end());
    stream.message.payload.assign(size, std::byte{0});
    return stream.message.payload;
  }
  void end(Rank peer) override {
    std::this_thread::sleep_for(pause_);
    auto& stream = streams_[peer];
    EXPECT_TRUE(stream.is_open);
    stream.is_open = false;
    const auto sizes = sizes_of_(peer, self_);
    ASSERT_LT(stream.received, sizes.size()) << "more messages from " << peer << " than it sends";
    const auto header_size = header_sizes(peer, self_, sizes.size())[stream.received];
    const auto expected = message_of(peer, self_, stream.received, header_size, sizes[stream.received]);
    EXPECT_EQ(stream.message.header, expected.header) << "header " << stream.received << " from " << peer;
    EXPECT_TRUE(stream.message.payload == expected.payload) << "payload " << stream.received << " from " << peer;
    ++stream.received;
  }

  void expect_all() const {
    for (Rank peer = 0; peer < static_cast<Rank>(streams_.size()); ++peer) {
      EXPECT_FALSE(streams_[peer].is_open);
      EXPECT_EQ(streams_[peer].received, peer == self_ ? 0 : sizes_of_(peer, self_).size()) << "from " << peer;
    }
  }

 private:
  struct Stream {
    std::size_t received = 0;
    bool is_open = false;
    Message message;
  };
  const Rank self_;
  std::vector<Stream> streams_;
  const SizesOf sizes_of_;
  const std::chrono::microseconds pause_;
};

void run_streams(Exchange& exchange, SizesOf sizes_of, std::chrono::microseconds pause = 0us) {
  Sender out(exchange.rank(), exchange.size(), sizes_of);
  Receiver in(exchange.rank(), exchange.size(), sizes_of, pause);
  exchange.all_to_all(out, in);
  in.expect_all();
}

std::vector<std::size_t> random_sizes(Rank from, Rank to) {
  constexpr std::array<std::size_t, 12> kSizes{0,      1,       63,        4096,       65536,           1U << 20U,
                                               999983, 1048577, 3U << 20U, 20U << 20U, (1U << 20U) - 1, 8191};
  std::mt19937 random(static_cast<unsigned>(seed_of(from, to, 7)));
  std::vector<std::size_t> sizes(random() % 6);
  for (auto& size : sizes) size = kSizes[random() % kSizes.size()];
  return sizes;
}

std::vector<std::size_t> small_sizes(Rank from, Rank to) {
  std::mt19937 random(static_cast<unsigned>(seed_of(from, to, 8)));
  std::vector<std::size_t> sizes(300 + random() % 100);
  for (auto& size : sizes) size = random() % 300;
  return sizes;
}

/// Far more than all buffers hold, in one direction of each pair.
std::vector<std::size_t> one_sided_sizes(Rank from, Rank to) {
  return from < to ? std::vector<std::size_t>(8, 4U << 20U) : std::vector<std::size_t>{};
}

/// Messages only between ranks whose numbers differ in that bit.
template <unsigned kBit>
std::vector<std::size_t> sizes_of_partners(Rank from, Rank to) {
  return (from ^ to) == kBit ? std::vector<std::size_t>{70'000, 0, 1U << 20U} : std::vector<std::size_t>{};
}

std::vector<std::size_t> no_sizes(Rank /*from*/, Rank /*to*/) { return {}; }

// ---- Streams -------------------------------------------------------------------------------------------------------

void check_streams(Exchange& exchange) {
  run_streams(exchange, random_sizes);
  run_streams(exchange, no_sizes);
  run_streams(exchange, small_sizes);
}

void check_unequal_speed(Exchange& exchange) {
  run_streams(exchange, one_sided_sizes, exchange.rank() % 2 == 1 ? 5ms : 0ms);
  if (exchange.rank() == 0) std::this_thread::sleep_for(50ms);
  run_streams(exchange, small_sizes, exchange.rank() == 0 ? 100us : 0us);
}

// Streams that state which ranks exchange nothing.
class SparseSender final : public Sender {
 public:
  SparseSender(const Exchange& exchange, SizesOf sizes_of)
      : Sender(exchange.rank(), exchange.size(), sizes_of), self_(exchange.rank()), sizes_of_(sizes_of) {}
  bool sends_to(Rank peer) const override { return !sizes_of_(self_, peer).empty(); }

 private:
  const Rank self_;
  const SizesOf sizes_of_;
};

class SparseReceiver final : public Receiver {
 public:
  SparseReceiver(const Exchange& exchange, SizesOf sizes_of)
      : Receiver(exchange.rank(), exchange.size(), sizes_of), self_(exchange.rank()), sizes_of_(sizes_of) {}
  bool receives_from(Rank peer) const override { return !sizes_of_(peer, self_).empty(); }

 private:
  const Rank self_;
  const SizesOf sizes_of_;
};

void run_sparse_streams(Exchange& exchange, SizesOf sizes_of) {
  SparseSender out(exchange, sizes_of);
  SparseReceiver in(exchange, sizes_of);
  exchange.all_to_all(out, in);
  in.expect_all();
}

// Ranks may be several operations ahead of ranks that they exchange nothing with.
void check_sparse_streams(Exchange& exchange) {
  for (int round = 0; round < 5; ++round) {
    run_sparse_streams(exchange, sizes_of_partners<1>);
    if (exchange.rank() == 0) std::this_thread::sleep_for(5ms);
    run_sparse_streams(exchange, sizes_of_partners<2>);
    run_sparse_streams(exchange, one_sided_sizes);
    run_sparse_streams(exchange, no_sizes);
    run_streams(exchange, sizes_of_partners<1>);
  }
}

// ---- Blocks --------------------------------------------------------------------------------------------------------

Group all_ranks(const Exchange& exchange) {
  Group group(exchange.size());
  std::iota(group.begin(), group.end(), Rank{0});
  return group;
}

/// Equal at all ranks: at least one member, in any order.
Group random_group(std::mt19937& random, const Exchange& exchange) {
  auto group = all_ranks(exchange);
  std::shuffle(group.begin(), group.end(), random);
  group.resize(1 + random() % group.size());
  return group;
}

std::optional<std::size_t> position_in(const Group& group, const Exchange& exchange) {
  const auto found = std::find(group.begin(), group.end(), exchange.rank());
  if (found == group.end()) return std::nullopt;
  return static_cast<std::size_t>(found - group.begin());
}

constexpr std::array<std::size_t, 7> kBlockSizes{0, 1, 8, 4097, 65536, (1U << 20U) + 5, 5U << 20U};

void check_all_gather(Exchange& exchange) {
  std::mt19937 random(1);
  for (std::size_t round = 0; round < 40; ++round) {
    const auto group = random_group(random, exchange);
    const auto size = kBlockSizes[random() % kBlockSizes.size()];
    const auto position = position_in(group, exchange);
    if (!position) continue;
    Bytes all(size * group.size());
    const bool in_place = round % 2 == 1;
    const auto mine = bytes_of(seed_of(exchange.rank(), 0, round), size);
    if (in_place) std::copy(mine.begin(), mine.end(), all.begin() + static_cast<std::ptrdiff_t>(size * *position));
    exchange.all_gather(group, in_place ? std::span(all).subspan(size * *position, size) : std::span(mine), all);
    for (std::size_t n = 0; n < group.size(); ++n) {
      const auto expected = bytes_of(seed_of(group[n], 0, round), size);
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), all.data() + n * size)) << "round " << round;
    }
  }
}

void check_block_all_to_all(Exchange& exchange) {
  std::mt19937 random(2);
  for (std::size_t round = 0; round < 40; ++round) {
    const auto group = random_group(random, exchange);
    const auto size = kBlockSizes[random() % kBlockSizes.size()];
    if (!position_in(group, exchange)) continue;
    Bytes out;
    for (const auto to : group) {
      const auto block = bytes_of(seed_of(exchange.rank(), to, round), size);
      out.insert(out.end(), block.begin(), block.end());
    }
    Bytes in(out.size());
    exchange.all_to_all(group, out, in);
    for (std::size_t n = 0; n < group.size(); ++n) {
      const auto expected = bytes_of(seed_of(group[n], exchange.rank(), round), size);
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), in.data() + n * size)) << "round " << round;
    }
  }
}

void check_permute(Exchange& exchange) {
  std::mt19937 random(3);
  const auto self = exchange.rank();
  for (std::size_t round = 0; round < 40; ++round) {
    auto target = all_ranks(exchange);
    std::shuffle(target.begin(), target.end(), random);
    const auto size = kBlockSizes[random() % kBlockSizes.size()];
    const auto from = static_cast<Rank>(std::find(target.begin(), target.end(), self) - target.begin());
    const auto out = bytes_of(seed_of(self, 0, round), size);
    Bytes in(size);
    exchange.permute(target[self], from, out, in);
    EXPECT_TRUE(in == bytes_of(seed_of(from, 0, round), size)) << "round " << round;
  }
}

template <class T>
T random_element(std::mt19937& random) {
  if constexpr (is_complex_type<T>) {
    using Real = typename T::value_type;
    return {random_element<Real>(random), random_element<Real>(random)};
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(random());
  } else {
    return random() % 1000 == 0 ? std::numeric_limits<T>::quiet_NaN()
                                : static_cast<T>(static_cast<double>(random()) / 4e9 + 0.5);
  }
}

template <class T>
std::vector<T> elements_of(std::uint64_t seed, std::size_t count) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::vector<T> elements(count);
  for (auto& element : elements) element = random_element<T>(random);
  return elements;
}

template <class T>
T plain_aggregate(Aggregate aggregate, T a, T b) {
  switch (aggregate) {
    case Aggregate::Sum: return scalar_add(a, b);
    case Aggregate::Prod: return scalar_multiply(a, b);
    case Aggregate::Min: return scalar_least(a, b);
    default: return scalar_greatest(a, b);
  }
}

/// Sums and products may be reassociated: n terms near 1 differ by n roundings, and products of complex numbers by some
/// more each. All other results are exact.
template <class T>
void expect_close(Aggregate aggregate, T actual, T expected, std::size_t terms) {
  if (is_nan(expected)) {
    EXPECT_TRUE(is_nan(actual));
  } else if constexpr (std::is_integral_v<T>) {
    EXPECT_EQ(actual, expected);
  } else {
    using Real = decltype(std::abs(T{}));
    const bool rounds = aggregate == Aggregate::Sum || aggregate == Aggregate::Prod;
    const auto tolerance = rounds ? 4 * static_cast<Real>(terms) * std::numeric_limits<Real>::epsilon() : Real{0};
    EXPECT_LE(std::abs(actual - expected), tolerance * std::max(std::abs(expected), Real{1}) * 4);
  }
}

template <class T>
void check_reduction(Exchange& exchange, const Group& group, std::size_t position, Aggregate aggregate,
                     std::size_t count, std::uint64_t seed) {
  std::vector<std::vector<T>> contributions;
  for (const auto member : group) contributions.push_back(elements_of<T>(seed + member, count * group.size()));
  std::vector<T> mine(count);
  exchange.reduce_scatter(group, aggregate, dtype_of<T>, std::as_bytes(std::span(contributions[position])),
                          std::as_writable_bytes(std::span(mine)));
  for (std::size_t n = 0; n < count; ++n) {
    const auto at = position * count + n;
    auto expected = contributions[0][at];
    for (std::size_t m = 1; m < group.size(); ++m)
      expected = plain_aggregate(aggregate, expected, contributions[m][at]);
    expect_close(aggregate, mine[n], expected, group.size());
  }
}

void check_reduce_scatter(Exchange& exchange) {
  std::mt19937 random(4);
  for (const auto type : {DType::Float32, DType::Float64, DType::Complex64, DType::Complex128, DType::Int64})
    for (const auto aggregate : {Aggregate::Sum, Aggregate::Prod, Aggregate::Min, Aggregate::Max})
      for (const std::size_t count : {0, 1, 1000, 7777}) {
        const auto group = random_group(random, exchange);
        const auto seed = random();
        if (const auto position = position_in(group, exchange))
          dispatch(type, [&](auto t) {
            check_reduction<typename decltype(t)::type>(exchange, group, *position, aggregate, count, seed);
          });
      }
}

/// More than is folded at a time.
void check_large_reduction(Exchange& exchange) {
  check_reduction<std::int64_t>(exchange, all_ranks(exchange), exchange.rank(), Aggregate::Sum, 700'001, 5);
}

/// No rank may leave before the last has come.
void check_barrier(Exchange& exchange) {
  static std::atomic<std::size_t> came{0};
  came = 0;
  exchange.barrier(all_ranks(exchange));
  for (std::size_t round = 1; round <= 20; ++round) {
    if (exchange.rank() == round % exchange.size()) std::this_thread::sleep_for(2ms);
    ++came;
    exchange.barrier(all_ranks(exchange));
    // In one process all ranks are counted, otherwise only this process's.
    EXPECT_TRUE(came >= round * exchange.size() || came == round);
    exchange.barrier(all_ranks(exchange));
  }
}

// ---- Counters ------------------------------------------------------------------------------------------------------

void check_counters(Exchange& exchange) {
  const auto self = exchange.rank();
  const auto others = static_cast<std::int64_t>(exchange.size()) - 1;
  ExchangeCounters expected;
  const auto add = [&](Rank from, Rank to, SizesOf sizes_of) {
    const auto sizes = sizes_of(from, to);
    const auto headers = header_sizes(from, to, sizes.size());
    return static_cast<std::int64_t>(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}) +
                                     std::accumulate(headers.begin(), headers.end(), std::size_t{0}));
  };
  run_streams(exchange, random_sizes);
  for (Rank peer = 0; peer < static_cast<Rank>(exchange.size()); ++peer) {
    if (peer == self) continue;
    expected.bytes_sent += add(self, peer, random_sizes);
    expected.bytes_received += add(peer, self, random_sizes);
    expected.messages_sent += static_cast<std::int64_t>(random_sizes(self, peer).size());
  }
  const Bytes mine(3U << 20U);
  Bytes all(mine.size() * exchange.size());
  exchange.all_gather(all_ranks(exchange), mine, all);
  expected.bytes_sent += others * static_cast<std::int64_t>(mine.size());
  expected.bytes_received += others * static_cast<std::int64_t>(mine.size());
  expected.messages_sent += others;
  const auto actual = exchange.counters();
  EXPECT_EQ(actual.bytes_sent, expected.bytes_sent);
  EXPECT_EQ(actual.bytes_received, expected.bytes_received);
  EXPECT_EQ(actual.messages_sent, expected.messages_sent);
  EXPECT_GE(actual.seconds_waiting, 0.0);
}

// ---- Ends ----------------------------------------------------------------------------------------------------------

/// The error thrown by `f`, which must not hang.
template <class F>
Error error_of(F f) {
  const auto begin = std::chrono::steady_clock::now();
  try {
    f();
  } catch (const Error& error) {
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 4min);
    return error;
  }
  ADD_FAILURE() << "no error";
  return {ErrorKind::Internal, ""};
}

// Checks begin with a barrier, so that no rank fails before all have arrived. The barrier may fail at a rank that
// leaves it late; rank 0, which ends the others' operations, has left it before.

void check_abort(Exchange& exchange) {
  if (exchange.size() == 1) return;
  const auto group = all_ranks(exchange);
  const auto error = error_of([&] {
    exchange.barrier(group);
    if (exchange.rank() == 0) {
      // The others wait for this rank, which does not come.
      std::this_thread::sleep_for(20ms);
      std::thread([&] {
        exchange.abort(std::make_exception_ptr(Error(ErrorKind::WorkerLost, "worker 7 is silent", {}, "wait")));
      }).join();
    }
    exchange.barrier(group);
  });
  EXPECT_EQ(error.kind(), ErrorKind::WorkerLost);
  EXPECT_NE(error.message().find("worker 7 is silent"), std::string::npos) << error.message();
  EXPECT_EQ(error.hint(), "wait");
  const auto later = error_of([&] { exchange.barrier(group); });
  EXPECT_EQ(later.message(), error.message());
}

/// Another thread aborts the exchange while this one waits.
void check_abort_of_waiting(Exchange& exchange) {
  if (exchange.size() == 1) return;
  std::jthread aborting;
  const auto error = error_of([&] {
    exchange.barrier(all_ranks(exchange));
    if (exchange.rank() == 0)
      aborting = std::jthread([&] {
        std::this_thread::sleep_for(20ms);
        exchange.abort(std::make_exception_ptr(Error(ErrorKind::Cancelled, "enough")));
      });
    // The last rank comes late.
    if (exchange.rank() + std::size_t{1} == exchange.size()) std::this_thread::sleep_for(100ms);
    run_streams(exchange, one_sided_sizes);
  });
  EXPECT_EQ(error.kind(), ErrorKind::Cancelled);
  EXPECT_NE(error.message().find("enough"), std::string::npos) << error.message();
}

/// The same in a sequence of collectives of many rounds: a rank may be at any point of one.
void check_abort_amid_blocks(Exchange& exchange) {
  if (exchange.size() == 1) return;
  const auto group = all_ranks(exchange);
  const Bytes mine(3U << 20U);
  Bytes all(mine.size() * group.size());
  Bytes swapped(all.size());
  std::jthread aborting;
  const auto error = error_of([&] {
    exchange.barrier(group);
    if (exchange.rank() == 1)
      aborting = std::jthread([&] {
        std::this_thread::sleep_for(7ms);
        exchange.abort(std::make_exception_ptr(Error(ErrorKind::Io, "no scratch file")));
      });
    while (true) {
      exchange.all_gather(group, mine, all);
      exchange.all_to_all(group, all, swapped);
    }
  });
  EXPECT_EQ(error.kind(), ErrorKind::Io);
  EXPECT_NE(error.message().find("no scratch file"), std::string::npos) << error.message();
}

class FailingReceiver : public Receiver {
 public:
  using Receiver::Receiver;
  std::span<std::byte> begin(Rank peer, std::span<const std::byte> header, std::size_t size) override {
    if (++messages_ == 3) throw Error(ErrorKind::MemoryLimit, "no room for a tile", {}, "SET memory_limit");
    return Receiver::begin(peer, header, size);
  }

 private:
  int messages_ = 0;
};

void check_stream_error(Exchange& exchange) {
  if (exchange.size() == 1) return;
  const Rank failing = 1;
  const auto sizes_of = [](Rank /*from*/, Rank /*to*/) { return std::vector<std::size_t>(20, 300'000); };
  Sender out(exchange.rank(), exchange.size(), sizes_of);
  Receiver in(exchange.rank(), exchange.size(), sizes_of);
  FailingReceiver failing_in(exchange.rank(), exchange.size(), sizes_of);
  const auto error = error_of([&] {
    exchange.all_to_all(out, exchange.rank() == failing ? failing_in : in);
    exchange.barrier(all_ranks(exchange));  // ranks that completed the check before the failure learn of it here
  });
  EXPECT_EQ(error.kind(), ErrorKind::MemoryLimit) << error.message();
  EXPECT_NE(error.message().find("no room for a tile"), std::string::npos) << error.message();
  EXPECT_EQ(error.hint(), "SET memory_limit");
}

void check_cancellation(Exchange& exchange) {
  if (exchange.size() == 1) return;
  Cancellation cancellation;
  cancellation.reset(0ms);
  const CancellationScope scope(cancellation);
  std::jthread cancelling;
  const auto error = error_of([&] {
    exchange.barrier(all_ranks(exchange));
    if (exchange.rank() == 0)
      cancelling = std::jthread([&] {
        std::this_thread::sleep_for(20ms);
        cancellation.request();
      });
    else if (exchange.rank() == 1) std::this_thread::sleep_for(150ms);
    exchange.barrier(all_ranks(exchange));
  });
  EXPECT_EQ(error.kind(), ErrorKind::Cancelled) << error.message();
}

constexpr std::array kChecks{
    ExchangeCheck{"Streams", check_streams},
    ExchangeCheck{"UnequalSpeed", check_unequal_speed},
    ExchangeCheck{"SparseStreams", check_sparse_streams},
    ExchangeCheck{"AllGather", check_all_gather},
    ExchangeCheck{"BlockAllToAll", check_block_all_to_all},
    ExchangeCheck{"Permute", check_permute},
    ExchangeCheck{"ReduceScatter", check_reduce_scatter},
    ExchangeCheck{"LargeReduction", check_large_reduction},
    ExchangeCheck{"Barrier", check_barrier},
    ExchangeCheck{"Counters", check_counters},
    ExchangeCheck{"Abort", check_abort},
    ExchangeCheck{"AbortOfWaiting", check_abort_of_waiting},
    ExchangeCheck{"AbortAmidBlocks", check_abort_amid_blocks},
    ExchangeCheck{"StreamError", check_stream_error},
    ExchangeCheck{"Cancellation", check_cancellation},
};

}  // namespace

std::span<const ExchangeCheck> exchange_checks() { return kChecks; }

}  // namespace eindb

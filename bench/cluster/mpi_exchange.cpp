// mpirun -n P build/bench/cluster/mpi_exchange [CHUNK PACKED DIRECT]: gigabytes per second that all ranks together
// receive over MPI, by operation and block size. Streams send each pair's block in messages of the given size. The
// arguments are the sizes of MpiTuning in KiB.

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/cluster/mpi_ranks.hpp"

namespace eindb::bench {

namespace {

using Bytes = std::vector<std::byte>;

/// Sends the same bytes to each peer, in messages of equal size.
class Blocks final : public OutgoingStreams, public IncomingStreams {
 public:
  Blocks(std::span<const std::byte> block, std::span<std::byte> received, std::size_t ranks, std::size_t message)
      : block_(block), received_(received), sent_(ranks), came_(ranks), message_(message) {}

  std::optional<OutgoingMessage> next(Rank peer) override {
    const auto offset = sent_[peer];
    if (offset == block_.size()) return std::nullopt;
    const auto bytes = std::min(message_, block_.size() - offset);
    sent_[peer] += bytes;
    return OutgoingMessage{std::span(block_).first(std::min<std::size_t>(16, bytes)), block_.subspan(offset, bytes)};
  }
  std::span<std::byte> begin(Rank peer, std::span<const std::byte> /*header*/, std::size_t size) override {
    const auto offset = came_[peer];
    came_[peer] += size;
    return received_.subspan(peer * block_.size() + offset, size);
  }
  void end(Rank /*peer*/) override {}

 private:
  std::span<const std::byte> block_;
  std::span<std::byte> received_;
  std::vector<std::size_t> sent_;
  std::vector<std::size_t> came_;
  std::size_t message_;
};

class Table {
 public:
  explicit Table(MpiRanks& ranks) : ranks_(ranks), everyone_(ranks.everyone()) {}

  void measure(std::size_t block) {
    const std::size_t n = ranks_.size();
    const Bytes one(block, std::byte{1});
    const Bytes out(block * n, std::byte{1});
    Bytes in(block * n);
    Bytes mine(block);
    row("all_gather", block, [&](Exchange& exchange) { exchange.all_gather(everyone_, one, in); });
    row("all_to_all", block, [&](Exchange& exchange) { exchange.all_to_all(everyone_, out, in); });
    row("reduce_scatter", block,
        [&](Exchange& exchange) { exchange.reduce_scatter(everyone_, Aggregate::Sum, DType::Float64, out, mine); });
    row(
        "permute", block, [&](Exchange& exchange) { exchange.permute(neighbour(1), neighbour(n - 1), one, mine); }, 1);
    for (const std::size_t message : {std::size_t{4096}, std::size_t{65536}, std::size_t{1} << 20U})
      if (message <= block)
        row("streams of " + std::to_string(message), block, [&](Exchange& exchange) {
          Blocks blocks(one, in, n, message);
          exchange.all_to_all(blocks, blocks);
        });
  }

 private:
  Rank neighbour(std::size_t distance) const { return static_cast<Rank>((ranks_.rank() + distance) % ranks_.size()); }

  void row(const std::string& name, std::size_t block, const std::function<void(Exchange& exchange)>& work,
           std::size_t peers = 0) {
    const double seconds = ranks_.seconds(9, work);
    if (peers == 0) peers = ranks_.size() - 1;
    const auto bytes = static_cast<double>(block * peers * ranks_.size());
    if (ranks_.rank() == 0)
      std::printf("%-20s %10zu bytes %10.1f us %8.2f GB/s\n", name.c_str(), block, seconds * 1e6,
                  bytes / seconds / 1e9);
    std::fflush(stdout);
  }

  MpiRanks& ranks_;
  Exchange::Group everyone_;
};

}  // namespace

}  // namespace eindb::bench

int main(int argc, char** argv) {
  eindb::MpiTuning tuning;
  if (argc == 4) {
    tuning.chunk_bytes = std::stoul(argv[1]) << 10U;
    tuning.packed_bytes = std::stoul(argv[2]) << 10U;
    tuning.direct_bytes = std::stoul(argv[3]) << 10U;
  }
  eindb::bench::MpiRanks ranks(tuning);
  eindb::bench::Table table(ranks);
  for (const std::size_t block : {std::size_t{8}, std::size_t{1} << 14U, std::size_t{1} << 20U, std::size_t{1} << 24U})
    table.measure(block);
  return 0;
}

#include "optimizer/calibrated_choice.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/divisors.hpp"
#include "optimizer/fragment_planner.hpp"
#include "optimizer/partitions/calibrated_model.hpp"
#include "optimizer/plan_memory.hpp"
#include "tensor/tile_size.hpp"

namespace eindb {
namespace {

// Limits on the bytes of one call's tiles, tried in this order where memory is short.
constexpr std::array<double, 4> kCallBytes = {64 << 20, 8 << 20, 1 << 20, 128 << 10};
constexpr double kLargestTile = 4 << 20;
constexpr double kSmallestTile = 1 << 19;
constexpr std::size_t kSmallGraph = 32;  // vertices
constexpr std::int64_t kCallsPerThread = 64;
constexpr std::int64_t kMostCalls = 4096;
constexpr std::int64_t kMostCallsOfOne = 65536;  // where vertices choose their own numbers of calls
// Upper bound on the pairs of partition vectors of neighbours that one decomposition compares, over all vertices.
constexpr double kMostAffordablePairs = 4e6;
constexpr double kMostPairsOfOwn = 1e6;

// The choice may take this share of the seconds that the statement is predicted to take in single calls; a short
// statement's choice as long as that, up to the least. What it takes is counted, so that a plan does not depend on what
// else the machine does.
constexpr double kPlanningShare = 0.1;
constexpr double kLeastPlanningSeconds = 1e-3;
// A statement that takes no longer in single calls gains less by another choice than looking for it takes.
constexpr double kNotWorthAChoice = 8e-6;
constexpr double kSecondsPerPair = 50e-9;
constexpr double kPairsPerVector = 20;      // to predict the calls of a vector takes as long as so many pairs
constexpr double kSecondsPerVertex = 5e-6;  // to lower a labelling and to predict its memory
constexpr double kSumsPerSecond = 1e9;
constexpr double kShareOfOwn = 0.5;      // of the time left, for plans whose vertices choose their own numbers of calls
constexpr double kShareOfSearch = 0.25;  // of all the time, for each search of the best vectors

// How often each prime factor is in a number.
std::vector<int> exponents_of(std::int64_t number) {
  std::vector<int> exponents;
  std::int64_t last = 1;
  for (const auto prime : prime_factors(number)) {
    if (prime != last) exponents.push_back(0);
    ++exponents.back();
    last = prime;
  }
  return exponents;
}

// C(N + D - 1, D - 1) for each exponent N, multiplied: the vectors of D labels that make so many calls, ignoring
// extents.
double vectors(std::size_t labels, const std::vector<int>& exponents) {
  double count = 1;
  for (const auto exponent : exponents)
    for (std::size_t n = 1; n < labels; ++n)
      count = count * static_cast<double>(exponent + static_cast<int>(n)) / static_cast<double>(n);
  return count;
}

// The number of labels of each vertex's EinSum; none for inputs.
std::vector<std::size_t> label_counts(const EinGraph& graph) {
  std::vector<std::size_t> counts;
  counts.reserve(graph.size());
  for (const auto& vertex : graph.vertices()) counts.push_back(vertex.is_input() ? 0 : vertex.einsum.labels().size());
  return counts;
}

class Chooser {
 public:
  Chooser(const EinGraph& graph, Strategy strategy, DecompositionOptions options, const MachineOptions& machine)
      : graph_(graph),
        strategy_(strategy),
        options_(std::move(options)),
        machine_(machine),
        model_(machine.figures, machine.threads),
        label_counts_(label_counts(graph)),
        shapes_(graph) {
    options_.model = &model_;
    options_.shapes = &shapes_;
  }

  CalibratedChoice run() {
    if (machine_.choose_parallelism) {
      try_parallelism(1);
      set_planning_seconds();
      if (fastest_ > kNotWorthAChoice && !is_small()) try_others();
      if (is_short_of_memory()) {
        // What runs within the limit, and what goes to the scratch file, differs far more than planning takes.
        seconds_left_ = std::numeric_limits<double>::infinity();
        try_others();
      }
    } else {
      limit_given_parallelism();
      try_parallelism(options_.parallelism);
    }
    std::sort(best_.candidates.begin(), best_.candidates.end(),
              [](const auto& a, const auto& b) { return a.parallelism < b.parallelism; });
    DCHECK(std::adjacent_find(best_.candidates.begin(), best_.candidates.end(),
                              [](const auto& a, const auto& b) { return a.parallelism == b.parallelism; }) ==
               best_.candidates.end(),
           "no number of kernel calls is listed twice");
    choose_stored_tiles();
    return std::move(best_);
  }

 private:
  double pairs(std::int64_t parallelism, bool fewer_calls = false) const {
    const auto exponents = exponents_of(parallelism);
    double sum = 0;
    // A vertex that may make fewer calls is counted as having one more label, which takes up the missing factors.
    const auto vectors_of = [&](VertexId id) {
      return vectors(label_counts_[id.index()] + (fewer_calls ? 1 : 0), exponents);
    };
    for (std::size_t n = 0; n < graph_.size(); ++n) {
      const auto& vertex = graph_.vertices()[n];
      if (vertex.is_input()) continue;
      double of_inputs = kPairsPerVector;
      for (const auto input : vertex.inputs)
        if (!graph_.vertex(input).is_input()) of_inputs += vectors_of(input);
      sum += vectors_of(VertexId(n)) * of_inputs;
    }
    return sum;
  }

  // Whether one thread computes all in the tiles that are there, so that more calls only cost more.
  bool is_small() const {
    double points = 0;
    for (const auto& vertex : graph_.vertices()) {
      if (vertex.is_input()) {
        if (!is_free_in_any_partition(vertex, options_) && vertex.stored->grid.tile_count() > 1) return false;
        continue;
      }
      double of_vertex = 1;
      for (const auto label : vertex.einsum.labels()) of_vertex *= static_cast<double>(graph_.labels().extent(label));
      points += of_vertex;
    }
    return points < kPointsOfOneThread;
  }

  // The time that the choice may take, once a plan in single calls is known.
  void set_planning_seconds() {
    seconds_left_ = std::max(std::min(kLeastPlanningSeconds, fastest_), kPlanningShare * fastest_);
    const auto work = kSumsPerSecond * seconds_left_ * kShareOfSearch;
    options_.exact_work = std::min(options_.exact_work, work);
    options_.descent_work = std::min(options_.descent_work, work);
  }

  void try_others() {
    if (strategy_.kind == Strategy::Kind::EinDecomp) try_own_calls();
    for (std::int64_t p = 2; p <= most_calls(); p *= 2)
      if (is_affordable(pairs(p)) && can_win(p) && !was_tried(p)) try_parallelism(p);
  }

  // Whether the best plan does not run within the limit, or is slower there than without one.
  bool is_short_of_memory() const {
    constexpr double kRounding = 1 + 1e-9;
    return !best_fits_ || best_seconds_ > seconds_of(best_.labelling) * kRounding;
  }

  bool was_tried(std::int64_t p) const {
    return std::any_of(best_.candidates.begin(), best_.candidates.end(),
                       [&](const auto& candidate) { return candidate.parallelism == p; });
  }

  // A given p is tried whatever that takes, but the search for the best vectors with it is limited as others are.
  void limit_given_parallelism() {
    const auto p = options_.parallelism;
    if (seconds_of(pairs(p)) <= kLeastPlanningSeconds) return;
    options_.parallelism = 1;
    fastest_ = label(graph_, strategy_, options_).total_cost;
    set_planning_seconds();
    options_.parallelism = p;
    fastest_ = std::numeric_limits<double>::infinity();
  }

  double seconds_of(double pairs) const {
    return kSecondsPerPair * pairs + kSecondsPerVertex * static_cast<double>(graph_.size());
  }
  bool is_affordable(double pairs) const { return pairs <= kMostAffordablePairs && seconds_of(pairs) <= seconds_left_; }

  std::int64_t most_calls() const { return std::min(kMostCalls, kCallsPerThread * machine_.threads); }

  // The calls of a vertex are started one by one. Extents may allow fewer than p, but then a smaller p is as good.
  bool can_win(std::int64_t p) const {
    const double calls = static_cast<double>(p) / machine_.threads * model_.figures().call_seconds;
    return !best_fits_ || calls < best_seconds_;
  }

  void try_parallelism(std::int64_t p) {
    options_.parallelism = p;
    seconds_left_ -= seconds_of(pairs(p));
    auto labelling = label(graph_, strategy_, options_);
    if (const auto seconds = seconds_of(labelling); seconds < fastest_) {
      fastest_ = seconds;
      best_.fastest_parallelism = p;
    }
    best_.candidates.push_back(candidate(p, labelling));
    take_if_better(best_.candidates.back(), std::move(labelling));
  }

  // Lets every vertex choose its number of calls together with its neighbours: along existing tiles, or one call if the
  // vertex is small. The reported p is the largest of these numbers.
  void try_own_calls() {
    const auto fits = [&](std::int64_t calls) {
      const auto count = pairs(calls, true);
      return count <= kMostPairsOfOwn && seconds_of(count) <= kShareOfOwn * seconds_left_;
    };
    if (!fits(2)) return;
    std::int64_t most = 2;
    while (most < kMostCallsOfOne && fits(2 * most)) most *= 2;
    seconds_left_ -= seconds_of(pairs(most, true));
    options_.parallelism = most;
    options_.fewer_calls = true;
    own_calls_ = most;
    const bool has_room = try_own_calls_of(0);
    // Small graphs try this under every limit, so that less memory never finds a better plan than more memory.
    if (machine_.spills && (!has_room || graph_.size() <= kSmallGraph))
      for (const auto bytes : kCallBytes)
        if (bytes < largest_call_ && bytes < static_cast<double>(machine_.memory_limit)) try_own_calls_of(bytes);
    options_.fewer_calls = false;
    options_.most_call_bytes = own_call_bytes_;
  }

  // Whether the plan is no slower than it would be with unlimited memory.
  bool try_own_calls_of(double most_call_bytes) {
    options_.most_call_bytes = most_call_bytes;
    auto labelling = label(graph_, strategy_, options_);
    const auto seconds = seconds_of(labelling);
    if (most_call_bytes == 0)
      largest_call_ = working_bytes(plan_fragment(graph_, labelling, options_.output_partitions), 1);
    const double calls = most_calls_of(labelling);
    auto own = candidate(static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(calls))), labelling);
    if (!take_if_better(own, std::move(labelling))) return own.fits && own.seconds <= seconds;
    std::erase_if(best_.candidates, [&](const auto& known) { return known.parallelism == own.parallelism; });
    best_.candidates.push_back(own);
    best_is_own_ = true;
    own_call_bytes_ = most_call_bytes;
    return own.fits && own.seconds <= seconds;
  }

  static double most_calls_of(const Labelling& labelling) {
    double calls = 1;
    for (const auto& vertex : labelling.vertices) calls = std::max(calls, kernel_calls(vertex.partition.parts));
    return calls;
  }
  double seconds_of(const Labelling& labelling) const {
    return labelling.total_cost + model_.start(most_calls_of(labelling));
  }

  // Lowers the labelling, for take_if_better().
  ParallelismCandidate candidate(std::int64_t p, const Labelling& labelling) {
    const auto limit = static_cast<double>(machine_.memory_limit);
    const auto& plan = lowered_.emplace(plan_fragment(graph_, labelling, options_.output_partitions));
    const auto peak = peak_bytes(plan);
    const auto seconds = seconds_of(labelling);
    if (!machine_.spills) return {p, seconds, peak, 0, peak <= limit};
    const auto spilling = seconds_in(plan, seconds, model_, machine_);
    return {p, spilling.seconds, peak, spilling.written, spilling.least_bytes <= limit, spilling.least_bytes};
  }

  bool take_if_better(const ParallelismCandidate& made, Labelling labelling) {
    const auto& [p, seconds, peak, spilled, fits, least] = made;
    const auto needs = machine_.spills ? least : peak;
    if (best_.labelling.vertices.empty() || least < best_.least_bytes) best_.least_bytes = least;
    const bool better = best_.labelling.vertices.empty() || (fits != best_fits_ ? fits
                                                             : fits             ? seconds < best_seconds_
                                                                                : needs < best_needs_);
    if (!better) return false;
    best_fits_ = fits;
    best_seconds_ = seconds;
    best_needs_ = needs;
    best_.parallelism = p;
    best_.labelling = std::move(labelling);
    best_.output_partitions = options_.output_partitions;
    best_.fragment = std::exchange(lowered_, std::nullopt);
    return true;
  }

  // Seconds to write a result and read it once.
  double storing(const Vertex& output, const Partition& partition) const {
    double bytes = static_cast<double>(size_of(output.dtype));
    for (const auto extent : output.bound.extents()) bytes *= static_cast<double>(extent);
    const auto tiles = kernel_calls(partition);
    return model_.write(tiles, bytes) + model_.read(tiles, bytes);
  }

  // The default partition of a stored result, or null if the result is not stored or its partition is prescribed.
  const Partition* stored_partition(std::size_t result) const {
    const auto& stored = machine_.stored_partitions;
    if (result >= stored.size() || !stored[result]) return nullptr;
    return wanted_of(graph_, options_.output_partitions, graph_.outputs()[result]) == nullptr ? &*stored[result]
                                                                                              : nullptr;
  }

  // First gives every stored result tiles close to its own partition, then tries the default partition for one result
  // after the other, and keeps it where that is faster.
  void choose_stored_tiles() {
    options_.output_partitions.resize(graph_.outputs().size());
    std::vector<std::size_t> chosen;
    for (std::size_t n = 0; n < graph_.outputs().size(); ++n)
      if (stored_partition(n) != nullptr) chosen.push_back(n);
    if (chosen.empty()) return;
    options_.parallelism = best_is_own_ ? own_calls_ : best_.parallelism;
    options_.fewer_calls = best_is_own_;
    best_.fragment.reset();
    CHECK(best_.labelling.vertices.size() == graph_.size(), "a labelling is chosen before the tiles of results");
    const auto memory = static_cast<double>(machine_.memory_limit);
    for (const auto n : chosen) {
      const auto id = graph_.outputs()[n];
      const auto& output = graph_.vertex(id);
      const auto own = result_partition(output, best_.labelling.vertices[id.index()].partition);
      const StoredType type(output.dtype, machine_.stored_encoding);
      if (output.cells) options_.output_partitions[n] = storable_tiles_of_cells(output.bound, output.dtype, memory);
      else if (has_scales(type.encoding)) options_.output_partitions[n] = machine_.stored_partitions[n];
      else options_.output_partitions[n] = storable_tiles(output.bound, type, own);
    }
    best_.labelling = label(graph_, strategy_, options_);
    auto seconds = best_.labelling.total_cost + storing();
    for (const auto n : chosen) {
      if (graph_.vertex(graph_.outputs()[n]).cells) continue;
      const auto near = std::exchange(options_.output_partitions[n], machine_.stored_partitions[n]);
      if (near == options_.output_partitions[n]) continue;
      auto labelling = label(graph_, strategy_, options_);
      const auto other_seconds = labelling.total_cost + storing();
      if (other_seconds < seconds) {
        best_.labelling = std::move(labelling);
        seconds = other_seconds;
      } else {
        options_.output_partitions[n] = near;
      }
    }
    best_.output_partitions = options_.output_partitions;
  }

  // Seconds to store all results with a prescribed or chosen partition.
  double storing() const {
    double seconds = 0;
    for (const auto id : graph_.outputs())
      if (const auto* partition = wanted_of(graph_, options_.output_partitions, id))
        seconds += storing(graph_.vertex(id), *partition);
    return seconds;
  }

  const EinGraph& graph_;
  const Strategy strategy_;
  DecompositionOptions options_;
  const MachineOptions& machine_;
  const CalibratedModel model_;
  const std::vector<std::size_t> label_counts_;  // by vertex
  const GraphShapes shapes_;
  CalibratedChoice best_;
  std::optional<Fragment> lowered_;  // the candidate made last
  bool best_fits_ = false;
  bool best_is_own_ = false;
  std::int64_t own_calls_ = 1;
  double best_seconds_ = std::numeric_limits<double>::infinity();
  double best_needs_ = std::numeric_limits<double>::infinity();  // bytes
  double own_call_bytes_ = 0;
  double fastest_ = std::numeric_limits<double>::infinity();  // seconds
  double seconds_left_ = 0;                                   // for the choice
  double largest_call_ = 0;                                   // of plans with an unlimited call size
};

double tile_bytes(const Shape& shape, StoredType type, const Partition& partition) {
  double cells = 1;
  for (std::size_t d = 0; d < partition.size(); ++d) cells *= static_cast<double>(largest_part(shape[d], partition[d]));
  return counted_tile_bytes(type, cells);
}

Partition tiles_of(const Shape& shape, StoredType type, Partition partition, double smallest, double largest) {
  CHECK(partition.size() == shape.rank(), "a partition has one entry per dimension");
  if (shape.element_count() == 0) return Partition(shape.rank(), 1);
  while (tile_bytes(shape, type, partition) > largest) {
    std::optional<std::size_t> longest;  // of the dimensions that can be cut in halves once more
    for (std::size_t d = 0; d < partition.size(); ++d)
      if (2 * partition[d] <= shape[d] &&
          (!longest || largest_part(shape[d], partition[d]) > largest_part(shape[*longest], partition[*longest])))
        longest = d;
    if (!longest) break;
    partition[*longest] *= 2;
  }
  while (tile_bytes(shape, type, partition) < smallest) {
    const auto most = std::max_element(partition.begin(), partition.end());
    if (most == partition.end() || *most < 2) break;
    *most = *most % 2 == 0 ? *most / 2 : 1;
  }
  CHECK(std::all_of(partition.begin(), partition.end(), [](auto parts) { return parts > 0; }),
        "a stored tensor has a part at least along each dimension");
  return partition;
}

}  // namespace

SpillingSeconds seconds_in(const Fragment& plan, double seconds, const CalibratedModel& model,
                           const MachineOptions& machine) {
  const auto limit = static_cast<double>(machine.memory_limit);
  SpillingSeconds out{seconds * slowdown_for_room(plan, machine.threads, limit), 0,
                      least_bytes(plan, machine.least_memory, limit)};
  out.seconds += model.scratch(0, bytes_read_by_slices(plan, limit));
  if (peak_bytes(plan) <= limit) return out;
  const auto traffic = scratch_traffic(plan, limit);
  out.written = traffic.written;
  out.seconds += model.scratch(traffic.written, traffic.read);
  return out;
}

CalibratedChoice choose_calibrated(const EinGraph& graph, Strategy strategy, DecompositionOptions options,
                                   const MachineOptions& machine) {
  return Chooser(graph, strategy, std::move(options), machine).run();
}

Partition storable_tiles(const Shape& shape, StoredType type, Partition partition) {
  return tiles_of(shape, type, std::move(partition), kSmallestTile, kLargestTile);
}

Partition storable_tiles_of_cells(const Shape& shape, DType type, double memory) {
  return tiles_of(shape, type, Partition(shape.rank(), 1), 0, largest_tile_of_cells(shape, type, memory));
}

Partition readable_tiles_of_cells(const TileGrid& held, DType type, double memory) {
  const auto& shape = held.shape();
  if (shape.element_count() == 0) return held.partition();  // the tiles of no cells are as small as can be
  return tiles_of(shape, type, held.partition(), 0, largest_tile_of_cells(shape, type, memory));
}

double largest_tile_of_cells(const Shape& shape, DType type, double memory) {
  constexpr double kMostTiles = 4096;
  constexpr double kMostBytes = 256 << 20;  // as dense tiles, which some readers make of them
  const auto all = static_cast<double>(shape.element_count()) * static_cast<double>(size_of(type));
  constexpr double kShareOfMemory = 1.0 / 16;
  return std::min(std::clamp(all / kMostTiles, kLargestTile, kMostBytes), kShareOfMemory * memory);
}

}  // namespace eindb

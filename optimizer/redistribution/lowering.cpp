#include "optimizer/redistribution/lowering.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "optimizer/redistribution/even_assignment.hpp"

namespace eindb {
namespace {

// The acceptable blocks along one dimension.
struct Interval {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool has(std::int64_t part) const { return begin <= part && part < end; }
};
using Box = std::vector<Interval>;

std::int64_t row_major(const TileKey& key, const Partition& parts) {
  std::int64_t id = 0;
  for (std::size_t d = 0; d < parts.size(); ++d) id = id * parts[d] + key[d];
  return id;
}

bool has(const Box& box, const TileKey& key) {
  for (std::size_t d = 0; d < key.size(); ++d)
    if (!box[d].has(key[d])) return false;
  return true;
}

// The factors by which the parts of one weak type exceed those of another; 1 where they do not.
Partition factors(const Partition& more, const Partition& less) {
  DCHECK(more.size() == less.size(), "two types of a tensor cut the same dimensions");
  Partition out;
  for (std::size_t d = 0; d < more.size(); ++d) out.push_back(more[d] > less[d] ? more[d] / less[d] : 1);
  return out;
}

// The boxes of blocks from which a step between two weak types leads to the boxes `after`.
std::vector<Box> boxes_before(const std::vector<Box>& after, const Partition& parts, const Partition& parts_after) {
  auto out = after;
  const auto lost = factors(parts, parts_after);
  const auto won = factors(parts_after, parts);
  for (auto& box : out)
    for (std::size_t d = 0; d < box.size(); ++d)
      box[d] = {box[d].begin * lost[d] / won[d], ceil_divide(box[d].end * lost[d], won[d])};
  return out;
}

// The point of a path after which there are only allgathers.
std::size_t final_gathers(const WeakPath& path) {
  CHECK(!path.empty(), "a path has a type where it begins");
  auto t = path.size() - 1;
  while (t > 0 && operation_between(path[t - 1], path[t]) == WeakOperation::AllGather) --t;
  return t;
}

double permutation_cost(const Shape& shape, const Partition& parts, const CollectiveCosts& costs) {
  return static_cast<double>(local_size(shape, parts)) + costs.latency(2);
}

// For each point of a path, the boxes of blocks wanted by the ranks that hold blocks.
std::vector<std::vector<Box>> wanted_boxes(const WeakPath& path, const BlockPlacement& target) {
  std::vector<std::vector<Box>> wanted(path.size());
  for (const auto& key : target.at) {
    if (!key) continue;
    auto& box = wanted.back().emplace_back();
    for (const auto part : *key) box.push_back({part, part + 1});
  }
  for (auto t = path.size() - 1; t-- > 0;) wanted[t] = boxes_before(wanted[t + 1], path[t], path[t + 1]);
  return wanted;
}

class Lowering {
 public:
  Lowering(const Shape& shape, const BlockPlacement& source, const BlockPlacement& target, const WeakPath& path,
           const CollectiveCosts& costs)
      : shape_(shape),
        path_(path),
        costs_(costs),
        ranks_in_all_(source.at.size()),
        wanted_(wanted_boxes(path, target)) {
    for (std::size_t rank = 0; rank < ranks_in_all_; ++rank)
      if (source.at[rank]) ranks_.push_back(static_cast<Rank>(rank));
    CHECK(source.at.size() == target.at.size(), "blocks go from one placement to another of the same ranks");
    CHECK(wanted_.front().size() == ranks_.size(), "as many ranks want blocks as hold them");
    for (const auto rank : ranks_) keys_.push_back(*source.at[rank]);
    plan_.shape = shape;
    plan_.source = source;
  }

  RedistributionPlan run() {
    const auto last = path_.size() - 1;
    const auto gathers = final_gathers(path_);
    for (std::size_t t = 0; t <= last; ++t) {
      if (t == gathers) permute(t);
      if (t < last) step(t);
    }
    return std::move(plan_);
  }

 private:
  // Ranks, as indices into ranks_, that may exchange blocks among themselves in a step.
  using Cluster = std::vector<std::size_t>;

  void step(std::size_t t) {
    const auto operation = operation_between(path_[t], path_[t + 1]);
    CHECK(operation.has_value(), "each step of a path is one operation");
    switch (*operation) {
      case WeakOperation::DynSlice: return slice(t);
      case WeakOperation::AllGather: return gather(t);
      case WeakOperation::AllToAll: return exchange(t);
    }
  }

  void slice(std::size_t t) {
    const auto won = factors(path_[t + 1], path_[t]);
    for (const auto& cluster : clusters(keys_, path_[t])) cut(t + 1, cluster, won, {});
    add(DynSlice{}, t);
  }

  void gather(std::size_t t) {
    const auto lost = factors(path_[t], path_[t + 1]);
    const auto digits = drop_digits(lost);
    AllGather collective;
    for (const auto& cluster : clusters(keys_, path_[t + 1])) {
      std::vector<Move> moves;  // without any choice: the n-th rank that has a piece belongs to the n-th group
      for (const auto r : cluster) moves.push_back({digits[r], digits[r]});
      add_groups(collective.groups, cluster, moves, lost);
    }
    add(std::move(collective), t);
  }

  void exchange(std::size_t t) {
    const auto lost = factors(path_[t], path_[t + 1]);
    const auto won = factors(path_[t + 1], path_[t]);
    const auto digits = drop_digits(lost);
    AllToAll collective;
    Partition between = path_[t];
    for (std::size_t d = 0; d < between.size(); ++d) between[d] /= lost[d];
    for (const auto& cluster : clusters(keys_, between)) {
      const auto given = cut(t + 1, cluster, won, digits);
      std::vector<Move> moves;
      for (std::size_t n = 0; n < cluster.size(); ++n) moves.push_back({digits[cluster[n]], given[n]});
      add_groups(collective.groups, cluster, moves, lost);
    }
    add(std::move(collective), t);
  }

  // For each rank the position of its block among those that form one larger block. Keys become those of the larger
  // blocks.
  std::vector<std::size_t> drop_digits(const Partition& lost) {
    std::vector<std::size_t> digits;
    for (auto& key : keys_) {
      std::int64_t digit = 0;
      for (std::size_t d = 0; d < key.size(); ++d) {
        digit = digit * lost[d] + key[d] % lost[d];
        key[d] /= lost[d];
      }
      digits.push_back(static_cast<std::size_t>(digit));
    }
    return digits;
  }

  std::vector<Cluster> clusters(const std::vector<TileKey>& keys, const Partition& parts) const {
    std::map<std::int64_t, Cluster> by_key;
    for (std::size_t r = 0; r < keys.size(); ++r) by_key[row_major(keys[r], parts)].push_back(r);
    std::vector<Cluster> out;
    for (auto& [key, cluster] : by_key) out.push_back(std::move(cluster));
    return out;
  }

  // Cuts the blocks of a cluster's ranks by `won`, gives each rank a piece, if possible one wanted at point t, and
  // returns the pieces. A rank without a preference keeps the digit of an earlier cut, or gets the same digit as its
  // neighbours.
  std::vector<std::size_t> cut(std::size_t t, const Cluster& cluster, const Partition& won,
                               const std::vector<std::size_t>& digits) {
    const auto pieces = static_cast<std::size_t>(checked_product(won));
    std::vector<Wishes> wishes;
    for (std::size_t n = 0; n < cluster.size(); ++n) {
      const auto r = cluster[n];
      wishes.push_back(
          {wanted_pieces(wanted_[t][r], keys_[r], won), digits.empty() ? n * pieces / cluster.size() : digits[r]});
    }
    auto given = assign_evenly(wishes, pieces);
    CHECK(given.size() == cluster.size(), "every rank of a cluster is given a piece");
    for (std::size_t n = 0; n < cluster.size(); ++n) append_digits(keys_[cluster[n]], given[n], won);
    return given;
  }

  // The pieces, in row-major order, that turn a block into one within a box.
  static std::vector<std::size_t> wanted_pieces(const Box& box, const TileKey& block, const Partition& won) {
    std::vector<std::size_t> pieces{0};
    for (std::size_t d = 0; d < block.size(); ++d) {
      const auto begin = std::max<std::int64_t>(0, box[d].begin - block[d] * won[d]);
      const auto end = std::min(won[d], box[d].end - block[d] * won[d]);
      std::vector<std::size_t> longer;
      for (const auto piece : pieces)
        for (auto digit = begin; digit < end; ++digit)
          longer.push_back(piece * static_cast<std::size_t>(won[d]) + static_cast<std::size_t>(digit));
      pieces = std::move(longer);
    }
    return pieces;
  }

  static void append_digits(TileKey& key, std::size_t piece, const Partition& won) {
    auto rest = static_cast<std::int64_t>(piece);
    for (std::size_t d = key.size(); d-- > 0;) {
      key[d] = key[d] * won[d] + rest % won[d];
      rest /= won[d];
    }
    CHECK(rest == 0, "a piece is one of those that its block is cut into");
  }

  void add_groups(std::vector<RankGroup>& groups, const Cluster& cluster, const std::vector<Move>& moves,
                  const Partition& lost) const {
    const auto members = static_cast<std::size_t>(checked_product(lost));
    for (const auto& bijection : split_into_bijections(moves, members)) {
      auto& group = groups.emplace_back();
      for (const auto n : bijection) group.push_back(ranks_[cluster[n]]);
    }
  }

  // Permutes blocks if some rank holds none of the blocks that it wants at point t.
  void permute(std::size_t t) {
    const auto& boxes = wanted_[t];
    std::vector<std::size_t> misplaced;
    for (std::size_t r = 0; r < keys_.size(); ++r)
      if (!has(boxes[r], keys_[r])) misplaced.push_back(r);
    if (misplaced.empty()) return;
    const auto from = exchange_misplaced(t, misplaced);
    CHECK(from.size() == misplaced.size(), "every rank whose block is misplaced takes another");
    AllPermute collective;
    collective.from.resize(ranks_in_all_);
    std::iota(collective.from.begin(), collective.from.end(), Rank{0});
    for (std::size_t n = 0; n < misplaced.size(); ++n) collective.from[ranks_[misplaced[n]]] = ranks_[from[n]];
    std::vector<TileKey> keys;
    for (const auto r : from) keys.push_back(keys_[r]);
    for (std::size_t n = 0; n < misplaced.size(); ++n) keys_[misplaced[n]] = std::move(keys[n]);
    add(std::move(collective), path_[t], permutation_cost(shape_, path_[t], costs_));
  }

  // For each misplaced rank the rank whose block it takes. Among the blocks of one box, as many are misplaced as are
  // wanted, since blocks in the right place stay and every block has the same number of holders.
  std::vector<std::size_t> exchange_misplaced(std::size_t t, const std::vector<std::size_t>& misplaced) const {
    const auto key_before_gather = [&](const Box& box) {
      TileKey key;
      for (const auto& interval : box) key.push_back(interval.begin);
      return row_major(key, path_[t]);
    };
    std::map<std::int64_t, std::vector<std::size_t>> wanting;  // keyed by the first block of the box
    for (const auto r : misplaced) wanting[key_before_gather(wanted_[t][r])].push_back(r);
    std::map<std::size_t, std::size_t> source_of;
    for (const auto r : misplaced) {
      auto& takers = wanting[key_before_gather(box_around(t, keys_[r]))];
      CHECK(!takers.empty(), "as many ranks want the blocks of a box as hold them");
      source_of[takers.back()] = r;
      takers.pop_back();
    }
    std::vector<std::size_t> from;
    for (const auto r : misplaced) from.push_back(source_of.at(r));
    return from;
  }

  // The box that contains this block and is wanted by some rank at point t; only allgathers may follow.
  Box box_around(std::size_t t, const TileKey& key) const {
    const auto joined = factors(path_[t], path_.back());
    Box box;
    for (std::size_t d = 0; d < key.size(); ++d) {
      const auto begin = key[d] / joined[d] * joined[d];
      box.push_back({begin, begin + joined[d]});
    }
    return box;
  }

  template <class Collective>
  void add(Collective collective, std::size_t t) {
    add(std::move(collective), path_[t + 1], operation_cost(shape_, path_[t], path_[t + 1], costs_));
  }

  template <class Collective>
  void add(Collective collective, const Partition& parts, double cost) {
    BlockPlacement result{parts, std::vector<std::optional<TileKey>>(ranks_in_all_)};
    for (std::size_t r = 0; r < ranks_.size(); ++r) result.at[ranks_[r]] = keys_[r];
    plan_.steps.push_back({std::move(collective), std::move(result), cost});
  }

  const Shape& shape_;
  const WeakPath& path_;
  const CollectiveCosts& costs_;
  const std::size_t ranks_in_all_;
  const std::vector<std::vector<Box>> wanted_;  // for each point of the path and each rank
  std::vector<Rank> ranks_;                     // the ranks that hold blocks
  std::vector<TileKey> keys_;                   // the keys of their blocks
  RedistributionPlan plan_;
};

bool is_even(const BlockPlacement& placement) {
  std::map<TileKey, std::int64_t> holders;
  for (const auto& key : placement.at)
    if (key) ++holders[*key];
  if (static_cast<std::int64_t>(holders.size()) != checked_product(placement.parts)) return false;
  return std::all_of(holders.begin(), holders.end(),
                     [&](const auto& entry) { return entry.second == holders.begin()->second; });
}

}  // namespace

bool is_collective(const BlockPlacement& source, const BlockPlacement& target) {
  if (source.at.size() != target.at.size()) return false;
  for (std::size_t rank = 0; rank < source.at.size(); ++rank)
    if (source.at[rank].has_value() != target.at[rank].has_value()) return false;
  return is_even(source) && is_even(target);
}

RedistributionPlan lower(const Shape& shape, const BlockPlacement& source, const BlockPlacement& target,
                         const WeakPath& path, const CollectiveCosts& costs) {
  CHECK(path.front() == source.parts && path.back() == target.parts, "a path leads from the source to the target");
  auto plan = Lowering(shape, source, target, path, costs).run();
  DCHECK(plan.target() == target, "a plan ends with the blocks that the target has");
  return plan;
}

double least_cost(const Shape& shape, const BlockPlacement& source, const BlockPlacement& target, const WeakPath& path,
                  const CollectiveCosts& costs) {
  double cost = 0;
  for (std::size_t t = 0; t + 1 < path.size(); ++t) cost += operation_cost(shape, path[t], path[t + 1], costs);
  const auto wanted = wanted_boxes(path, target).front();
  auto box = wanted.begin();
  for (const auto& key : source.at)
    if (key && !has(*box++, *key)) return cost + permutation_cost(shape, path[final_gathers(path)], costs);
  return cost;
}

}  // namespace eindb

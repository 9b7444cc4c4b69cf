#include "optimizer/redistribution/weak_path.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <queue>
#include <string>
#include <unordered_map>

#include "common/checked_math.hpp"

namespace eindb {
namespace {

// Types that a search visits at most: tensors of few cut dimensions on a thousand ranks have some thousands.
constexpr std::size_t kMostTypes = 50'000;
// Dimensions among which factors travel; further ones that neither end cuts would only add types.
constexpr std::size_t kDimensions = 6;

std::vector<std::int64_t> divisors_of(std::int64_t number) {
  std::vector<std::int64_t> out;
  for (std::int64_t d = 1; d <= number; ++d)
    if (number % d == 0) out.push_back(d);
  return out;
}

// Cost, then steps: of equally cheap paths the shorter.
struct PathLength {
  double cost = 0;
  std::int32_t steps = 0;

  friend auto operator<=>(const PathLength&, const PathLength&) = default;
};

constexpr PathLength kUnreached{std::numeric_limits<double>::infinity(), 0};

// Dijkstra's algorithm over weak types. A type is a list of places in the list of divisors, one per dimension: as a
// string, which for few dimensions is a value without memory of its own.
class WeakSearch {
 public:
  explicit WeakSearch(const WeakProblem& problem)
      : problem_(problem), divisors_(divisors_of(problem.ranks)), dimensions_(dimensions_that_matter(problem)) {
    tabulate_divisors();
  }

  WeakPaths run(std::size_t most) {
    const auto target = find_or_add(code_of(problem_.target));
    const auto source = find_or_add(code_of(problem_.source));
    reach(source, source, {0, 0});
    while (!queue_.empty()) {
      const auto [length, n] = queue_.top();
      queue_.pop();
      if (n == target) return {length.cost, paths_to(target, source, most)};
      if (length > types_[n].length || types_.size() > kMostTypes) continue;
      expand(n);
    }
    return {};
  }

 private:
  using Code = std::string;

  struct Type {
    Code code;
    std::int64_t local_size = 0;
    PathLength length = kUnreached;
    std::vector<std::size_t> previous = {};  // all from which the shortest paths come
  };

  static std::vector<std::size_t> dimensions_that_matter(const WeakProblem& problem) {
    std::vector<std::size_t> order(problem.shape.rank());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto is_cut = [&](std::size_t d) { return problem.source[d] > 1 || problem.target[d] > 1; };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return is_cut(a) != is_cut(b) ? is_cut(a) : problem.shape[a] > problem.shape[b];
    });
    const auto cut = static_cast<std::size_t>(std::count_if(order.begin(), order.end(), is_cut));
    order.resize(std::min(order.size(), std::max(cut, kDimensions)));
    return order;
  }

  // The quotients and products of divisors, as places in the list, -1 where there is none.
  void tabulate_divisors() {
    const auto n = divisors_.size();
    quotients_.assign(n * n, -1);
    products_.assign(n * n, -1);
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b) {
        if (divisors_[a] % divisors_[b] == 0) quotients_[a * n + b] = place_of(divisors_[a] / divisors_[b]);
        products_[a * n + b] = place_of(divisors_[a] * divisors_[b]);
      }
    }
  }

  int place_of(std::int64_t divisor) const {
    const auto found = std::lower_bound(divisors_.begin(), divisors_.end(), divisor);
    return found != divisors_.end() && *found == divisor ? static_cast<int>(found - divisors_.begin()) : -1;
  }

  Code code_of(const Partition& parts) const {
    Code code;
    for (const auto d : dimensions_) code.push_back(static_cast<char>(place_of(parts[d])));
    return code;
  }

  static std::size_t place(char digit) { return static_cast<unsigned char>(digit); }

  Partition parts_of(const Code& code) const {
    Partition parts(problem_.shape.rank(), 1);
    for (std::size_t n = 0; n < dimensions_.size(); ++n) parts[dimensions_[n]] = divisors_[place(code[n])];
    return parts;
  }

  std::size_t find_or_add(const Code& code) {
    const auto [found, is_new] = index_.try_emplace(code, types_.size());
    if (is_new) types_.push_back({code, local_size(problem_.shape, parts_of(code))});
    return found->second;
  }

  void expand(std::size_t n) {
    const auto code = types_[n].code;
    std::int64_t used = 1;
    for (const auto digit : code) used *= divisors_[place(digit)];
    const auto replicas = static_cast<std::size_t>(place_of(problem_.ranks / used));
    for (std::size_t factor = 1; factor < divisors_.size(); ++factor) {
      if (quotient(replicas, factor) >= 0) slice(n, code, factor);
      move(n, code, factor);
    }
  }

  void slice(std::size_t n, const Code& code, std::size_t factor) {
    for (std::size_t i = 0; i < code.size(); ++i)
      if (const auto next = cut(code, i, factor)) relax(n, *next, WeakOperation::DynSlice, factor);
  }

  void move(std::size_t n, const Code& code, std::size_t factor) {
    for (std::size_t i = 0; i < code.size(); ++i) {
      const auto rest = quotient(place(code[i]), factor);
      if (rest < 0) continue;
      auto gathered = code;
      gathered[i] = static_cast<char>(rest);
      relax(n, gathered, WeakOperation::AllGather, factor);
      for (std::size_t j = 0; j < code.size(); ++j)
        if (const auto next = j == i ? std::nullopt : cut(gathered, j, factor))
          relax(n, *next, WeakOperation::AllToAll, factor);
    }
  }

  std::optional<Code> cut(const Code& code, std::size_t i, std::size_t factor) const {
    const auto product = products_[place(code[i]) * divisors_.size() + factor];
    if (product < 0 || divisors_[static_cast<std::size_t>(product)] > problem_.shape[dimensions_[i]])
      return std::nullopt;
    auto out = code;
    out[i] = static_cast<char>(product);
    return out;
  }

  int quotient(std::size_t a, std::size_t b) const { return quotients_[a * divisors_.size() + b]; }

  void relax(std::size_t n, const Code& next, WeakOperation operation, std::size_t factor) {
    const auto m = find_or_add(next);
    const auto after = types_[m].local_size;
    if (after > problem_.memory) return;
    auto length = types_[n].length;
    ++length.steps;
    if (operation != WeakOperation::DynSlice) length.cost += problem_.latency.of(divisors_[factor]);
    if (operation == WeakOperation::AllGather) length.cost += static_cast<double>(after);
    if (operation == WeakOperation::AllToAll) length.cost += static_cast<double>(std::max(after, types_[n].local_size));
    reach(n, m, length);
  }

  void reach(std::size_t from, std::size_t n, const PathLength& length) {
    auto& type = types_[n];
    if (length > type.length) return;
    if (length < type.length) {
      type.previous.clear();
      type.length = length;
      queue_.push({length, n});
    }
    type.previous.push_back(from);
  }

  std::vector<WeakPath> paths_to(std::size_t target, std::size_t source, std::size_t most) const {
    std::vector<WeakPath> out;
    std::vector<std::size_t> backwards{target};
    collect(source, most, backwards, out);
    return out;
  }

  void collect(std::size_t source, std::size_t most, std::vector<std::size_t>& backwards,
               std::vector<WeakPath>& out) const {
    if (out.size() == most) return;
    if (backwards.back() == source) {
      auto& path = out.emplace_back();
      for (auto n = backwards.rbegin(); n != backwards.rend(); ++n) path.push_back(parts_of(types_[*n].code));
      return;
    }
    for (const auto previous : types_[backwards.back()].previous) {
      backwards.push_back(previous);
      collect(source, most, backwards, out);
      backwards.pop_back();
    }
  }

  using Waiting = std::pair<PathLength, std::size_t>;

  const WeakProblem& problem_;
  const std::vector<std::int64_t> divisors_;     // of the number of ranks, ascending
  const std::vector<std::size_t> dimensions_;    // that factors travel between
  std::vector<int> quotients_;
  std::vector<int> products_;
  std::vector<Type> types_;
  std::unordered_map<Code, std::size_t> index_;
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> queue_;
};

// Whether no dimension loses factors in one of two steps and gets some in the other.
bool passes_nothing_on(const Partition& a, const Partition& b, const Partition& c) {
  for (std::size_t d = 0; d < a.size(); ++d)
    if ((a[d] < b[d] && c[d] < b[d]) || (a[d] > b[d] && c[d] > b[d])) return false;
  return true;
}

}  // namespace

std::int64_t local_size(const Shape& shape, const Partition& parts) {
  std::int64_t size = 1;
  for (std::size_t d = 0; d < parts.size(); ++d) size *= largest_part(shape[d], parts[d]);
  return size;
}

std::optional<WeakOperation> operation_between(const Partition& before, const Partition& after) {
  std::int64_t lost = 1;
  std::int64_t won = 1;
  for (std::size_t d = 0; d < before.size(); ++d) {
    if (before[d] % after[d] == 0) lost *= before[d] / after[d];
    else if (after[d] % before[d] == 0) won *= after[d] / before[d];
    else return std::nullopt;
  }
  if (lost == 1) return WeakOperation::DynSlice;
  if (won == 1) return WeakOperation::AllGather;
  return lost == won ? std::optional(WeakOperation::AllToAll) : std::nullopt;
}

std::int64_t group_size(const Partition& before, const Partition& after) {
  std::int64_t members = 1;
  for (std::size_t d = 0; d < before.size(); ++d)
    if (after[d] < before[d]) members *= before[d] / after[d];
  return members;
}

double operation_cost(const Shape& shape, const Partition& before, const Partition& after,
                      const CollectiveLatency& latency) {
  const auto operation = operation_between(before, after);
  if (operation == WeakOperation::DynSlice) return 0;
  const auto moved = operation == WeakOperation::AllGather
                         ? local_size(shape, after)
                         : std::max(local_size(shape, before), local_size(shape, after));
  return static_cast<double>(moved) + latency.of(group_size(before, after));
}

WeakPaths shortest_weak_paths(const WeakProblem& problem, std::size_t most) { return WeakSearch(problem).run(most); }

WeakPath merged(const Shape& shape, const WeakPath& path, const CollectiveLatency& latency) {
  WeakPath out;
  const auto is_one_step = [&](const Partition& a, const Partition& b, const Partition& c) {
    return operation_between(a, b) == operation_between(b, c) && passes_nothing_on(a, b, c) &&
           operation_cost(shape, a, c, latency) <=
               operation_cost(shape, a, b, latency) + operation_cost(shape, b, c, latency);
  };
  for (const auto& type : path) {
    if (out.size() > 1 && is_one_step(out[out.size() - 2], out.back(), type)) out.pop_back();
    out.push_back(type);
  }
  return out;
}

}  // namespace eindb

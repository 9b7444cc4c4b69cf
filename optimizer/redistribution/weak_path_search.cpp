#include "optimizer/redistribution/weak_path_search.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <cstring>
#include <limits>
#include <numeric>
#include <queue>
#include <unordered_map>

#include "common/check.hpp"
#include "common/divisors.hpp"

namespace eindb {
namespace {

// Limit on the types visited; tensors with few cut dimensions on a thousand ranks have some thousands.
constexpr std::size_t kMostTypes = 50'000;
// Limit on the dimensions among which factors move; others that neither end cuts would only add types.
constexpr std::size_t kDimensions = 6;

// Cost, then steps: the shorter of equally cheap paths wins.
struct PathLength {
  double cost = 0;
  int steps = 0;

  PathLength operator+(const PathLength& other) const { return {cost + other.cost, steps + other.steps}; }
  friend auto operator<=>(const PathLength&, const PathLength&) = default;
};
constexpr PathLength kUnreached{std::numeric_limits<double>::infinity(), 0};

// The divisors of a number in ascending order, with their products and quotients by index.
class Divisors {
 public:
  static constexpr int kNone = -1;

  explicit Divisors(std::int64_t number) : values_(divisors(number)) {
    CHECK(!values_.empty() && values_.size() <= std::numeric_limits<std::uint8_t>::max(),
          "places of divisors are numbered in a byte");
    for (const auto a : values_) {
      for (const auto b : values_) {
        products_.push_back(place_of(a * b));
        quotients_.push_back(a % b == 0 ? place_of(a / b) : kNone);
      }
    }
  }

  int count() const { return static_cast<int>(values_.size()); }
  std::int64_t operator[](int place) const { return values_[static_cast<std::size_t>(place)]; }
  int product(int a, int b) const { return products_[index(a, b)]; }
  int quotient(int a, int b) const { return quotients_[index(a, b)]; }
  int place_of(std::int64_t value) const {
    const auto found = std::lower_bound(values_.begin(), values_.end(), value);
    return found != values_.end() && *found == value ? static_cast<int>(found - values_.begin()) : kNone;
  }

 private:
  std::size_t index(int a, int b) const {
    DCHECK(a >= 0 && a < count() && b >= 0 && b < count(), "divisors are known by their places");
    return static_cast<std::size_t>(a) * values_.size() + static_cast<std::size_t>(b);
  }

  std::vector<std::int64_t> values_;
  std::vector<int> products_;
  std::vector<int> quotients_;
};

// A type as the indices of its parts in the list of divisors, one byte per dimension that matters.
using Code = std::array<std::uint8_t, 16>;

struct CodeHash {
  std::size_t operator()(const Code& code) const {
    std::array<std::uint64_t, 2> words{};
    static_assert(sizeof(words) == sizeof(Code));
    std::memcpy(words.data(), code.data(), sizeof(words));
    const auto mixed = (words[0] ^ (words[1] * 0x9E3779B97F4A7C15U)) * 0xBF58476D1CE4E5B9U;
    return static_cast<std::size_t>(mixed ^ (mixed >> 32U));
  }
};

// Dimensions that are cut at either end, then large ones, up to the limit.
std::vector<std::size_t> dimensions_that_matter(const WeakProblem& problem) {
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

}  // namespace

class WeakPathSearch::Graph {
 public:
  explicit Graph(const WeakProblem& problem)
      : problem_(problem), divisors_(problem.ranks), dimensions_(dimensions_that_matter(problem)) {
    if (dimensions_.size() > source_code_.size()) return;
    source_code_ = code_of(problem.source);
    target_code_ = code_of(problem.target);
    source_ = find_or_add(source_code_);
    target_ = find_or_add(target_code_);
    if (measure()) tails_.push({types_[target_].length, add_tail(target_, kNoTail, {})});
  }

  std::optional<CostedPath> next() {
    while (!tails_.empty()) {
      const auto [length, tail] = tails_.top();
      tails_.pop();
      if (length.cost > limit_) return std::nullopt;
      if (all_tails_[tail].type == source_) return CostedPath{path_along(tail), length.cost};
      for (const auto& edge : types_[all_tails_[tail].type].incoming) {
        const auto rest = edge.length + all_tails_[tail].length;
        tails_.push({types_[edge.from].length + rest, add_tail(edge.from, tail, rest)});
      }
    }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t kNoTail = static_cast<std::size_t>(-1);

  struct Edge {
    std::size_t from = 0;
    PathLength length;
  };
  struct Type {
    Code code{};
    Partition parts;
    std::int64_t local_size = 0;
    PathLength length = kUnreached;  // distance from the source
    std::vector<Edge> incoming = {};
  };
  // The end of a path: its first type, the next shorter end, and the length.
  struct Tail {
    std::size_t type = 0;
    std::size_t rest = kNoTail;
    PathLength length;
  };
  using Waiting = std::pair<PathLength, std::size_t>;
  using Queue = std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>>;

  // Runs Dijkstra's algorithm as far as paths within the slack go. Returns whether it reaches the target.
  bool measure() {
    types_[source_].length = {};
    queue_.push({{}, source_});
    while (!queue_.empty() && types_.size() <= kMostTypes) {
      const auto [length, n] = queue_.top();
      queue_.pop();
      if (length.cost > limit_) break;
      if (length > types_[n].length) continue;
      if (n == target_) limit_ = length.cost + problem_.slack;
      else expand(n);
    }
    return types_[target_].length < kUnreached;
  }

  Code code_of(const Partition& parts) const {
    Code code{};
    for (std::size_t n = 0; n < dimensions_.size(); ++n) {
      const auto place = divisors_.place_of(parts[dimensions_[n]]);
      CHECK(place != Divisors::kNone, "the parts of a dimension divide the ranks");
      code[n] = static_cast<std::uint8_t>(place);
    }
    return code;
  }

  Partition parts_of(const Code& code) const {
    Partition parts(problem_.shape.rank(), 1);
    for (std::size_t n = 0; n < dimensions_.size(); ++n) parts[dimensions_[n]] = divisors_[code[n]];
    return parts;
  }

  std::size_t find_or_add(const Code& code) {
    const auto [found, is_new] = index_.try_emplace(code, types_.size());
    if (is_new) {
      auto parts = parts_of(code);
      const auto size = local_size(problem_.shape, parts);
      types_.push_back({code, std::move(parts), size});
    }
    return found->second;
  }

  bool refines(const Code& code, const Code& coarse) const {
    for (std::size_t n = 0; n < dimensions_.size(); ++n)
      if (divisors_.quotient(code[n], coarse[n]) == Divisors::kNone) return false;
    return true;
  }

  void expand(std::size_t n) {
    const auto code = types_[n].code;
    std::int64_t used = 1;
    for (std::size_t i = 0; i < dimensions_.size(); ++i) used *= divisors_[code[i]];
    const auto replicas = divisors_.place_of(problem_.ranks / used);
    CHECK(replicas != Divisors::kNone && problem_.ranks % used == 0, "the parts of a type divide the ranks");
    const bool may_cut = refines(code, source_code_);
    const bool may_gather = refines(code, target_code_);
    for (int factor = 1; factor < divisors_.count(); ++factor) {
      if (may_cut && divisors_.quotient(replicas, factor) != Divisors::kNone) slice(n, code, factor);
      move(n, code, factor, may_gather);
    }
  }

  void slice(std::size_t n, const Code& code, int factor) {
    for (std::size_t i = 0; i < dimensions_.size(); ++i)
      if (const auto next = cut(code, i, factor)) relax(n, *next);
  }

  void move(std::size_t n, const Code& code, int factor, bool may_gather) {
    for (std::size_t i = 0; i < dimensions_.size(); ++i) {
      const auto rest = divisors_.quotient(code[i], factor);
      if (rest == Divisors::kNone) continue;
      auto gathered = code;
      gathered[i] = static_cast<std::uint8_t>(rest);
      if (may_gather && divisors_.quotient(rest, target_code_[i]) != Divisors::kNone) relax(n, gathered);
      for (std::size_t j = 0; j < dimensions_.size(); ++j)
        if (const auto next = j == i ? std::nullopt : cut(gathered, j, factor)) relax(n, *next);
    }
  }

  std::optional<Code> cut(const Code& code, std::size_t i, int factor) const {
    const auto product = divisors_.product(code[i], factor);
    if (product == Divisors::kNone || divisors_[product] > problem_.shape[dimensions_[i]]) return std::nullopt;
    auto out = code;
    out[i] = static_cast<std::uint8_t>(product);
    return out;
  }

  void relax(std::size_t n, const Code& next) {
    const auto m = find_or_add(next);
    if (types_[m].local_size > problem_.memory) return;
    const PathLength edge{operation_cost(problem_.shape, types_[n].parts, types_[m].parts, problem_.costs), 1};
    DCHECK(edge.cost >= 0, "no operation costs less than none");
    types_[m].incoming.push_back({n, edge});
    const auto length = types_[n].length + edge;
    if (length >= types_[m].length) return;
    types_[m].length = length;
    queue_.push({length, m});
  }

  std::size_t add_tail(std::size_t type, std::size_t rest, const PathLength& length) {
    all_tails_.push_back({type, rest, length});
    return all_tails_.size() - 1;
  }

  WeakPath path_along(std::size_t tail) const {
    WeakPath path;
    for (; tail != kNoTail; tail = all_tails_[tail].rest) path.push_back(types_[all_tails_[tail].type].parts);
    CHECK(!path.empty() && path.back() == problem_.target, "the tail of a path ends in the target");
    return path;
  }

  const WeakProblem problem_;
  const Divisors divisors_;
  const std::vector<std::size_t> dimensions_;  // among which factors move
  Code source_code_{};
  Code target_code_{};
  std::size_t source_ = 0;
  std::size_t target_ = 0;
  double limit_ = std::numeric_limits<double>::infinity();  // upper bound on the cost of a path
  std::vector<Type> types_;
  std::unordered_map<Code, std::size_t, CodeHash> index_;
  Queue queue_;
  std::vector<Tail> all_tails_;
  Queue tails_;  // ordered by the length of the shortest path with this end
};

WeakPathSearch::WeakPathSearch(const WeakProblem& problem) : graph_(std::make_unique<Graph>(problem)) {}
WeakPathSearch::~WeakPathSearch() = default;

std::optional<CostedPath> WeakPathSearch::next() { return graph_->next(); }

}  // namespace eindb

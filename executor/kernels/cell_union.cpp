#include "executor/kernels/cell_union.hpp"

#include <algorithm>
#include <utility>

#include "common/check.hpp"
#include "common/poll_steps.hpp"
#include "executor/kernels/cell_lines.hpp"
#include "tensor/huge_pages.hpp"

namespace eindb {
namespace {

constexpr auto kHeld = static_cast<std::size_t>(PointExpression::kMostOfRun);

template <class Bits>
bool is_plus_zero(const Bits& value) {
  return value == Bits{};
}

// Looks at all of them, without branches.
bool has_plus_zeros(const std::byte* values, std::size_t count, std::size_t size) {
  bool found = false;
  with_bits_of(size, [&](auto bits) {
    const auto* value = reinterpret_cast<const decltype(bits)*>(values);
    for (std::size_t n = 0; n < count; ++n) found |= is_plus_zero(value[n]);
  });
  return found;
}

// Leaves out the cells that are +0, and the nodes that have none below them any more.
template <class Bits>
void drop_zeros(GrowingTrie& trie) {
  constexpr auto kSize = sizeof(Bits);
  auto* values = reinterpret_cast<Bits*>(trie.values.data());
  auto& cells = trie.levels.back().coordinates;
  std::vector<std::int64_t> kept(cells.size() + 1, 0);  // how many of the nodes before each one stay
  std::size_t to = 0;
  for (std::size_t n = 0; n < cells.size(); ++n) {
    kept[n] = static_cast<std::int64_t>(to);
    if (is_plus_zero(values[n])) continue;
    values[to] = values[n];
    cells[to++] = cells[n];
  }
  kept[cells.size()] = static_cast<std::int64_t>(to);
  cells.resize(to);
  trie.values.resize(to * kSize);
  for (auto level = trie.levels.size() - 1; level-- > 0;) {
    auto& nodes = trie.levels[level];
    const auto below = std::exchange(kept, std::vector<std::int64_t>(nodes.coordinates.size() + 1));
    to = 0;
    for (std::size_t n = 0; n < nodes.coordinates.size(); ++n) {
      kept[n] = static_cast<std::int64_t>(to);
      const auto begin = below[static_cast<std::size_t>(nodes.begins[n])];
      if (begin == below[static_cast<std::size_t>(nodes.begins[n + 1])]) continue;
      nodes.coordinates[to] = nodes.coordinates[n];
      nodes.begins[to++] = begin;
    }
    kept[nodes.coordinates.size()] = static_cast<std::int64_t>(to);
    nodes.coordinates.resize(to);
    nodes.begins.resize(to);
    nodes.begins.push_back(below.back());
  }
}

}  // namespace

CellUnion::CellUnion(const CellTrie& first, const CellTrie& second, const PointExpression& expression, DType compute)
    : first_(first), second_(second), expression_(expression), value_bytes_(size_of(compute)) {
  CHECK(first.levels.size() == second.levels.size() && !first.levels.empty() && expression.numbers().empty() &&
            expression.types().size() == 2,
        "an expression of two operands is merged from two tries of the same dimensions");
}

CellUnion::Nodes CellUnion::below(const CellTrie& trie, std::size_t level, std::int64_t node) const {
  const auto& begins = trie.levels[level].begins;
  return {begins[static_cast<std::size_t>(node)], begins[static_cast<std::size_t>(node) + 1]};
}

CellTrie CellUnion::make() {
  const auto most = static_cast<std::size_t>(first_.count() + second_.count());
  made_.order = first_.order;
  made_.levels.resize(first_.levels.size());
  auto& cells = made_.levels.back().coordinates;
  reserve_huge(cells, most);
  reserve_huge(made_.values, most * value_bytes_);
  for (std::size_t n = 0; n < columns_.size(); ++n)
    columns_[n].resize(std::min(kHeld, most) * size_of(expression_.types()[n]));
  const auto all = [](const CellTrie& trie) {
    return Nodes{0, static_cast<std::int64_t>(trie.levels.front().coordinates.size())};
  };
  with_bits_of(size_of(expression_.types()[0]), [&](auto a) {
    with_bits_of(size_of(expression_.types()[1]),
                 [&](auto b) { merge<decltype(a), decltype(b)>(0, all(first_), all(second_)); });
  });
  evaluate();
  cells.resize(count_);
  for (std::size_t level = 0; level + 1 < made_.levels.size(); ++level)
    made_.levels[level].begins.push_back(static_cast<std::int64_t>(made_.levels[level + 1].coordinates.size()));
  if (has_zeros_) with_bits_of(value_bytes_, [&](auto bits) { drop_zeros<decltype(bits)>(made_); });
  return std::move(made_).take();
}

template <class A, class B>
void CellUnion::merge(std::size_t level, Nodes a, Nodes b) {
  if (level + 1 == made_.levels.size()) return merge_line<A, B>(a, b);
  auto& to = made_.levels[level];
  const auto& from_first = first_.levels[level].coordinates;
  const auto& from_second = second_.levels[level].coordinates;
  const bool is_above_cells = level + 2 == made_.levels.size();
  while (a.begin < a.end || b.begin < b.end) {
    const auto x = a.begin < a.end ? std::int64_t{from_first[static_cast<std::size_t>(a.begin)]} : -1;
    const auto y = b.begin < b.end ? std::int64_t{from_second[static_cast<std::size_t>(b.begin)]} : -1;
    const bool has_first = x >= 0 && (y < 0 || x <= y);
    const bool has_second = y >= 0 && (x < 0 || y <= x);
    to.coordinates.push_back(static_cast<std::uint32_t>(has_first ? x : y));
    to.begins.push_back(
        static_cast<std::int64_t>(is_above_cells ? count_ : made_.levels[level + 1].coordinates.size()));
    merge<A, B>(level + 1, has_first ? below(first_, level, a.begin++) : Nodes{},
                has_second ? below(second_, level, b.begin++) : Nodes{});
  }
}

template <class A, class B>
void CellUnion::merge_line(Nodes a, Nodes b) {
  poll_cancellation_after(static_cast<std::size_t>(a.end - a.begin + b.end - b.begin));
  auto& cells = made_.levels.back().coordinates;
  CellLine<A> first{first_.levels.back().coordinates.data(), first_.template values_as<A>(), a.begin, a.end};
  CellLine<B> second{second_.levels.back().coordinates.data(), second_.template values_as<B>(), b.begin, b.end};
  while (first.at < first.end || second.at < second.end) {
    const auto held = count_ - evaluated_;
    const auto most =
        std::min<std::int64_t>(static_cast<std::int64_t>(kHeld - held), first.end - first.at + second.end - second.at);
    if (cells.size() < count_ + static_cast<std::size_t>(most))
      cells.resize(std::min(cells.capacity(), count_ + 2 * kHeld));
    count_ += static_cast<std::size_t>(merge_cell_lines(
        first, second, most, cells.data() + count_, [](std::uint32_t at) { return at; },
        reinterpret_cast<A*>(columns_[0].data()) + held, reinterpret_cast<B*>(columns_[1].data()) + held));
    if (count_ - evaluated_ == kHeld) evaluate();
  }
}

void CellUnion::evaluate() {
  const auto held = count_ - evaluated_;
  if (held == 0) return;
  const std::array<const std::byte*, 2> columns{columns_[0].data(), columns_[1].data()};
  made_.values.resize(count_ * value_bytes_);
  auto* values = made_.values.data() + evaluated_ * value_bytes_;
  expression_.evaluate(columns, static_cast<std::int64_t>(held), values);
  has_zeros_ = has_zeros_ || has_plus_zeros(values, held, value_bytes_);
  evaluated_ = count_;
}

}  // namespace eindb

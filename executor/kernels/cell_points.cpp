#include "executor/kernels/cell_points.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "common/check.hpp"
#include "common/poll_steps.hpp"
#include "executor/kernels/cell_lines.hpp"
#include "executor/kernels/instruction_set.hpp"
#include "tensor/random.hpp"

namespace eindb {
namespace {

using NodeKind = ScalarExpression::Kind;

// Replaces label values and random numbers by operands. Expressions share nodes, so each is rewritten once.
class NumberExtraction {
 public:
  NumberExtraction(const EinSum& einsum, const LabelTable& table, std::vector<DType>& types,
                   std::vector<PointExpression::Number>& numbers)
      : all_(einsum.labels()), table_(table), types_(types), numbers_(numbers) {}

  ScalarPtr of(const ScalarPtr& e) {
    if (const auto known = rewritten_.find(e.get()); known != rewritten_.end()) return known->second;
    auto result = rewrite(e);
    rewritten_.emplace(e.get(), result);
    return result;
  }

 private:
  ScalarPtr rewrite(const ScalarPtr& e) {
    poll_cancellation_after(1);
    switch (e->kind()) {
      case NodeKind::LabelIndex: return number(e, {.random = {}, .coefficients = coefficients({e->label()})});
      case NodeKind::Uniform: return random(e, Instruction::Kind::Uniform);
      case NodeKind::Normal: return random(e, Instruction::Kind::Normal);
      case NodeKind::Call: break;
      default: return e;
    }
    std::vector<ScalarPtr> arguments;
    for (const auto& argument : e->arguments()) arguments.push_back(of(argument));
    return arguments == e->arguments() ? e : ScalarExpression::call(e->op(), std::move(arguments));
  }

  ScalarPtr random(const ScalarPtr& e, Instruction::Kind kind) {
    return number(e, {.random = kind, .seed = e->seed(), .coefficients = coefficients(e->cell())});
  }

  ScalarPtr number(const ScalarPtr& e, PointExpression::Number number) {
    numbers_.push_back(std::move(number));
    types_.push_back(e->type().value());
    return ScalarExpression::operand(types_.size() - 1);
  }

  // Of the row-major number of a cell.
  std::vector<std::uint64_t> coefficients(const Labels& cell) const {
    std::vector<std::uint64_t> out(all_.size(), 0);
    std::uint64_t stride = 1;
    for (auto n = cell.size(); n-- > 0;) {
      out[static_cast<std::size_t>(std::find(all_.begin(), all_.end(), cell[n]) - all_.begin())] += stride;
      stride *= static_cast<std::uint64_t>(table_.extent(cell[n]));
    }
    return out;
  }

  Labels all_;
  const LabelTable& table_;
  std::vector<DType>& types_;
  std::vector<PointExpression::Number>& numbers_;
  std::unordered_map<const ScalarExpression*, ScalarPtr> rewritten_;
};

// into[m] = from[place(m)], zero for a place of -1, for values of 4, 8 or 16 bytes.
template <class Place>
void gather_values(std::byte* into, const std::byte* from, std::size_t size, std::size_t count, const Place& place) {
  const auto gather = [&](auto bytes) {
    constexpr std::size_t kSize = decltype(bytes)::value;
    for (std::size_t m = 0; m < count; ++m) {
      const std::int64_t at = place(m);
      if (at < 0) std::memset(into + m * kSize, 0, kSize);
      else std::memcpy(into + m * kSize, from + static_cast<std::size_t>(at) * kSize, kSize);
    }
  };
  if (size == 4) gather(std::integral_constant<std::size_t, 4>{});
  else if (size == 8) gather(std::integral_constant<std::size_t, 8>{});
  else gather(std::integral_constant<std::size_t, 16>{});
}

}  // namespace

PointExpression::PointExpression(const EinSum& einsum, const LabelTable& labels, std::vector<DType> operand_types,
                                 DType compute)
    : compute_(compute), types_(std::move(operand_types)) {
  EinSum points;
  points.expression = NumberExtraction(einsum, labels, types_, numbers_).of(einsum.expression);
  LabelTable table;
  const auto point = table.add("point", kMostOfRun);
  points.inputs.assign(types_.size(), {point});
  points.output = {point};
  kernel_.emplace(points, table, types_, compute_);
}

void PointExpression::write_number(std::size_t n, std::span<const std::int64_t> indices, std::byte* into) const {
  const auto& number = numbers_[n];
  std::uint64_t value = 0;
  for (std::size_t label = 0; label < indices.size(); ++label)
    value += number.coefficients[label] * static_cast<std::uint64_t>(indices[label]);
  dispatch(types_[types_.size() - numbers_.size() + n], [&](auto t) {
    using T = typename decltype(t)::type;
    T result{};
    if (!number.random) result = convert_value<T>(static_cast<std::int64_t>(value));
    else if (*number.random == Instruction::Kind::Uniform)
      result = convert_value<T>(random_uniform(number.seed, value));
    else result = convert_value<T>(random_normal(number.seed, value));
    std::memcpy(into, &result, sizeof(T));
  });
}

void PointExpression::evaluate(std::span<const std::byte* const> columns, std::int64_t count, std::byte* values) const {
  std::vector<LabelView> views;
  for (std::size_t n = 0; n < columns.size(); ++n) views.push_back({types_[n], columns[n], {1}});
  const PartRange range{0, count};
  kernel_->run(preferred_level_table(), views, std::span(&range, 1), {compute_, values, {1}}, true);
}

PointJoin::PointJoin(const CellNest& nest, const PointExpression& expression, std::vector<Source> sources,
                     DType compute, std::size_t label_count, bool takes_union)
    : nest_(nest),
      expression_(expression),
      sources_(std::move(sources)),
      takes_union_(takes_union),
      unites_columns_(unites_columns()),
      cursors_(nest),
      indices_(label_count, 0),
      at_(nest.dense_count, 0),
      cell_at_(nest.tries.size(), -1) {
  CHECK(!nest.levels.empty(), "an operand of cells has a label");
  constexpr auto kPoints = static_cast<std::size_t>(PointExpression::kMostPoints);
  for (const auto type : expression.types()) columns_.emplace_back(kPoints * size_of(type));
  values_.resize(kPoints * size_of(compute));
  cells_.reserve(kPoints);
  held_.resize(kPoints);
  held_nodes_.assign(nest.levels.back().tries.size(), held_);
}

void PointJoin::run(Take take) {
  take_ = std::move(take);
  visit(0, 0);
  flush();
}

void PointJoin::visit(std::size_t number, std::int64_t cell) {
  if (number == nest_.levels.size()) return add_point(cell);
  if (number + 1 == nest_.levels.size()) return add_leaf(number, cell);
  const auto& level = nest_.levels[number];
  const auto& steps = level.tries;
  if (level.is_skipped) {
    const auto trie = steps.front().trie;
    const auto begin = cursors_.begin(trie);
    const auto end = cursors_.end(trie);
    if (begin == end) return;
    cursors_.set(trie, steps.front().begins[begin], steps.front().begins[end]);
    visit(number + 1, cell);
    return cursors_.set(trie, begin, end);
  }
  if (steps.empty()) {
    for (std::int64_t index = 0; index < level.extent; ++index) bind(number, index, nullptr, cell);
    return;
  }
  if (steps.size() == 1) {
    const auto& step = steps.front();
    const auto begin = cursors_.begin(step.trie);
    const auto end = cursors_.end(step.trie);
    for (auto node = begin; node < end; ++node) bind(number, step.coordinates[node], &node, cell);
    cursors_.set(step.trie, begin, end);
    return;
  }
  const auto saved = ranges_.size();
  for (const auto& step : steps) ranges_.emplace_back(cursors_.begin(step.trie), cursors_.end(step.trie));
  const auto take = [&](std::uint32_t coordinate, const std::int64_t* nodes) {
    bind(number, coordinate, nodes, cell);
    for (std::size_t k = 0; k < steps.size(); ++k)
      cursors_.set(steps[k].trie, ranges_[saved + k].first, ranges_[saved + k].second);
  };
  if (takes_union_) cursors_.unite(level, number, take);
  else cursors_.meet(level, number, take);
  ranges_.resize(saved);
}

// To an index of the level's label, and on to the next level.
void PointJoin::bind(std::size_t number, std::int64_t index, const std::int64_t* nodes, std::int64_t cell) {
  poll_cancellation_after(1);
  const auto& level = nest_.levels[number];
  indices_[level.label] = level.begin + index;
  for (const auto& step : level.dense) at_[step.dense] += index * step.stride;
  for (std::size_t k = 0; k < level.tries.size(); ++k) {
    const auto& step = level.tries[k];
    if (step.is_last) cell_at_[step.trie] = nodes[k];
    else if (nodes[k] >= 0) cursors_.descend(step, nodes[k]);
    else cursors_.set(step.trie, 0, 0);
  }
  visit(number + 1, cell + index * level.output_stride);
  for (const auto& step : level.dense) at_[step.dense] -= index * step.stride;
}

void PointJoin::add_point(std::int64_t cell) {
  const auto place = cells_.size();
  for (std::size_t n = 0; n < sources_.size(); ++n) {
    const auto& source = sources_[n];
    const auto size = size_of(expression_.types()[n]);
    auto* into = columns_[n].data() + place * size;
    const auto from = source.is_trie ? cell_at_[source.number] : at_[source.number];
    if (from < 0) std::memset(into, 0, size);
    else std::memcpy(into, source.values + static_cast<std::size_t>(from) * size, size);
  }
  for (std::size_t n = 0; n < expression_.numbers().size(); ++n) {
    const auto column = sources_.size() + n;
    expression_.write_number(n, indices_, columns_[column].data() + place * size_of(expression_.types()[column]));
  }
  cells_.push_back(cell);
  if (std::cmp_equal(cells_.size(), PointExpression::kMostPoints)) flush();
}

void PointJoin::add_leaf(std::size_t number, std::int64_t cell) {
  const auto& level = nest_.levels[number];
  if (unites_columns_) return unite_columns(level, cell);
  const auto& steps = level.tries;
  const auto hold = [&](std::int64_t index) {
    held_[held_count_++] = index;
    if (std::cmp_equal(held_count_ + cells_.size(), PointExpression::kMostPoints)) add_held(level, cell);
  };
  if (steps.empty()) {
    for (std::int64_t index = 0; index < level.extent; ++index) hold(index);
  } else if (steps.size() == 1) {
    const auto& step = steps.front();
    for (auto node = cursors_.begin(step.trie); node < cursors_.end(step.trie); ++node) {
      held_nodes_.front()[held_count_] = node;
      hold(step.coordinates[node]);
    }
  } else {
    const auto take = [&](std::uint32_t coordinate, const std::int64_t* nodes) {
      for (std::size_t k = 0; k < steps.size(); ++k) held_nodes_[k][held_count_] = nodes[k];
      hold(coordinate);
    };
    if (takes_union_) cursors_.unite(level, number, take);
    else cursors_.meet(level, number, take);
  }
  if (held_count_ > 0) add_held(level, cell);
}

// Moves the points that are held to those gathered.
void PointJoin::add_held(const CellNest::Level& level, std::int64_t cell) {
  poll_cancellation_after(held_count_);
  const auto place = cells_.size();
  cells_.resize(place + held_count_);
  for (std::size_t m = 0; m < held_count_; ++m) cells_[place + m] = cell + held_[m] * level.output_stride;
  for (std::size_t n = 0; n < sources_.size(); ++n) {
    const auto& source = sources_[n];
    const auto size = size_of(expression_.types()[n]);
    auto* into = columns_[n].data() + place * size;
    if (source.is_trie) {
      const auto step = std::find_if(level.tries.begin(), level.tries.end(),
                                     [&](const auto& candidate) { return candidate.trie == source.number; });
      const auto before = cell_at_[source.number];
      if (step == level.tries.end()) {
        gather_values(into, source.values, size, held_count_, [&](std::size_t) { return before; });
      } else {
        const auto* nodes = held_nodes_[static_cast<std::size_t>(step - level.tries.begin())].data();
        gather_values(into, source.values, size, held_count_, [&](std::size_t m) { return nodes[m]; });
      }
    } else {
      const auto step = std::find_if(level.dense.begin(), level.dense.end(),
                                     [&](const auto& candidate) { return candidate.dense == source.number; });
      const auto stride = step == level.dense.end() ? 0 : step->stride;
      const auto before = at_[source.number];
      gather_values(into, source.values, size, held_count_, [&](std::size_t m) { return before + held_[m] * stride; });
    }
  }
  for (std::size_t n = 0; n < expression_.numbers().size(); ++n) {
    const auto column = sources_.size() + n;
    const auto size = size_of(expression_.types()[column]);
    for (std::size_t m = 0; m < held_count_; ++m) {
      indices_[level.label] = level.begin + held_[m];
      expression_.write_number(n, indices_, columns_[column].data() + (place + m) * size);
    }
  }
  held_count_ = 0;
  if (std::cmp_equal(cells_.size(), PointExpression::kMostPoints)) flush();
}

// Whether the last level is merged from two tries, and the expression depends on their values alone.
bool PointJoin::unites_columns() const {
  return takes_union_ && sources_.size() == 2 && nest_.tries.size() == 2 && nest_.levels.back().tries.size() == 2 &&
         expression_.numbers().empty();
}

void PointJoin::unite_columns(const CellNest::Level& level, std::int64_t cell) {
  const auto& types = expression_.types();
  with_bits_of(size_of(types[0]), [&](auto a_bits) {
    with_bits_of(size_of(types[1]), [&](auto b_bits) {
      const auto line = [&](std::size_t n, auto bits) {
        const auto trie = sources_[n].number;
        const auto* coordinates = nest_.tries[trie]->levels.back().coordinates.data();
        return CellLine<decltype(bits)>{coordinates, reinterpret_cast<const decltype(bits)*>(sources_[n].values),
                                        cursors_.begin(trie), cursors_.end(trie)};
      };
      auto a = line(0, a_bits);
      auto b = line(1, b_bits);
      while (a.at < a.end || b.at < b.end) {
        const auto place = cells_.size();
        const auto most = std::min<std::int64_t>(PointExpression::kMostPoints - static_cast<std::int64_t>(place),
                                                 a.end - a.at + b.end - b.at);
        cells_.resize(place + static_cast<std::size_t>(most));
        const auto number_of = [&](std::uint32_t at) {
          return cell + static_cast<std::int64_t>(at) * level.output_stride;
        };
        const auto count = merge_cell_lines(a, b, most, cells_.data() + place, number_of,
                                            reinterpret_cast<decltype(a_bits)*>(columns_[0].data()) + place,
                                            reinterpret_cast<decltype(b_bits)*>(columns_[1].data()) + place);
        poll_cancellation_after(static_cast<std::size_t>(count));
        cells_.resize(place + static_cast<std::size_t>(count));
        if (std::cmp_equal(cells_.size(), PointExpression::kMostPoints)) flush();
      }
    });
  });
}

void PointJoin::flush() {
  if (cells_.empty()) return;
  std::vector<const std::byte*> columns;
  for (const auto& column : columns_) columns.push_back(column.data());
  expression_.evaluate(columns, static_cast<std::int64_t>(cells_.size()), values_.data());
  take_(cells_, values_.data());
  cells_.clear();
}

}  // namespace eindb

#include "tests/kernels/random_einsum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "executor/kernels/kernel.hpp"
#include "tensor/block_form.hpp"
#include "tensor/dense_tensor.hpp"
#include "tensor/scalar_types.hpp"

namespace eindb {
namespace {

constexpr std::array kElementTypes{DType::Float32, DType::Float64, DType::Complex64, DType::Complex128, DType::Int64};

template <class T>
const T& pick(Random& random, const std::vector<T>& from) {
  return from[static_cast<std::size_t>(draw(random, 0, static_cast<std::int64_t>(from.size()) - 1))];
}

Labels random_labels(Random& random, const Labels& from, std::int64_t rank) {
  Labels out;
  for (std::int64_t d = 0; d < rank; ++d) out.push_back(pick(random, from));
  return out;
}

// Shares `all` out between output and aggregated.
void distribute(Random& random, const Labels& all, EinSum& einsum) {
  for (const auto label : all)
    (einsum.aggregate != Aggregate::None && draw(random, 0, 1) == 1 ? einsum.aggregated : einsum.output)
        .push_back(label);
  std::shuffle(einsum.output.begin(), einsum.output.end(), random);
  if (einsum.aggregated.empty()) einsum.aggregate = Aggregate::None;
}

enum class Domain { Any, Complex, Integers };

ScalarPtr leaf(Random& random, std::size_t operands, const Labels& labels, Domain values) {
  using Kind = ScalarExpression::Kind;
  const auto choice = draw(random, 0, 9);
  if (choice < 6 && operands > 0)
    return ScalarExpression::operand(
        static_cast<std::size_t>(draw(random, 0, static_cast<std::int64_t>(operands) - 1)));
  if (choice < 8 && !labels.empty()) {
    if (choice == 6 || values == Domain::Integers) return ScalarExpression::label_index(pick(random, labels));
    const auto kind = draw(random, 0, 1) == 0 ? Kind::Uniform : Kind::Normal;
    return ScalarExpression::random(kind, static_cast<std::uint64_t>(draw(random, 0, 99)), labels);
  }
  if (choice == 8 && values != Domain::Integers)
    return ScalarExpression::real(static_cast<double>(draw(random, -8, 8)) / 4);
  return ScalarExpression::integer(draw(random, -3, 4));
}

bool belongs(ScalarOp op, Domain values) {
  if (op == ScalarOp::MakeComplex) return false;  // changes the domain; has a test of its own
  if (works_on_bits(op)) return values == Domain::Integers;
  if (values == Domain::Complex) return !info_of(op).ordered;
  return values == Domain::Any || !info_of(op).floating;
}

const std::vector<ScalarOp>& operations(Domain values) {
  static const auto list = [](Domain of) {
    std::vector<ScalarOp> out;
    for (std::size_t n = 0; n < kScalarOpCount; ++n)
      if (belongs(static_cast<ScalarOp>(n), of)) out.push_back(static_cast<ScalarOp>(n));
    return out;
  };
  static const std::array lists{list(Domain::Any), list(Domain::Complex), list(Domain::Integers)};
  return lists[static_cast<std::size_t>(values)];
}

// Of at most `depth` nested operations.
ScalarPtr random_expression(Random& random, std::size_t operands, const Labels& labels, int depth, Domain values) {
  if (depth == 0 || draw(random, 0, 5) == 0) return leaf(random, operands, labels, values);
  const auto op = pick(random, operations(values));
  const auto& info = info_of(op);
  auto count = info.max_arguments < 0 ? info.min_arguments + draw(random, 0, 2) : info.max_arguments;
  if (op == ScalarOp::Case) count |= 1;
  std::vector<ScalarPtr> arguments;
  for (std::int64_t a = 0; a < count; ++a)
    arguments.push_back(random_expression(random, operands, labels, depth - 1, values));
  if (op == ScalarOp::Power && (values == Domain::Integers || draw(random, 0, 1) == 0))
    arguments[1] = ScalarExpression::integer(draw(random, 0, values == Domain::Integers ? 70 : 5));
  return ScalarExpression::call(op, std::move(arguments));
}

template <class T>
T special_value(Random& random) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_integral_v<T>) {
    const std::array values{Limits::min(), Limits::max(), T{-1}, T{0}, Limits::min() + 1};
    return values[static_cast<std::size_t>(draw(random, 0, 4))];
  } else {
    const std::array values{Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), T(0), -T(0)};
    return values[static_cast<std::size_t>(draw(random, 0, 4))];
  }
}

}  // namespace

std::int64_t draw(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

std::vector<DType> RandomEinSum::types() const {
  std::vector<DType> out;
  for (const auto& tensor : tensors) out.push_back(tensor.dtype());
  return out;
}

DType RandomEinSum::precision() const {
  const auto is_single = [](DType type) { return type == DType::Float32 || type == DType::Complex64; };
  const auto all = types();
  return std::any_of(all.begin(), all.end(), is_single) ? DType::Float32 : compute;
}

std::vector<const Tile*> RandomEinSum::pointers() const {
  std::vector<const Tile*> out;
  for (const auto& tensor : tensors) out.push_back(&tensor);
  return out;
}

std::string RandomEinSum::describe() const {
  std::string out = to_string(einsum, "Z", {"X", "Y", "V", "W"}, labels) + " with";
  for (std::size_t n = 0; n < labels.size(); ++n)
    out += " " + labels.name(Label(n)) + "=" + std::to_string(labels.extent(Label(n)));
  for (const auto type : types()) out += " " + std::string(name_of(type));
  return out + " in " + std::string(name_of(compute)) + " to " + std::string(name_of(result));
}

Tile random_tile(Random& random, DType type, Shape shape, bool specials) {
  auto tile = Tile::uninitialized(type, std::move(shape));
  dispatch(type, [&](auto t) {
    using T = typename decltype(t)::type;
    for (std::int64_t n = 0; n < tile.shape().element_count(); ++n) {
      const auto value = draw(random, -8, 8);
      if constexpr (std::is_integral_v<T>) {
        tile.mutable_data<T>()[n] = value;
      } else if constexpr (std::is_floating_point_v<T>) {
        tile.mutable_data<T>()[n] = static_cast<T>(value) / 4;
      } else {
        using Part = typename T::value_type;
        tile.mutable_data<T>()[n] = T(static_cast<Part>(value) / 4, static_cast<Part>(draw(random, -8, 8)) / 4);
      }
      if constexpr (std::is_arithmetic_v<T>) {
        if (specials && draw(random, 0, 4) == 0) tile.mutable_data<T>()[n] = special_value<T>(random);
      }
    }
  });
  return tile;
}

RandomEinSum random_general(Random& random, const RandomChoices& choices) {
  RandomEinSum sample;
  const auto label_count = draw(random, 1, choices.most_labels);
  const auto largest =
      label_count <= 2 ? choices.largest_extent : std::max<std::int64_t>(3, choices.largest_extent * 2 / label_count);
  Labels pool;
  for (std::int64_t n = 0; n < label_count; ++n) {
    const auto extent = draw(random, 0, 19) == 0 ? 0 : draw(random, 1, largest);
    pool.push_back(sample.labels.add("l" + std::to_string(n), extent));
  }
  auto values = choices.integers ? Domain::Integers : Domain::Any;
  const auto inputs = draw(random, choices.integers ? 1 : 0, 2);
  for (std::int64_t n = 0; n < inputs; ++n) {
    sample.einsum.inputs.push_back(
        random_labels(random, pool, draw(random, 0, std::min<std::int64_t>(5, choices.most_labels))));
    const auto type = choices.integers ? DType::Int64 : kElementTypes[static_cast<std::size_t>(draw(random, 0, 4))];
    if (is_complex(type)) values = Domain::Complex;
    const bool specials = draw(random, 0, 7) == 0 && (choices.integers || type != DType::Int64);
    sample.tensors.push_back(
        random_tile(random, type, Shape(sample.labels.extents(sample.einsum.inputs.back())), specials));
  }
  constexpr std::array kAggregates{Aggregate::None, Aggregate::Sum, Aggregate::Prod, Aggregate::Min, Aggregate::Max};
  sample.einsum.aggregate = kAggregates[static_cast<std::size_t>(draw(random, 0, values == Domain::Complex ? 2 : 4))];
  if (!choices.products && sample.einsum.aggregate == Aggregate::Prod) sample.einsum.aggregate = Aggregate::Sum;
  Labels all;
  for (const auto& input : sample.einsum.inputs) append_distinct(all, input);
  append_distinct(all, random_labels(random, pool, draw(random, 0, 2)));
  sample.einsum.expression = random_expression(random, static_cast<std::size_t>(inputs), all, 4, values);
  if (choices.integers && operands_of(*sample.einsum.expression).empty())
    sample.einsum.expression =
        ScalarExpression::call(ScalarOp::Add, {sample.einsum.expression, ScalarExpression::operand(0)});
  distribute(random, all, sample.einsum);
  sample.compute = sample.result = type_of(*sample.einsum.expression, sample.types()).dtype;
  return sample;
}

double terms_of(const RandomEinSum& sample) {
  double terms = 1;
  for (const auto label : sample.einsum.aggregated) terms *= static_cast<double>(sample.labels.extent(label));
  return terms;
}

RandomEinSum random_contraction(Random& random, DType type, std::int64_t largest_extent) {
  RandomEinSum sample;
  Labels left;
  Labels right;
  const auto count = draw(random, 2, 7);
  sample.einsum.aggregate = Aggregate::Sum;
  for (std::int64_t n = 0; n < count; ++n) {
    const auto label = sample.labels.add("l" + std::to_string(n), draw(random, 1, largest_extent));
    const auto role = draw(random, 0, 9);  // batch, left, right, contracted; seldom summed before
    const bool in_left = role <= 6 || role == 8;
    const bool in_right = role <= 1 || (role >= 4 && role != 8);
    if (in_left && role != 7 && !(role == 4)) left.push_back(label);
    if ((in_right && role != 9) || role == 4) right.push_back(label);
    if (!contains(left, label) && !contains(right, label)) left.push_back(label);
    const bool both = contains(left, label) && contains(right, label);
    (both ? role >= 5 : role >= 8) ? sample.einsum.aggregated.push_back(label) : sample.einsum.output.push_back(label);
  }
  if (sample.einsum.aggregated.empty()) {
    const auto label = sample.labels.add("k", draw(random, 1, largest_extent));
    left.push_back(label);
    right.push_back(label);
    sample.einsum.aggregated.push_back(label);
  }
  for (auto* side : {&left, &right, &sample.einsum.output}) std::shuffle(side->begin(), side->end(), random);
  if (!left.empty() && draw(random, 0, 4) == 0) left.push_back(left.front());  // a diagonal
  sample.einsum.inputs = {left, right};
  std::vector<ScalarPtr> factors{ScalarExpression::operand(0), ScalarExpression::operand(1)};
  std::shuffle(factors.begin(), factors.end(), random);
  if (draw(random, 0, 2) == 0) factors.push_back(ScalarExpression::real(-1.5));
  sample.einsum.expression = ScalarExpression::call(ScalarOp::Multiply, std::move(factors));
  for (const auto& input : sample.einsum.inputs) {
    const bool narrow = type == DType::Float64 && draw(random, 0, 4) == 0;
    sample.tensors.push_back(random_tile(random, narrow ? DType::Float32 : type, Shape(sample.labels.extents(input))));
  }
  sample.compute = sample.result = type;
  return sample;
}

Tile run_in_parts(const RandomEinSum& sample, const LevelTable& level, Random& random) {
  const auto& einsum = sample.einsum;
  const auto labels = einsum.labels();
  Partition parts;
  for (const auto label : labels) {
    const auto most = std::max<std::int64_t>(1, std::min<std::int64_t>(3, sample.labels.extent(label)));
    parts.push_back(is_whole(einsum, label) ? 1 : draw(random, 1, most));
  }
  const auto project = [&](const Labels& wanted, const std::vector<std::int64_t>& values) {
    std::vector<std::int64_t> out;
    for (const auto label : wanted)
      out.push_back(values[static_cast<std::size_t>(std::find(labels.begin(), labels.end(), label) - labels.begin())]);
    return out;
  };
  Kernel kernel(einsum, sample.labels, sample.types(), sample.compute, sample.result, level);
  // Calls on the largest parts are planned, as a join's are; those on others are not.
  std::vector<std::int64_t> largest;
  for (std::size_t n = 0; n < labels.size(); ++n)
    largest.push_back(largest_part(sample.labels.extent(labels[n]), parts[n]));
  kernel.plan_calls_of(largest);

  std::vector<TileGrid> grids;
  std::vector<std::vector<TilePtr>> tiles;
  for (std::size_t n = 0; n < einsum.inputs.size(); ++n) {
    grids.emplace_back(sample.tensors[n].shape(), project(einsum.inputs[n], parts));
    tiles.push_back(split(sample.tensors[n], grids.back()));
  }
  const TileGrid output(Shape(sample.labels.extents(einsum.output)), project(einsum.output, parts));
  std::vector<Tile> groups;
  std::vector<bool> started(static_cast<std::size_t>(output.tile_count()), false);
  const auto* gather = kernel.row_gather();
  if (gather != nullptr && draw(random, 0, 1) == 0) gather = nullptr;
  std::vector<SortedRows> sorted(static_cast<std::size_t>(output.tile_count()));
  for (std::int64_t id = 0; id < output.tile_count(); ++id)
    groups.push_back(Tile::uninitialized(sample.compute, output.tile_shape(output.key_of(id))));

  std::vector<std::int64_t> key(labels.size(), 0);
  do {
    std::vector<PartRange> ranges;
    for (std::size_t n = 0; n < labels.size(); ++n)
      ranges.push_back(part_range(sample.labels.extent(labels[n]), parts[n], key[n]));
    std::vector<const Tile*> operands;
    for (std::size_t n = 0; n < grids.size(); ++n)
      operands.push_back(tiles[n][static_cast<std::size_t>(grids[n].id_of(project(einsum.inputs[n], key)))].get());
    const auto group = static_cast<std::size_t>(output.id_of(project(einsum.output, key)));
    if (gather == nullptr) {
      kernel.run(operands, ranges, groups[group], !started[group]);
    } else {
      if (!started[group]) {
        std::vector<GatherAxis> axes;
        for (const auto part : project(einsum.aggregated, parts)) axes.push_back({part, 0, part});
        auto indices = std::make_shared<const Tile>(convert(*operands[gather->index_operand()], DType::Int64));
        sorted[group] = gather->sort(std::move(indices), std::move(axes));
        gather->clear_before(sorted[group], 0, ranges, groups[group]);
      }
      const auto part = sorted[group].part_at(project(einsum.aggregated, key));
      gather->copy(sorted[group], part, ranges, *operands[gather->source()], groups[group]);
    }
    started[group] = true;
  } while (next_index(key, parts));

  std::vector<TilePtr> finished;
  for (const auto& group : groups) finished.push_back(std::make_shared<const Tile>(convert(group, sample.result)));
  return assemble(finished, output, sample.result);
}

namespace {

template <class T>
double magnitude(T value) {
  if constexpr (std::is_integral_v<T>) return std::abs(static_cast<double>(value));
  else return static_cast<double>(std::abs(value));
}

double difference_of(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  return std::abs(a - b);
}

template <class T>
double difference(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return difference_of(a, b);
  else if constexpr (std::is_integral_v<T>) return a == b ? 0 : std::numeric_limits<double>::infinity();
  else return std::max(difference_of(a.real(), b.real()), difference_of(a.imag(), b.imag()));
}

}  // namespace

void expect_close(const Tile& actual, const Tile& expected, DType compute, double terms, const std::string& what) {
  ASSERT_EQ(actual.dtype(), expected.dtype()) << what;
  ASSERT_EQ(actual.shape(), expected.shape()) << what;
  const bool single = compute == DType::Float32 || compute == DType::Complex64;
  const double epsilon = single ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  dispatch(actual.dtype(), [&](auto t) {
    using T = typename decltype(t)::type;
    double largest = 1;
    for (std::int64_t n = 0; n < expected.shape().element_count(); ++n)
      if (const auto m = magnitude(expected.data<T>()[n]); std::isfinite(m)) largest = std::max(largest, m);
    for (std::int64_t n = 0; n < expected.shape().element_count(); ++n) {
      const auto a = actual.data<T>()[n];
      const auto b = expected.data<T>()[n];
      const auto bound = epsilon * (16 + terms) * largest;
      ASSERT_TRUE(difference(a, b) <= bound) << what << "\n  element " << n << ": " << a << " instead of " << b;
    }
  });
}

}  // namespace eindb

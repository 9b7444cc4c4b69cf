// Random EINSUMs in both notations against two oracles: a direct evaluation of the statement, independent of eindb's
// planning, and the dense reference evaluator on the bound graph. EINDB_RANDOM_STATEMENTS sets the number,
// EINDB_RANDOM_SEED the seed.

#include "tests/engine/random_statement.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>

#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "engine/session.hpp"
#include "optimizer/passes.hpp"
#include "parser/binder/binder.hpp"
#include "parser/parser.hpp"
#include "tensor/reference_evaluator.hpp"
#include "tests/trial_counts.hpp"

namespace eindb::testing {
namespace {

constexpr std::size_t kRandomStatements = 2000;
constexpr std::int64_t kMostCells = 20000;

std::shared_ptr<const DenseTensor> dense(Session& session, const std::string& statement) {
  const auto result = session.execute(statement);
  const auto& tensor = *result.tensor;
  std::vector<TilePtr> tiles;
  for (std::int64_t id = 0; id < tensor.grid.tile_count(); ++id) tiles.push_back(tensor.tile(id));
  return std::make_shared<const DenseTensor>(assemble(tiles, tensor.grid, tensor.dtype));
}

// Tensors of every type and rank, with values in quarters between -2 and 2, in various partitions.
std::vector<KnownTensor> make_tensors(Session& session) {
  static constexpr std::array<const char*, 5> kTypes{"FLOAT32", "FLOAT64", "COMPLEX64", "COMPLEX128", "INT64"};
  std::mt19937 random(11);
  std::vector<KnownTensor> tensors;
  for (std::size_t type = 0; type < kTypes.size(); ++type) {
    for (std::size_t rank = 0; rank <= 6; ++rank) {
      const auto name = "T" + std::to_string(type) + std::to_string(rank);
      std::string dimensions;
      std::string parts;
      std::string cell = "0";
      for (std::size_t d = 0; d < rank; ++d) {
        const std::int64_t extent = 1 + static_cast<std::int64_t>(random() % (rank > 4 ? 2 : 4));
        const auto label = "x" + std::to_string(d);
        dimensions += (d == 0 ? "" : ", ") + label + " " + std::to_string(extent);
        parts += (d == 0 ? "" : ", ") + std::to_string(1 + random() % static_cast<std::uint32_t>(extent));
        cell = "(" + cell + " * 5 + " + label + ")";
      }
      const std::string whole = "((" + cell + " * 7 + " + std::to_string(random() % 100) + ") % 17 - 8)";
      const std::string quarters = type == 4 ? "FLOOR(" + whole + " / 4)" : whole + " / 4";
      const std::string value =
          type == 2 || type == 3 ? "COMPLEX(" + quarters + ", (" + cell + " % 5 - 2) / 2)" : quarters;
      session.execute("CREATE TENSOR " + name + " " + kTypes[type] + (rank == 0 ? "" : " PARTITION (" + parts + ")") +
                      " AS EINSUM " + name + "[" + dimensions + "] = " + value);
      std::string labels;
      for (std::size_t d = 0; d < rank; ++d) labels += (d == 0 ? "x" : ",x") + std::to_string(d);
      tensors.push_back({name, dense(session, "EINSUM R[" + labels + "] = " + name + "[" + labels + "]")});
    }
  }
  return tensors;
}

// The number of cells that the direct evaluation visits.
std::int64_t cells_of(const Node& node) {
  std::int64_t cells = 1;
  for (const auto label : node.free_labels()) cells *= kLabelExtents[label];
  for (const auto label : node.over) cells *= kLabelExtents[label];
  for (const auto& child : node.children) cells = std::max(cells, cells_of(child));
  return cells;
}

class Oracle {
 public:
  explicit Oracle(const RandomStatement& statement) : statement_(statement) {}

  // Value and magnitude of the result's cell number `n`, row-major.
  std::pair<std::complex<double>, double> at(std::int64_t n) const {
    Cell cell{};
    std::array<bool, kLabelExtents.size()> set{};
    for (auto d = statement_.head.size(); d-- > 0;) {
      const auto label = statement_.head[d];
      const auto index = n % kLabelExtents[label];
      n /= kLabelExtents[label];
      if (set[label] && cell[label] != index) return {0, 0};  // not on the diagonal
      cell[label] = index;
      set[label] = true;
    }
    return {statement_.expression.value(cell, false), statement_.expression.value(cell, true).real()};
  }

 private:
  const RandomStatement& statement_;
};

std::complex<double> element_of(const DenseTensor& tensor, std::int64_t n) {
  return dispatch(tensor.dtype(), [&](auto t) -> std::complex<double> {
    const auto value = tensor.data<typename decltype(t)::type>()[n];
    if constexpr (std::is_arithmetic_v<decltype(value)>) return static_cast<double>(value);
    else return std::complex<double>(value);
  });
}

// The aggregates of users that statements call.
constexpr std::array kAggregates{
    "CREATE AGGREGATE biggest(x, y) AS GREATEST(x, y) INITIAL -INFINITY COMMUTATIVE ASSOCIATIVE IDEMPOTENT "
    "DISTRIBUTES OVER (+, MIN)",
    "CREATE AGGREGATE latest(x, y) AS y INITIAL 0"};

MacroPtr find_aggregate(const std::string& name) {
  for (const auto* definition : kAggregates) {
    const auto statement = parse_statement(definition);
    const auto& create = std::get<ast::CreateMacro>(statement.node);
    if (equal_ignoring_case(create.name.text, name))
      return std::make_shared<const Macro>(Macro{create.name.text, create.parameters, create.body, create.aggregate});
  }
  return nullptr;
}

// Evaluates the bound graph vertex by vertex.
DenseTensor evaluate_bound(const std::string& text, const std::map<std::string, const KnownTensor*>& tensors) {
  const NameSource names{.find_tensor = [&](const std::string& name) -> std::optional<InputTensor> {
                           const auto found = tensors.find(name);
                           if (found == tensors.end()) return std::nullopt;
                           const auto& values = *found->second->values;
                           return InputTensor{.name = name,
                                              .dtype = values.dtype(),
                                              .grid = TileGrid(values.shape(), Partition(values.shape().rank(), 1))};
                         },
                         .tensor_names = [] { return std::vector<std::string>(); },
                         .find_macro = find_aggregate};
  const auto bound = bind_query(parse_query(text), names);
  const auto& graph = bound.graph;
  std::vector<DenseTensor> values;
  for (const auto& vertex : graph.vertices()) {
    if (!vertex.is_input()) {
      std::vector<const DenseTensor*> inputs;
      for (const auto input : vertex.inputs) inputs.push_back(&values[input.index()]);
      values.push_back(evaluate_reference(vertex.einsum, graph.labels(), inputs, vertex.compute_dtype, vertex.dtype));
      continue;
    }
    // A selection is the dense tensor with some dimensions at fixed indices.
    const auto& whole = *tensors.at(vertex.stored->name)->values;
    auto part = Tile::zeros(whole.dtype(), vertex.bound);
    std::vector<std::int64_t> strides;
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < whole.shape().rank(); ++d) {
      const auto stride = whole.shape().row_major_strides()[d];
      const auto held = vertex.stored->selection ? vertex.stored->selection->at[d] : std::nullopt;
      if (held) offset += *held * stride;
      else strides.push_back(stride);
    }
    const auto size = size_of(whole.dtype());
    copy_block(part.mutable_bytes().data(), part.shape().row_major_strides(),
               whole.bytes().data() + offset * static_cast<std::int64_t>(size), strides, part.shape().extents(), size);
    values.push_back(std::move(part));
  }
  return std::move(values[graph.output().index()]);
}

class RandomStatements : public ::testing::Test {
 protected:
  // Many statements, after these.
  void check_many(const std::vector<std::string>& settings);

  // Compares one statement with both oracles; false if its values are too large to compare.
  bool check(Session& session, const RandomStatement& statement,
             const std::map<std::string, const KnownTensor*>& tensors) {
    const auto result = dense(session, statement.text);
    const auto reference = evaluate_bound(statement.text, tensors);
    EXPECT_EQ(result.get()->shape(), reference.shape());
    EXPECT_EQ(result.get()->dtype(), reference.dtype());
    const double epsilon = statement.expression.reads_single_precision() ? 1.2e-7 : 2.3e-16;
    const Oracle oracle(statement);
    for (std::int64_t n = 0; n < result->shape().element_count(); ++n) {
      const auto [expected, magnitude] = oracle.at(n);
      if (magnitude > 1e15) return false;
      const double tolerance = 256 * epsilon * (magnitude + 1);
      const auto found = element_of(*result, n);
      if (std::abs(found - expected) <= tolerance && std::abs(found - element_of(reference, n)) <= tolerance) continue;
      ADD_FAILURE() << statement.text << "\n  cell " << n << ": " << found << ", directly " << expected
                    << ", reference evaluator " << element_of(reference, n) << ", tolerance " << tolerance;
      return true;
    }
    return true;
  }
};

// Passes to disable: none half of the time, otherwise each with probability one half.
std::string random_passes(std::mt19937& random) {
  std::string names;
  if (random() % 2 == 0) return names;
  for (const auto& pass : all_passes())
    if (pass.switchable && random() % 2 == 0) names += (names.empty() ? "" : ",") + std::string(pass.name);
  return names;
}

void RandomStatements::check_many(const std::vector<std::string>& settings) {
  Session session(":memory:");
  for (const auto& setting : settings) session.execute(setting);
  const auto tensors = make_tensors(session);
  for (const auto* definition : kAggregates) session.execute(definition);
  std::map<std::string, const KnownTensor*> by_name;
  for (const auto& tensor : tensors) by_name[tensor.name] = &tensor;
  const auto wanted = number_from_environment("EINDB_RANDOM_STATEMENTS", kRandomStatements);
  const auto seed = static_cast<unsigned>(number_from_environment("EINDB_RANDOM_SEED", 3));
  StatementGenerator generator(tensors, 17 + seed);
  std::mt19937 random(seed);
  std::size_t checked = 0;
  std::size_t too_large = 0;
  int failed = 0;
  while (checked < wanted) {
    const auto statement = random() % 4 == 0 ? generator.subscript_notation() : generator.index_notation();
    if (cells_of(statement.expression) > kMostCells || statement.head.size() > 10) continue;
    session.execute("SET threads = " + std::to_string(1 + random() % 3));
    session.execute("SET parallelism = " + std::to_string(1U << (random() % 6)));
    session.execute("SET disabled_passes = '" + random_passes(random) + "'");
    {
      Trial trial("random_statements");
      try {
        if (check(session, statement, by_name)) {
          ++checked;
        } else {
          ++too_large;
          trial.leave_out();
        }
      } catch (const Error& error) {
        ADD_FAILURE() << render(error, statement.text);
        ++checked;
      }
    }
    if (HasFailure() && ++failed > 5) return;
  }
  EXPECT_LT(too_large, wanted / 10);
}

TEST_F(RandomStatements, EqualTheReference) { check_many({}); }

// Whatever is computed as cells on the way is followed by another plan.
TEST_F(RandomStatements, EqualTheReferenceWherePlansAreMadeAgain) {
  check_many({"SET tile_format = 'sparse'", "SET replan_factor = 1"});
}

}  // namespace
}  // namespace eindb::testing

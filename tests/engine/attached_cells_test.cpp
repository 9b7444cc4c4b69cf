// Tensors of cells in the program's memory: the same results as of stored tensors, here and on workers, whatever is
// computed with them.

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>

#include "engine/query/pipeline.hpp"
#include "engine/session.hpp"
#include "engine/statements/statements.hpp"
#include "parser/parser.hpp"
#include "storage/tiles/read_snapshot.hpp"
#include "tensor/cell_block.hpp"
#include "tests/runner/local_cluster.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

// Adds up the place of each cell in the result times its value, so that values in the wrong place make another sum,
// however the result is cut.
class WeighingSink final : public TileSink {
 public:
  explicit WeighingSink(const TileGrid& grid) : grid_(grid) {}
  void write(std::int64_t tile_id, TilePtr tile) override {
    if (tile == nullptr) return;
    const auto dense = tile->is_of_cells() ? std::make_shared<const Tile>(expanded(*tile)) : tile;
    const auto* values = dense->data<double>();
    const auto key = grid_.key_of(tile_id);
    const auto begin = grid_.tile_begin(key);
    const auto in_tile = grid_.tile_shape(key).row_major_strides();
    const auto strides = grid_.shape().row_major_strides();
    for (std::int64_t n = 0; n < dense->shape().element_count(); ++n) {
      auto rest = n;
      std::int64_t place = 1;
      for (std::size_t d = 0; d < begin.size(); ++d) {
        place += (begin[d] + rest / in_tile[d]) * strides[d];
        rest %= in_tile[d];
      }
      sum += values[n] * static_cast<double>(place);
    }
  }
  double sum = 0;

 private:
  TileGrid grid_;
};

class AttachedCells : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    SessionOptions options;
    if (GetParam()) {
      cluster.emplace(scratch.file("workers"), 3);
      options.cluster = {std::shared_ptr<void>(), &cluster->cluster()};
      options.small_statements = SmallStatements::Workers;
    }
    state.emplace(scratch.file("a.db"), options);
    if (cluster) cluster->wait_for_workers();
    run("CREATE TENSOR D AS EINSUM D[j 40, k 5] = j - 3 * k + 1");
  }
  void TearDown() override { state.reset(); }

  void run(const std::string& sql) { run_statement(parse_statement(sql), *state); }

  // The same cells attached as `name`, and stored as `name` with "Stored" behind it.
  void add(const std::string& name, const Shape& shape, std::size_t count) {
    std::map<std::int64_t, double> cells;
    std::uniform_int_distribution<std::int64_t> any(0, shape.element_count() - 1);
    while (cells.size() < count) cells[any(random)] = static_cast<double>(random() % 19) - 9;
    std::vector<std::int64_t> numbers;
    std::vector<std::byte> values;
    std::string rows;
    for (const auto& [number, value] : cells) {
      numbers.push_back(number);
      const auto* bytes = reinterpret_cast<const std::byte*>(&value);
      values.insert(values.end(), bytes, bytes + sizeof(value));
      rows += (rows.empty() ? "(" : ", (") + std::to_string(number / shape[1]) + ", " +
              std::to_string(number % shape[1]) + ", " + std::to_string(value) + ")";
    }
    auto block = std::make_shared<const CellBlock>(CellBlock::of_numbers(DType::Float64, shape, numbers, values));
    state->database.attached.attach(name,
                                    {.dtype = DType::Float64,
                                     .data = nullptr,
                                     .extents = shape.extents(),
                                     .strides = {},
                                     .labels = {},
                                     .cells = block},
                                    1 << 20);
    const auto extents = "(i " + std::to_string(shape[0]) + ", j " + std::to_string(shape[1]) + ")";
    run("CREATE TENSOR " + name + "Stored " + extents + " PARTITION (3, 2)");
    run("INSERT INTO TENSOR " + name + "Stored VALUES " + rows);
  }

  // Of a query over tensors that are named S and T.
  void expect_same(std::string query) {
    ReadSnapshot snapshot(state->database.file, 1);
    const auto weigh = [&](const std::string& text) {
      const auto planned = plan_query(parse_query(text), *state);
      WeighingSink sink(planned.result_grid(0));
      TileSink* sinks[] = {&sink};
      eindb::run_query(planned, *state, snapshot, sinks);
      return sink.sum;
    };
    const auto attached = weigh(query);
    for (std::size_t at = 0; (at = query.find('[', at)) != std::string::npos; ++at)
      if (at > 0 && (query[at - 1] == 'S' || query[at - 1] == 'T')) {
        query.insert(at, "Stored");
        at += 6;
      }
    EXPECT_NEAR(attached, weigh(query), 1e-9 * std::abs(attached)) << query;
  }

  std::mt19937 random{7};
  ScratchDirectory scratch;
  std::optional<runner::LocalCluster> cluster;
  std::optional<SessionState> state;
};

TEST_P(AttachedCells, GiveTheResultsOfStoredTensors) {
  add("S", Shape({30, 40}), 60);
  add("T", Shape({30, 40}), 300);
  for (const std::string format : {"auto", "dense", "sparse"}) {
    run("SET tile_format = '" + format + "'");
    expect_same("EINSUM Z[i,j] = S[i,j]");
    expect_same("EINSUM Z[j,i] = 2 * S[i,j]");
    expect_same("EINSUM Z[i,k] = SUM(S[i,j] * D[j,k])");
    expect_same("EINSUM Z[i,k] = SUM(S[i,j] * T[k,j])");
    expect_same("EINSUM Z[i,j] = S[i,j] + T[i,j]");
    expect_same("EINSUM Z[i,j] = S[i,j] * T[i,j]");
    expect_same("EINSUM Z[j] = MAX(S[i,j])");
    expect_same("EINSUM Z[] = SUM(T[i,j])");
    expect_same("EINSUM Z[j] = S[7,j] + T[8,j]");
    expect_same("EINSUM Z[i,k] = SUM(S[i,j] * EXP(-ABS(T[k,j])))");
  }
}

INSTANTIATE_TEST_SUITE_P(HereAndOnWorkers, AttachedCells, ::testing::Bool());

}  // namespace
}  // namespace eindb

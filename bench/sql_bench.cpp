// Plain SQL over tensors, compared with an ordinary SQLite table with the rows (i, j, val) of the same cells:
//   a full scan, SELECT SUM(val), over a FLOAT32 tensor of CELLS cells;
//   point look-ups, compilation included, in tiles of a tensor of 1e9 cells;
//   a join of look-ups: a table of 100,000 random cells with the tensor of the scan.
// Runs alternate; the figures are medians. Usage: sql [CELLS] [RUNS]

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "bench/median.hpp"
#include "catalog/catalog.hpp"
#include "engine/session.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"
#include "storage/tiles/database_file.hpp"
#include "storage/tiles/tile_store.hpp"
#include "storage/tiles/tile_writer.hpp"

namespace {

/// A tensor of 1e9 cells of which only the tiles on the diagonal are present: 64 MB.
void make_huge(const std::string& path) {
  eindb::DatabaseFile file(path);
  eindb::Catalog catalog(file.connection());
  const eindb::Shape shape({31623, 31623});
  eindb::SqliteTransaction transaction(file.connection());
  const auto huge = catalog.create("Huge", eindb::DType::Float32, {"i", "j"}, eindb::TileGrid(shape, {64, 64}));
  {
    eindb::TileWriter writer(file.connection(), huge.store());
    for (std::int64_t n = 0; n < 64; ++n) {
      const auto id = huge.grid.id_of({n, n});
      auto tile = eindb::Tile::zeros(huge.dtype, huge.grid.tile_shape({n, n}));
      for (std::int64_t cell = 0; cell < tile.shape().element_count(); ++cell)
        tile.mutable_data<float>()[cell] = static_cast<float>(cell);
      writer.write(id, tile);
    }
  }
  transaction.commit();
}

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

eindb::Row run(eindb::Session& session, const std::string& statement) {
  auto result = session.execute(statement);
  eindb::Row row;
  eindb::Row last;
  while (result.rows != nullptr && result.rows->next(row)) last = row;
  return last;
}

struct Pair {
  double tensor;
  double table;
};

Pair compare(eindb::Session& session, int runs, const std::function<std::string(int, const std::string&)>& statement) {
  std::vector<double> tensor;
  std::vector<double> table;
  for (int n = 0; n < runs; ++n) {
    tensor.push_back(seconds_of([&] { run(session, statement(n, "A")); }));
    table.push_back(seconds_of([&] { run(session, statement(n, "T")); }));
  }
  return {eindb::median(tensor), eindb::median(table)};
}

}  // namespace

int main(int argc, char** argv) {
  const auto cells = argc > 1 ? std::atol(argv[1]) : 10'000'000;
  const int runs = argc > 2 ? std::atoi(argv[2]) : 5;
  const auto side = static_cast<long>(std::sqrt(static_cast<double>(cells)));
  const auto folder = std::filesystem::temp_directory_path() / "eindb-sql-bench";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  make_huge((folder / "bench.db").string());
  {
    eindb::Session session((folder / "bench.db").string());
    const auto extents = "[i " + std::to_string(side) + ", j " + std::to_string(side) + "]";
    run(session, "CREATE TENSOR A FLOAT32 AS EINSUM A" + extents + " = RANDN(1)");
    const auto filling = seconds_of([&] {
      run(session, "CREATE TABLE T (i INTEGER, j INTEGER, val REAL, PRIMARY KEY (i, j)) WITHOUT ROWID");
      run(session, "INSERT INTO T SELECT i, j, val FROM A ORDER BY i, j");
    });
    run(session,
        "CREATE TABLE cells AS WITH RECURSIVE n(x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM n LIMIT 100000)"
        " SELECT abs(random() % " +
            std::to_string(side) + ") AS i, abs(random() % " + std::to_string(side) + ") AS j FROM n");

    const auto rows = static_cast<double>(side) * static_cast<double>(side);
    const auto scan = compare(session, runs, [](int, const std::string& t) { return "SELECT SUM(val) FROM " + t; });
    const auto group = compare(session, runs, [](int, const std::string& t) {
      return "SELECT MAX(s) FROM (SELECT i, SUM(val) AS s FROM " + t + " GROUP BY i)";
    });
    const auto join = compare(session, runs, [](int, const std::string& t) {
      return "SELECT SUM(val) FROM cells CROSS JOIN " + t + " AS x ON x.i = cells.i AND x.j = cells.j";
    });
    const auto point = compare(session, 100, [&](int n, const std::string& t) {
      const auto at = std::to_string(n * 31);  // on the diagonal
      return "SELECT val FROM " + (t == "A" ? "Huge" : t) + " WHERE i = " + at + " AND j = " + at;
    });
    std::printf("SQL over a tensor and over a table of the same %.0f cells (the table took %.1f s to fill)\n", rows,
                filling);
    std::printf("                                       tensor         table\n");
    std::printf("  SELECT SUM(val), million rows/s    %8.1f      %8.1f   (15 wanted)\n", 1e-6 * rows / scan.tensor,
                1e-6 * rows / scan.table);
    std::printf("  GROUP BY i, million rows/s         %8.1f      %8.1f\n", 1e-6 * rows / group.tensor,
                1e-6 * rows / group.table);
    std::printf("  join of 100,000 cells, s           %8.3f      %8.3f\n", join.tensor, join.table);
    std::printf("  one cell of 1e9, ms                %8.3f      %8.3f   (5 wanted; the table is the one above)\n",
                1e3 * point.tensor, 1e3 * point.table);
  }
  std::filesystem::remove_all(folder);
}

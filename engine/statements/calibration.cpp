#include "engine/statements/calibration.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdio>
#include <functional>
#include <limits>
#include <thread>

#include "cluster/cluster.hpp"
#include "common/check.hpp"
#include "common/error.hpp"
#include "engine/query/pipeline.hpp"
#include "engine/query/transport_measurement.hpp"
#include "engine/settings/machine_file.hpp"
#include "engine/statements/statements.hpp"
#include "engine/tensors/storing_sink.hpp"
#include "engine/tensors/tile_endpoints.hpp"
#include "executor/repartition_operator.hpp"
#include "parser/parser.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"

namespace eindb {
namespace {

using Clock = std::chrono::steady_clock;

constexpr DType kMeasuredTypes[] = {DType::Float32, DType::Float64, DType::Complex64, DType::Complex128, DType::Int64};
constexpr std::int64_t kShort = 1 << 16;  // elements that fit in a cache
constexpr std::int64_t kMiddle = 1 << 18;
constexpr int kFewestRuns = 3;           // of one measurement
constexpr std::int64_t kLong = 1 << 22;  // elements that fit in no cache
constexpr std::int64_t kFunctionElements = 1 << 15;

struct MeasuredFunction {
  Operation operation;
  const char* text;
  bool is_complex_too = false;
};
constexpr MeasuredFunction kMeasuredFunctions[] = {
    {Operation::Divide, "1 / X[i]", true},
    {Operation::Sqrt, "SQRT(X[i])", true},
    {Operation::Uniform, "RANDOM(1) + X[i]", true},
    {Operation::Normal, "RANDN(1) + X[i]", true},
    {Operation::Exp, "EXP(X[i])", true},
    {Operation::Log, "LOG(X[i])", true},
    {Operation::Log2, "LOG2(X[i])"},
    {Operation::Log1p, "LOG1P(X[i])"},
    {Operation::Expm1, "EXPM1(X[i])"},
    {Operation::Sin, "SIN(X[i])", true},
    {Operation::Cos, "COS(X[i])", true},
    {Operation::Tan, "TAN(X[i])"},
    {Operation::Asin, "ASIN(X[i])"},
    {Operation::Acos, "ACOS(X[i])"},
    {Operation::Atan, "ATAN(X[i])"},
    {Operation::Sinh, "SINH(X[i])"},
    {Operation::Cosh, "COSH(X[i])"},
    {Operation::Tanh, "TANH(X[i])", true},
    {Operation::Erf, "ERF(X[i])"},
    {Operation::Sigmoid, "SIGMOID(X[i])"},
    {Operation::Power, "POW(X[i], 1.7)", true},
    {Operation::Atan2, "ATAN2(X[i], 0.5)"},
};

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Deletes a database file and the files that SQLite creates beside it.
class ScratchDatabase {
 public:
  explicit ScratchDatabase(const std::string& beside) : path_(beside + ".scratch" + std::to_string(::getpid())) {
    remove();
  }
  ~ScratchDatabase() { remove(); }
  ScratchDatabase(const ScratchDatabase&) = delete;
  ScratchDatabase& operator=(const ScratchDatabase&) = delete;
  const std::string& path() const { return path_; }

 private:
  void remove() const {
    for (const char* suffix : {"", "-wal", "-shm"}) std::remove((path_ + suffix).c_str());
  }
  std::string path_;
};

// Values between zero and one, or small integers, so that sums, products and functions of them stay finite.
class RandomValues {
 public:
  RandomValues(DType type, std::int64_t count) : type_(type), bytes_(static_cast<std::size_t>(count) * size_of(type)) {
    dispatch(type, [&](auto t) {
      using T = typename decltype(t)::type;
      auto* values = reinterpret_cast<T*>(bytes_.data());
      for (std::int64_t n = 0; n < count; ++n) {
        const double value = 0.05 + 0.9 * static_cast<double>(n % 1021) / 1021;
        if constexpr (std::is_same_v<T, std::int64_t>) values[n] = n % 1021 + 1;
        else values[n] = T(static_cast<float>(value));
      }
    });
  }

  MemoryTensor tensor(std::vector<std::int64_t> extents) const {
    const Shape shape(extents);
    CHECK(static_cast<std::size_t>(shape.element_count()) * size_of(type_) <= bytes_.size(),
          "a tensor lies in the values that there are");
    return {.dtype = type_,
            .data = bytes_.data(),
            .extents = std::move(extents),
            .strides = shape.row_major_strides(),
            .labels = {}};
  }

 private:
  DType type_;
  std::vector<std::byte> bytes_;
};

class Calibration {
 public:
  Calibration(const Settings& settings, const StatementContext& statement, const std::string& path, double seconds)
      : statement_(statement), scratch_(path), threads_(settings.threads()), inner_(":memory:", {}) {
    figures_.source = path;
    figures_.threads = threads_;
    inner_.user.settings.set("disabled_passes", std::string("common_subexpressions"));
    list_steps();
    CHECK(!steps_.empty() && threads_ > 0, "there are figures to measure, and a thread to measure with");
    slot_ = seconds / static_cast<double>(steps_.size()) / 2.5;
  }

  MachineFigures run() {
    for (std::size_t n = 0; n < steps_.size(); ++n) {
      statement_.report("calibrate", static_cast<std::int64_t>(n), static_cast<std::int64_t>(steps_.size()));
      steps_[n]();
    }
    return std::move(figures_);
  }

 private:
  void list_steps() {
    steps_.emplace_back([this] { measure_overheads(); });
    list_shared_steps();
    steps_.emplace_back([this] { measure_storage(); });
    for (const auto type : kMeasuredTypes) {
      if (type != DType::Int64)
        for (std::size_t n = 0; n < kMatrixSides; ++n) steps_.emplace_back([=, this] { measure_product(type, n); });
      steps_.emplace_back([=, this] { measure_vector(type); });
      steps_.emplace_back([=, this] { measure_operations(type); });
      steps_.emplace_back([=, this] { measure_folds(type); });
      steps_.emplace_back([=, this] { measure_functions(type); });
      list_shared_steps();
    }
  }

  // Measurements that need all cores at once are repeated later, and the best counts: another program that runs on one
  // of the cores makes all runs of one slot too slow.
  void list_shared_steps() {
    steps_.emplace_back([this] { measure_memory(); });
    steps_.emplace_back([this] { measure_scaling(); });
    steps_.emplace_back([this] { measure_repartition(); });
  }

  // ---- Timing ------------------------------------------------------------------------------------------------------

  // The state before each run of a measurement.
  enum class State : std::uint8_t {
    Warm,  // as the previous run left it: a statement finds the memory of earlier ones again (TileMemory)
    Idle,  // threads asleep, as between statements
  };

  // The least time of several runs within the slot of one measurement, of which the first gets fresh memory.
  double least(State state, const std::function<double()>& run) const {
    double best = std::numeric_limits<double>::infinity();
    const auto start = Clock::now();
    for (int runs = 0; runs < kFewestRuns || seconds_since(start) < slot_; ++runs) {
      statement_.cancellation().check();
      if (state == State::Idle) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      best = std::min(best, run());
    }
    return best;
  }

  static double wall_seconds(const std::function<void()>& work) {
    const auto start = Clock::now();
    work();
    return seconds_since(start);
  }

  // The time of the operators of a query's last vertex, without reading and planning.
  double query_seconds(const std::string& text, int threads = 1, std::int64_t parallelism = 1,
                       State state = State::Warm) {
    inner_.user.settings.set("threads", std::int64_t{threads});
    inner_.user.settings.set("parallelism", parallelism);
    const auto planned = plan_query(parse_query(text), inner_);
    ReadSnapshot snapshot(inner_.database.file, 1);
    return least(state, [&] {
      DiscardingSink sink;
      TileSink* const sinks[] = {&sink};
      const auto profile = run_query(planned, inner_, snapshot, sinks).local;
      double seconds = 0;
      CHECK(profile.nodes.size() == planned.plan.fragment().nodes.size(), "every operator that ran has a profile");
      for (std::size_t n = 0; n < profile.nodes.size(); ++n) {
        const auto role = planned.plan.fragment().nodes[n].role();
        if (role == OperatorRole::Kernel || role == OperatorRole::Completion) seconds += profile.nodes[n].seconds;
      }
      return seconds;
    });
  }

  // The time of a query without the fixed costs of kernel calls and operators.
  double work_seconds(const std::string& text) {
    const double overhead = figures_.call_seconds + one_thread_operator_;
    const double seconds = query_seconds(text);
    return std::max(seconds - overhead, seconds / 4);
  }

  // Attaches X and Y, with the given extents, while `measure` runs.
  void with_tensors(DType type, std::vector<std::int64_t> x, std::vector<std::int64_t> y,
                    const std::function<void()>& measure) {
    const RandomValues values(type, std::max(Shape(x).element_count(), Shape(y).element_count()));
    inner_.database.attached.attach("X", values.tensor(std::move(x)), 1 << 20);
    inner_.database.attached.attach("Y", values.tensor(std::move(y)), 1 << 20);
    const auto detach = [&] {
      inner_.database.attached.detach("X");
      inner_.database.attached.detach("Y");
    };
    try {
      measure();
    } catch (...) {
      detach();
      throw;
    }
    detach();
  }

  std::int64_t power_of_two_from(std::int64_t least) const {
    std::int64_t p = 1;
    while (p < least) p *= 2;
    return p;
  }

  // ---- Fixed costs, memory, threads -------------------------------------------------------------------------------

  void measure_overheads() {
    constexpr std::int64_t kCalls = 1024;
    with_tensors(DType::Float64, {kCalls}, {1}, [&] {
      one_thread_operator_ = query_seconds("EINSUM Z[i] = Y[i] + 1");
      figures_.call_seconds = query_seconds("EINSUM Z[i] = X[i] + 1", 1, kCalls) / kCalls;
      one_thread_operator_ = std::max(one_thread_operator_ - figures_.call_seconds, 1e-7);
      const auto calls = power_of_two_from(threads_);
      const double together = query_seconds("EINSUM Z[i] = X[i] + 1", threads_, calls);
      figures_.operator_seconds = std::max(together - figures_.call_seconds, one_thread_operator_);
      const double idle = query_seconds("EINSUM Z[i] = X[i] + 1", threads_, calls, State::Idle);
      figures_.start_seconds = std::max(idle - together, 1e-9);
    });
  }

  // The least seconds of one thread and of all, over the slots of a measurement.
  struct LeastSeconds {
    double one = std::numeric_limits<double>::infinity();
    double all = std::numeric_limits<double>::infinity();

    void take(double of_one, double of_all) {
      one = std::min(one, of_one);
      all = std::min(all, of_all);
    }
  };

  // Sums access almost no memory for writing; the additional time of a copy is that of writing.
  void take_memory_seconds(LeastSeconds& least, const std::string& text) {
    const double one = query_seconds(text);
    least.take(one, query_seconds(text, threads_, power_of_two_from(threads_)));
  }

  void measure_memory() {
    const double bytes = kLong * sizeof(double);
    with_tensors(DType::Float64, {kLong / 1024, 1024}, {1}, [&] {
      take_memory_seconds(load_, "EINSUM Z[i] = SUM(X[i,j])");
      take_memory_seconds(copy_, "EINSUM Z[i,j] = X[i,j] + 1");
      figures_.load = {bytes / load_.one, bytes / std::min(load_.one, load_.all)};
      const double store = std::max(copy_.one - load_.one, copy_.one / 4);
      figures_.store = {bytes / store, bytes / std::min(store, std::max(copy_.all - load_.all, copy_.all / 4))};
    });
  }

  void measure_scaling() {
    const auto batch = power_of_two_from(threads_);
    with_tensors(DType::Float32, {batch, 256, 256}, {batch, 256, 256}, [&] {
      const std::string products = "EINSUM Z[b,i,k] = SUM(X[b,i,j] * Y[b,j,k])";
      const double alone = query_seconds(products);
      const double together = query_seconds(products, threads_, batch) * static_cast<double>(batch) /
                              (std::ceil(static_cast<double>(batch) / threads_) * threads_);
      products_.take(alone, together);
      figures_.compute_scaling = std::clamp<double>(products_.one / products_.all, 1, threads_);
    });
  }

  double repartition_seconds(std::int64_t side, std::int64_t parts, int threads) {
    const Shape shape({side, side});
    const TileGrid rows(shape, {parts, 1});
    const TileGrid columns(shape, {1, parts});
    const auto memory = MemoryBudget::create(std::int64_t{1} << 40U);
    Relation source(DType::Float64, rows, memory);
    for (std::int64_t n = 0; n < parts; ++n)
      source.put(n, memory->track(Tile::zeros(DType::Float64, rows.tile_shape(rows.key_of(n)))));
    Scheduler scheduler(threads);
    return least(State::Warm, [&] {
      std::vector<TilePtr> made(static_cast<std::size_t>(parts));
      return wall_seconds([&] {
        scheduler.for_each(parts, [&](std::int64_t id) {
          std::int64_t pieces = 0;
          made[static_cast<std::size_t>(id)] = gather_tile(source, columns, id, *memory, pieces);
        });
      });
    });
  }

  void measure_repartition() {
    constexpr std::int64_t kSide = 2048;
    constexpr std::int64_t kSmallSide = 128;
    const double bytes = kSide * kSide * sizeof(double);
    const auto parts = std::max<std::int64_t>(8, power_of_two_from(threads_));
    const double one = repartition_seconds(kSide, parts, 1);
    repartition_.take(one, repartition_seconds(kSide, parts, threads_));
    figures_.repartition = {bytes / repartition_.one, bytes / std::min(repartition_.one, repartition_.all)};
    constexpr double kPieces = kSmallSide * kSmallSide;
    pieces_ = std::min(pieces_, repartition_seconds(kSmallSide, kSmallSide, 1));
    figures_.piece_seconds = pieces_ / kPieces;
  }

  // ---- Storage ----------------------------------------------------------------------------------------------------

  struct StorageTimes {
    double write = 0;
    double read_one = 0;
    double read_all = 0;
  };

  StorageTimes store(OpenDatabase& database, const RandomValues& values, const Partition& partition) {
    const std::vector<std::int64_t> extents{1024, 2048};
    const TileGrid grid(Shape(extents), partition);
    std::vector<TilePtr> tiles;
    for (std::int64_t n = 0; n < grid.tile_count(); ++n) {
      const auto shape = grid.tile_shape(grid.key_of(n));
      tiles.push_back(Tile::borrow(DType::Float64, shape,
                                   static_cast<const std::byte*>(values.tensor({shape.element_count()}).data)));
    }
    const auto write = [&] {
      SqliteTransaction transaction(database.connection());
      if (database.catalog.find("S")) database.catalog.drop("S");
      const auto tensor = database.catalog.create("S", DType::Float64, {"i", "j"}, grid);
      StoringSink sink(database.connection(), tensor.store(), false);
      for (std::int64_t n = 0; n < grid.tile_count(); ++n) sink.write(n, tiles[static_cast<std::size_t>(n)]);
      transaction.commit();
    };
    StorageTimes times;
    times.write = least(State::Warm, [&] { return wall_seconds(write); });
    database.connection().execute("PRAGMA wal_checkpoint(TRUNCATE)");
    times.read_one = read_seconds(database, grid, 1);
    times.read_all = read_seconds(database, grid, threads_);
    return times;
  }

  // Reads all tiles, one after the other: most operators give a tile back before they take the next. Each run has a
  // snapshot of its own, as each statement has.
  double read_seconds(OpenDatabase& database, const TileGrid& grid, int threads) {
    const auto store = database.catalog.get("S").store();
    Scheduler scheduler(threads);
    return least(State::Warm, [&] {
      ReadSnapshot snapshot(database.file, static_cast<std::size_t>(threads));
      return wall_seconds([&] {
        scheduler.for_each(grid.tile_count(), [&](std::int64_t id) {
          CHECK(snapshot.read(store, id) != nullptr, "every tile of the measured tensor is stored");
        });
      });
    });
  }

  // Sixteen tiles and a thousand tiles of equal total size: the difference in time is the cost per tile.
  void measure_storage() {
    const RandomValues values(DType::Float64, 1024 * 2048);
    OpenDatabase database(scratch_.path(), {});
    const auto few = store(database, values, {4, 4});
    const auto many = store(database, values, {32, 32});
    const double bytes = 1024 * 2048 * sizeof(double);
    const auto per_tile = [](double few_seconds, double many_seconds) {
      return std::max((many_seconds - few_seconds) / (1024 - 16), 1e-8);
    };
    figures_.write_tile_seconds = per_tile(few.write, many.write);
    figures_.read_tile_seconds = per_tile(few.read_one, many.read_one);
    figures_.write = bytes / few.write;
    figures_.read.one = bytes / few.read_one;
    figures_.read.all = std::max(figures_.read.one, bytes / few.read_all);
  }

  // ---- Kernels ----------------------------------------------------------------------------------------------------

  void measure_product(DType type, std::size_t place) {
    CHECK(place < kMatrixSides, "a product that is measured is of a side that figures have");
    constexpr double kFlops = 3e7;
    const auto side = std::int64_t{1} << (kFirstMatrixSideLog2 + static_cast<int>(place));
    const auto flops = 2.0 * static_cast<double>(side * side * side);
    const auto batch = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(kFlops / flops / static_cast<double>(side < 64 ? 4 : 1)), 1, 1 << 16);
    with_tensors(type, {batch, side, side}, {batch, side, side}, [&] {
      figures_.of(type).matrix_product[place] =
          flops * static_cast<double>(batch) / work_seconds("EINSUM Z[b,i,k] = SUM(X[b,i,j] * Y[b,j,k])");
    });
  }

  void measure_vector(DType type) {
    constexpr std::int64_t kRows = 1024;
    constexpr std::int64_t kColumns = 2048;
    with_tensors(type, {kRows, kColumns}, {kColumns}, [&] {
      figures_.of(type).matrix_vector = 2.0 * kRows * kColumns / work_seconds("EINSUM Z[i] = SUM(X[i,j] * Y[j])");
    });
  }

  // Compares a chain of operations with a single one on the same bytes.
  void measure_operations(DType type) {
    auto& rates = figures_.of(type);
    with_tensors(type, {512, kMiddle / 512}, {1}, [&] {
      const double plain = query_seconds("EINSUM Z[i,j] = X[i,j] + 1");
      std::string chain = "X[i,j] + 1";
      for (int n = 0; n < 16; ++n) chain = "((" + chain + ") * X[i,j] - X[i,j])";
      const double simple = std::max(query_seconds("EINSUM Z[i,j] = " + chain) - plain, plain / 4) / 32;
      rates.operations[0] = kMiddle / simple;
      const double crosswise = query_seconds("EINSUM Z[i,j] = X[j,i] + 1") - plain;
      rates.crosswise = kMiddle / std::max(crosswise, simple);
    });
  }

  // Compares each function with a copy. Complex numbers have few functions of their own; INT64 is computed in FLOAT64.
  void measure_functions(DType type) {
    if (type == DType::Int64) {
      const auto simple = figures_.of(type).operations[0];
      figures_.of(type).operations = figures_.of(DType::Float64).operations;
      figures_.of(type).operations[0] = simple;
      return;
    }
    with_tensors(type, {kFunctionElements}, {1}, [&] {
      const double plain = query_seconds("EINSUM Z[i] = X[i] + 1");
      for (const auto& [operation, text, is_complex_too] : kMeasuredFunctions)
        if (is_complex_too || !is_complex(type)) measure_function(type, operation, text, plain);
    });
    if (is_complex(type)) fill_complex(type);
  }

  void measure_function(DType type, Operation operation, const std::string& text, double plain) {
    CHECK(static_cast<std::size_t>(operation) < figures_.of(type).operations.size(), "what is measured has a rate");
    auto& rate = figures_.of(type).operations[static_cast<std::size_t>(operation)];
    const double least = kFunctionElements / figures_.of(type).operations[0];  // no function is faster than an addition
    rate = kFunctionElements / std::max(query_seconds("EINSUM Z[i] = " + text) - plain, least);
  }

  // Operations that were not measured get the rate of sine.
  void fill_complex(DType type) {
    auto& rates = figures_.of(type).operations;
    for (auto& rate : rates)
      if (rate == 0) rate = rates[static_cast<std::size_t>(Operation::Sin)];
  }

  void measure_folds(DType type) {
    auto& rates = figures_.of(type);
    with_tensors(type, {kShort}, {kShort}, [&] {
      rates.fold = kShort / work_seconds("EINSUM Z[] = SUM(X[i])");
      rates.product_fold = kShort / work_seconds("EINSUM Z[] = SUM(X[i] * Y[i])");
    });
    if (type == DType::Int64) rates.matrix_product.fill(2 * rates.product_fold);
  }

  const StatementContext& statement_;
  ScratchDatabase scratch_;
  const int threads_;
  SessionState inner_;
  MachineFigures figures_;
  LeastSeconds load_;
  LeastSeconds copy_;
  LeastSeconds products_;
  LeastSeconds repartition_;
  double pieces_ = std::numeric_limits<double>::infinity();  // the least seconds of a repartition into small pieces
  std::vector<std::function<void()>> steps_;
  double slot_ = 0;  // seconds per measurement
  double one_thread_operator_ = 0;
};

}  // namespace

MachineFigures calibrate(SessionState& session, const std::string& path, double seconds) {
  MachineFigures before;
  try {
    before = read_machine_file(path);
  } catch (const Error&) {
    // There is no file yet, or one that is replaced.
  }
  auto figures = Calibration(session.user.settings, session.statement, path, seconds).run();
  figures.tcp = before.tcp;
  figures.mpi = before.mpi;
  const auto* cluster = session.database.cluster.get();
  if (cluster == nullptr) return figures;
  (cluster->transport() == Transport::Mpi ? figures.mpi : figures.tcp) = measure_transport(session, seconds);
  return figures;
}

}  // namespace eindb

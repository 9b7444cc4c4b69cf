#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "common/check.hpp"
#include "optimizer/partitions/strategy.hpp"
#include "optimizer/paths/path_optimizer.hpp"
#include "optimizer/redistribution/exchange_choice.hpp"
#include "tensor/tile_format.hpp"

namespace eindb {

/// Where statements run that take less time in this process than workers need to be asked.
enum class SmallStatements : std::uint8_t { Here, Workers };

/// The settings of one session, for SET, SHOW and RESET. Values are checked when they are set.
class Settings {
 public:
  using Value = std::variant<std::int64_t, double, std::string>;
  struct Entry {
    std::string name;
    std::string value;
    std::string description;
  };

  /// The initial values and upper limits of a session's resources.
  struct Bounds {
    std::int64_t memory_limit;       ///< initial
    std::int64_t most_memory_limit;  ///< at most
    int threads;                     ///< initial
    int most_threads;                ///< at most
  };
  /// Bounds for exclusive use of the machine: initially four fifths of its memory and all of its cores, without upper
  /// limits.
  static Bounds of_machine();

  explicit Settings(const Bounds& bounds = of_machine());

  /// Error{UnknownName} suggests the nearest name; Error{Value} states the valid values.
  void set(const std::string& name, const Value& value);
  void reset(const std::string& name);
  void reset_all();
  std::string show(const std::string& name) const;
  /// In alphabetical order.
  std::vector<Entry> show_all() const;
  static std::vector<std::string> names();

  int threads() const { return threads_; }
  /// The number of workers that plans are made for; 0: this process alone.
  std::int64_t workers() const { return workers_.value_or(default_workers_); }
  /// The p of EinDecomp in plans for so many workers. The default gives every worker a kernel call or, without
  /// workers, is the first power of two that gives every thread four.
  std::int64_t parallelism(std::int64_t workers) const;
  std::int64_t parallelism() const { return parallelism(workers()); }
  bool parallelism_is_set() const { return parallelism_.has_value(); }
  /// Whether plans minimise seconds (the cost model `calibrated`) rather than elements moved. The default is true for
  /// plans without workers.
  bool calibrated(std::int64_t workers) const { return calibrated_.value_or(workers == 0); }
  bool calibrated() const { return calibrated(workers()); }
  /// Whether the user asked for the model `calibrated`.
  bool calibrated_is_set() const { return calibrated_.value_or(false); }
  /// The file of the machine's figures; empty: default_machine_path().
  const std::string& machine_file() const { return machine_file_; }
  std::int64_t memory_limit() const { return memory_limit_; }
  /// The part of memory_limit for tiles and kernels. The remainder is for pages of the database and for the allocator's
  /// overhead.
  std::int64_t memory_for_tiles() const { return memory_limit_ - memory_limit_ / kShareOfOthers; }
  /// The memory_limit that leaves `bytes` for tiles and kernels.
  static double memory_limit_for_tiles(double bytes) { return bytes * kShareOfOthers / (kShareOfOthers - 1); }
  /// The remedy for a statement that needs `memory_limit` bytes: SET memory_limit or, if the session may not raise it
  /// that far, whoever can.
  std::string how_to_have(std::int64_t memory_limit) const { return memory_advice()(memory_limit); }
  /// The same as a function, which outlives the settings.
  std::function<std::string(std::int64_t)> memory_advice() const;
  std::int64_t tile_bytes() const;
  bool tile_bytes_is_set() const { return tile_bytes_.has_value(); }
  /// In which formats tiles are stored.
  FormatChoice tile_format() const { return tile_format_; }
  std::int64_t statement_timeout_ms() const { return statement_timeout_ms_; }
  /// Sets the timeout and its default for RESET.
  void set_default_statement_timeout(std::int64_t ms) { statement_timeout_ms_ = default_statement_timeout_ms_ = ms; }
  /// Sets the number of workers in the session's cluster, the default of the setting workers.
  void set_default_workers(std::int64_t workers);
  const Strategy& strategy() const { return strategy_; }
  const PathOptions& path() const { return path_; }
  const std::set<std::string>& disabled_passes() const { return disabled_passes_; }
  bool progress() const { return progress_; }
  /// Whether an interrupted loop continues after its last committed round.
  bool resume_loops() const { return resume_loops_; }
  /// Bytes of decoded tiles that a session keeps between statements. The default is a quarter of the memory limit.
  std::int64_t tile_cache_size() const;
  /// The seed for the next RANDOM() without one; the one after that is greater by one.
  std::int64_t take_random_seed() { return random_seed_++; }
  /// The number of plans that a session keeps; 0: none.
  std::size_t plan_cache_size() const {
    DCHECK(plan_cache_size_ >= 0, "no fewer plans are kept than none");
    return static_cast<std::size_t>(plan_cache_size_);
  }

  /// The values of all settings that a plan may depend on, as text; a part of the plan's key.
  const std::string& plan_fingerprint() const { return plan_fingerprint_; }
  bool slicing() const { return slicing_; }
  /// Whether stored tensors cost nothing in any partition where vectors are chosen (DecompositionOptions::free_inputs).
  bool free_inputs() const { return free_inputs_; }
  /// A plan is made again while it runs where cells are so many times more or fewer than expected; 0: never.
  double replan_factor() const { return replan_factor_; }
  SmallStatements small_statements() const { return small_statements_; }
  /// Sets the value and its default for RESET.
  void set_default_small_statements(SmallStatements where);
  /// How relations move between blocks of workers.
  ExchangeWay redistribution() const { return redistribution_; }

  /// The divisor for the part of memory_limit that is not for tiles and kernels.
  static constexpr std::int64_t kShareOfOthers = 8;

 private:
  friend struct SettingRow;

  void update_fingerprint();

  Bounds bounds_;
  int threads_;
  std::optional<std::int64_t> workers_;
  std::int64_t default_workers_ = 0;
  std::optional<std::int64_t> parallelism_;
  std::int64_t memory_limit_;
  std::optional<std::int64_t> tile_bytes_;
  FormatChoice tile_format_ = FormatChoice::Auto;
  std::int64_t statement_timeout_ms_;
  std::int64_t default_statement_timeout_ms_ = 0;
  Strategy strategy_;
  PathOptions path_;
  std::set<std::string> disabled_passes_;
  SmallStatements small_statements_ = SmallStatements::Here;
  SmallStatements default_small_statements_ = SmallStatements::Here;
  bool progress_;
  bool resume_loops_;
  std::int64_t plan_cache_size_;
  std::int64_t random_seed_;
  std::optional<std::int64_t> tile_cache_size_;
  std::string plan_fingerprint_;
  bool slicing_;
  bool free_inputs_ = false;
  double replan_factor_;
  ExchangeWay redistribution_ = ExchangeWay::Auto;
  std::optional<bool> calibrated_;  // cost_model; absent: auto
  std::string machine_file_;
};

/// Parses "2GB", "512 MiB", "1000" into bytes. KB, MB, GB, TB are powers of 1000; KiB, MiB, GiB, TiB of 1024. nullopt
/// if the text is not a size.
std::optional<std::int64_t> parse_byte_size(const std::string& text);
/// Parses "250", "250ms", "30s", "5min", "1h" into milliseconds.
std::optional<std::int64_t> parse_duration_ms(const std::string& text);

}  // namespace eindb

#include "engine/settings/settings.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>
#include <limits>
#include <random>
#include <span>
#include <thread>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/coded_error.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "common/machine_memory.hpp"
#include "common/nearest_name.hpp"

namespace eindb {
namespace {

using Value = Settings::Value;

constexpr std::int64_t kMaxThreads = 1024;
constexpr std::int64_t kMaxParallelism = 65536;
constexpr std::int64_t kDefaultTileBytes = 1 << 20;
constexpr std::int64_t kDefaultPlanCacheSize = 256;
constexpr std::int64_t kMaxTimeoutMs = std::numeric_limits<std::int32_t>::max();  // as PostgreSQL
constexpr std::int64_t kTileCacheShare = 4;  // divisor for the cache's default part of the memory limit
constexpr std::int64_t kMaxPlanCacheSize = 1'000'000;
constexpr std::int64_t kMaxRandomSeed = std::int64_t{1} << 53U;  // exact in every client's numbers
constexpr double kDefaultReplanFactor = 10;
constexpr double kMaxReplanFactor = 1e9;
constexpr std::int64_t kMaxTileBytes = std::int64_t{900} << 20U;

int available_threads() {
  return static_cast<int>(std::clamp<std::int64_t>(std::thread::hardware_concurrency(), 1, kMaxThreads));
}

// Four fifths of the memory of the machine or of the process's control group.
std::int64_t default_memory_limit() { return available_memory() / 5 * 4; }

// Short enough to be copied by hand.
std::int64_t random_seed_of_system() {
  constexpr std::uint32_t kSeeds = 1'000'000'000;
  return std::random_device{}() % kSeeds;
}

std::string setting_text(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  return std::to_string(std::get<double>(value));
}

[[noreturn]] void refuse(const std::string& name, const Value& value, const std::string& takes) {
  throw Error(ErrorKind::Value, name + " cannot be '" + setting_text(value) + "'", std::nullopt,
              name + " takes " + takes);
}

struct Unit {
  std::string_view suffix;
  std::int64_t factor;
};

// A non-negative number and a unit; nullopt if the text is something else or overflows.
std::optional<std::int64_t> parse_with_unit(const std::string& text, std::initializer_list<Unit> units) {
  double number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || !(number >= 0)) return std::nullopt;
  std::string suffix = to_lower(std::string(end, text.data() + text.size()));
  suffix.erase(0, suffix.find_first_not_of(' ') == std::string::npos ? suffix.size() : suffix.find_first_not_of(' '));
  for (const auto& unit : units) {
    const double value = number * static_cast<double>(unit.factor);
    if (suffix == unit.suffix && value < 9e18) return static_cast<std::int64_t>(value);
  }
  return std::nullopt;
}

double replan_factor_of(const Value& value) {
  const auto text = setting_text(value);
  double factor = -1;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), factor);
  const bool is_number = status == std::errc{} && end == text.data() + text.size();
  if (!is_number || !(factor == 0 || (factor >= 1 && factor <= kMaxReplanFactor)))
    refuse("replan_factor", value, "a number from 1 to 1000000000, or 0");
  return factor;
}

std::int64_t integer_in(const std::string& name, const Value& value, std::int64_t low, std::int64_t high) {
  const auto takes = "an integer from " + std::to_string(low) + " to " + std::to_string(high);
  auto number = std::get_if<std::int64_t>(&value);
  if (number == nullptr || *number < low || *number > high) refuse(name, value, takes);
  return *number;
}

bool switch_of(const std::string& name, const Value& value) {
  const auto text = to_lower(setting_text(value));
  if (text != "on" && text != "off" && text != "1" && text != "0" && text != "true" && text != "false")
    refuse(name, value, "on or off");
  return text == "on" || text == "1" || text == "true";
}

constexpr double kMaxPathBudget = 60;

// nullopt for 'auto'.
std::optional<double> path_budget(const Value& value) {
  if (to_lower(setting_text(value)) == "auto") return std::nullopt;
  double seconds = -1;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) seconds = static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&value)) seconds = *real;
  if (const auto* text = std::get_if<std::string>(&value)) {
    const bool has_unit = !text->empty() && std::isalpha(static_cast<unsigned char>(text->back())) != 0;
    if (const auto ms = parse_duration_ms(*text); ms && has_unit) seconds = static_cast<double>(*ms) / 1000;
  }
  if (!(seconds >= 0 && seconds <= kMaxPathBudget))
    refuse("path_budget", value, "seconds from 0 to 60, a duration as in '50ms', or 'auto'");
  return seconds;
}

// The shortest text: 0.5, not 0.500000.
std::string short_number(double value) {
  char text[32];
  const auto [end, status] = std::to_chars(text, text + sizeof text, value);
  return {text, end};
}

std::set<std::string> split_names(const std::string& text) {
  std::set<std::string> names;
  std::string name;
  for (const char c : text + ",") {
    if (c == ' ') continue;
    if (c != ',') name += c;
    else if (!name.empty()) names.insert(std::exchange(name, {}));
  }
  return names;
}

std::string join_names(const std::set<std::string>& names) {
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "" : ",") + name;
  return out;
}

}  // namespace

// The complete definition of one setting.
struct SettingRow {
  std::string_view name;
  std::string_view description;
  void (*set)(Settings&, const Value&);
  std::string (*show)(const Settings&);
  void (*reset)(Settings&);
  bool shapes_plans = true;  ///< false only if no plan depends on it: then plans in the cache outlive a change

  static std::span<const SettingRow> all();
  static const SettingRow& find(const std::string& name);
};

std::span<const SettingRow> SettingRow::all() {
  static constexpr SettingRow kRows[] = {
      {"cost_model",
       "what plans are to save: 'transfers' (elements moved), 'calibrated' (seconds on this machine) or 'auto': "
       "transfers between workers, seconds without",
       [](Settings& s, const Value& v) {
         const auto text = to_lower(setting_text(v));
         if (text != "auto" && text != "transfers" && text != "calibrated")
           refuse("cost_model", v, "'auto', 'transfers' or 'calibrated'");
         s.calibrated_ = text == "auto" ? std::nullopt : std::optional(text == "calibrated");
       },
       [](const Settings& s) {
         if (!s.calibrated_) return std::string("auto");
         return std::string(*s.calibrated_ ? "calibrated" : "transfers");
       },
       [](Settings& s) { s.calibrated_.reset(); }},
      {"disabled_passes", "optimizer passes to leave out, as in 'common_subexpressions,early_summation'",
       [](Settings& s, const Value& v) { s.disabled_passes_ = split_names(to_lower(setting_text(v))); },
       [](const Settings& s) { return join_names(s.disabled_passes_); },
       [](Settings& s) { s.disabled_passes_.clear(); }},
      {"inputs",
       "what reading a stored tensor in another partition costs where vectors are chosen: 'stored' (moving it from its "
       "own) or 'free' (nothing, as if it had been cut so beforehand)",
       [](Settings& s, const Value& v) {
         const auto text = to_lower(setting_text(v));
         if (text != "stored" && text != "free") refuse("inputs", v, "'stored' or 'free'");
         s.free_inputs_ = text == "free";
       },
       [](const Settings& s) { return std::string(s.free_inputs_ ? "free" : "stored"); },
       [](Settings& s) { s.free_inputs_ = false; }},
      {"machine_file", "file of this machine's figures for cost_model 'calibrated'; '' for that of eindb calibrate",
       [](Settings& s, const Value& v) { s.machine_file_ = setting_text(v); },
       [](const Settings& s) { return s.machine_file_; }, [](Settings& s) { s.machine_file_.clear(); }},
      {"memory_limit", "bytes that the tiles of a statement may take, as in '2GB'",
       [](Settings& s, const Value& v) {
         const auto bytes = parse_byte_size(setting_text(v));
         if (!bytes || *bytes < 1 << 20) refuse("memory_limit", v, "a size of at least 1 MiB, as in '2GB'");
         if (*bytes > s.bounds_.most_memory_limit) {
           refuse("memory_limit", v,
                  "at most " + std::to_string(s.bounds_.most_memory_limit) + " bytes here: others share the memory");
         }
         s.memory_limit_ = *bytes;
       },
       [](const Settings& s) { return std::to_string(s.memory_limit_); },
       [](Settings& s) { s.memory_limit_ = s.bounds_.memory_limit; }},
      {"parallelism", "kernel calls per operation that EinDecomp aims at",
       [](Settings& s, const Value& v) { s.parallelism_ = integer_in("parallelism", v, 1, kMaxParallelism); },
       [](const Settings& s) { return std::to_string(s.parallelism()); }, [](Settings& s) { s.parallelism_.reset(); }},
      {"path_budget", "seconds that ordering one contraction may take, or auto: by what there is to gain",
       [](Settings& s, const Value& v) { s.path_.seconds = path_budget(v); },
       [](const Settings& s) { return s.path_.seconds ? short_number(*s.path_.seconds) : "auto"; },
       [](Settings& s) { s.path_.seconds.reset(); }},
      {"path_objective", "what makes an order of a contraction better: 'flops', 'size' or 'mix'",
       [](Settings& s, const Value& v) { s.path_.objective = parse_path_objective(setting_text(v)); },
       [](const Settings& s) { return name_of(s.path_.objective); },
       [](Settings& s) { s.path_.objective = PathObjective::Flops; }},
      {"path_optimizer", "how n-ary contractions are ordered: 'auto', 'greedy', 'optimal' or 'anneal'",
       [](Settings& s, const Value& v) { s.path_.optimizer = parse_path_optimizer(setting_text(v)); },
       [](const Settings& s) { return std::string(name_of(s.path_.optimizer)); },
       [](Settings& s) { s.path_.optimizer = PathOptimizer::Auto; }},
      {"plan_cache_size", "plans of queries that the session keeps to use again, 0 for none",
       [](Settings& s, const Value& v) { s.plan_cache_size_ = integer_in("plan_cache_size", v, 0, kMaxPlanCacheSize); },
       [](const Settings& s) { return std::to_string(s.plan_cache_size_); },
       [](Settings& s) { s.plan_cache_size_ = kDefaultPlanCacheSize; }, false},
      {"progress", "whether long work reports its progress: on or off",
       [](Settings& s, const Value& v) { s.progress_ = switch_of("progress", v); },
       [](const Settings& s) { return std::string(s.progress_ ? "on" : "off"); },
       [](Settings& s) { s.progress_ = true; }, false},
      {"random_seed", "the seed of the next RANDOM() that has none; each has the next whole number",
       [](Settings& s, const Value& v) { s.random_seed_ = integer_in("random_seed", v, 0, kMaxRandomSeed); },
       [](const Settings& s) { return std::to_string(s.random_seed_); },
       [](Settings& s) { s.random_seed_ = random_seed_of_system(); }, false},
      {"redistribution",
       "how relations move between blocks of workers: 'pieces' (one exchange in which each receives what it lacks), "
       "'collectives' (a sequence of all-gathers, all-to-alls and permutations) or 'auto' (what takes less time)",
       [](Settings& s, const Value& v) {
         const auto way = exchange_way_of(to_lower(setting_text(v)));
         if (!way) refuse("redistribution", v, "'auto', 'pieces' or 'collectives'");
         s.redistribution_ = *way;
       },
       [](const Settings& s) { return std::string(name_of(s.redistribution_)); },
       [](Settings& s) { s.redistribution_ = ExchangeWay::Auto; }},
      {"replan_factor",
       "the rest of a plan is made again where a result on the way has so many times more or fewer cells than "
       "expected; "
       "0: never",
       [](Settings& s, const Value& v) { s.replan_factor_ = replan_factor_of(v); },
       [](const Settings& s) { return short_number(s.replan_factor_); },
       [](Settings& s) { s.replan_factor_ = kDefaultReplanFactor; }},
      {"resume_loops", "whether REPEAT goes on after the last round that an earlier run has committed: on or off",
       [](Settings& s, const Value& v) { s.resume_loops_ = switch_of("resume_loops", v); },
       [](const Settings& s) { return std::string(s.resume_loops_ ? "on" : "off"); },
       [](Settings& s) { s.resume_loops_ = true; }, false},
      {"slicing", "whether contractions that would not fit memory_limit are computed in slices: on or off",
       [](Settings& s, const Value& v) { s.slicing_ = switch_of("slicing", v); },
       [](const Settings& s) { return std::string(s.slicing_ ? "on" : "off"); },
       [](Settings& s) { s.slicing_ = true; }},
      {"small_statements",
       "where statements run that are predicted to take less time in this process than a cluster's workers need to be "
       "asked: 'here' or 'workers'",
       [](Settings& s, const Value& v) {
         const auto text = to_lower(setting_text(v));
         if (text != "here" && text != "workers") refuse("small_statements", v, "'here' or 'workers'");
         s.small_statements_ = text == "here" ? SmallStatements::Here : SmallStatements::Workers;
       },
       [](const Settings& s) { return std::string(s.small_statements_ == SmallStatements::Here ? "here" : "workers"); },
       [](Settings& s) { s.small_statements_ = s.default_small_statements_; }},
      {"statement_timeout", "milliseconds after which a statement is cancelled, 0 for never; '30s' also works",
       [](Settings& s, const Value& v) {
         const auto ms = parse_duration_ms(setting_text(v));
         if (!ms || *ms > kMaxTimeoutMs)
           refuse("statement_timeout", v, "milliseconds up to 2147483647, or a duration as in '30s'");
         s.statement_timeout_ms_ = *ms;
       },
       [](const Settings& s) { return std::to_string(s.statement_timeout_ms_); },
       [](Settings& s) { s.statement_timeout_ms_ = s.default_statement_timeout_ms_; }, false},
      {"strategy",
       "how partition vectors are chosen: 'eindecomp', 'sqrt', 'data(label)', 'sequence', 'attention', 'megatron'",
       [](Settings& s, const Value& v) { s.strategy_ = parse_strategy(setting_text(v)); },
       [](const Settings& s) { return s.strategy_.to_string(); }, [](Settings& s) { s.strategy_ = {}; }},
      {"threads", "threads that work on tiles",
       [](Settings& s, const Value& v) {
         s.threads_ = static_cast<int>(integer_in("threads", v, 1, s.bounds_.most_threads));
       },
       [](const Settings& s) { return std::to_string(s.threads_); },
       [](Settings& s) { s.threads_ = s.bounds_.threads; }},
      {"tile_bytes", "size of the tiles that tensors are stored in when no PARTITION is given",
       [](Settings& s, const Value& v) {
         const auto bytes = parse_byte_size(setting_text(v));
         if (!bytes || *bytes < 1 || *bytes > kMaxTileBytes) refuse("tile_bytes", v, "a size from 1 byte to 900 MiB");
         s.tile_bytes_ = *bytes;
       },
       [](const Settings& s) { return std::to_string(s.tile_bytes()); }, [](Settings& s) { s.tile_bytes_.reset(); }},
      {"tile_format",
       "how tiles are stored: 'auto' (the format that takes the fewest bytes), 'dense', or 'sparse' (all but dense, "
       "for "
       "tests)",
       [](Settings& s, const Value& v) {
         const auto choice = format_choice_of(to_lower(setting_text(v)));
         if (!choice) refuse("tile_format", v, "'auto', 'dense' or 'sparse'");
         s.tile_format_ = *choice;
       },
       [](const Settings& s) { return std::string(name_of(s.tile_format_)); },
       [](Settings& s) { s.tile_format_ = FormatChoice::Auto; }},
      {"tile_cache_size",
       "bytes of tiles that the session keeps as they were read, to use again; at most memory_limit; 0 for none",
       [](Settings& s, const Value& v) {
         const auto bytes = parse_byte_size(setting_text(v));
         if (!bytes || *bytes < 0) refuse("tile_cache_size", v, "a size as in '2GB', or 0");
         s.tile_cache_size_ = *bytes;
       },
       [](const Settings& s) { return std::to_string(s.tile_cache_size()); },
       [](Settings& s) { s.tile_cache_size_.reset(); }, false},
      {"workers", "workers that plans are made for and EXPLAIN places them on; 0 for this process alone",
       [](Settings& s, const Value& v) { s.workers_ = integer_in("workers", v, 0, kMaxParallelism); },
       [](const Settings& s) { return std::to_string(s.workers()); }, [](Settings& s) { s.workers_.reset(); }},
  };
  return kRows;
}

const SettingRow& SettingRow::find(const std::string& name) {
  for (const auto& row : all())
    if (row.name == to_lower(name)) return row;
  const auto nearest = nearest_name(name, Settings::names());
  throw CodedError("42704", ErrorKind::UnknownName, "there is no setting " + name,
                   nearest ? "did you mean " + *nearest + "?" : "SHOW ALL lists the settings");
}

Settings::Bounds Settings::of_machine() {
  return {.memory_limit = default_memory_limit(),
          .most_memory_limit = std::numeric_limits<std::int64_t>::max(),
          .threads = available_threads(),
          .most_threads = static_cast<int>(kMaxThreads)};
}

Settings::Settings(const Bounds& bounds) : bounds_(bounds) {
  CHECK(bounds.threads > 0 && bounds.threads <= bounds.most_threads, "a session begins with threads that it may have");
  CHECK(bounds.memory_limit > 0 && bounds.memory_limit <= bounds.most_memory_limit,
        "a session begins with memory that it may have");
  reset_all();
}

void Settings::set(const std::string& name, const Value& value) {
  SettingRow::find(name).set(*this, value);
  update_fingerprint();
}

void Settings::reset(const std::string& name) {
  SettingRow::find(name).reset(*this);
  update_fingerprint();
}

std::string Settings::show(const std::string& name) const { return SettingRow::find(name).show(*this); }

void Settings::reset_all() {
  for (const auto& row : SettingRow::all()) row.reset(*this);
  update_fingerprint();
}

void Settings::update_fingerprint() {
  CHECK(threads_ > 0 && threads_ <= bounds_.most_threads, "a session has threads within its bounds");
  CHECK(memory_limit_ > 0 && memory_limit_ <= bounds_.most_memory_limit, "a session has memory within its bounds");
  plan_fingerprint_.clear();
  for (const auto& row : SettingRow::all())
    if (row.shapes_plans) plan_fingerprint_ += std::string(row.name) + "=" + row.show(*this) + ";";
}

std::vector<Settings::Entry> Settings::show_all() const {
  std::vector<Entry> entries;
  for (const auto& row : SettingRow::all())
    entries.push_back({std::string(row.name), row.show(*this), std::string(row.description)});
  return entries;
}

std::vector<std::string> Settings::names() {
  std::vector<std::string> names;
  for (const auto& row : SettingRow::all()) names.emplace_back(row.name);
  return names;
}

std::int64_t Settings::tile_bytes() const { return tile_bytes_.value_or(kDefaultTileBytes); }

std::function<std::string(std::int64_t)> Settings::memory_advice() const {
  return [most = bounds_.most_memory_limit](std::int64_t memory_limit) {
    const auto mebibytes = std::to_string((memory_limit >> 20) + (memory_limit % (1 << 20) == 0 ? 0 : 1)) + "MiB";
    if (memory_limit <= most) return "raise it with SET memory_limit = '" + mebibytes + "' or more";
    return "a session may have " + std::to_string(most >> 20) + " MiB here: give the server more with --memory-limit";
  };
}

std::int64_t Settings::tile_cache_size() const {
  return std::min(tile_cache_size_.value_or(memory_limit_ / kTileCacheShare), memory_limit_);
}

void Settings::set_default_workers(std::int64_t workers) {
  CHECK(workers >= 0, "workers are counted from none");
  default_workers_ = workers;
  update_fingerprint();
}

void Settings::set_default_small_statements(SmallStatements where) {
  small_statements_ = default_small_statements_ = where;
  update_fingerprint();
}

std::int64_t Settings::parallelism(std::int64_t workers) const {
  if (parallelism_) return *parallelism_;
  if (workers > 0) return workers;
  std::int64_t p = 1;
  while (p < 4 * static_cast<std::int64_t>(threads_)) p *= 2;
  CHECK(p >= threads_, "every thread has a call");
  return p;
}

std::optional<std::int64_t> parse_byte_size(const std::string& text) {
  constexpr std::int64_t k = 1000;
  constexpr std::int64_t ki = 1024;
  return parse_with_unit(text, {{"", 1},
                                {"b", 1},
                                {"kb", k},
                                {"mb", k * k},
                                {"gb", k * k * k},
                                {"tb", k * k * k * k},
                                {"kib", ki},
                                {"mib", ki * ki},
                                {"gib", ki * ki * ki},
                                {"tib", ki * ki * ki * ki}});
}

std::optional<std::int64_t> parse_duration_ms(const std::string& text) {
  return parse_with_unit(text, {{"", 1}, {"ms", 1}, {"s", 1000}, {"min", 60000}, {"h", 3600000}});
}

}  // namespace eindb

// The file is a JSON object:
//
//   {"format": "eindb machine figures", "version": 2, "threads": 8,
//    "figures": {"compute_scaling": 7.4, "operator_seconds": 1.2e-05, ...,
//                "FLOAT32 matrix_product 4": 2.1e+09, ...}}
//
// `figures` has every name that machine_rows lists, each with a positive number; those of a transport are there if it
// was measured. Other keys are ignored. A file of
// another version is refused, since measuring again takes only seconds.

#include "engine/settings/machine_file.hpp"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "common/error.hpp"
#include "storage/files/input_file.hpp"
#include "storage/files/output_file.hpp"

namespace eindb {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "eindb machine figures";
constexpr int kVersion = 2;
constexpr std::int64_t kLargestFile = 1 << 16;
constexpr int kMostThreads = 1 << 16;
// Bounds for a figure in any unit, from the time of a byte to the speed of the largest machines.
constexpr double kSmallestFigure = 1e-15;
constexpr double kLargestFigure = 1e18;
constexpr const char* kRemedy = "measure the machine again: eindb calibrate";

constexpr DType kRatedTypes[] = {DType::Float32, DType::Float64, DType::Complex64, DType::Complex128, DType::Int64};
constexpr const char* kOperationNames[kOperations] = {
    "simple", "DIVIDE", "SQRT", "RANDOM", "RANDN", "EXP",  "LOG",  "LOG2", "LOG1P",   "EXPM1", "SIN",  "COS",
    "TAN",    "ASIN",   "ACOS", "ATAN",   "SINH",  "COSH", "TANH", "ERF",  "SIGMOID", "POWER", "ATAN2"};

struct Figure {
  std::string name;
  const char* unit;
  double* value;
};

void add_throughput(std::vector<Figure>& out, const std::string& name, Throughput& throughput) {
  out.push_back({name + " one thread", "bytes/s", &throughput.one});
  out.push_back({name + " all threads", "bytes/s", &throughput.all});
}

void add_rates(std::vector<Figure>& out, DType type, KernelRates& rates) {
  const std::string prefix = std::string(name_of(type)) + " ";
  for (std::size_t n = 0; n < kMatrixSides; ++n) {
    const auto side = 1 << (kFirstMatrixSideLog2 + static_cast<int>(n));
    out.push_back({prefix + "matrix_product " + std::to_string(side), "flops/s", &rates.matrix_product[n]});
  }
  out.push_back({prefix + "matrix_vector", "flops/s", &rates.matrix_vector});
  for (std::size_t n = 0; n < kOperations; ++n)
    out.push_back({prefix + kOperationNames[n], "operations/s", &rates.operations[n]});
  out.push_back({prefix + "fold", "elements/s", &rates.fold});
  out.push_back({prefix + "product_fold", "elements/s", &rates.product_fold});
  out.push_back({prefix + "crosswise", "elements/s", &rates.crosswise});
}

void add_transport(std::vector<Figure>& out, const std::string& prefix, TransportCosts& costs) {
  for (const auto& cost : kTransportCosts) out.push_back({prefix + cost.name, "s", &(costs.*cost.value)});
}

// All figures except the number of threads and the source.
std::vector<Figure> figures_in(MachineFigures& m) {
  std::vector<Figure> out{{"compute_scaling", "threads", &m.compute_scaling},
                          {"start_seconds", "s", &m.start_seconds},
                          {"operator_seconds", "s", &m.operator_seconds},
                          {"call_seconds", "s", &m.call_seconds},
                          {"piece_seconds", "s", &m.piece_seconds}};
  add_throughput(out, "load", m.load);
  add_throughput(out, "store", m.store);
  add_throughput(out, "repartition", m.repartition);
  add_throughput(out, "read", m.read);
  out.push_back({"read_tile_seconds", "s", &m.read_tile_seconds});
  out.push_back({"write", "bytes/s", &m.write});
  out.push_back({"write_tile_seconds", "s", &m.write_tile_seconds});
  for (const auto type : kRatedTypes) add_rates(out, type, m.of(type));
  if (m.tcp) add_transport(out, "tcp ", *m.tcp);
  if (m.mpi) add_transport(out, "mpi ", *m.mpi);
  return out;
}

[[noreturn]] void refuse_file(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::Corrupt, path + " holds no figures of a machine: " + why, std::nullopt, kRemedy);
}

std::string contents(const std::string& path) {
  const auto file = [&] {
    try {
      return InputFile(path);
    } catch (const Error& error) {
      throw Error(error.kind(), error.message(), std::nullopt, kRemedy);
    }
  }();
  if (file.size() > kLargestFile) refuse_file(path, "it has " + std::to_string(file.size()) + " bytes");
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  file.read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

// A number within bounds from a member of an object.
double number_at(const Json& object, const std::string& name, double low, double high, const std::string& path) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number()) refuse_file(path, "it has no number '" + name + "'");
  const auto value = found->get<double>();
  if (!(value >= low && value <= high)) refuse_file(path, "'" + name + "' is " + found->dump());
  return value;
}

}  // namespace

std::string default_machine_path() {
  if (const char* config = std::getenv("XDG_CONFIG_HOME"); config != nullptr && *config != '\0')
    return std::string(config) + "/eindb/machine.json";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    return std::string(home) + "/.config/eindb/machine.json";
  return "";
}

MachineFigures read_machine_file(const std::string& path) {
  const auto json = Json::parse(contents(path), nullptr, false);
  if (json.is_discarded() || !json.is_object()) refuse_file(path, "it is no JSON object");
  if (!json.contains("format") || json["format"] != kFormat) refuse_file(path, "its format is another one");
  if (!json.contains("version") || json["version"] != kVersion) refuse_file(path, "its version is another one");
  if (!json.contains("figures") || !json["figures"].is_object()) refuse_file(path, "'figures' is missing");
  MachineFigures machine;
  machine.source = path;
  machine.threads = static_cast<int>(number_at(json, "threads", 1, kMostThreads, path));
  const auto& values = json["figures"];
  const auto has = [&](const char* transport) { return values.contains(std::string(transport) + " per_exchange"); };
  if (has("tcp")) machine.tcp.emplace();
  if (has("mpi")) machine.mpi.emplace();
  for (const auto& figure : figures_in(machine))
    *figure.value = number_at(values, figure.name, kSmallestFigure, kLargestFigure, path);
  return machine;
}

void make_directory_for(const std::string& path) {
  const auto directory = std::filesystem::path(path).parent_path();
  std::error_code failure;
  if (!directory.empty()) std::filesystem::create_directories(directory, failure);
  if (failure) {
    throw Error(ErrorKind::Io, "cannot make the directory " + directory.string() + ": " + failure.message(),
                std::nullopt, "name a file: eindb calibrate FILE");
  }
}

void write_machine_file(const std::string& path, const MachineFigures& figures) {
  auto machine = figures;
  Json values = Json::object();
  for (const auto& figure : figures_in(machine)) values[figure.name] = *figure.value;
  const Json json{{"format", kFormat}, {"version", kVersion}, {"threads", figures.threads}, {"figures", values}};
  const auto text = json.dump(2) + "\n";
  OutputFile file(path);
  file.append(std::as_bytes(std::span(text)));
  file.commit();
}

std::vector<Row> machine_rows(const MachineFigures& figures) {
  auto machine = figures;
  std::vector<Row> rows{{std::string("source"), figures.source, Cell{}},
                        {std::string("threads"), std::int64_t{figures.threads}, Cell{}}};
  for (const auto& figure : figures_in(machine)) rows.push_back({figure.name, *figure.value, std::string(figure.unit)});
  return rows;
}

std::vector<Column> machine_columns() {
  return {{"figure", ColumnType::Text}, {"value", ColumnType::Any}, {"unit", ColumnType::Text}};
}

}  // namespace eindb

#include "engine/explain.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "engine/cluster_description.hpp"
#include "engine/figures.hpp"

namespace eindb {
namespace {

using Json = nlohmann::ordered_json;

std::string partition_text(const Json& partition) {
  std::string out;
  for (const auto& [label, parts] : partition.items())
    out += (out.empty() ? "" : " ") + label + ":" + std::to_string(parts.get<std::int64_t>());
  return out.empty() ? "-" : out;
}

std::string vertex_text(const Json& vertex, bool with_prediction) {
  const auto count = [&](const char* key) { return magnitude(vertex[key].get<double>()); };
  std::string out = "  " + vertex["einsum"].get<std::string>() + "\n      " + vertex["type"].get<std::string>() + " " +
                    vertex["bound"].dump() + ", parts " + partition_text(vertex["partition"]) + ", " +
                    count("kernel_calls") + " kernel calls, cost: join " + count("cost_join") + ", aggregation " +
                    count("cost_agg") + ", repartition " + count("cost_repart") + "\n";
  if (vertex.contains("placement"))
    out += "      on " + vertex["placement"].get<std::string>() + ", " + count("elements_received") +
           " elements received\n";
  if (with_prediction) {
    out += "      predicted: " + milliseconds(vertex["predicted_seconds"].get<double>()) + ", " +
           count("predicted_elements") + " elements moved\n";
  }
  if (vertex.contains("actual_seconds")) {
    out += "      actual: " + milliseconds(vertex["actual_seconds"].get<double>()) + ", " + count("actual_elements") +
           " elements moved, tiles in " + count("tiles_in") + ", tiles out " + count("tiles_out") + ", " +
           count("bytes") + " bytes\n";
  }
  return out;
}

// What the model `calibrated` chose from: nothing under `transfers`.
std::string candidates_text(const Json& plan) {
  if (plan["cost_model"] != "calibrated") return "";
  std::string out;
  for (const auto& candidate : plan["parallelism_candidates"]) {
    out += (out.empty() ? "Parallelism " : ", ") + std::to_string(candidate["parallelism"].get<std::int64_t>()) + ": " +
           milliseconds(candidate["predicted_seconds"].get<double>());
    if (!candidate["fits_memory_limit"].get<bool>()) out += " beyond memory_limit";
  }
  return out + "\nFigures " + plan["figures"].get<std::string>() +
         (plan["figures"] == built_in_figures().source ? "; eindb calibrate measures this machine\n" : "\n");
}

std::string path_text(const Json& path) {
  const auto objective = path["objective"].get<std::string>();
  std::string methods;
  for (const auto& method : path["methods"]) methods += (methods.empty() ? "" : ", ") + method.get<std::string>();
  return "Path " + path["optimizer"].get<std::string>() + (methods.empty() ? "" : " (" + methods + ")") +
         (objective == "flops" || methods.empty() ? "" : " by " + objective) + ": " +
         magnitude(path["naive_flops"].get<double>()) + " flops as written, " + magnitude(path["flops"].get<double>()) +
         " as planned, largest result " + magnitude(path["largest_intermediate"].get<double>()) +
         " elements, found in " + milliseconds(path["seconds"].get<double>()) + "\n";
}

// Empty where nothing is sliced.
std::string slices_text(const Json& path) {
  std::string labels;
  for (const auto& label : path["sliced_labels"])
    labels += " " + label["label"].get<std::string>() + ":" + std::to_string(label["parts"].get<std::int64_t>());
  return labels.empty() ? "" : "Slices " + magnitude(path["slices"].get<double>()) + " of" + labels + "\n";
}

std::string share(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", value);
  return text;
}

// How a plan that does not fit the memory limit keeps to it; empty for one that fits.
std::string memory_text(const Json& plan) {
  if (!plan.contains("memory")) return "";
  const auto& memory = plan["memory"];
  const auto seconds = [&](const char* key) {
    return memory[key].is_null() ? std::string("cannot be done") : milliseconds(memory[key].get<double>());
  };
  const auto spilled = magnitude(memory["spilled_bytes"].get<double>()) + " bytes";
  std::string way = "a scratch file, about " + spilled;
  if (memory["by"] == "slices") way = "slices";
  if (memory["by"] == "recomputation") way = "computing again, a scratch file for about " + spilled;
  return "Memory limit kept by " + way + ": spilling " + seconds("seconds_spilling") + ", slicing " +
         seconds("seconds_slicing") + ", computing again " + seconds("seconds_recomputing") + "\n";
}

// "M, E, Z".
std::string names_text(const Json& names) {
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "" : ", ") + name.get<std::string>();
  return out;
}

// Empty where nothing is.
std::string recomputed_text(const Json& plan) {
  return plan.contains("recomputed") ? "Computed again " + names_text(plan["recomputed"]) + "\n" : "";
}

std::string operator_text(const Json& op) {
  std::string out = "  " + std::to_string(op["id"].get<std::size_t>()) + " " + op["operator"].get<std::string>() + " " +
                    op["vertex"].get<std::string>();
  for (const auto& input : op["inputs"]) out += " #" + std::to_string(input.get<std::size_t>());
  out += " -> grid " + op["grid"].dump();
  if (op.contains("fused")) out += ", of " + names_text(op["fused"]);
  if (op.contains("selection")) out += ", " + op["selection"].get<std::string>();
  if (op.contains("density")) out += ", density " + share(op["density"].get<double>());
  if (op.contains("slices")) out += ", in " + magnitude(op["slices"].get<double>()) + " slices";
  if (op.contains("tiles_read")) out += ", " + std::to_string(op["tiles_read"].get<std::int64_t>()) + " tiles read";
  if (op.contains("skipped_calls"))
    out += ", " + grouped(op["skipped_calls"].get<double>()) + " calls skipped for zeros";
  if (op.contains("actual_seconds")) out += "  (" + milliseconds(op["actual_seconds"].get<double>()) + ")";
  return out + "\n";
}

// The widths of a table's columns, which longer texts exceed.
constexpr std::size_t kNameWidth = 20;
constexpr std::size_t kCountWidth = 20;
constexpr std::size_t kRatioWidth = 8;

std::string padding(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ');
}

std::string column(const std::string& text, std::size_t width) { return " " + padding(text, width) + text; }

std::string strategy_text(const Json& strategy) {
  const auto count = [&](const char* key) { return magnitude(strategy[key].get<double>()); };
  const auto name = strategy["strategy"].get<std::string>();
  char ratio[32];
  std::snprintf(ratio, sizeof ratio, "%.2f", strategy["ratio"].get<double>());
  std::string out =
      "  " + name + padding(name, kNameWidth) + column(count("total_cost"), kCountWidth) + column(ratio, kRatioWidth);
  for (const auto* key : {"cost_join", "cost_agg", "cost_repart", "elements_received"})
    if (strategy.contains(key)) out += column(count(key), kCountWidth);
  const auto most = count("most_calls");
  return out + "  " +
         (strategy["fewest_calls"] == strategy["most_calls"] ? most : count("fewest_calls") + " to " + most);
}

// A table of all strategies, numbers right-aligned.
std::string strategies_text(const Json& strategies) {
  const bool for_workers = strategies.front().contains("elements_received");  // EinDecomp's, which always applies
  std::string out =
      "Strategies\n  " + padding("", kNameWidth) + column("total cost", kCountWidth) + column("ratio", kRatioWidth);
  for (const auto* title : {"join", "aggregation", "repartition"}) out += column(title, kCountWidth);
  out += (for_workers ? column("elements received", kCountWidth) : "") + "  kernel calls\n";
  for (const auto& s : strategies)
    out += (s.contains("not_applicable")
                ? "  " + s["strategy"].get<std::string>() + ": " + s["not_applicable"].get<std::string>()
                : strategy_text(s)) +
           "\n";
  return out;
}

std::string placement_text(const Json& plan) {
  return "Placed on " + std::to_string(std::int64_t{1} << plan["mesh_axes"].get<int>()) + " of " +
         std::to_string(plan["workers"].get<std::int64_t>()) +
         " workers: " + magnitude(plan["elements_received"].get<double>()) + " elements received, at most " +
         magnitude(plan["elements_received_by_busiest"].get<double>()) + " by one worker\n";
}

// A string in a dot file; lines end in "\l", which aligns them left.
std::string dot_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n') out += "\\l";
    else if (c == '"' || c == '\\') out += std::string("\\") + c;
    else out += c;
  }
  return out + "\\l\"";
}

// What an operator does and where it stands in the plan: a join tells its vertex's EinSum and partition vector.
std::string dot_label(const Json& op, const Json& plan) {
  std::string out = op["operator"].get<std::string>() + " " + op["vertex"].get<std::string>();
  for (const auto& vertex : plan["vertices"]) {
    if ((op["operator"] != "join" && op["operator"] != "fused join") || vertex["vertex"] != op["vertex"]) continue;
    out += "\n" + vertex["einsum"].get<std::string>() + "\nparts " + partition_text(vertex["partition"]) + ", " +
           grouped(vertex["kernel_calls"].get<double>()) + " kernel calls";
  }
  if (op.contains("fused")) out += "\nfused " + names_text(op["fused"]);
  out += "\ngrid " + op["grid"].dump();
  if (op.contains("selection")) out += ", " + op["selection"].get<std::string>();
  if (op.contains("actual_seconds")) out += "\n" + milliseconds(op["actual_seconds"].get<double>());
  return out;
}

}  // namespace

std::string explain_dot(const PlannedQuery& planned, const SessionUser& user, const Measured& measured) {
  const auto plan = describe_plan(planned, user, measured);
  std::string out = "digraph plan {\n  rankdir=BT;\n  node [shape=box, fontname=\"monospace\", fontsize=10];\n";
  for (const auto& op : plan["operators"]) {
    const auto name = "n" + std::to_string(op["id"].get<std::size_t>());
    out += "  " + name + " [label=" + dot_string(dot_label(op, plan)) + "];\n";
    for (const auto& input : op["inputs"])
      out += "  n" + std::to_string(input.get<std::size_t>()) + " -> " + name + ";\n";
  }
  return out + "}";
}

std::string explain_json(const PlannedQuery& planned, const SessionUser& user, const Measured& measured) {
  return describe_plan(planned, user, measured).dump(2);
}

std::string explain_text(const PlannedQuery& planned, const SessionUser& user, const Measured& measured) {
  const auto plan = describe_plan(planned, user, measured);
  const auto* profile = measured.here;
  const bool calibrated = plan["cost_model"] == "calibrated";
  std::string out = "EinGraph (strategy " + plan["strategy"].get<std::string>() + ", parallelism " +
                    std::to_string(plan["parallelism"].get<std::int64_t>()) + ", total cost " +
                    magnitude(plan["total_cost"].get<double>()) + " elements moved";
  if (calibrated) out += ", predicted " + milliseconds(plan["predicted_seconds"].get<double>());
  out += ")\n";
  for (const auto& vertex : plan["vertices"]) out += vertex_text(vertex, calibrated || profile != nullptr);
  out += candidates_text(plan);
  out += path_text(plan["path"]) + slices_text(plan["path"]) + memory_text(plan) + recomputed_text(plan);
  if (plan.contains("strategies")) out += strategies_text(plan["strategies"]);
  if (plan.contains("workers")) out += placement_text(plan);
  if (plan.contains("steps")) out += cluster_text(plan);
  out += "Operators\n";
  for (const auto& op : plan["operators"]) out += operator_text(op);
  out += "Planned in " + milliseconds(plan["planning_seconds"].get<double>());
  if (planned.source == PlanSource::Cached) out += " (from the plan cache)";
  if (plan.contains("ranks")) out += ", executed in " + milliseconds(plan["execution_seconds"].get<double>());
  if (profile != nullptr) {
    out += ", executed in " + milliseconds(profile->seconds) + " (predicted " +
           milliseconds(plan["predicted_seconds"].get<double>()) + "), moved " +
           grouped(plan["actual_elements"].get<double>()) + " elements (predicted " +
           grouped(plan["predicted_elements"].get<double>()) + "), at most " +
           grouped(static_cast<double>(profile->peak_bytes)) + " bytes of tiles and workspace";
  }
  return out;
}

}  // namespace eindb

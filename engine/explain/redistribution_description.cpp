#include "engine/explain/redistribution_description.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "engine/explain/figures.hpp"
#include "optimizer/redistribution/redistribution_planner.hpp"
#include "optimizer/redistribution/redistribution_simulator.hpp"
#include "plan/mesh_of_types.hpp"

namespace eindb {
namespace {

using Json = nlohmann::ordered_json;

// Plans of more ranks are not run on virtual ones.
constexpr std::int64_t kMostSimulated = 256;

// Places of errors in the text become places in the statement.
template <class Read>
auto read_text(const QuotedText& quoted, Read&& read) {
  try {
    return read(quoted.text);
  } catch (const Error& error) {
    auto place = quoted.place;
    if (error.span()) place = {place.begin + 1 + error.span()->begin, place.begin + 1 + error.span()->end};
    throw Error(error.kind(), error.message(), place, error.hint());
  }
}

Mesh mesh_of(const QuotedText& source, const QuotedText& target, const QuotedText* mesh) {
  if (mesh != nullptr) return read_text(*mesh, [](const std::string& text) { return Mesh::parse(text); });
  MeshOfTypes types;
  for (const auto* type : {&source, &target}) read_text(*type, [&](const std::string& text) { types.read(text); });
  return types.mesh();
}

std::string number(std::int64_t value) { return grouped(static_cast<double>(value)); }

Json json_of(const RedistributionPlan& plan, const Mesh& mesh) {
  Json steps = Json::array();
  const auto shape = plan.shape;
  for (const auto& step : plan.steps) {
    const auto type = type_of(step.result, shape, mesh.factored());
    Json made{{"collective", collective_name(step)}, {"parts", step.result.parts}, {"cost", step.cost}};
    if (type) made["type"] = type->to_string();
    steps.push_back(std::move(made));
  }
  return {{"steps", std::move(steps)},
          {"cost", plan.cost()},
          {"peak_elements", plan.peak()},
          {"received_elements", moved_elements(plan).received}};
}

}  // namespace

RedistributionDescription describe_redistribution(const QuotedText& source, const QuotedText& target,
                                                  const QuotedText* mesh) {
  const auto axes = mesh_of(source, target, mesh);
  const auto read = [&](const QuotedText& quoted) {
    return read_text(quoted, [&](const std::string& text) { return DistributedType::parse(text, axes); });
  };
  RedistributionDescription out{.source = read(source), .target = read(target)};
  const auto shape = out.source.global_shape();
  if (shape != out.target.global_shape()) {
    throw Error(
        ErrorKind::Shape,
        "the types are of different tensors: " + shape.to_string() + " and " + out.target.global_shape().to_string(),
        target.place);
  }
  out.plan = plan_redistribution(out.source, out.target);
  out.fallback = gather_then_slice(shape, out.source.placement(), out.target.placement());
  out.pieces = moved_elements(shape, out.source.placement(), out.target.placement());
  if (out.plan && axes.rank_count() <= kMostSimulated) {
    const auto simulated = simulate(*out.plan);
    CHECK(simulated.peak == out.plan->peak(), "a plan says what its ranks hold");
    out.simulated = true;
  }
  return out;
}

std::string explain_text(const RedistributionDescription& r) {
  const auto& mesh = r.source.mesh();
  auto out = "Redistribution over the mesh " + mesh.to_string() + ", " + number(mesh.rank_count()) + " ranks\n";
  out += "  from " + r.source.to_string() + ", " + number(r.source.local_size()) + " elements at each rank\n";
  out += "  to " + r.target.to_string() + ", " + number(r.target.local_size()) + " elements\n";
  if (r.plan) {
    std::size_t step = 1;
    for (const auto& line : describe(*r.plan, mesh)) out += "  " + std::to_string(step++) + " " + line + "\n";
    out += "Cost " + grouped(r.plan->cost()) + " elements at each rank, at most " + number(r.plan->peak()) +
           " held; all ranks receive " + number(moved_elements(*r.plan).received) + "\n";
  } else {
    out += "  no collectives lead there: it moves in pieces\n";
  }
  if (r.fallback)
    out += "Gather everything, then slice: cost " + grouped(r.fallback->cost()) + ", at most " +
           number(r.fallback->peak()) + " held\n";
  out += "In pieces: all ranks receive " + number(r.pieces.received) + " elements, one at most " +
         number(r.pieces.most_received) + "\n";
  if (r.simulated) out += "Checked on " + number(mesh.rank_count()) + " virtual ranks\n";
  return out;
}

std::string explain_json(const RedistributionDescription& r) {
  const auto& mesh = r.source.mesh();
  Json out{{"mesh", mesh.to_string()},
           {"ranks", mesh.rank_count()},
           {"bound", r.source.global_shape().extents()},
           {"source", r.source.to_string()},
           {"target", r.target.to_string()}};
  out["plan"] = r.plan ? json_of(*r.plan, mesh) : Json();
  out["fallback"] = r.fallback ? json_of(*r.fallback, mesh) : Json();
  out["pieces"] = {{"received_elements", r.pieces.received}, {"most_received_elements", r.pieces.most_received}};
  out["simulated"] = r.simulated;
  return out.dump(2);
}

}  // namespace eindb

// Fuzzing of tokenizer, parser, macro expansion and binder together, over a fixed set of tensors and macros. Bound text
// must give a valid EinGraph; otherwise there must be an Error of a user's kind, with a place within the text.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "common/error.hpp"
#include "parser/binder/binder.hpp"
#include "parser/loop_variable.hpp"
#include "parser/parser.hpp"
#include "parser/query_results.hpp"
#include "plan/validator.hpp"

namespace eindb {
namespace {

void expect(bool condition) {
  if (!condition) std::abort();
}

std::optional<InputTensor> find_tensor(const std::string& name) {
  struct Known {
    std::string_view name;
    DType dtype;
    Shape shape;
  };
  static const std::array<Known, 7> kTensors{{{"X", DType::Float64, Shape({2, 3})},
                                              {"Y", DType::Float32, Shape({3, 4})},
                                              {"V", DType::Int64, Shape({3})},
                                              {"C", DType::Complex64, Shape({3, 3})},
                                              {"R", DType::Float32, Shape({1, 3})},
                                              {"E", DType::Float64, Shape({0, 3})},
                                              {"s", DType::Float64, Shape(std::vector<std::int64_t>{})}}};
  for (const auto& known : kTensors) {
    if (known.name != name) continue;
    const auto parts = known.shape.rank() > 0 && known.shape[0] > 1 ? 2 : 1;
    Partition partition(known.shape.rank(), 1);
    if (!partition.empty()) partition[0] = parts;
    return InputTensor{.name = name, .dtype = known.dtype, .grid = TileGrid(known.shape, partition)};
  }
  return std::nullopt;
}

MacroPtr find_macro(const std::string& name) {
  const auto macro = [](std::vector<ast::Identifier> parameters, std::string_view body) {
    return std::make_shared<const Macro>(Macro{"m", std::move(parameters), parse_expression(body)});
  };
  const ast::Identifier x{.text = "x", .span = {}, .quoted = false, .scope = 0};
  const ast::Identifier l{.text = "l", .span = {}, .quoted = false, .scope = 0};
  if (name == "twice") return macro({x}, "x + x");
  if (name == "norm") return macro({x}, "SQRT(SUM(x[i]^2))");
  if (name == "pick") return macro({x, l}, "SUM[l](x * V[j]) + x[l]");
  if (name == "loop") return macro({x}, "loop(x)");
  const bool splits = name == "longest";
  if (splits || name == "fold") {
    auto aggregate = *macro({x, l}, splits ? "GREATEST(x, l)" : "twice(x) + l / 2");
    aggregate.name = name;
    aggregate.aggregate = ast::AggregateClauses{.initial = parse_expression("-INFINITY"),
                                                .commutative = splits,
                                                .associative = splits,
                                                .idempotent = splits,
                                                .distributes_over = {}};
    if (splits) aggregate.aggregate->distributes_over.push_back({.name = {.text = "+", .span = {}}});
    return std::make_shared<const Macro>(std::move(aggregate));
  }
  return nullptr;
}

const ast::Query* query_of(const ast::Statement& statement) {
  if (const auto* query = std::get_if<ast::Query>(&statement.node)) return query;
  if (const auto* explain = std::get_if<ast::Explain>(&statement.node)) return &explain->query;
  if (const auto* update = std::get_if<ast::UpdateTensor>(&statement.node)) return &update->query;
  if (const auto* create = std::get_if<ast::CreateTensor>(&statement.node))
    return std::get_if<ast::Query>(&create->source);
  return nullptr;
}

void check(const BoundQuery& bound) {
  validate(bound.graph, SIZE_MAX);
  expect(bound.results.size() == bound.graph.outputs().size());
  for (std::size_t n = 0; n < bound.results.size(); ++n)
    expect(bound.results[n].label_names.size() == bound.graph.vertex(bound.graph.outputs()[n]).bound.rank());
}

// A loop's statements are bound as in its third round.
void bind(const ast::Statement& statement, const NameSource& names) {
  if (const auto* create = std::get_if<ast::CreateTensors>(&statement.node)) {
    check(bind_query(create->query, names, create->names));
  } else if (const auto* loop = std::get_if<ast::Repeat>(&statement.node)) {
    for (const auto& inner : loop->body) {
      if (!loop->variable) bind(inner, names);
      else bind(with_loop_variable(inner, {.name = *loop->variable, .value = 2, .parameter = 1}), names);
    }
  } else if (const auto* query = query_of(statement)) {
    check(bind_query(*query, names));
    expect(result_names(*query).size() == bind_query(*query, names).results.size());
  }
}

void check(const Error& error, std::string_view text) {
  expect(error.kind() != ErrorKind::Internal);
  if (!error.span()) return;
  expect(error.span()->begin <= error.span()->end && error.span()->end <= text.size());
  expect(!render(error, text).empty());
}

void try_input(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const NameSource names{.find_tensor = find_tensor,
                         .tensor_names = [] { return std::vector<std::string>{"X", "Y", "V", "C", "R", "E", "s"}; },
                         .find_macro = find_macro,
                         .macro_names =
                             [] {
                               return std::vector<std::string>{"twice", "norm", "pick"};
                             },
                         .parameters = {std::int64_t{1}, 0.5, std::complex<double>(0, 1), std::string("text")}};
  try {
    const auto statement = parse_statement(text);
    bind(statement, names);
  } catch (const Error& error) {
    check(error, text);
  }
}

}  // namespace
}  // namespace eindb

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  eindb::try_input(data, size);
  return 0;
}

#include "optimizer/rewrites/plain_operands.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "common/check.hpp"
#include "optimizer/rewrites/joined_factors.hpp"
#include "optimizer/rewrites/truth_product.hpp"
#include "optimizer/rewrites/vertex_merger.hpp"
#include "tensor/kernel_choice.hpp"
#include "tensor/scalar_types.hpp"

namespace eindb {
namespace {

using Kind = ScalarExpression::Kind;

// How many more cells the join must have than what is computed before it.
constexpr double kFewestReads = 4;

KernelKind kernel_of(const EinGraph& graph, const Vertex& vertex) {
  auto typed = with_plain_extreme(vertex.einsum, vertex.compute_dtype);
  const auto types = input_types(graph, vertex.inputs);
  typed.expression = with_types(typed.expression, types, graph.labels(), vertex.compute_dtype);
  return KernelChoice(typed, vertex.compute_dtype).kind(graph.labels().extents(typed.labels()));
}

// The factors of each of two operands, and the constants.
struct Sides {
  std::array<std::vector<Factor>, 2> of_operand;
  std::vector<Factor> constants;
};

std::optional<Sides> sides_of(const VertexSplitter& splitter, const std::vector<Factor>& factors) {
  Sides sides;
  for (const auto& factor : factors) {
    const auto operands = operands_of(*factor.expression);
    if (operands.size() > 1) return std::nullopt;
    if (operands.size() == 1) {
      sides.of_operand[operands[0]].push_back(factor);
      continue;
    }
    const auto labels = index_labels_of(*factor.expression);
    const auto has_all = [&](std::size_t n) { return difference(labels, splitter.labels_of(n)).empty(); };
    if (labels.empty()) sides.constants.push_back(factor);
    else if (has_all(0)) sides.of_operand[0].push_back(factor);
    else if (has_all(1)) sides.of_operand[1].push_back(factor);
    else return std::nullopt;
  }
  if (sides.of_operand[0].empty() || sides.of_operand[1].empty()) return std::nullopt;
  return sides;
}

bool is_plain(const std::vector<Factor>& factors) {
  return factors.size() == 1 && !factors[0].inverted && factors[0].expression->kind() == Kind::Operand;
}

// The greatest value of a vertex or expression that counts cells: a bound of whole numbers that are not negative.
std::optional<double> greatest_count(const EinGraph& graph, VertexId id);

std::optional<double> greatest_count(const EinGraph& graph, const Vertex& vertex, const ScalarExpression& e) {
  if (gives_boolean(e)) return 1;
  if (e.kind() == Kind::Operand) return greatest_count(graph, vertex.inputs[e.operand()]);
  if (e.kind() == Kind::Call && converts_to(e.op())) return greatest_count(graph, vertex, *e.arguments()[0]);
  if (!e.is_call(ScalarOp::Multiply)) return std::nullopt;
  double product = 1;
  for (const auto& argument : e.arguments()) {
    const auto greatest = greatest_count(graph, vertex, *argument);
    if (!greatest) return std::nullopt;
    product *= *greatest;
  }
  return product;
}

std::optional<double> greatest_count(const EinGraph& graph, VertexId id) {
  const auto& vertex = graph.vertex(id);
  if (vertex.is_input() || vertex.einsum.epilogue != nullptr) return std::nullopt;
  const auto aggregate = vertex.einsum.aggregate;
  const auto cells = cells_of(graph.labels(), vertex.einsum.aggregated);
  const bool chooses = is_idempotent(aggregate) && cells > 0;
  if (!chooses && aggregate != Aggregate::Sum && aggregate != Aggregate::None) return std::nullopt;
  const auto greatest = greatest_count(graph, vertex, *vertex.einsum.expression);
  if (!greatest) return std::nullopt;
  return chooses ? *greatest : *greatest * cells;
}

// The type in which a vertex that counts is computed fastest, and exactly.
std::optional<DType> counting_type(const EinGraph& graph, const Vertex& vertex) {
  constexpr double kExactInFloat32 = 0x1p24;
  constexpr double kExactInFloat64 = 0x1p53;
  if (vertex.einsum.aggregate != Aggregate::Sum || is_complex(vertex.compute_dtype)) return std::nullopt;
  const auto each = greatest_count(graph, vertex, *vertex.einsum.expression);
  if (!each) return std::nullopt;
  const auto greatest = *each * cells_of(graph.labels(), vertex.einsum.aggregated);
  if (greatest < kExactInFloat32) return DType::Float32;
  return greatest < kExactInFloat64 ? std::optional(DType::Float64) : std::nullopt;
}

// Whether all factors of a SUM are truth values: then it counts where all hold.
bool counts_truths(const VertexSplitter& splitter, const JoinedFactors& joint) {
  if (joint.semiring->aggregate != Aggregate::Sum || splitter.vertex().einsum.aggregate != Aggregate::Sum) return false;
  return std::all_of(joint.factors.begin(), joint.factors.end(), [&](const Factor& factor) {
    return !factor.inverted && greatest_count(splitter.graph(), splitter.vertex(), *factor.expression) == 1;
  });
}

// Whether a conversion leaves every value that is not zero other than zero. Fractions and small numbers can become
// zero.
bool keeps_truth(DType from, DType to) {
  if (to == from || is_complex(to)) return true;
  return to == DType::Float64 ? !is_complex(from) : to == DType::Float32 && from == DType::Int64;
}

// A value of the same truth, without conversions that do not change it.
ScalarPtr before_conversions(const VertexSplitter& splitter, ScalarPtr e) {
  while (e->kind() == Kind::Call && converts_to(e->op())) {
    const auto& inner = e->arguments()[0];
    if (!gives_boolean(*inner) && !keeps_truth(splitter.type_of(*inner), *converts_to(e->op()))) break;
    e = inner;
  }
  return e;
}

// x for x <> 0 where truth values are joined, which are those of x.
Factor as_truth(const VertexSplitter& splitter, Factor factor) {
  factor.expression = before_conversions(splitter, factor.expression);
  const auto& e = *factor.expression;
  if (e.is_call(ScalarOp::NotEqual) && e.arguments()[1]->is_constant() && e.arguments()[1]->real_value() == 0 &&
      e.arguments()[0]->kind() == Kind::Operand)
    factor.expression = e.arguments()[0];
  return factor;
}

// In a type without which it would be exact, too, the factors of a count are converted from the start.
Factor in_type(const VertexSplitter& splitter, Factor factor) {
  const auto type = splitter.vertex().compute_dtype;
  factor.expression = counted_truth(factor.expression);
  if (splitter.type_of(*factor.expression) != type)
    factor.expression = ScalarExpression::call(conversion_to(type), {factor.expression});
  return factor;
}

class Preparation {
 public:
  Preparation(EinGraph& graph, VertexNames& names, const Vertex& vertex)
      : graph_(graph), names_(names), vertex_(vertex) {}

  // nullopt, and nothing changed, where nothing is gained.
  std::optional<VertexId> run() {
    if (vertex_.inputs.size() != 2 || vertex_.einsum.aggregate == Aggregate::None) return std::nullopt;
    if (is_plain_product() && !counting_type(graph_, vertex_)) return std::nullopt;
    const auto kernel = kernel_of(graph_, vertex_);
    if (kernel == KernelKind::Access || kernel == KernelKind::Scan) return std::nullopt;
    if (kernel != KernelKind::Loops && vertex_.compute_dtype != DType::Int64) return std::nullopt;
    auto counted = vertex_;
    const auto type = counting_type(graph_, vertex_);
    if (type) counted.compute_dtype = *type;
    VertexSplitter splitter(graph_, names_, counted);
    auto joint = joined_factors(splitter);
    if (!joint || joint->factors.size() < 2) return with_plain_arguments();
    if (joint->semiring->join.is_user()) return std::nullopt;
    join_ = joint->semiring->join.op();
    if (counts_truths(splitter, *joint)) join_ = ScalarOp::And;
    for (auto& factor : joint->factors) {
      const auto before = factor.expression;
      if (join_ == ScalarOp::And || join_ == ScalarOp::Or) factor = as_truth(splitter, std::move(factor));
      else if (type) factor = in_type(splitter, factor);
      reads_less_ = reads_less_ || (join_ != ScalarOp::Multiply && factor.expression != before);
    }
    const auto sides = sides_of(splitter, joint->factors);
    if (!sides || !is_worthwhile(*sides, counted)) return std::nullopt;
    return finish(splitter, *sides);
  }

 private:
  // SUM of x * y, as kernels take it; counts can be of a faster type.
  bool is_plain_product() const {
    const auto& e = *vertex_.einsum.expression;
    return vertex_.einsum.aggregate == Aggregate::Sum && e.is_call(ScalarOp::Multiply) && e.arguments().size() == 2 &&
           std::all_of(e.arguments().begin(), e.arguments().end(),
                       [](const ScalarPtr& argument) { return argument->kind() == Kind::Operand; });
  }

  // A function of one value of each operand, as in SUM((X[i,j] > 0) <> (Y[j,k] > 0)).
  std::optional<VertexId> with_plain_arguments() {
    const auto* function = &vertex_.einsum.expression;
    while (is_around(**function)) function = &(*function)->arguments()[0];
    if ((*function)->arguments().size() != 2) return std::nullopt;
    VertexSplitter splitter(graph_, names_, vertex_);
    const auto cells = cells_of(graph_.labels(), vertex_.einsum.labels());
    std::array<ScalarPtr, 2> values;
    std::vector<DType> types = input_types(graph_, vertex_.inputs);
    for (std::size_t n = 0; n < 2; ++n) {
      values[n] = (*function)->arguments()[n];
      const auto operands = operands_of(*values[n]);
      if (operands.size() != 1) return std::nullopt;
      const auto labels = splitter.labels_of(*values[n]);
      const bool is_plain = values[n]->kind() == Kind::Operand;
      if (!is_plain && cells < kFewestReads * cells_of(graph_.labels(), labels)) return std::nullopt;
      if (!is_plain && !difference(labels, splitter.labels_of(operands[0])).empty()) return std::nullopt;
      types[operands[0]] = splitter.type_of(*values[n]);
    }
    if (operands_of(*values[0]) == operands_of(*values[1])) return std::nullopt;
    auto plain = vertex_.einsum;
    plain.expression = with_arguments(plain.expression, function->get(), [&](std::size_t n) {
      return ScalarExpression::operand(operands_of(*values[n])[0]);
    });
    plain.expression = with_types(plain.expression, types, graph_.labels(), vertex_.compute_dtype);
    const KernelChoice choice(plain, vertex_.compute_dtype);
    if (choice.kind(graph_.labels().extents(plain.labels())) != KernelKind::Pairs) return std::nullopt;
    return splitter.finish(with_arguments(vertex_.einsum.expression, function->get(),
                                          [&](std::size_t n) {
                                            return values[n]->kind() == Kind::Operand
                                                       ? values[n]
                                                       : splitter.add_part(values[n], splitter.labels_of(*values[n]),
                                                                           {}, Aggregate::None);
                                          }),
                           vertex_.einsum.aggregated);
  }

  // Whether a call may stand around the function of two values: a conversion, ABS or a square.
  static bool is_around(const ScalarExpression& e) {
    const auto& arguments = e.arguments();
    return arguments.size() == 1 || (e.is_call(ScalarOp::Power) && arguments[1]->is_constant());
  }

  // An expression with other arguments of one of its calls.
  template <class Argument>
  static ScalarPtr with_arguments(const ScalarPtr& e, const ScalarExpression* call, const Argument& argument) {
    std::vector<ScalarPtr> arguments;
    if (e.get() == call) {
      arguments = {argument(0), argument(1)};
    } else {
      arguments = e->arguments();
      arguments[0] = with_arguments(arguments[0], call, argument);
    }
    return ScalarExpression::call(e->op(), std::move(arguments));
  }

  // A kernel takes the join of plain operands, and each function is computed for far fewer cells than the join has.
  bool is_worthwhile(const Sides& sides, const Vertex& counted) const {
    const auto cells = cells_of(graph_.labels(), vertex_.einsum.labels());
    bool any = counted.compute_dtype != vertex_.compute_dtype || reads_less_;
    for (std::size_t n = 0; n < 2; ++n) {
      if (is_plain(sides.of_operand[n]) && !takes_constants(n, sides)) continue;
      any = true;
      if (cells < kFewestReads * cells_of(graph_.labels(), vertex_.einsum.inputs[n])) return false;
    }
    if (!any) return false;
    auto plain = vertex_.einsum;
    const auto type = counted.compute_dtype;
    plain.expression = ScalarExpression::call(join_, {ScalarExpression::operand(0), ScalarExpression::operand(1)});
    const std::array types{type, type};
    plain.expression = with_types(plain.expression, types, graph_.labels(), type);
    return KernelChoice(plain, type).kind(graph_.labels().extents(plain.labels())) != KernelKind::Loops;
  }

  // Constant factors of products are the kernel's; others go to the smaller operand.
  bool takes_constants(std::size_t n, const Sides& sides) const {
    if (sides.constants.empty() || join_ == ScalarOp::Multiply) return false;
    const auto size = [&](std::size_t operand) { return cells_of(graph_.labels(), vertex_.einsum.inputs[operand]); };
    return n == (size(0) <= size(1) ? 0 : 1);
  }

  VertexId finish(VertexSplitter& splitter, const Sides& sides) const {
    std::vector<Factor> plain;
    if (join_ == ScalarOp::Multiply) plain = sides.constants;
    for (std::size_t n = 0; n < 2; ++n) {
      auto factors = sides.of_operand[n];
      if (takes_constants(n, sides)) factors.insert(factors.end(), sides.constants.begin(), sides.constants.end());
      if (is_plain(factors)) {
        plain.push_back(factors[0]);
        continue;
      }
      const auto value = joined(factors, join_);
      plain.push_back({splitter.add_part(value, splitter.labels_of(*value), {}, Aggregate::None), false});
    }
    return splitter.finish(joined(plain, join_), vertex_.einsum.aggregated);
  }

  EinGraph& graph_;
  VertexNames& names_;
  const Vertex& vertex_;
  ScalarOp join_ = ScalarOp::Multiply;
  bool reads_less_ = false;  // for the truth of an operand than the vertex does
};

}  // namespace

EinGraph make_operands_plain(const EinGraph& graph) {
  VertexNames names(graph);
  return rewrite_each(graph, [&](EinGraph& out, const Vertex& vertex) {
    return vertex.is_input() ? std::nullopt : Preparation(out, names, vertex).run();
  });
}

}  // namespace eindb

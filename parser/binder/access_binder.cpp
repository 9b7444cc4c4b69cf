#include <algorithm>

#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "parser/binder/expression_binder.hpp"
#include "plan/selection.hpp"
#include "tensor/access_form.hpp"
#include "tensor/scalar_types.hpp"

namespace eindb {
namespace {

ScalarPtr applied(ScalarOp op, std::vector<ScalarPtr> arguments) {
  return ScalarExpression::call(op, std::move(arguments));
}
ScalarPtr whole(std::int64_t value) { return ScalarExpression::integer(value); }

// index with 0 <= index < extent
ScalarPtr is_inside(const ScalarPtr& index, std::int64_t extent) {
  return applied(ScalarOp::And,
                 {applied(ScalarOp::GreaterEqual, {index, whole(0)}), applied(ScalarOp::Less, {index, whole(extent)})});
}

// The nearest index inside, or that of the cell that the padding reads instead; `extent` is positive.
ScalarPtr padded_index(ast::Padding::Kind kind, const ScalarPtr& index, std::int64_t extent) {
  switch (kind) {
    case ast::Padding::Kind::Wrap: return applied(ScalarOp::Modulo, {index, whole(extent)});
    case ast::Padding::Kind::Reflect: {
      if (extent == 1) return whole(0);
      const auto period = whole(checked_multiply(2, extent - 1));
      const auto in_period = applied(ScalarOp::Modulo, {index, period});
      return applied(ScalarOp::Least, {in_period, applied(ScalarOp::Subtract, {period, in_period})});
    }
    case ast::Padding::Kind::Edge:
    case ast::Padding::Kind::Value: break;
  }
  return applied(ScalarOp::Least, {applied(ScalarOp::Greatest, {index, whole(0)}), whole(extent - 1)});
}

// Whether cells outside have a value other than the zero that an access gives them.
bool has_filler(const ast::Reference& e) {
  if (!e.padding || e.padding->kind != ast::Padding::Kind::Value) return false;
  const auto* integer = std::get_if<ast::Integer>(&e.padding->value.front().node);
  return integer == nullptr || integer->value != 0;
}

}  // namespace

// An access while it is put together: the operands, and one equation for each computed index.
struct ExpressionBinder::Access {
  // A label of the tensor whose index a vertex of INT64 has, and the labels of that vertex.
  struct Gathered {
    Label determined;
    VertexId index;
    Labels over;
  };

  std::vector<VertexId> inputs;
  std::vector<Labels> labels;
  ScalarPtr condition;
  std::vector<Gathered> gathered;
  ScalarPtr inside;  // whether a cell of the tensor is read, and not a padding value; null if there is no such value
  DistinctLabels leading;
  DistinctLabels following;
};

ScalarPtr ExpressionBinder::lower_access(const ast::Reference& e, SourceSpan span, Draft& draft) {
  const auto& name = e.name.text;
  auto base = tensors_.get(e.name);
  const auto named = bound_of(base);
  const auto& bound = named.shape;
  const auto [at, deferred] = held_indices(e, named);
  if (std::any_of(at.begin(), at.end(), [](const auto& held) { return held.has_value(); }))
    base = selected(base, at, deferred);

  const auto frames = add_frames(e, at, base);

  Access access;
  access.inputs = {base};
  access.labels = {{}};
  std::size_t ranges = 0;
  bool spread = false;  // an index of several labels has come
  for (std::size_t d = 0; d < e.terms.size(); ++d) {
    const auto& term = e.terms[d];
    if (at[d]) continue;
    if (const auto* plain = std::get_if<ast::Identifier>(&term.value)) {
      const auto label = *labels_.find(*plain);
      access.labels.front().push_back(label);
      (spread ? access.following : access.leading).add(label);
    } else if (const auto* range = std::get_if<ast::IndexRange>(&term.value)) {
      const auto bounds = range_of(*range, term.span, bound[d], named.names.at(d), dimension_of(name, d));
      const auto label = *labels_.find(range_label(ranges++, term.span));
      (spread ? access.following : access.leading).add(label);
      if (bounds.count == bound[d] && bounds.step == 1) {
        access.labels.front().push_back(label);
        continue;
      }
      access.labels.front().push_back(labels_.fresh(name + "." + std::to_string(d + 1), bound[d]));
      add_equation(access, access.labels.front().back(), affine_expression({{{label, bounds.step}}, bounds.begin}));
    } else if (const auto* merged = std::get_if<ast::MergedIndex>(&term.value)) {
      const auto index = merged_index(*merged, term.span, bound[d], dimension_of(name, d));
      add_labels_of_index(access, index, spread);
      access.labels.front().push_back(labels_.fresh(name + "." + std::to_string(d + 1), bound[d]));
      add_equation(access, access.labels.front().back(), affine_expression(index));
    } else {
      const auto frame = frames.find(d);
      if (frame != frames.end()) add_framed(access, e, d, frame->second, spread);
      else add_computed(access, e, d, bound[d], spread, draft);
    }
  }
  return finish_access(std::move(access), e, span, draft);
}

// Puts a tensor with the cells that padding reads in the place of one that is read by affine indices, where it has such
// a tensor. Of each such dimension the index that is the first one there.
std::map<std::size_t, ExpressionBinder::Frame> ExpressionBinder::add_frames(
    const ast::Reference& e, const std::vector<std::optional<std::int64_t>>& at, VertexId& base) {
  std::map<std::size_t, Frame> frames;
  if (!e.padding || e.padding->kind == ast::Padding::Kind::Value) return frames;
  std::size_t place = 0;  // in the tensor, without the dimensions that are held
  for (std::size_t d = 0; d < e.terms.size(); ++d) {
    if (at[d]) continue;
    const auto dimension = place++;
    const auto* computed = std::get_if<ast::ComputedIndex>(&e.terms[d].value);
    const auto affine = computed != nullptr ? affine_of(computed->index.front()) : std::nullopt;
    if (!affine) continue;
    const auto index = with_bound_labels(*affine);
    const auto bounds = bounds_of(index);
    if (!bounds) continue;
    const auto extent = graph_.vertex(base).bound[dimension];
    auto first = bounds->first;
    if (first >= 0 && bounds->second < extent) first = 0;  // nothing is outside
    else if (const auto framed = with_frame(base, dimension, e.padding->kind, index, *bounds)) base = *framed;
    else continue;
    frames.emplace(d, Frame{graph_.vertex(base).bound[dimension], first});
  }
  return frames;
}

void ExpressionBinder::add_framed(Access& access, const ast::Reference& e, std::size_t d, const Frame& frame,
                                  bool& spread) {
  auto index = with_bound_labels(*affine_of(std::get<ast::ComputedIndex>(e.terms[d].value).index.front()));
  index.offset -= frame.first;
  add_labels_of_index(access, index, spread);
  access.labels.front().push_back(labels_.fresh(e.name.text + "." + std::to_string(d + 1), frame.extent));
  add_equation(access, access.labels.front().back(), affine_expression(index));
}

// i * (extent of j) + j for (i, j).
ExpressionBinder::LabelAffine ExpressionBinder::merged_index(const ast::MergedIndex& merged, SourceSpan span,
                                                             std::int64_t extent, const std::string& place) const {
  LabelAffine index;
  std::int64_t cells = 1;
  std::string extents;
  for (auto n = merged.labels.size(); n-- > 0;) {
    const auto& name = merged.labels[n].label;
    const auto* label = labels_.find(name);
    if (label == nullptr) {
      throw Error(ErrorKind::Label, "label " + name.text + " has no extent: it occurs in an index of labels alone",
                  name.span,
                  extent % std::max<std::int64_t>(cells, 1) == 0
                      ? "give all labels but one an extent there, as in (" + name.text + " 3, ...)"
                      : "");
    }
    index.coefficients.emplace_back(*label, cells);
    const auto indices = graph_.labels().extent(*label);
    cells = with_place(span, [&] { return checked_multiply(cells, indices); });
    extents = std::to_string(indices) + (extents.empty() ? "" : " * ") + extents;
  }
  if (cells == extent) return index;
  throw Error(ErrorKind::Shape,
              "the labels number " + extents + " = " + std::to_string(cells) + " indices, but " + place + " has " +
                  std::to_string(extent),
              span, "the product of their extents is that of the dimension: X[(i, j 3), k]");
}

ScalarPtr ExpressionBinder::affine_expression(const LabelAffine& affine) {
  std::vector<ScalarPtr> terms;
  for (const auto& [label, coefficient] : affine.coefficients) {
    auto value = ScalarExpression::label_index(label);
    terms.push_back(coefficient == 1 ? value : applied(ScalarOp::Multiply, {whole(coefficient), value}));
  }
  if (affine.offset != 0 || terms.empty()) terms.push_back(whole(affine.offset));
  return terms.size() == 1 ? terms.front() : applied(ScalarOp::Add, std::move(terms));
}

void ExpressionBinder::add_equation(Access& access, Label determined, const ScalarPtr& index) {
  add_condition(access, applied(ScalarOp::Equal, {ScalarExpression::label_index(determined), index}));
}

void ExpressionBinder::add_condition(Access& access, const ScalarPtr& condition) {
  access.condition = access.condition == nullptr ? condition : applied(ScalarOp::And, {access.condition, condition});
}

ExpressionBinder::LabelAffine ExpressionBinder::with_bound_labels(const NamedAffine& affine) const {
  LabelAffine bound{{}, affine.offset};
  for (const auto& [name, coefficient] : affine.coefficients) {
    const auto* known = labels_.find(*name);
    if (known == nullptr) {
      throw Error(ErrorKind::Label, "label " + name->text + " has no extent: it occurs in a computed index alone",
                  name->span,
                  "give it one in the head, as in " + name_ + "[" + name->text +
                      " 10], or where it is aggregated, as in SUM[" + name->text + " 3](...)");
    }
    bound.coefficients.emplace_back(*known, coefficient);
  }
  return bound;
}

void ExpressionBinder::add_computed(Access& access, const ast::Reference& e, std::size_t d, std::int64_t extent,
                                    bool& spread, Draft& draft) {
  const auto& term = e.terms[d];
  const auto& index = std::get<ast::ComputedIndex>(term.value).index.front();
  const auto determined = labels_.fresh(e.name.text + "." + std::to_string(d + 1), extent);
  const auto affine = affine_of(index);
  if (!affine) return add_gathered(access, e, d, determined, spread, draft);

  const auto bound = with_bound_labels(*affine);
  if (!e.padding) require_inside(bound, term.span, extent, dimension_of(e.name.text, d), affine->coefficients.size());
  add_labels_of_index(access, bound, spread);
  const auto value = affine_expression(bound);
  if (!e.padding || e.padding->kind == ast::Padding::Kind::Value) {
    if (has_filler(e)) add_inside(access, value, extent);
    access.labels.front().push_back(determined);
    return add_equation(access, determined, value);
  }
  if (extent == 0) throw Error(ErrorKind::Value, "there is no cell to read instead", e.padding->span, "use PAD 0");
  Labels over;
  for (const auto& [label, coefficient] : bound.coefficients) over.push_back(label);
  add_operand_equation(access, determined,
                       index_vertex(Draft{}, padded_index(e.padding->kind, value, extent), over, term.span));
}

// The index is a number of labels, of which the one with the most indices is last in the result's order: rows of cells
// along it stay together.
void ExpressionBinder::add_labels_of_index(Access& access, const LabelAffine& index, bool& spread) const {
  std::size_t longest = 0;
  const auto extent = [&](std::size_t n) { return graph_.labels().extent(index.coefficients[n].first); };
  for (std::size_t n = 1; n < index.coefficients.size(); ++n)
    if (extent(n) > extent(longest)) longest = n;
  spread = spread || index.coefficients.size() > 1;
  for (std::size_t n = 0; n < index.coefficients.size(); ++n)
    (spread && n == longest ? access.following : access.leading).add(index.coefficients[n].first);
}

void ExpressionBinder::add_inside(Access& access, const ScalarPtr& index, std::int64_t extent) {
  auto inside = is_inside(index, extent);
  access.inside = access.inside == nullptr ? inside : applied(ScalarOp::And, {access.inside, inside});
}

void ExpressionBinder::require_inside(const LabelAffine& index, SourceSpan span, std::int64_t extent,
                                      const std::string& place, std::size_t labels) const {
  std::int64_t least = index.offset;
  std::int64_t most = index.offset;
  bool is_empty = false;
  with_place(span, [&] {
    for (const auto& [label, coefficient] : index.coefficients) {
      const auto count = graph_.labels().extent(label);
      is_empty = is_empty || count == 0;
      const auto last = checked_multiply(coefficient, std::max<std::int64_t>(count, 1) - 1);
      auto& end = last < 0 ? least : most;
      end = checked_add(end, last);
    }
  });
  if (is_empty || (least >= 0 && most < extent)) return;
  const auto outside = std::to_string(least < 0 ? least : most);
  throw Error(ErrorKind::Value,
              "the index reaches " + outside + " outside " + place + ", which has extent " + std::to_string(extent),
              span,
              labels == 0 ? "indices go from 0 to " + std::to_string(extent - 1)
                          : "give a label a smaller extent in the head, or say what lies outside: PAD 0, PAD EDGE, PAD "
                            "REFLECT or PAD WRAP before the bracket closes");
}

// ---- Gathers -------------------------------------------------------------------------------------------------------

void ExpressionBinder::add_gathered(Access& access, const ast::Reference& e, std::size_t d, Label determined,
                                    bool& spread, Draft& draft) {
  const auto& term = e.terms[d];
  const auto& index = std::get<ast::ComputedIndex>(term.value).index.front();
  const auto extent = graph_.labels().extent(determined);
  auto inner = draft_inside(draft, {});
  const auto value = lower(index, inner);
  require_index_type(*value, inner, term.span);
  const auto over = free_labels(*value, inner);
  for (const auto label : over) (spread ? access.following : access.leading).add(label);
  ScalarPtr checked;
  if (!e.padding) checked = applied(ScalarOp::Case, {is_inside(value, extent), value, whole(kIndexOutOfBounds)});
  else if (e.padding->kind == ast::Padding::Kind::Value)
    checked = applied(ScalarOp::Case, {is_inside(value, extent), value, whole(-1)});
  else if (extent == 0) throw Error(ErrorKind::Value, "there is no cell to read instead", e.padding->span, "use PAD 0");
  else checked = padded_index(e.padding->kind, value, extent);
  const auto vertex = index_vertex(std::move(inner), checked, over, term.span);
  if (has_filler(e)) add_inside(access, operand(vertex, over, draft), extent);
  add_operand_equation(access, determined, vertex);
}

void ExpressionBinder::require_index_type(const ScalarExpression& index, const Draft& draft, SourceSpan span) const {
  const auto type = with_place(span, [&] { return kind_of(index, input_types(graph_, draft.inputs)).dtype; });
  if (type == DType::Int64) return;
  throw Error(ErrorKind::Type, "an index is a whole number, and this one is " + std::string(name_of(type)), span,
              "store the indices as INT64, or convert them: CAST(... AS INT64)");
}

VertexId ExpressionBinder::index_vertex(Draft draft, ScalarPtr index, Labels over, SourceSpan span) {
  EinSum einsum{.inputs = {},
                .output = std::move(over),
                .aggregated = {},
                .expression = std::move(index),
                .aggregate = Aggregate::None};
  const auto vertex = add_vertex(std::move(draft), std::move(einsum), span, DType::Int64);
  graph_.set_dtype(vertex, DType::Int64);
  return vertex;
}

void ExpressionBinder::add_operand_equation(Access& access, Label determined, VertexId index) {
  const auto over = graph_.vertex(index).einsum.output;
  for (const auto label : over) access.leading.add(label);
  access.labels.front().push_back(determined);
  access.gathered.push_back({determined, index, over});
}

// The labels of an access whose indices vertices have.
PackedIndex ExpressionBinder::packed_index(const Access& access) const {
  std::vector<std::pair<Label, std::int64_t>> labels;
  for (const auto& gathered : access.gathered)
    labels.emplace_back(gathered.determined, graph_.labels().extent(gathered.determined));
  return PackedIndex(std::move(labels));
}

// A vertex that holds all indices of an access in its elements, so that a cell is read by one look at it. If one of
// them is out of bounds, it says which (kIndexOutOfBounds).
VertexId ExpressionBinder::packed_vertex(const Access& access, const PackedIndex& packed, SourceSpan span) {
  const auto& gathered = access.gathered;
  auto vertex = gathered.front().index;
  auto over = gathered.front().over;
  const auto is_outside = [](const ScalarPtr& index) {
    return applied(ScalarOp::Less, {index, whole(kLeastPackedIndices)});
  };
  for (std::size_t n = 1; n < gathered.size(); ++n) {
    Draft draft;
    const auto before = operand(vertex, over, draft);
    const auto index = operand(gathered[n].index, gathered[n].over, draft);
    DistinctLabels all;
    all.add(over);
    all.add(gathered[n].over);
    over = all.labels();
    vertex = index_vertex(std::move(draft),
                          applied(ScalarOp::Case, {is_outside(before), before, is_outside(index),
                                                   whole(kIndexOutOfBounds + static_cast<std::int64_t>(n)),
                                                   packed.appended(before, index, n)}),
                          over, span);
  }
  return vertex;
}

void ExpressionBinder::add_operand_equations(Access& access, SourceSpan span) {
  if (access.gathered.empty()) return;
  const auto add_operand = [&](VertexId index) {
    access.inputs.push_back(index);
    access.labels.push_back(graph_.vertex(index).einsum.output);
    return ScalarExpression::operand(access.inputs.size() - 1);
  };
  const auto packed = packed_index(access);
  if (access.gathered.size() > 1 && packed.fits())
    return add_condition(access, packed.condition(add_operand(packed_vertex(access, packed, span))));
  for (const auto& gathered : access.gathered) add_equation(access, gathered.determined, add_operand(gathered.index));
}

ScalarPtr ExpressionBinder::finish_access(Access access, const ast::Reference& e, SourceSpan span, Draft& draft) {
  add_operand_equations(access, span);
  auto result = access.leading;
  result.add(access.following.labels());
  auto vertex = access.inputs.front();
  if (access.condition != nullptr) {
    DistinctLabels all;
    for (const auto& labels : access.labels) all.add(labels);
    EinSum einsum{.inputs = access.labels,
                  .output = result.labels(),
                  .aggregated = difference(all.labels(), result.labels()),
                  .expression = applied(ScalarOp::Case, {access.condition, ScalarExpression::operand(0), whole(0)}),
                  .aggregate = Aggregate::Sum};
    const bool adapts = graph_.vertex(vertex).adapts();
    vertex = with_place(span, [&] {
      auto made = make_vertex(graph_, next_name(), std::move(access.inputs), std::move(einsum));
      made.is_part_of_adapting = adapts;
      return graph_.add(std::move(made));
    });
  }
  auto value = access.condition != nullptr ? operand(vertex, result.labels(), draft)
                                           : operand(vertex, access.labels.front(), draft);
  if (!has_filler(e)) return value;
  const auto& given = e.padding->value.front();
  DistinctLabels free;
  collect_free_labels(given, draft.visible, free);
  if (!free.labels().empty())
    throw Error(ErrorKind::Value, "the value after PAD is a constant, and this one has labels", given.span,
                "choose with CASE WHEN i < 3 THEN ... ELSE ... END");
  auto filler = lower(given, draft);
  if (access.inside == nullptr) return value;
  return applied(ScalarOp::Case, {access.inside, value, std::move(filler)});
}

}  // namespace eindb

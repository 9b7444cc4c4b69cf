#include <algorithm>

#include "common/check.hpp"
#include "common/error.hpp"
#include "parser/ast_children.hpp"
#include "parser/binder/expression_binder.hpp"

namespace eindb {
namespace {

std::size_t place_of(Label label, const Labels& labels) {
  const auto found = std::find(labels.begin(), labels.end(), label);
  CHECK(found != labels.end(), "a label of a region numbers its values");
  return static_cast<std::size_t>(found - labels.begin());
}

}  // namespace

// The ranges of the region have labels without names, and those of references in `e` are matched with them.
void ExpressionBinder::bind_region_labels(const ast::Reference& cells, const NamedShape& bound, SourceSpan span,
                                          const ast::Expression& e) {
  std::size_t ranges = 0;
  std::vector<ast::Identifier> names;
  for (const auto& term : cells.terms)
    if (const auto* label = std::get_if<ast::Identifier>(&term.value)) head_names_.insert(label->text);
    else if (std::holds_alternative<ast::IndexRange>(term.value)) names.push_back(range_label(ranges++, term.span));
  range_labels_ = std::move(names);
  sweep_labels(cells, bound, span);
  for (const auto& term : cells.terms)
    if (const auto* computed = std::get_if<ast::ComputedIndex>(&term.value)) sweep_labels(computed->index.front());
  sweep_labels(e);
  infer_extents();
  for (const auto& term : cells.terms)
    if (const auto* computed = std::get_if<ast::ComputedIndex>(&term.value)) check_names(computed->index.front());
}

Labels ExpressionBinder::region_labels(const ast::Reference& cells) const {
  DistinctLabels labels;
  std::size_t ranges = 0;
  for (const auto& term : cells.terms) {
    if (const auto* label = std::get_if<ast::Identifier>(&term.value)) labels.add(*labels_.find(*label));
    if (std::holds_alternative<ast::IndexRange>(term.value))
      labels.add(*labels_.find(range_label(ranges++, term.span)));
    if (const auto* computed = std::get_if<ast::ComputedIndex>(&term.value))
      collect_free_labels(computed->index.front(), {}, labels);
  }
  return labels.labels();
}

// The place of a computed index that is an affine function of one label at most.
std::optional<RegionPlace> ExpressionBinder::affine_place(const ast::Reference& cells, std::size_t d,
                                                          std::int64_t extent, const Labels& values) const {
  const auto& term = cells.terms[d];
  const auto named = affine_of(std::get<ast::ComputedIndex>(term.value).index.front());
  if (!named || named->coefficients.size() > 1) return std::nullopt;
  const auto affine = with_bound_labels(*named);
  require_inside(affine, term.span, extent, dimension_of(cells.name.text, d), 0);
  RegionPlace place{.extent = extent, .offset = affine.offset};
  if (affine.coefficients.empty()) return place;
  const auto& [label, step] = affine.coefficients.front();
  place.dimension = place_of(label, values);
  place.step = step;
  return place;
}

VertexId ExpressionBinder::bind_index(const ast::Expression& index, const std::string& name) {
  Draft draft;
  auto value = lower(index, draft);
  require_index_type(*value, draft, index.span);
  auto over = free_labels(*value, draft);
  const auto vertex = index_vertex(std::move(draft), std::move(value), std::move(over), index.span);
  graph_.rename(vertex, name);
  return vertex;
}

std::vector<RegionPlace> ExpressionBinder::bind_places(const ast::Reference& cells, const NamedShape& named,
                                                       const std::function<std::size_t(VertexId)>& add_result) {
  const auto values = region_labels(cells);
  const auto& bound = named.shape;
  const auto [at, deferred] = held_indices(cells, named);
  std::vector<RegionPlace> places;
  std::size_t ranges = 0;
  for (std::size_t d = 0; d < cells.terms.size(); ++d) {
    const auto& term = cells.terms[d];
    auto& place = places.emplace_back();
    place.extent = bound[d];
    if (at[d]) {
      place.offset = *at[d];
      if (const auto found = deferred.find(d); found != deferred.end()) place.parameter = found->second;
    } else if (const auto* label = std::get_if<ast::Identifier>(&term.value)) {
      place.dimension = place_of(*labels_.find(*label), values);
      place.step = 1;
    } else if (const auto* range = std::get_if<ast::IndexRange>(&term.value)) {
      const auto [begin, step, count] =
          range_of(*range, term.span, bound[d], named.names.at(d), dimension_of(cells.name.text, d));
      const auto of_range = *labels_.find(range_label(ranges++, term.span));
      place.dimension = place_of(of_range, values);
      place.step = step;
      place.offset = begin;
    } else if (const auto affine = affine_place(cells, d, bound[d], values)) {
      place = *affine;
    } else {
      const auto& index = std::get<ast::ComputedIndex>(term.value).index.front();
      const auto vertex = bind_index(index, cells.name.text + "." + std::to_string(d + 1));
      place.indices = add_result(vertex);
      for (const auto of_index : graph_.vertex(vertex).einsum.output)
        place.dimensions.push_back(place_of(of_index, values));
    }
  }
  return places;
}

}  // namespace eindb

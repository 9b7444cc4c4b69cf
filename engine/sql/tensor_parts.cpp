#include "engine/sql/tensor_parts.hpp"

#include <algorithm>

#include "common/error.hpp"
#include "common/quote_identifier.hpp"
#include "parser/bracket_indices.hpp"

namespace eindb {
namespace {

/// (EINSUM X[i,j] = X[0:10,:]): a range has the tensor's label, a label in its place that name, and a number none.
std::string query_of_part(const TensorPart& part, const std::vector<std::string>& labels, SourceSpan place) {
  std::vector<std::string> head;
  std::string indices;
  for (std::size_t d = 0; d < part.indices.size(); ++d) {
    const auto& index = part.indices[d];
    indices += (d == 0 ? "" : ",") + index;
    const auto kind = kind_of_index(index);
    if (kind == BracketIndex::Held) continue;
    if (kind == BracketIndex::Other && !index.empty())
      throw Error(ErrorKind::Syntax, "'" + index + "' is no number, range or label of a part of " + part.name, place,
                  "a query in parentheses takes computed indices: FROM (EINSUM Z[i] = " + part.name + "[i+1,...])");
    auto label = kind == BracketIndex::Range && d < labels.size() ? quote_identifier(labels[d]) : index;
    if (std::find(head.begin(), head.end(), label) == head.end()) head.push_back(std::move(label));
  }
  std::string of_head;
  for (const auto& label : head) of_head += (of_head.empty() ? "" : ",") + label;
  const auto name = quote_identifier(part.name);
  return "(EINSUM " + name + "[" + of_head + "] = " + name + "[" + indices + "])";
}

}  // namespace

std::optional<RewrittenSql> with_queries_for_parts(const ast::Sql& sql, const FindLabels& find_labels) {
  RewrittenSql out{.text = {}, .pieces = {}, .offset = sql.span.begin, .original = sql.text};
  std::size_t copied = 0;
  for (const auto& part : tensor_parts_in(sql)) {
    const auto labels = find_labels(part.name);
    if (!labels) continue;
    out.text.append(sql.text, copied, part.span.begin - copied);
    const SourceSpan place{part.span.begin + sql.span.begin, part.span.end + sql.span.begin};
    const auto query = query_of_part(part, *labels, place);
    out.pieces.push_back({{out.text.size(), out.text.size() + query.size()}, place});
    out.text += query;
    copied = part.span.end;
  }
  if (out.pieces.empty()) return std::nullopt;
  out.text.append(sql.text, copied);
  return out;
}

}  // namespace eindb

// The text of an EinSum: apart from tensor/einsum.cpp, as it takes accesses for the references that they are.
#include <algorithm>
#include <functional>

#include "tensor/access_form.hpp"
#include "tensor/einsum.hpp"
#include "tensor/number_text.hpp"
#include "tensor/user_aggregate.hpp"

namespace eindb {
namespace {

std::string text_of(const DeterminedLabel& determined, const std::function<std::string(std::size_t)>& reference,
                    const LabelTable& labels) {
  std::string text;
  if (determined.operand) {
    text = reference(*determined.operand);
    if (determined.shift != 0) text += " >> " + std::to_string(determined.shift);
    if (determined.mask != -1) text += " & " + std::to_string(determined.mask);
    return text;
  }
  for (const auto& [label, coefficient] : determined.coefficients) {
    if (!text.empty()) text += coefficient < 0 ? " - " : " + ";
    else if (coefficient < 0) text += "-";
    const auto magnitude = coefficient < 0 ? std::to_string(coefficient).substr(1) : std::to_string(coefficient);
    text += (magnitude == "1" ? "" : magnitude + " * ") + labels.name(label);
  }
  if (text.empty()) return std::to_string(determined.offset);
  if (determined.offset == 0) return text;
  const auto offset = std::to_string(determined.offset);
  return text + (determined.offset < 0 ? " - " + offset.substr(1) : " + " + offset);
}

// X[2 * i + 1,j] where all that an access aggregates are the indices that it computes; empty otherwise.
std::string reference_text(const EinSum& einsum, const std::vector<std::string>& input_names,
                           const std::function<std::string(std::size_t)>& reference, const LabelTable& labels) {
  const auto access = access_form(einsum);
  if (!access || access->determined.size() != einsum.aggregated.size()) return {};
  std::string text;
  for (const auto label : einsum.inputs[access->source]) {
    const auto determined = std::find_if(access->determined.begin(), access->determined.end(),
                                         [&](const auto& index) { return index.label == label; });
    text += text.empty() ? "" : ",";
    text += determined == access->determined.end() ? labels.name(label) : text_of(*determined, reference, labels);
  }
  for (const auto label : einsum.aggregated)
    if (!access->determines(label) || !contains(einsum.inputs[access->source], label)) return {};
  const auto is_inside = [&](const DeterminedLabel& determined) {
    if (determined.operand) return true;
    std::vector<PartRange> whole;
    const auto all = einsum.labels();
    for (const auto label : all) whole.push_back({0, labels.extent(label)});
    const auto bounds = determined.bounds(all, whole);
    return bounds && bounds->first >= 0 && bounds->second < labels.extent(determined.label);
  };
  const bool inside = std::all_of(access->determined.begin(), access->determined.end(), is_inside);
  return input_names[access->source] + "[" + text + (inside ? "" : " PAD 0") + "]";
}

// "sort descending of X[i,s]".
std::string block_text(const EinSum& einsum, const std::function<std::string(std::size_t)>& reference) {
  const auto& block = *einsum.block;
  std::string text(name_of(block.op));
  if (block.op == BlockOp::Quantile) append_number(text += " ", block.share);
  text += block.descending ? " descending of " : " of ";
  for (std::size_t n = 0; n < einsum.inputs.size(); ++n) text += (n == 0 ? "" : ", ") + reference(n);
  return text;
}

}  // namespace

std::string to_string(const EinSum& einsum, std::string_view head, const std::vector<std::string>& input_names,
                      const LabelTable& labels) {
  const auto reference = [&](std::size_t n) {
    return einsum.inputs[n].empty() ? input_names[n] : input_names[n] + "[" + labels.join_names(einsum.inputs[n]) + "]";
  };
  auto body = einsum.block ? block_text(einsum, reference) : reference_text(einsum, input_names, reference, labels);
  const bool is_reference = !body.empty();
  if (!is_reference) body = to_string(*einsum.expression, reference, labels);
  if (einsum.aggregate != Aggregate::None && !is_reference) {
    DistinctLabels occurring;
    for (const auto& input : einsum.inputs) occurring.add(input);
    occurring.add(index_labels_of(*einsum.expression));
    const bool assumed = difference(occurring.labels(), einsum.output).size() == einsum.aggregated.size() &&
                         difference(einsum.aggregated, occurring.labels()).empty();
    const std::string over = assumed ? "" : "[" + labels.join_names(einsum.aggregated) + "]";
    body =
        (einsum.user != nullptr ? einsum.user->name : std::string(name_of(einsum.aggregate))) + over + "(" + body + ")";
  }
  if (einsum.epilogue != nullptr)
    body = to_string(
        *einsum.epilogue, [&](std::size_t) { return body; }, labels);
  const auto text = std::string(head) + "[" + labels.join_names(einsum.output) + "] = " + body;
  return einsum.user == nullptr ? text : text + " with " + einsum.user->name + describe(*einsum.user);
}

}  // namespace eindb

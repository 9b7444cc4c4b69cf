#include "executor/kernels/access_kernel.hpp"

#include <algorithm>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kGreatestIndex = std::int64_t{1} << 61U;

// The binder names determined labels "X.1": dimension 1 of X.
std::string dimension_named(const std::string& label) {
  const auto dot = label.find_last_of('.');
  if (dot == std::string::npos || dot + 1 == label.size()) return label;
  if (label.find_first_not_of("0123456789", dot + 1) != std::string::npos) return label;
  return "dimension " + label.substr(dot + 1) + " of " + label.substr(0, dot);
}

}  // namespace

AccessKernel::AccessKernel(AccessForm form, const EinSum& einsum, const LabelTable& labels, DType compute)
    : form_(std::move(form)),
      inputs_(einsum.inputs),
      labels_(einsum.labels()),
      extents_(labels.extents(labels_)),
      compute_(compute) {
  std::vector<PartRange> whole;
  for (const auto label : labels_) {
    names_.push_back(labels.name(label));
    whole.push_back({0, labels.extent(label)});
    in_output_.push_back(contains(einsum.output, label));
  }
  for (const auto& determined : form_.determined) {
    determined_.push_back(place_of(determined.label));
    if (determined.operand) continue;
    const auto bounds = determined.bounds(labels_, whole);
    if (!bounds || bounds->first < -kGreatestIndex || bounds->second > kGreatestIndex)
      throw Error(ErrorKind::Shape, "an index of " + names_[determined_.back()] + " is beyond all extents");
  }
  writes_once_ = std::all_of(einsum.aggregated.begin(), einsum.aggregated.end(),
                             [&](Label label) { return form_.determines(label) || is_told_by_result(label); });
  writes_all_ =
      std::none_of(einsum.output.begin(), einsum.output.end(), [&](Label label) { return form_.determines(label); });
}

// Whether a cell of the result tells the label's index: an index of the result is affine in labels such that no two
// sets of their indices give the same, as those of the digits of a number.
bool AccessKernel::is_told_by_result(Label label) const {
  return std::any_of(form_.determined.begin(), form_.determined.end(), [&](const DeterminedLabel& determined) {
    if (determined.operand || !in_output_[place_of(determined.label)]) return false;
    auto coefficients = determined.coefficients;
    std::sort(coefficients.begin(), coefficients.end(),
              [](const auto& a, const auto& b) { return std::abs(a.second) < std::abs(b.second); });
    bool is_behind = false;
    std::int64_t reach = 0;  // of the labels before; the bounds of the index are within 64 bits
    for (const auto& [behind, coefficient] : coefficients) {
      const auto step = std::abs(coefficient);
      if (step <= reach) return false;
      reach += step * (std::max<std::int64_t>(extents_[place_of(behind)], 1) - 1);
      is_behind = is_behind || behind == label;
    }
    return is_behind;
  });
}

bool AccessKernel::is_empty(std::span<const PartRange> ranges) const {
  for (std::size_t n = 0; n < form_.determined.size(); ++n) {
    if (form_.determined[n].operand) continue;
    const auto bounds = form_.determined[n].bounds(labels_, ranges);
    const auto& range = ranges[determined_[n]];
    if (bounds && (bounds->second < range.begin || bounds->first >= range.end())) return true;
  }
  return false;
}

bool AccessKernel::has_indices(std::size_t operand) const {
  return std::any_of(form_.determined.begin(), form_.determined.end(),
                     [&](const auto& determined) { return determined.operand == operand; });
}

void AccessKernel::check_indices(std::size_t operand, const Tile& tile, std::span<const PartRange> ranges) const {
  CHECK(tile.dtype() == DType::Int64, "an index is a whole number");
  const auto* elements = reinterpret_cast<const std::int64_t*>(tile.bytes().data());
  const auto count = tile.shape().element_count();
  const auto* found = std::find_if(elements, elements + count, [](auto e) { return e < kLeastPackedIndices; });
  const auto at = found - elements;
  if (at == count) return;
  std::string place;
  const auto strides = tile.shape().row_major_strides();
  for (std::size_t d = 0; d < strides.size(); ++d) {
    const auto label = place_of(inputs_[operand][d]);
    add_place(label, ranges[label].begin + at / strides[d] % tile.shape()[d], place);
  }
  throw out_of_bounds(operand, *found, place);
}

std::size_t AccessKernel::place_of(Label label) const {
  const auto place = static_cast<std::size_t>(std::find(labels_.begin(), labels_.end(), label) - labels_.begin());
  CHECK(place < labels_.size(), "a label of an access has a place");
  return place;
}

void AccessKernel::add_place(std::size_t label, std::int64_t index, std::string& place) const {
  place += (place.empty() ? ", at " : ", ") + names_[label] + " = " + std::to_string(index);
}

Error AccessKernel::out_of_bounds(std::size_t operand, std::int64_t element, const std::string& place) const {
  std::vector<std::size_t> labels;  // whose indices the operand has
  for (std::size_t n = 0; n < form_.determined.size(); ++n)
    if (form_.determined[n].operand == operand) labels.push_back(determined_[n]);
  CHECK(!labels.empty(), "an operand with an index determines a label");
  const auto label = labels[std::min(static_cast<std::size_t>(element - kIndexOutOfBounds), labels.size() - 1)];
  return {ErrorKind::Value,
          "an index of " + dimension_named(names_[label]) + " lies outside its extent of " +
              std::to_string(extents_[label]) + place,
          std::nullopt,
          extents_[label] > 0 ? "indices go from 0 to " + std::to_string(extents_[label] - 1) +
                                    "; with PAD 0 before the bracket closes, there are zeros outside"
                              : "no index is inside"};
}

std::string AccessKernel::describe() const {
  if (form_.gathers()) return writes_all_ ? "gather" : "scatter";
  return writes_once_ ? "strided copy" : "strided sum";
}

}  // namespace eindb

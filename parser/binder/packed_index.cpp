#include "parser/binder/packed_index.hpp"

#include <algorithm>
#include <bit>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/error.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kMostBits = 62;

ScalarPtr bits_by(ScalarOp op, std::vector<ScalarPtr> arguments) {
  return ScalarExpression::call(op, std::move(arguments));
}
ScalarPtr number(std::int64_t value) { return ScalarExpression::integer(value); }

// All ones in the bits of an index of the extent.
std::int64_t mask_of(std::int64_t width) { return (std::int64_t{1} << width) - 1; }

}  // namespace

PackedIndex::PackedIndex(std::vector<std::pair<Label, std::int64_t>> labels) : labels_(std::move(labels)) {
  CHECK(!labels_.empty(), "an element holds an index");
}

std::int64_t PackedIndex::width_of(std::int64_t extent) {
  return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(extent)));
}

bool PackedIndex::fits() const {
  std::int64_t bits = 0;
  for (const auto& [label, extent] : labels_) bits += width_of(extent);
  return bits <= kMostBits;
}

ScalarPtr PackedIndex::appended(const ScalarPtr& before, const ScalarPtr& index, std::size_t n) const {
  const auto width = width_of(labels_[n].second);
  return bits_by(ScalarOp::BitOr, {bits_by(ScalarOp::ShiftLeft, {before, number(width)}),
                                   bits_by(ScalarOp::BitAnd, {index, number(mask_of(width))})});
}

ScalarPtr PackedIndex::condition(const ScalarPtr& element) const {
  ScalarPtr all;
  std::int64_t shift = 0;
  for (auto n = labels_.size(); n-- > 0;) {
    const auto& [label, extent] = labels_[n];
    auto index = shift == 0 ? element : bits_by(ScalarOp::ShiftRight, {element, number(shift)});
    if (n > 0) index = bits_by(ScalarOp::BitAnd, {index, number(mask_of(width_of(extent)))});
    shift += width_of(extent);
    auto equation = bits_by(ScalarOp::Equal, {ScalarExpression::label_index(label), index});
    all = all == nullptr ? equation : bits_by(ScalarOp::And, {equation, all});
  }
  return all;
}

}  // namespace eindb

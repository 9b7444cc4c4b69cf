#include "executor/kernels/window_kernel.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "executor/kernels/strided_copy.hpp"

namespace eindb {

WindowKernel::WindowKernel(AccessForm form, const EinSum& einsum, const LabelTable& labels)
    : extents_(labels.extents(einsum.labels())) {
  const auto all = einsum.labels();
  const auto place_in_window = [&](Label label) {
    const auto place = static_cast<std::size_t>(std::find(all.begin(), all.end(), label) - all.begin());
    CHECK(place < all.size(), "a label of a window has a place");
    return place;
  };
  for (const auto label : einsum.inputs.at(0)) {
    const auto place = place_in_window(label);
    if (std::find(source_.begin(), source_.end(), place) == source_.end()) source_.push_back(place);
  }
  std::vector<PartRange> whole;
  for (const auto extent : extents_) whole.push_back({0, extent});
  for (auto& determined : form.determined) {
    CHECK(!determined.operand, "a window has affine indices alone");
    Index index{place_in_window(determined.label), {}, determined.offset};
    for (const auto& [label, coefficient] : determined.coefficients) {
      CHECK(coefficient > 0, "the indices of a window never fall");
      index.behind.emplace_back(place_in_window(label), coefficient);
    }
    const auto [first, last] = reach_of(index, whole);
    leaves_ = leaves_ || first < 0 || last >= extents_[index.label];
    indices_.push_back(std::move(index));
  }
}

WindowKernel::Reach WindowKernel::reach_of(const Index& index, std::span<const PartRange> ranges) const {
  Reach reach{index.offset, index.offset};
  for (const auto& [label, step] : index.behind) {
    reach.first = checked_add(reach.first, checked_multiply(step, ranges[label].begin));
    reach.last = checked_add(reach.last, checked_multiply(step, ranges[label].end() - 1));
  }
  return reach;
}

const WindowKernel::Index* WindowKernel::index_of(std::size_t label) const {
  const auto found =
      std::find_if(indices_.begin(), indices_.end(), [&](const Index& index) { return index.label == label; });
  return found == indices_.end() ? nullptr : &*found;
}

std::int64_t WindowKernel::frame_bytes(std::span<const std::int64_t> label_sizes, DType type) const {
  if (!leaves_) return 0;
  auto bytes = static_cast<std::int64_t>(size_of(type));
  for (const auto place : source_) {
    const auto* index = index_of(place);
    if (index == nullptr) {
      bytes = checked_multiply(bytes, label_sizes[place]);
      continue;
    }
    std::int64_t reached = 1;
    for (const auto& [label, step] : index->behind)
      reached = checked_add(reached, checked_multiply(step, label_sizes[label] - 1));
    bytes = checked_multiply(bytes, reached);
  }
  return bytes;
}

LabelView WindowKernel::view(const LabelView& source, std::span<const PartRange> ranges, std::byte* frame) const {
  CHECK(source.strides.size() == extents_.size() && ranges.size() == extents_.size(),
        "a window's operand is seen over the labels of its EinSum");
  const auto size = static_cast<std::int64_t>(size_of(source.dtype));
  bool leaves = false;
  std::vector<Reach> reached;  // by index
  for (const auto& index : indices_) {
    // Cells that the window reaches outside of the operand's range lie outside of the whole tensor, too.
    const auto& [first, last] = reached.emplace_back(reach_of(index, ranges));
    const auto& there = ranges[index.label];
    DCHECK((there.begin <= first || there.begin == 0) && (there.end() > last || there.end() == extents_[index.label]),
           "a window's operand has the indices that are determined");
    leaves = leaves || first < there.begin || last >= there.end();
  }
  LabelView view{source.dtype, source.data, source.strides};
  std::int64_t begin = 0;  // the element of the view's first cell
  if (leaves) {
    std::vector<std::int64_t> extents;
    std::vector<std::int64_t> inside;  // extents of what the operand has
    std::vector<std::int64_t> steps;   // in the operand
    std::vector<std::int64_t> strides(source_.size());
    std::int64_t source_begin = 0;
    std::vector<std::int64_t> frame_begin;
    for (const auto place : source_) {
      steps.push_back(source.strides[place]);
      const auto* index = index_of(place);
      if (index == nullptr) {
        extents.push_back(ranges[place].size);
        inside.push_back(ranges[place].size);
        frame_begin.push_back(0);
        continue;
      }
      const auto& [first, last] = reached[static_cast<std::size_t>(index - indices_.data())];
      const auto from = std::max(first, ranges[place].begin);
      extents.push_back(last - first + 1);
      inside.push_back(std::max<std::int64_t>(0, std::min(last, ranges[place].end() - 1) - from + 1));
      frame_begin.push_back(from - first);
      if (inside.back() > 0) source_begin += (from - ranges[place].begin) * source.strides[place];
    }
    std::int64_t elements = 1;
    std::int64_t target_begin = 0;
    for (std::size_t n = source_.size(); n-- > 0;) {
      strides[n] = elements;
      elements *= extents[n];
      target_begin += frame_begin[n] * strides[n];
    }
    std::memset(frame, 0, static_cast<std::size_t>(elements * size));
    if (std::find(inside.begin(), inside.end(), 0) == inside.end())
      copy_strided({source.dtype, frame + target_begin * size, strides},
                   {source.dtype, static_cast<const std::byte*>(source.data) + source_begin * size, steps}, inside);
    view.data = frame;
    std::fill(view.strides.begin(), view.strides.end(), 0);
    for (std::size_t n = 0; n < source_.size(); ++n) view.strides[source_[n]] = strides[n];
  }
  for (std::size_t n = 0; n < indices_.size(); ++n) {
    const auto& index = indices_[n];
    const auto step_of_index = std::exchange(view.strides[index.label], 0);
    if (!leaves) begin += (reached[n].first - ranges[index.label].begin) * step_of_index;
    for (const auto& [label, step] : index.behind) view.strides[label] += step * step_of_index;
  }
  view.data = static_cast<const std::byte*>(view.data) + begin * size;
  return view;
}

}  // namespace eindb

#include "executor/kernels/panel_packer.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/check.hpp"

namespace eindb {

PanelPacker::PanelPacker(const PanelPacking& functions, std::size_t from_size, std::size_t to_size,
                         Contiguity contiguity, std::int64_t panel_width, bool tight)
    : functions_(functions),
      from_size_(static_cast<std::int64_t>(from_size)),
      to_size_(static_cast<std::int64_t>(to_size)),
      contiguity_(contiguity),
      panel_width_(panel_width),
      tight_(tight) {
  CHECK(panel_width > 0 && from_size > 0 && to_size > 0, "panels have a width, and their elements a size");
}

// Whole vectors are read at the end of the last panel. Runs shared by two panels are assembled after the panels.
std::int64_t PanelPacker::room(std::int64_t width, std::int64_t depth, std::int64_t panel_width,
                               Contiguity contiguity) {
  const auto panels = (width + panel_width - 1) / panel_width;
  return (panels * depth + 1 + (contiguity == Contiguity::OuterWidth ? width + depth : 0)) * panel_width;
}

void PanelPacker::pack(const OperandBox& box, std::byte* panels) {
  const auto width = static_cast<std::int64_t>(box.width.size());
  const auto depth = static_cast<std::int64_t>(box.depth.size());
  if (contiguity_ == Contiguity::OuterWidth) {
    const auto rest = width % panel_width_;
    if (rest != 0) clear_edge(rest, depth, panels + (width - rest) * depth * to_size_);
    return transpose_width(box, panels);
  }
  for (std::int64_t begin = 0; begin < width; begin += panel_width_)
    pack_panel(box, begin, std::min(panel_width_, width - begin), panels + begin * depth * to_size_);
}

void PanelPacker::pack_panel(const OperandBox& box, std::int64_t begin, std::int64_t width, std::byte* panel) {
  DCHECK(contiguity_ != Contiguity::OuterWidth, "panels that share runs are packed together");
  DCHECK(begin >= 0 && width <= panel_width_ && std::cmp_less_equal(begin + width, box.width.size()),
         "a panel is a part of its box");
  clear_edge(width, static_cast<std::int64_t>(box.depth.size()), panel);
  if (contiguity_ == Contiguity::InnerWidth) return copy_panel(box, begin, width, panel);
  if (contiguity_ == Contiguity::Depth) return transpose_panel(box, begin, width, panel);
  functions_.gather(panel, tight_ ? width : panel_width_, box.data, box.width.data() + begin, box.depth.data(), width,
                    static_cast<std::int64_t>(box.depth.size()));
}

// Lanes of an incomplete panel are multiplied too. Earlier contents of the memory are often small integers, which are
// denormals as floating-point numbers, and multiplying these is a hundred times slower. So the lanes are cleared.
void PanelPacker::clear_edge(std::int64_t width, std::int64_t depth, std::byte* panel) const {
  if (tight_ || width == panel_width_) return;
  std::memset(panel, 0, static_cast<std::size_t>(panel_width_ * depth * to_size_));
}

void PanelPacker::copy_panel(const OperandBox& box, std::int64_t begin, std::int64_t width, std::byte* panel) {
  const auto step = tight_ ? width : panel_width_;
  const auto* offsets = box.width.data() + begin;
  for (std::int64_t i = 0; i < width;) {
    auto end = i + 1;
    while (end < width && offsets[end] == offsets[end - 1] + 1) ++end;
    functions_.copy_runs(panel + i * to_size_, step, at(box, offsets[i]), box.depth.data(),
                         static_cast<std::int64_t>(box.depth.size()), end - i);
    i = end;
  }
}

// Divides the order into runs of elements that are contiguous in memory.
void PanelPacker::find_runs(std::span<const std::int64_t> order, std::span<const std::int64_t> offsets) {
  DCHECK(order.size() <= offsets.size(), "an order is of indices that have offsets");
  runs_.clear();
  const auto offset = [&](std::size_t n) { return offsets[static_cast<std::size_t>(order[n])]; };
  for (std::size_t n = 0; n < order.size(); ++n) {
    if (n > 0 && offset(n) == offset(n - 1) + 1) ++runs_.back().length;
    else runs_.push_back({n, 1});
  }
}

void PanelPacker::transpose_panel(const OperandBox& box, std::int64_t begin, std::int64_t width, std::byte* panel) {
  const auto step = tight_ ? width : panel_width_;
  if (begin == 0) find_runs(box.order, box.depth);
  to_offsets_.resize(box.order.size());
  for (std::size_t n = 0; n < box.order.size(); ++n) to_offsets_[n] = box.order[n] * step;
  for (const auto& run : runs_)
    functions_.transpose_runs(panel, to_offsets_.data() + run.begin,
                              at(box, box.depth[static_cast<std::size_t>(box.order[run.begin])]),
                              box.width.data() + begin, width, static_cast<std::int64_t>(run.length));
}

void PanelPacker::transpose_width(const OperandBox& box, std::byte* panels) {
  const auto strip = std::min(box.inner, panel_width_);
  find_runs(box.order, box.width);
  for (std::int64_t t = 0; t < box.inner; t += strip)
    for (const auto& run : runs_) transpose_strip(box, t, std::min(strip, box.inner - t), run, panels);
}

// Transposes `rows` indices of the innermost loop from `begin`, for the indices of the other loops in the run, over the
// whole depth.
void PanelPacker::transpose_strip(const OperandBox& box, std::int64_t begin, std::int64_t rows, const Run& run,
                                  std::byte* panels) {
  const auto depth = static_cast<std::int64_t>(box.depth.size());
  const auto width = static_cast<std::int64_t>(box.width.size());
  const auto place = [&](std::int64_t i) { return i / panel_width_ * panel_width_ * depth + i % panel_width_; };
  const auto apart = (width + panel_width_ - 1) / panel_width_ * panel_width_ * depth;
  const auto spare = [&](std::size_t c) { return apart + static_cast<std::int64_t>(c) * panel_width_; };
  const auto* order = box.order.data() + run.begin;
  to_offsets_.resize(run.length);
  shared_.clear();  // runs that continue in the next panel
  for (std::size_t c = 0; c < run.length; ++c) {
    const auto i = order[c] + begin;
    const bool whole = i % panel_width_ + rows <= panel_width_;
    to_offsets_[c] = whole ? place(i) : spare(c);
    if (!whole) shared_.push_back(c);
  }
  const auto first = static_cast<std::size_t>(order[0] + begin);
  from_offsets_.resize(static_cast<std::size_t>(rows));
  for (std::size_t r = 0; r < from_offsets_.size(); ++r) from_offsets_[r] = box.width[first + r] - box.width[first];

  for (std::int64_t p = 0; p < depth; ++p) {
    auto* to = panels + p * panel_width_ * to_size_;
    functions_.transpose_runs(to, to_offsets_.data(),
                              at(box, box.width[first] + box.depth[static_cast<std::size_t>(p)]), from_offsets_.data(),
                              rows, static_cast<std::int64_t>(run.length));
    for (const auto c : shared_) {
      const auto i = order[c] + begin;
      const auto fits = panel_width_ - i % panel_width_;
      const auto* from = to + spare(c) * to_size_;
      std::memcpy(to + place(i) * to_size_, from, static_cast<std::size_t>(fits * to_size_));
      std::memcpy(to + place(i + fits) * to_size_, from + fits * to_size_,
                  static_cast<std::size_t>((rows - fits) * to_size_));
    }
  }
}

}  // namespace eindb

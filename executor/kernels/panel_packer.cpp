#include "executor/kernels/panel_packer.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <utility>

#include "common/check.hpp"

namespace eindb {

namespace {

// Copies a part of a panel's row, a multiple of 4 bytes; calls of memcpy for these take as long as transposing.
inline void copy_few(std::byte* to, const std::byte* from, std::size_t bytes) {
  constexpr std::size_t kChunk = 16;
  constexpr std::size_t kWord = 4;
  std::size_t n = 0;
  for (; n + kChunk <= bytes; n += kChunk) std::memcpy(to + n, from + n, kChunk);
  for (; n < bytes; n += kWord) std::memcpy(to + n, from + n, kWord);
}

}  // namespace

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

// Whole vectors are read at the end of the last panel. Behind it columns lie apart that two panels share.
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
    auto* last = panels + (width - rest) * depth * to_size_;
    if (rest != 0) clear_edge(rest, depth, last);
    transpose_width(box, panels);
    if (rest != 0 && tight_) narrow(last, depth, rest);
    return;
  }
  for (std::int64_t begin = 0; begin < width; begin += panel_width_)
    pack_panel(box, begin, std::min(panel_width_, width - begin), panels + begin * depth * to_size_);
}

// Brings the rows of a whole panel together that have `width` elements each.
void PanelPacker::narrow(std::byte* panel, std::int64_t depth, std::int64_t width) const {
  for (std::int64_t p = 1; p < depth; ++p)
    std::memmove(panel + p * width * to_size_, panel + p * panel_width_ * to_size_,
                 static_cast<std::size_t>(width * to_size_));
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

// Memory is gone through in its own order, as far as that is known: indices of the depth follow each other inside of
// the runs' distances, or outside.
void PanelPacker::transpose_width(const OperandBox& box, std::byte* panels) {
  const auto depth = static_cast<std::int64_t>(box.depth.size());
  find_runs(box.order, box.width);
  list_strips(box);
  if (!is_deep(box)) {
    for (std::int64_t p = 0; p + 1 < depth; ++p) transpose_strips(box, p, strips_, cuts_, false, panels);
    move_apart();
    return transpose_strips(box, depth - 1, strips_, cuts_, true, panels);
  }
  move_apart();
  std::size_t cuts = 0;
  for (const auto& strip : strips_) {
    for (std::int64_t p = 0; p < depth; ++p)
      transpose_strips(box, p, std::span(&strip, 1), std::span(cuts_).subspan(cuts, strip.cuts), true, panels);
    cuts += strip.cuts;
  }
}

bool PanelPacker::is_deep(const OperandBox& box) const {
  if (runs_.size() < 2 || box.depth.size() < 2) return false;
  const auto begin = [&](const Run& run) { return box.width[static_cast<std::size_t>(box.order[run.begin])]; };
  return std::abs(box.depth[1] - box.depth[0]) < std::abs(begin(runs_[1]) - begin(runs_[0]));
}

// One index of the depth. Example: panels of 4, and columns of 3 that begin at 0 and at 3. Of the second one, one
// element is in the first panel. The two others are written behind it, into the panel's next row, and copied to the
// second panel before that row is filled.
void PanelPacker::transpose_strips(const OperandBox& box, std::int64_t p, std::span<const Strip> strips,
                                   std::span<const Cut> cuts, bool are_apart, std::byte* panels) const {
  const auto* from = static_cast<const std::byte*>(at(box, box.depth[static_cast<std::size_t>(p)]));
  auto* to = panels + p * panel_width_ * to_size_;
  for (const auto& strip : strips)
    functions_.transpose_runs(to, to_offsets_.data() + strip.to, from + strip.from, from_offsets_.data() + strip.begin,
                              strip.rows, strip.columns);
  for (const auto& cut : cuts) {
    if (are_apart) copy_few(to + cut.begin, to + cut.apart, cut.fits);
    copy_few(to + cut.rest, to + (are_apart ? cut.apart : cut.begin) + cut.fits, cut.bytes - cut.fits);
  }
}

// Lists the strips in which the innermost loop is transposed, for the indices of the other loops in each run.
void PanelPacker::list_strips(const OperandBox& box) {
  const auto depth = static_cast<std::int64_t>(box.depth.size());
  const auto width = static_cast<std::int64_t>(box.width.size());
  const auto place = [&](std::int64_t i) { return i / panel_width_ * panel_width_ * depth + i % panel_width_; };
  const auto bytes = [&](std::int64_t elements) { return static_cast<std::size_t>(elements * to_size_); };
  auto apart = (width + panel_width_ - 1) / panel_width_ * panel_width_ * depth;
  const auto first = static_cast<std::size_t>(box.order[0]);
  from_offsets_.clear();
  for (std::size_t r = 0; r < static_cast<std::size_t>(box.inner); ++r)
    from_offsets_.push_back(box.width[first + r] - box.width[first]);
  // Strips of half a panel that no panel's end cuts are better than whole ones.
  const auto uncut = std::gcd(box.inner, panel_width_);
  const auto height = box.inner > panel_width_ && 2 * uncut >= panel_width_ ? uncut : panel_width_;
  to_offsets_.clear();
  strips_.clear();
  cuts_.clear();
  for (const auto& run : runs_) {
    const auto* order = box.order.data() + run.begin;
    for (std::int64_t t = 0; t < box.inner; t += height) {
      const auto rows = std::min(height, box.inner - t);
      strips_.push_back({.from = box.width[static_cast<std::size_t>(order[0])] * from_size_,
                         .begin = t,
                         .rows = rows,
                         .columns = static_cast<std::int64_t>(run.length),
                         .to = static_cast<std::int64_t>(to_offsets_.size()),
                         .cuts = 0});
      for (std::size_t c = 0; c < run.length; ++c) {
        const auto i = order[c] + t;
        const auto fits = panel_width_ - i % panel_width_;
        to_offsets_.push_back(place(i));
        if (fits >= rows) continue;
        ++strips_.back().cuts;
        cuts_.push_back({.column = to_offsets_.size() - 1,
                         .begin = bytes(place(i)),
                         .rest = bytes(place(i + fits)),
                         .apart = bytes(apart),
                         .fits = bytes(fits),
                         .bytes = bytes(rows)});
        apart += panel_width_;
      }
    }
  }
}

// Lets the columns that are cut be transposed to where they lie apart.
void PanelPacker::move_apart() {
  for (const auto& cut : cuts_) to_offsets_[cut.column] = static_cast<std::int64_t>(cut.apart) / to_size_;
}

}  // namespace eindb

#include "executor/kernels/fused_kernel.hpp"

#include <algorithm>

#include "common/cancellation.hpp"
#include "common/check.hpp"
#include "executor/kernels/scratch.hpp"
#include "tensor/kernel_choice.hpp"

namespace eindb {
namespace {

// The size of a strip's intermediate results. With the operands they stay in the second-level cache.
constexpr std::int64_t kStripBytes = 384 * 1024;
constexpr std::int64_t kAlignment = 64;

std::vector<std::int64_t> sizes_of(std::span<const PartRange> ranges) {
  std::vector<std::int64_t> sizes;
  for (const auto& range : ranges) sizes.push_back(range.size);
  return sizes;
}

// Lets each search compute the join that only it reads. Returns the step that computes each of those that were given.
std::vector<std::size_t> take_joins_in(std::vector<FusedStep>& steps, std::size_t operands, const LabelTable& labels) {
  std::vector<bool> is_taken(steps.size(), false);
  for (std::size_t s = 0; s < steps.size(); ++s) {
    auto& search = steps[s];
    for (std::size_t n = 0; n < search.inputs.size() && search.inputs.size() == 2; ++n) {
      if (search.inputs[n] < operands) continue;
      const auto value = search.inputs[n] - operands;
      std::ptrdiff_t reads = 0;
      for (const auto& step : steps) reads += std::count(step.inputs.begin(), step.inputs.end(), search.inputs[n]);
      const auto& join = steps[value];
      auto taken =
          reads == 1 ? with_join_taken_in(search.einsum, n, join.einsum, search.compute, labels) : std::nullopt;
      if (!taken) continue;
      search.inputs = {search.inputs[1 - n], join.inputs[0], join.inputs[1]};
      search.einsum = *std::move(taken);
      is_taken[value] = true;
      break;
    }
  }
  std::vector<std::size_t> number(steps.size());  // of the steps that are left
  std::vector<FusedStep> left;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    number[s] = left.size();
    if (is_taken[s]) continue;
    for (auto& input : steps[s].inputs)
      if (input >= operands) input = operands + number[input - operands];
    left.push_back(std::move(steps[s]));
  }
  steps = std::move(left);
  return number;
}

}  // namespace

FusedKernel::FusedKernel(std::vector<FusedStep> steps, Labels chain_labels, const Labels& rows,
                         std::vector<Labels> operand_labels, const std::vector<DType>& operand_types,
                         const LabelTable& labels, const LevelTable& level)
    : steps_(std::move(steps)), labels_(std::move(chain_labels)), operand_labels_(std::move(operand_labels)) {
  CHECK(!steps_.empty() && operand_labels_.size() == operand_types.size(),
        "a chain has steps, and labels of its inputs");
  rows_ = places_of(rows);
  for (const auto type : operand_types) operand_sizes_.push_back(size_of(type));
  step_of_ = take_joins_in(steps_, operand_types.size(), labels);
  for (const auto& step : steps_) {
    std::vector<DType> types;
    CHECK(std::all_of(step.inputs.begin(), step.inputs.end(),
                      [&](std::size_t input) { return input < operand_types.size() + kernels_.size(); }),
          "a step reads what the chain has, or a step before it makes");
    for (const auto input : step.inputs)
      types.push_back(input < operand_types.size() ? operand_types[input]
                                                   : steps_[input - operand_types.size()].compute);
    auto& window = windows_.emplace_back();
    const bool is_last = windows_.size() == steps_.size();
    if (auto form = is_last || types != std::vector{step.compute} ? std::nullopt : window_form(step.einsum, labels))
      window.emplace(*std::move(form), step.einsum, labels);
    kernels_.emplace_back(step.einsum, labels, std::move(types), step.compute, step.compute, level);
    step_places_.push_back(places_of(step.einsum.labels()));
  }
  for (std::size_t n = 0; n < operand_types.size(); ++n)
    if (is_cut_into_strips(n, rows) && readers_of(n) > 1) read_again_.push_back(n);
}

// Narrow strips of rows that lie next to each other would be read in runs that are too short for the memory.
bool FusedKernel::is_cut_into_strips(std::size_t operand, const Labels& rows) const {
  const auto& own = operand_labels_[operand];
  const auto is_row = [&](Label label) { return contains(rows, label); };
  return !own.empty() && !is_row(own.back()) && std::any_of(own.begin(), own.end(), is_row);
}

std::ptrdiff_t FusedKernel::readers_of(std::size_t operand) const {
  return std::count_if(steps_.begin(), steps_.end(), [&](const FusedStep& step) {
    return std::find(step.inputs.begin(), step.inputs.end(), operand) != step.inputs.end();
  });
}

std::size_t FusedKernel::place_of(Label label) const {
  const auto found = std::find(labels_.begin(), labels_.end(), label);
  CHECK(found != labels_.end(), "a chain has the labels of its steps");
  return static_cast<std::size_t>(found - labels_.begin());
}

std::vector<std::size_t> FusedKernel::places_of(const Labels& labels) const {
  std::vector<std::size_t> places;
  for (const auto label : labels) places.push_back(place_of(label));
  return places;
}

std::vector<std::int64_t> FusedKernel::strip(std::span<const std::int64_t> label_sizes) const {
  CHECK(label_sizes.size() == labels_.size(), "a chain is as large as its labels");
  std::vector<std::int64_t> strip(label_sizes.begin(), label_sizes.end());
  const auto bytes_of_row = [&](const Labels& labels, std::size_t size) {
    auto bytes = static_cast<std::int64_t>(size);
    for (const auto place : places_of(labels))
      if (std::find(rows_.begin(), rows_.end(), place) == rows_.end()) bytes *= label_sizes[place];
    return bytes;
  };
  std::int64_t row_bytes = 0;
  for (std::size_t s = 0; s + 1 < steps_.size(); ++s)
    if (!windows_[s]) row_bytes += bytes_of_row(steps_[s].einsum.output, size_of(steps_[s].compute));
  if (row_bytes == 0) return strip;
  // An operand that several steps read stays in the caches from one step to the next, too.
  std::int64_t read_again = 0;
  for (const auto n : read_again_) read_again += bytes_of_row(operand_labels_[n], operand_sizes_[n]);
  row_bytes = std::max(row_bytes, read_again);
  const auto wanted = std::max<std::int64_t>(1, kStripBytes / std::max<std::int64_t>(1, row_bytes));
  for (auto row = rows_.begin(); row != rows_.end(); ++row) {
    std::int64_t rows = 1;
    for (const auto place : rows_) rows *= strip[place];
    if (rows <= wanted) break;
    strip[*row] = std::max<std::int64_t>(1, wanted / (rows / strip[*row]));
  }
  return strip;
}

std::int64_t FusedKernel::bytes_in_strip(std::size_t step, std::span<const std::int64_t> strip) const {
  auto bytes = static_cast<std::int64_t>(size_of(steps_[step].compute));
  if (windows_[step]) bytes = windows_[step]->frame_bytes(sizes_of_step(step, strip), steps_[step].compute);
  else
    for (const auto place : places_of(steps_[step].einsum.output)) bytes *= strip[place];
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::size_t FusedKernel::workspace_bytes(std::span<const std::int64_t> label_sizes) const {
  const auto strip = this->strip(label_sizes);
  std::int64_t results = 0;
  for (std::size_t s = 0; s + 1 < steps_.size(); ++s) results += bytes_in_strip(s, strip);
  std::size_t of_kernel = 0;
  for (std::size_t s = 0; s < steps_.size(); ++s)
    of_kernel = std::max(of_kernel, kernels_[s].workspace_bytes(sizes_of_step(s, strip)));
  return static_cast<std::size_t>(results) + of_kernel;
}

std::vector<std::int64_t> FusedKernel::sizes_of_step(std::size_t step, std::span<const std::int64_t> strip) const {
  std::vector<std::int64_t> sizes;
  for (const auto place : step_places_[step]) sizes.push_back(strip[place]);
  return sizes;
}

std::string FusedKernel::describe(std::size_t step, std::span<const std::int64_t> label_sizes) const {
  CHECK(step < step_of_.size(), "a step of the chain is described");
  const auto computed = step_of_[step];
  if (windows_[computed]) return windows_[computed]->describe();
  const bool has_strips = std::any_of(windows_.begin(), windows_.end() - 1, [](const auto& window) { return !window; });
  return kernels_[computed].describe(sizes_of_step(computed, strip(label_sizes))) + (has_strips ? ", in strips" : "");
}

// One call: the memory for a strip, and the current strip's position in operands and result.
class FusedKernel::Run {
 public:
  Run(const FusedKernel& kernel, std::span<const Tile* const> operands, std::span<const PartRange> ranges, Tile& result)
      : kernel_(kernel),
        ranges_(ranges),
        strip_(kernel.strip(sizes_of(ranges))),
        memory_(static_cast<std::size_t>(bytes_of_strip())),
        frames_(kernel.steps_.size()) {
    for (std::size_t n = 0; n < operands.size(); ++n) {
      const auto& tile = *operands[n];
      values_.push_back({tile.dtype(), const_cast<std::byte*>(tile.bytes().data()),
                         label_strides(kernel_.labels_, kernel_.operand_labels_[n], tile.shape()), false});
    }
    auto* free = memory_.data();
    for (std::size_t s = 0; s < kernel_.steps_.size(); ++s) {
      const auto& step = kernel_.steps_[s];
      const auto& head = step.einsum.output;
      if (s + 1 == kernel_.steps_.size()) {
        values_.push_back({result.dtype(), result.mutable_bytes().data(),
                           label_strides(kernel_.labels_, head, result.shape()), false});
      } else {
        values_.push_back({step.compute, free, label_strides(kernel_.labels_, head, shape_in_strip(head)), true});
        frames_[s] = free;
        free += kernel_.bytes_in_strip(s, strip_);
      }
    }
  }

  void run() {
    std::vector<PartRange> at(ranges_.begin(), ranges_.end());
    for (const auto row : kernel_.rows_) at[row].size = std::min(strip_[row], ranges_[row].size);
    do run_strip(at);
    while (advance(at));
  }

 private:
  // An operand, the result, or an intermediate result.
  struct Value {
    DType dtype;
    std::byte* data;
    std::vector<std::int64_t> strides;  // by label of the chain
    bool of_strip;                      // holds one strip only
  };

  Shape shape_in_strip(const Labels& head) const {
    std::vector<std::int64_t> extents;
    for (const auto place : kernel_.places_of(head)) extents.push_back(strip_[place]);
    return Shape(std::move(extents));
  }
  std::int64_t bytes_of_strip() const {
    std::int64_t bytes = 0;
    for (std::size_t s = 0; s + 1 < kernel_.steps_.size(); ++s) bytes += kernel_.bytes_in_strip(s, strip_);
    return std::max(bytes, kAlignment);
  }

  // Moves to the next strip; the label that is cut last moves fastest.
  bool advance(std::vector<PartRange>& at) const {
    for (auto row = kernel_.rows_.rbegin(); row != kernel_.rows_.rend(); ++row) {
      auto& range = at[*row];
      const auto& whole = ranges_[*row];
      range.begin += range.size;
      if (range.begin == whole.end()) range.begin = whole.begin;
      range.size = std::min(strip_[*row], whole.end() - range.begin);
      if (range.begin != whole.begin) return true;
    }
    return false;
  }

  // The current strip as a view over a step's labels.
  MutableLabelView view(const Value& value, const std::vector<std::size_t>& places,
                        const std::vector<PartRange>& at) const {
    MutableLabelView view{value.dtype, value.data, {}};
    std::int64_t offset = 0;
    for (const auto place : places) view.strides.push_back(value.strides[place]);
    if (!value.of_strip)
      for (const auto row : kernel_.rows_) offset += (at[row].begin - ranges_[row].begin) * value.strides[row];
    view.data = value.data + offset * static_cast<std::int64_t>(size_of(value.dtype));
    return view;
  }

  // Lets a window's value be the view of it in this strip.
  void look_through(std::size_t s, const LabelView& source, std::span<const PartRange> ranges) {
    const auto& places = kernel_.step_places_[s];
    auto& value = values_[kernel_.operand_labels_.size() + s];
    const auto seen = kernel_.windows_[s]->view(source, ranges, frames_[s]);
    // Steps only read their operands, so that the view may be of constant values.
    value.data = static_cast<std::byte*>(const_cast<void*>(seen.data));
    std::fill(value.strides.begin(), value.strides.end(), 0);
    for (std::size_t n = 0; n < places.size(); ++n) value.strides[places[n]] = seen.strides[n];
  }

  void run_strip(const std::vector<PartRange>& at) {
    poll_cancellation();
    const auto operands = kernel_.operand_labels_.size();
    for (std::size_t s = 0; s < kernel_.steps_.size(); ++s) {
      const auto& places = kernel_.step_places_[s];
      std::vector<LabelView> inputs;
      for (const auto input : kernel_.steps_[s].inputs) {
        auto read = view(values_[input], places, at);
        inputs.push_back({read.dtype, read.data, std::move(read.strides)});
      }
      std::vector<PartRange> ranges;
      for (const auto place : places) ranges.push_back(at[place]);
      if (kernel_.windows_[s]) {
        look_through(s, inputs.front(), ranges);
        continue;
      }
      kernel_.kernels_[s].run(inputs, ranges, view(values_[operands + s], places, at), true);
    }
  }

  const FusedKernel& kernel_;
  std::span<const PartRange> ranges_;
  std::vector<std::int64_t> strip_;
  Scratch memory_;
  std::vector<std::byte*> frames_;  // where a step's result has its memory
  std::vector<Value> values_;       // operands, then results of steps
};

void FusedKernel::run(std::span<const Tile* const> operands, std::span<const PartRange> ranges, Tile& result) const {
  CHECK(operands.size() == operand_labels_.size(), "a kernel call has a tile for every input");
  CHECK(ranges.size() == labels_.size(), "a kernel call has a range for every label");
  CHECK(result.dtype() == steps_.back().compute, "a kernel's result has the type that it computes in");
  if (result.shape().element_count() == 0) return;
  Run(*this, operands, ranges, result).run();
}

}  // namespace eindb

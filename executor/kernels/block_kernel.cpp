#include "executor/kernels/block_kernel.hpp"

#include <algorithm>
#include <complex>
#include <cstring>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "executor/kernels/fourier_transform.hpp"
#include "executor/kernels/matrix_functions.hpp"
#include "executor/kernels/real_factors.hpp"
#include "executor/kernels/recurrence.hpp"
#include "executor/kernels/vector_functions.hpp"
#include "tensor/block_form.hpp"

namespace eindb {
namespace {

// A box of elements: the sizes of its dimensions, and the strides of each in the tile that has it.
struct Box {
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;

  std::int64_t count() const {
    std::int64_t product = 1;
    for (const auto size : sizes) product *= size;
    return product;
  }
  bool is_contiguous() const {
    std::int64_t expected = 1;
    for (std::size_t d = sizes.size(); d-- > 0; expected *= sizes[d])
      if (sizes[d] > 1 && strides[d] != expected) return false;
    return true;
  }
  // Calls f(number, offset) for each element in row-major order.
  template <class F>
  void for_each(F&& f) const {
    const auto all = count();
    std::vector<std::int64_t> index(sizes.size(), 0);
    std::int64_t offset = 0;
    for (std::int64_t number = 0; number < all; ++number) {
      f(number, offset);
      for (std::size_t d = sizes.size(); d-- > 0;) {
        offset += strides[d];
        if (++index[d] < sizes[d]) break;
        offset -= sizes[d] * strides[d];
        index[d] = 0;
      }
    }
  }
};

}  // namespace

// One call: buffers for one batch index, and the boxes of its values.
class BlockKernel::Call {
 public:
  Call(const BlockKernel& kernel, std::span<const LabelView> operands, std::span<const PartRange> ranges,
       const MutableLabelView& result)
      : kernel_(kernel), operands_(operands), result_(result) {
    const auto box = [&](const std::vector<std::size_t>& places, const std::vector<std::int64_t>& strides) {
      Box out;
      for (const auto place : places) {
        out.sizes.push_back(ranges[place].size);
        out.strides.push_back(strides[place]);
      }
      return out;
    };
    for (std::size_t n = 0; n < operands.size(); ++n) cores_.push_back(box(kernel.cores_[n], operands[n].strides));
    result_core_ = box(kernel.result_core_, result.strides);
    batch_ = box(kernel.batch_, result.strides);
    for (const auto& operand : operands) batch_of_.push_back(box(kernel.batch_, operand.strides));
    for (const auto place : kernel.batch_) first_.push_back(ranges[place].begin);
    place_ = first_;
  }

  void run() {
    std::vector<std::int64_t> begin(operands_.size(), 0);
    std::vector<std::int64_t> index(batch_.sizes.size(), 0);
    const auto all = batch_.count();
    std::int64_t to = 0;
    for (std::int64_t number = 0; number < all; ++number) {
      for (std::size_t d = 0; d < index.size(); ++d) place_[d] = first_[d] + index[d];
      compute(begin, to);
      for (std::size_t d = index.size(); d-- > 0;) {
        to += batch_.strides[d];
        for (std::size_t n = 0; n < begin.size(); ++n) begin[n] += batch_of_[n].strides[d];
        if (++index[d] < batch_.sizes[d]) break;
        to -= batch_.sizes[d] * batch_.strides[d];
        for (std::size_t n = 0; n < begin.size(); ++n) begin[n] -= batch_.sizes[d] * batch_of_[n].strides[d];
        index[d] = 0;
      }
    }
  }

 private:
  void compute(const std::vector<std::int64_t>& begin, std::int64_t to) {
    dispatch(kernel_.operand_types_.front(), [&](auto type) {
      using T = typename decltype(type)::type;
      if (is_of_matrices(kernel_.block_.op)) {
        if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::complex<double>>) return matrix<T>(begin, to);
        else CHECK(false, "functions of matrices are computed in double precision");
      }
      constexpr bool kIsReal = !std::is_same_v<T, std::complex<float>> && !std::is_same_v<T, std::complex<double>>;
      if constexpr (kIsReal) ordered<T>(begin.front(), to);
      else transform<typename T::value_type>(begin.front(), to);
    });
  }

  template <class T>
  void ordered(std::int64_t from, std::int64_t to) {
    using enum BlockOp;
    const auto op = kernel_.block_.op;
    if (op == Order) {
      const auto order = buffer_of<std::int64_t>(result_bytes_, result_core_.count());
      order_indices<T>(values<T>(0, from, core_bytes_), kernel_.block_.descending, order);
      return store<std::int64_t>(order, to);
    }
    if (op == UniqueOrder || op == UniqueCount || op == UniqueNumber) return unique<T>(from, to);
    const auto copied = copy_of<T>(0, from, core_bytes_);
    if (op == Distinct) {
      const std::int64_t count = distinct_of<T>(copied);
      return store<std::int64_t>(std::span(&count, 1), to);
    }
    if (op == Mode) {
      const T mode = mode_of<T>(copied);
      return store<T>(std::span(&mode, 1), to);
    }
    if constexpr (std::is_floating_point_v<T>) {
      CHECK(op == Quantile, "real values have these functions");
      const T quantile = quantile_of<T>(copied, kernel_.block_.share);
      store<T>(std::span(&quantile, 1), to);
    } else {
      CHECK(false, "a quantile is of floating-point numbers");
    }
  }

  template <class T>
  void unique(std::int64_t from, std::int64_t to) {
    const auto op = kernel_.block_.op;
    const auto out = buffer_of<std::int64_t>(result_bytes_, result_core_.count());
    std::fill(out.begin(), out.end(), op == BlockOp::UniqueOrder ? -1 : 0);
    const auto room = static_cast<std::int64_t>(out.size());
    const bool numbers = op == BlockOp::UniqueNumber;
    const auto found = for_each_unique<T>(
        values<T>(0, from, core_bytes_),
        [&](std::int64_t number, std::int64_t index) {
          if (op == BlockOp::UniqueOrder && number < room) out[static_cast<std::size_t>(number)] = index;
        },
        [&](std::int64_t index, std::int64_t number) {
          if (numbers) out[static_cast<std::size_t>(index)] = number;
          else if (op == BlockOp::UniqueCount && number < room) ++out[static_cast<std::size_t>(number)];
        });
    if (!numbers && found > room) kernel_.refuse_unique(found, room, place_);
    store<std::int64_t>(out, to);
  }

  template <class T>
  void transform(std::int64_t from, std::int64_t to) {
    using Value = std::complex<T>;
    CHECK(kernel_.block_.op == BlockOp::Fourier || kernel_.block_.op == BlockOp::InverseFourier,
          "complex numbers have no order");
    const bool is_inverse = kernel_.block_.op == BlockOp::InverseFourier;
    const auto given = cores_.front().count();
    const auto wanted = result_core_.count();
    const auto length = std::max(given, wanted);
    auto& transform = transform_of<T>(static_cast<std::size_t>(length), is_inverse);
    CHECK(result_.dtype == dtype_of<Value>, "a transform gives values of the type that it is computed in");
    const bool in_place = result_core_.is_contiguous() && wanted == length;
    const auto out = in_place ? std::span(static_cast<Value*>(result_.data) + to, static_cast<std::size_t>(length))
                              : buffer_of<Value>(result_bytes_, length);
    if (given < length) {
      // The values with zeros behind them.
      const auto copied = copy_of<Value>(0, from, core_bytes_);
      std::fill(std::copy(copied.begin(), copied.end(), out.begin()), out.end(), Value{});
      transform.run(out, out);
    } else {
      transform.run(values<Value>(0, from, core_bytes_), out);
    }
    if (!in_place) store<Value>(out.first(static_cast<std::size_t>(wanted)), to);
  }

  // One for all batch indices.
  template <class T>
  FourierTransform<T>& transform_of(std::size_t length, bool is_inverse) {
    auto& transform = std::get<std::optional<FourierTransform<T>>>(transforms_);
    if (!transform) transform.emplace(length, is_inverse);
    return *transform;
  }

  template <class T>
  void matrix(const std::vector<std::int64_t>& begin, std::int64_t to) {
    const auto core = [&](std::size_t n) {
      const auto& sizes = cores_[n].sizes;
      return MatrixValues<T>{sizes[0], sizes.size() > 1 ? sizes[1] : 1,
                             values<T>(n, begin[n], n == 0 ? core_bytes_ : right_bytes_)};
    };
    const auto left = core(0);
    const auto right = cores_.size() > 1 ? std::optional(core(1)) : std::nullopt;
    const auto out = buffer_of<T>(result_bytes_, result_core_.count());
    if (const auto failure = matrix_function<T>(kernel_.block_.op, left, right, out)) kernel_.refuse(*failure, place_);
    store<T>(out, to);
  }

  // Room for elements in bytes that are kept for the next batch index.
  template <class T>
  std::span<T> buffer_of(std::vector<std::byte>& bytes, std::int64_t count) {
    bytes.resize(static_cast<std::size_t>(count) * sizeof(T));
    return {reinterpret_cast<T*>(bytes.data()), static_cast<std::size_t>(count)};
  }

  template <class T>
  std::span<T> copy_of(std::size_t operand, std::int64_t from, std::vector<std::byte>& bytes) {
    const auto& core = cores_[operand];
    const auto copied = buffer_of<T>(bytes, core.count());
    const auto* data = static_cast<const T*>(operands_[operand].data) + from;
    core.for_each(
        [&](std::int64_t number, std::int64_t offset) { copied[static_cast<std::size_t>(number)] = data[offset]; });
    return copied;
  }

  // The values of the core, where they lie if they lie together.
  template <class T>
  std::span<const T> values(std::size_t operand, std::int64_t from, std::vector<std::byte>& bytes) {
    const auto& core = cores_[operand];
    if (core.is_contiguous())
      return {static_cast<const T*>(operands_[operand].data) + from, static_cast<std::size_t>(core.count())};
    return copy_of<T>(operand, from, bytes);
  }

  template <class T>
  void store(std::span<const T> values, std::int64_t to) {
    CHECK(result_.dtype == dtype_of<T>, "a function of vectors gives values of the type that it is computed in");
    auto* data = static_cast<T*>(result_.data) + to;
    result_core_.for_each(
        [&](std::int64_t number, std::int64_t offset) { data[offset] = values[static_cast<std::size_t>(number)]; });
  }

  const BlockKernel& kernel_;
  std::span<const LabelView> operands_;
  const MutableLabelView& result_;
  std::vector<Box> cores_;
  Box result_core_;
  Box batch_;                  // with strides in the result
  std::vector<Box> batch_of_;  // in each operand
  std::vector<std::int64_t> first_;
  std::vector<std::int64_t> place_;  // the batch index, of the whole tensors
  std::vector<std::byte> core_bytes_;
  std::vector<std::byte> right_bytes_;
  std::vector<std::byte> result_bytes_;
  std::tuple<std::optional<FourierTransform<float>>, std::optional<FourierTransform<double>>> transforms_;
};

BlockKernel::BlockKernel(const EinSum& einsum, const LabelTable& table, std::vector<DType> operand_types, DType compute)
    : block_(*einsum.block), labels_(einsum.labels()), operand_types_(std::move(operand_types)), compute_(compute) {
  const auto result_core = result_core_of(einsum);
  result_core_ = places_of(result_core);
  batch_ = places_of(difference(einsum.output, result_core));
  for (const auto place : batch_) batch_names_.push_back(table.name(labels_[place]));
  if (!result_core.empty()) result_name_ = table.name(result_core.front());
  for (std::size_t n = 0; n < einsum.inputs.size(); ++n) cores_.push_back(places_of(core_of(einsum, n)));
  if (block_.op == BlockOp::UserRecurrence) folds_.emplace(einsum.user, compute);
}

// ", at i = 2, j = 0", or nothing where there is no batch label.
std::string BlockKernel::text_of(const std::vector<std::int64_t>& place) const {
  std::string at;
  for (std::size_t d = 0; d < place.size(); ++d)
    at += (d == 0 ? ", at " : ", ") + batch_names_[d] + " = " + std::to_string(place[d]);
  return at;
}

void BlockKernel::refuse_unique(std::int64_t found, std::int64_t room, const std::vector<std::int64_t>& place) const {
  throw Error(ErrorKind::Value,
              "there are " + std::to_string(found) + " different values, more than the " + std::to_string(room) +
                  " indices of label " + result_name_ + text_of(place),
              std::nullopt,
              "give " + result_name_ +
                  " a larger extent; MAX(COUNT_DISTINCT[...](x)) is the largest number of different values");
}

void BlockKernel::refuse(const std::string& failure, const std::vector<std::int64_t>& place) const {
  throw Error(ErrorKind::Value, "a matrix " + failure + text_of(place), std::nullopt,
              block_.op == BlockOp::Inverse || block_.op == BlockOp::Solve ? "PINV and LSTSQ take any matrix" : "");
}

std::vector<std::size_t> BlockKernel::places_of(const Labels& labels) const {
  std::vector<std::size_t> places;
  for (const auto label : labels) {
    const auto found = std::find(labels_.begin(), labels_.end(), label);
    CHECK(found != labels_.end(), "an EinSum lists every label it uses");
    places.push_back(static_cast<std::size_t>(found - labels_.begin()));
  }
  return places;
}

void BlockKernel::run(const LevelTable& level, std::span<const LabelView> operands, std::span<const PartRange> ranges,
                      const MutableLabelView& result) const {
  CHECK(result.dtype == compute_, "a kernel accumulates in the type that it computes in");
  if (is_recurrence(block_.op)) {
    std::vector<std::int64_t> sizes;
    for (const auto& range : ranges) sizes.push_back(range.size);
    CHECK(operands.size() == 2 && result_core_.size() == 1, "a recurrence is of values and of what the last one takes");
    const auto& read = cores_[0].empty() ? cores_[1] : cores_[0];
    CHECK(read.size() == 1, "a recurrence runs along one label");
    std::optional<UserRecurrence> user;
    if (folds_) user.emplace(level, *folds_);
    return run_recurrence(block_, operands[0], operands[1], result, {read.front(), result_core_.front(), batch_}, sizes,
                          user ? &*user : nullptr);
  }
  Call(*this, operands, ranges, result).run();
}

bool BlockKernel::is_real_factorisation() const {
  using enum BlockOp;
  return compute_ == DType::Float64 && (block_.op == Qr || block_.op == Svd || block_.op == PseudoInverse);
}

std::size_t BlockKernel::cells(const std::vector<std::size_t>& places,
                               std::span<const std::int64_t> label_sizes) const {
  std::size_t count = 1;
  for (const auto place : places) count *= static_cast<std::size_t>(label_sizes[place]);
  return count;
}

std::size_t BlockKernel::workspace_bytes(const LevelTable& level, std::span<const std::int64_t> label_sizes) const {
  if (is_recurrence(block_.op)) return 0;
  const auto results = cells(result_core_, label_sizes);
  if (is_real_factorisation()) {
    const auto& core = cores_.front();
    const auto rows = static_cast<std::size_t>(label_sizes[core[0]]);
    const auto columns = static_cast<std::size_t>(label_sizes[core[1]]);
    // Values that do not lie together are copied, and the result is.
    return (rows * columns + results) * sizeof(double) + real_factors_bytes(level, block_.op, rows, columns, results);
  }
  // Values with their indices, a copy of them, and the result; of a QR the matrix, its reflections and Q.
  constexpr std::size_t kCopies = 3;
  const auto bytes_each = block_.op == BlockOp::Qr ? size_of(compute_) : 2 * sizeof(double);
  std::size_t bytes = 0;
  for (const auto& core : cores_) bytes += kCopies * bytes_each * cells(core, label_sizes);
  const bool transforms = block_.op == BlockOp::Fourier || block_.op == BlockOp::InverseFourier;
  if (!transforms) return bytes + bytes_each * results;
  // A transform to more values than it has works on as many.
  const auto length = std::max(results, cells(cores_.front(), label_sizes));
  return bytes + bytes_each * length + FourierTransform<double>::bytes(length);
}

std::size_t BlockKernel::lent_bytes(const LevelTable& level, std::span<const std::int64_t> label_sizes) const {
  if (!is_real_factorisation()) return 0;
  const auto& core = cores_.front();
  return lent_factors_bytes(level, block_.op, static_cast<std::size_t>(label_sizes[core[0]]),
                            static_cast<std::size_t>(label_sizes[core[1]]));
}

}  // namespace eindb

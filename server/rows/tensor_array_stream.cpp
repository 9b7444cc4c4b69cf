#include "server/rows/tensor_array_stream.hpp"

#include <algorithm>
#include <utility>

#include "common/check.hpp"
#include "common/coded_error.hpp"

namespace eindb {
namespace {

// The number of elements that are appended between checks of the portion's size.
constexpr std::int64_t kElements = 2048;

[[noreturn]] void fail_size(const TensorRelation& tensor) {
  throw CodedError(
      "54000", ErrorKind::Unsupported,
      "the tensor of shape " + tensor.grid.shape().to_string() + " takes more than 1 GiB in one row",
      "SET result_format = 'rows' to fetch it in rows, CREATE TENSOR ... AS and COPY it to a file, or fetch "
      "a part of it");
}

}  // namespace

TensorArrayStream::TensorArrayStream(TensorStrips strips, ResultFormat format,
                                     const std::vector<frontend::Format>& formats)
    : strips_(std::move(strips)),
      shape_(shape_value(strips_.tensor(), format_of(formats, 0))),
      values_(whole_tensor_values(strips_.tensor(), format, formats)) {
  auto total = static_cast<std::int64_t>(shape_.size());
  for (const auto& value : values_) {
    sizes_.push_back(value->size(strips_));
    total += sizes_.back();
    if (total > kMostRowBytes) fail_size(strips_.tensor());
  }
}

bool TensorArrayStream::write(MessageWriter& out) {
  CHECK(!at_end_, "a tensor is one row");
  if (!begun_) begin_row(out);
  for (; value_ < values_.size(); ++value_) {
    if (!in_value_) begin_value(out.buffer());
    if (!write_value(out.buffer())) return false;
    end_value(out.buffer());
  }
  at_end_ = true;
  if (failure_) std::rethrow_exception(failure_);
  return true;
}

void TensorArrayStream::begin_row(MessageWriter& out) {
  begun_ = true;
  std::int64_t length = sizeof(std::int32_t) + sizeof(std::int16_t) + sizeof(std::int32_t);
  length += static_cast<std::int64_t>(shape_.size());
  for (const auto size : sizes_) length += size + static_cast<std::int64_t>(sizeof(std::int32_t));
  CHECK(std::in_range<std::int32_t>(length), "a message can say how long it is");
  out.bytes("D")
      .integer(static_cast<std::int32_t>(length))
      .integer(static_cast<std::int16_t>(values_.size() + 1))
      .integer(static_cast<std::int32_t>(shape_.size()))
      .bytes(shape_);
}

void TensorArrayStream::begin_value(std::string& out) {
  in_value_ = true;
  const auto before = out.size() + sizeof(std::int32_t);
  append_big_endian(out, static_cast<std::int32_t>(sizes_[value_]));
  values_[value_]->begin(out);
  bytes_left_ = sizes_[value_] - static_cast<std::int64_t>(out.size() - before);
  CHECK(bytes_left_ >= 0, "what stands before the elements is a part of the value");
  elements_left_ = strips_.tensor().grid.shape().element_count();
  strips_.rewind();
}

// Returns false when the portion is full.
bool TensorArrayStream::write_value(std::string& out) {
  while (strip_ != nullptr || elements_left_ > 0) {
    if (out.size() > kPortionBytes) return false;
    if (strip_ == nullptr) {
      strip_ = next_strip();
      CHECK(strip_ != nullptr, "there are strips up to the last element");
      elements_left_ -= strip_->shape().element_count();
      CHECK(elements_left_ >= 0, "strips have no more elements than their tensor");
      element_ = 0;
    }
    const auto left = strip_->shape().element_count() - element_;
    const auto before = out.size();
    values_[value_]->append(out, *strip_, element_, std::min(left, kElements));
    bytes_left_ -= static_cast<std::int64_t>(out.size() - before);
    element_ += kElements;
    if (left <= kElements) strip_ = nullptr;
  }
  return true;
}

// After a failure the zeros in place of numbers may be shorter as text, so the value is padded.
void TensorArrayStream::end_value(std::string& out) {
  const auto end = values_[value_]->end();
  CHECK(std::cmp_greater_equal(bytes_left_, end.size()), "a value is no longer than was said before it");
  out.append(static_cast<std::size_t>(bytes_left_) - end.size(), ' ');
  out += end;
  in_value_ = false;
}

TilePtr TensorArrayStream::next_strip() {
  if (!failure_) {
    try {
      return strips_.next();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  return std::make_shared<const Tile>(
      Tile::zeros(strips_.tensor().dtype, Shape({std::min(elements_left_, kElements)})));
}

}  // namespace eindb

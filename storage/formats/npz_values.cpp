#include "storage/formats/npz_values.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "common/check.hpp"
#include "common/error.hpp"
#include "storage/formats/npz_reader.hpp"

namespace eindb {
namespace {

constexpr std::size_t kRawBytes = 64 << 10;

}  // namespace

NpzValues::NpzValues(const InputFile& file, const ZipEntry& member, const Cancellation& cancellation)
    : name_(npz_member_text(file, member)), cancellation_(cancellation), contents_(file, member) {
  raw_.resize(static_cast<std::size_t>(std::min(member.size, kNpyPrefix)));
  raw_.resize(contents_.read(raw_));
  array_ = parse_npz_header(name_, raw_, member.size);
  raw_.erase(raw_.begin(), raw_.begin() + static_cast<std::ptrdiff_t>(array_.data_offset));
  value_size_ = size_of(array_.element.dtype());
}

/// Converts what was read behind the header, or else the next bytes. An element may begin in what was read and end in
/// what is read next.
void NpzValues::refill() {
  cancellation_.check();
  const auto size = static_cast<std::size_t>(array_.element.size);
  if (raw_.size() < size) {
    const auto left = raw_.size();
    raw_.resize(kRawBytes);
    raw_.resize(left + contents_.read(std::span(raw_).subspan(left)));
  }
  const auto count = static_cast<std::int64_t>(raw_.size() / size);
  CHECK(count > 0, "an array has the bytes of its elements");
  values_.resize(static_cast<std::size_t>(count) * value_size_);
  const auto converted = npy_conversion(array_.element)(raw_.data(), values_.data(), count, 1);
  if (converted < count)
    throw Error(ErrorKind::Value, name_ + ": element " + std::to_string(taken_ + converted) + " is too large for INT64",
                std::nullopt, "save it from NumPy as int64 or float64");
  raw_.erase(raw_.begin(), raw_.begin() + count * array_.element.size);
  at_ = 0;
}

template <class T>
T NpzValues::taken_value() {
  CHECK(!at_end(), "a value that is taken is one of the array");
  if (at_ == values_.size()) refill();
  DCHECK(sizeof(T) == value_size_ && at_ + sizeof(T) <= values_.size(), "values have the array's type");
  T value{};
  std::memcpy(&value, values_.data() + at_, sizeof value);
  at_ += sizeof value;
  ++taken_;
  return value;
}

std::int64_t NpzValues::next_integer() {
  CHECK(has_integers(), "integers are taken from an array of them");
  return taken_value<std::int64_t>();
}

CellValue NpzValues::next() {
  switch (array_.element.dtype()) {
    case DType::Float32: return static_cast<double>(taken_value<float>());
    case DType::Float64: return taken_value<double>();
    case DType::Complex64: return std::complex<double>(taken_value<std::complex<float>>());
    case DType::Complex128: return taken_value<std::complex<double>>();
    case DType::Int64: break;
  }
  return taken_value<std::int64_t>();
}

}  // namespace eindb

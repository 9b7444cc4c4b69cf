#include "server/rows/tensor_row_stream.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <complex>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "common/check.hpp"
#include "server/values/value_format.hpp"

namespace eindb {
namespace {

using frontend::Format;

constexpr std::size_t kMessageHead = 1 + sizeof(std::int32_t);
// The most bytes of a value and its length, in either format.
constexpr std::size_t kMostValueBytes = sizeof(std::int32_t) + kMostNumberText;

template <class T>
char* put_number(char* to, T number, Format format) {
  char* const value = to + sizeof(std::int32_t);
  char* end = value + sizeof number;
  if (format == Format::Text) end = put_sql_number(value, number);
  else if constexpr (std::is_same_v<T, float>) store_big_endian(value, std::bit_cast<std::int32_t>(number));
  else store_big_endian(value, std::bit_cast<std::int64_t>(number));
  store_big_endian(to, static_cast<std::int32_t>(end - value));
  return end;
}

// T: type of the elements.
template <class T>
class TensorRowStream final : public RowStream {
 public:
  TensorRowStream(TensorStrips strips, std::vector<Format> formats)
      : strips_(std::move(strips)),
        extents_(strips_.tensor().grid.shape().extents()),
        index_(extents_.size(), 0),
        left_(strips_.tensor().grid.shape().element_count()) {
    auto room = kMessageHead + sizeof(std::int16_t);
    for (std::size_t n = 0; n < extents_.size() + kNumbers; ++n) {
      formats_.push_back(format_of(formats, n));
      const auto names = strips_.tensor().names.at(n);
      room += std::max(kMostValueBytes, names == nullptr ? 0 : sizeof(std::int32_t) + names->longest());
    }
    row_.resize(room);
    row_[0] = 'D';
    store_big_endian(row_.data() + kMessageHead, static_cast<std::int16_t>(formats_.size()));
    put_outer_labels();
  }

  bool at_end() const override { return left_ == 0; }

  bool write(MessageWriter& out) override {
    if (element_ == elements_) read_strip();
    char* end = put_last_label();
    end = put_value(end, strip_->template data<T>()[element_]);
    DCHECK(std::cmp_less_equal(end - row_.data(), row_.size()), "a row has room for its labels and its value");
    store_big_endian(row_.data() + 1, static_cast<std::int32_t>(end - row_.data() - 1));
    out.bytes({row_.data(), static_cast<std::size_t>(end - row_.data())});
    advance();
    return true;
  }

 private:
  static constexpr bool kComplex = !std::is_arithmetic_v<T>;
  static constexpr std::size_t kNumbers = kComplex ? 2 : 1;

  void read_strip() {
    strip_ = strips_.next();
    CHECK(strip_ != nullptr, "strips end with the last element");
    elements_ = strip_->shape().element_count();
    CHECK(elements_ > 0 && elements_ <= left_, "a strip has some of the elements that are left");
    element_ = 0;
  }

  void put_outer_labels() {
    char* to = row_.data() + kMessageHead + sizeof(std::int16_t);
    for (std::size_t d = 0; d + 1 < index_.size(); ++d) to = put_index(to, d);
    outer_ = static_cast<std::size_t>(to - row_.data());
    DCHECK(outer_ <= row_.size(), "there is room for all labels but the last");
  }

  char* put_last_label() {
    char* const to = row_.data() + outer_;
    return index_.empty() ? to : put_index(to, index_.size() - 1);
  }

  // A name is a text, which has the same bytes in both formats.
  char* put_index(char* to, std::size_t dimension) const {
    const auto names = strips_.tensor().names.at(dimension);
    if (names == nullptr) return put_number(to, index_[dimension], formats_[dimension]);
    const auto name = names->name(index_[dimension]);
    store_big_endian(to, static_cast<std::int32_t>(name.size()));
    return std::copy(name.begin(), name.end(), to + sizeof(std::int32_t));
  }

  char* put_value(char* to, const T& value) const {
    const auto* const formats = formats_.data() + index_.size();
    if constexpr (!kComplex) return put_number(to, value, formats[0]);
    else return put_number(put_number(to, value.real(), formats[0]), value.imag(), formats[1]);
  }

  void advance() {
    ++element_;
    --left_;
    if (index_.empty() || ++index_.back() < extents_.back()) return;
    --index_.back();
    if (next_index(index_, extents_)) put_outer_labels();
  }

  TensorStrips strips_;
  const std::vector<std::int64_t> extents_;
  std::vector<Format> formats_;  // by column
  std::vector<std::int64_t> index_;
  std::int64_t left_;
  TilePtr strip_;
  std::int64_t elements_ = 0;  // number of elements in strip_
  std::int64_t element_ = 0;   // next element of strip_
  std::string row_;            // the message; the bytes up to outer_ are the same for the next row
  std::size_t outer_ = 0;
};

}  // namespace

std::unique_ptr<RowStream> tensor_row_stream(TensorStrips strips, std::vector<Format> formats) {
  return dispatch(strips.tensor().dtype, [&](auto type) -> std::unique_ptr<RowStream> {
    return std::make_unique<TensorRowStream<typename decltype(type)::type>>(std::move(strips), std::move(formats));
  });
}

}  // namespace eindb

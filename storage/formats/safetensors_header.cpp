// The safetensors format: the length of the header (8 bytes, little-endian), the header, then the values of all
// tensors, little-endian and row-major. The header is JSON in UTF-8, begins with '{' and may end with spaces:
//
//     {"__metadata__": {"any": "text"},
//      "w": {"dtype": "F32", "shape": [3, 4], "data_offsets": [0, 48]}, ...}
//
// Offsets count from the first byte after the header. Together the tensors cover every byte up to the end of the file
// exactly once.

#include "storage/formats/safetensors_header.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "storage/encoding/tile_codec.hpp"
#include "storage/formats/array_name.hpp"
#include "storage/formats/little_endian.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kLargestHeader = 3 << 20;
constexpr std::int64_t kLengthBytes = 8;

struct Type {
  std::string_view name;
  std::int64_t bits;
  std::optional<NpyElement> element;  // nullopt: the type is not supported for tensors
};

std::optional<NpyElement> element(char kind, int size) { return NpyElement{.kind = kind, .size = size}; }

const std::array<Type, 20>& types() {
  static const std::array<Type, 20> kTypes{
      {{"F64", 64, element('f', 8)},    {"F32", 32, element('f', 4)}, {"F16", 16, element('f', 2)},
       {"BF16", 16, element('B', 2)},   {"I64", 64, element('i', 8)}, {"I32", 32, element('i', 4)},
       {"I16", 16, element('i', 2)},    {"I8", 8, element('i', 1)},   {"U64", 64, element('u', 8)},
       {"U32", 32, element('u', 4)},    {"U16", 16, element('u', 2)}, {"U8", 8, element('u', 1)},
       {"BOOL", 8, element('b', 1)},    {"C64", 64, element('c', 8)}, {"F8_E5M2", 8, element('5', 1)},
       {"F8_E4M3", 8, element('4', 1)}, {"F8_E8M0", 8, std::nullopt}, {"F6_E2M3", 6, std::nullopt},
       {"F6_E3M2", 6, std::nullopt},    {"F4", 4, std::nullopt}}};
  return kTypes;
}

[[noreturn]] void corrupt(const std::string& path, const std::string& what) {
  throw Error(ErrorKind::Corrupt, path + " is no valid safetensors file: " + what);
}

/// Accepts only the structure that a header may have, and stops at anything else. This bounds recursion depth and
/// memory.
class SafetensorsHeaderParser final : public nlohmann::json_sax<nlohmann::json> {
 public:
  SafetensorsHeaderParser(const std::string& path, std::int64_t data_begin, std::int64_t data_size)
      : path_(path), data_begin_(data_begin), data_size_(data_size) {}

  std::vector<SafetensorsEntry> finish() {
    check_coverage();
    check_names();
    return std::move(entries_);
  }

  bool null() override { unexpected("null"); }
  bool boolean(bool /*value*/) override { unexpected("a truth value"); }
  bool number_float(double /*value*/, const std::string& text) override {
    unexpected("the number " + printable(text, 40));
  }
  bool binary(nlohmann::json::binary_t& /*value*/) override { unexpected("bytes"); }

  bool number_integer(std::int64_t value) override {
    if (place_ == Place::Shape) fail("has a negative extent " + std::to_string(value));
    if (place_ == Place::Offsets) fail("has a negative offset " + std::to_string(value));
    unexpected("a number");
  }

  bool number_unsigned(std::uint64_t value) override {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      fail("has a number beyond 63 bits");
    if (place_ != Place::Shape && place_ != Place::Offsets) unexpected("a number");
    auto& numbers = place_ == Place::Shape ? shape_ : offsets_;
    DCHECK(numbers.has_value(), "numbers are gathered between the ends of an array");
    const auto most = place_ == Place::Shape ? kMaxStoredRank : std::size_t{2};
    if (numbers->size() == most) fail("has more than " + std::to_string(most) + " numbers in its " + field_);
    numbers->push_back(static_cast<std::int64_t>(value));
    return true;
  }

  bool string(std::string& value) override {
    if (place_ == Place::Metadata) return true;
    if (place_ != Place::Entry || field_ != "dtype") unexpected("a text");
    if (type_ != nullptr) fail("has two dtypes");
    if (last_type_ != nullptr && last_type_->name == value) {  // the usual case
      type_ = last_type_;
      return true;
    }
    const auto found =
        std::find_if(types().begin(), types().end(), [&](const Type& type) { return type.name == value; });
    if (found == types().end()) {
      throw Error(ErrorKind::Unsupported, path_ + ": tensor " + quoted_name(name_) + " has the dtype " +
                                              quoted_name(value) + ", which is none of safetensors");
    }
    last_type_ = type_ = &*found;
    return true;
  }

  bool start_object(std::size_t /*elements*/) override {
    switch (place_) {
      case Place::Start: place_ = Place::Root; return true;
      case Place::Root: place_ = name_ == "__metadata__" ? Place::Metadata : Place::Entry; break;
      default: unexpected("an object");
    }
    type_ = nullptr;
    shape_.reset();
    offsets_.reset();
    field_.clear();
    return true;
  }

  bool key(std::string& value) override {
    if (place_ == Place::Root) name_ = value;
    if (place_ != Place::Entry) return true;
    if (value != "dtype" && value != "shape" && value != "data_offsets")
      fail("has the unknown key " + quoted_name(value));
    field_ = value;
    return true;
  }

  bool end_object() override {
    CHECK(place_ == Place::Root || place_ == Place::Entry || place_ == Place::Metadata,
          "an object that ends has begun");
    if (place_ == Place::Entry) add_entry();
    place_ = place_ == Place::Root ? Place::End : Place::Root;
    return true;
  }

  bool start_array(std::size_t /*elements*/) override {
    if (place_ != Place::Entry || field_ == "dtype" || field_.empty()) unexpected("an array");
    place_ = field_ == "shape" ? Place::Shape : Place::Offsets;
    auto& numbers = place_ == Place::Shape ? shape_ : offsets_;
    if (numbers) fail("has its " + field_ + " twice");
    numbers.emplace();
    return true;
  }

  bool end_array() override {
    CHECK(place_ == Place::Shape || place_ == Place::Offsets, "an array that ends has begun");
    place_ = Place::Entry;
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::json::exception& /*why*/) override {
    corrupt(path_,
            "its header is no JSON at byte " + std::to_string(kLengthBytes + static_cast<std::int64_t>(position)));
  }

 private:
  enum class Place { Start, Root, Metadata, Entry, Shape, Offsets, End };

  [[noreturn]] void fail(const std::string& what) const { corrupt(path_, "tensor " + quoted_name(name_) + " " + what); }

  [[noreturn]] void unexpected(const std::string& what) const {
    if (place_ == Place::Start) corrupt(path_, "its header is no JSON object");
    corrupt(path_, what + " is not expected at " + quoted_name(name_) + (field_.empty() ? "" : ", " + field_));
  }

  void add_entry() {
    if (type_ == nullptr || !shape_ || !offsets_ || offsets_->size() != 2)
      fail("does not have a dtype, a shape and two data_offsets");
    const auto begin = (*offsets_)[0];
    const auto end = (*offsets_)[1];
    if (begin > end) fail("ends before it begins");
    if (end > data_size_) {
      fail("ends at byte " + std::to_string(end) + " of the values, of which the file has " +
           std::to_string(data_size_));
    }
    const auto count = try_product(*shape_);
    std::int64_t bits = 0;
    if (!count || __builtin_mul_overflow(*count, type_->bits, &bits))
      fail("has the shape " + bracketed(*shape_) + ", which overflows");
    if (bits % 8 != 0 || bits / 8 != end - begin) {
      fail("of shape " + bracketed(*shape_) + " and dtype " + std::string(type_->name) + " takes " +
           std::to_string(bits / 8) + " bytes, but its data_offsets give it " + std::to_string(end - begin));
    }
    entries_.push_back({.name = name_,
                        .type = std::string(type_->name),
                        .array = {.element = type_->element.value_or(NpyElement{}),
                                  .shape = Shape(*shape_),
                                  .data_offset = data_begin_ + begin},
                        .is_readable = type_->element.has_value()});
    ranges_.emplace_back(begin, end);
  }

  /// In the order of their begins, each tensor starts where the previous one ended. Empty tensors come before their
  /// neighbour.
  void check_coverage() {
    CHECK(ranges_.size() == entries_.size(), "each tensor has its range");
    std::vector<std::size_t> order(ranges_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return ranges_[a] < ranges_[b]; });
    std::int64_t covered = 0;
    for (const auto n : order) {
      name_ = entries_[n].name;
      if (ranges_[n].first < covered) fail("overlaps another one");
      if (ranges_[n].first > covered)
        fail("has a hole of " + std::to_string(ranges_[n].first - covered) + " bytes before it");
      covered = ranges_[n].second;
    }
    if (covered != data_size_) corrupt(path_, std::to_string(data_size_ - covered) + " bytes follow its last tensor");
  }

  void check_names() const {
    std::vector<std::string_view> names;
    names.reserve(entries_.size());
    for (const auto& entry : entries_) names.emplace_back(entry.name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end()) corrupt(path_, "two tensors have the name " + quoted_name(*twice));
  }

  const std::string& path_;
  std::int64_t data_begin_;
  std::int64_t data_size_;
  Place place_ = Place::Start;
  std::string name_;   // of the current tensor
  std::string field_;  // of the current field
  const Type* type_ = nullptr;
  const Type* last_type_ = nullptr;
  std::optional<std::vector<std::int64_t>> shape_;
  std::optional<std::vector<std::int64_t>> offsets_;
  std::vector<SafetensorsEntry> entries_;
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges_;  // ranges of entries_ within the values
};

std::int64_t read_length(const InputFile& file) {
  std::array<std::byte, kLengthBytes> bytes{};
  if (file.read_some(0, bytes) < bytes.size()) corrupt(file.path(), "it ends in the length of its header");
  const auto length = load_little_endian<std::uint64_t>(bytes.data());
  if (length > static_cast<std::uint64_t>(file.size() - kLengthBytes))
    corrupt(file.path(), "a header of " + std::to_string(length) + " bytes is longer than the file");
  const auto size = static_cast<std::int64_t>(length);
  if (size > kLargestHeader) {
    throw Error(ErrorKind::Unsupported,
                file.path() + " has a header of " + std::to_string(size) + " bytes; at most " +
                    std::to_string(kLargestHeader) + " are read",
                std::nullopt, "split its tensors over several files");
  }
  return size;
}

}  // namespace

std::vector<SafetensorsEntry> read_safetensors_header(const InputFile& file) {
  const auto length = read_length(file);
  std::string text(static_cast<std::size_t>(length), '\0');
  file.read(kLengthBytes, std::as_writable_bytes(std::span(text)));
  if (!text.starts_with('{')) corrupt(file.path(), "its header is no JSON object");
  SafetensorsHeaderParser parser(file.path(), kLengthBytes + length, file.size() - kLengthBytes - length);
  nlohmann::json::sax_parse(text, &parser);
  return parser.finish();
}

}  // namespace eindb

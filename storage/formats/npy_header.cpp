// The NPY format (numpy.lib.format): magic "\x93NUMPY", major and minor version, the length of the header (2 bytes in
// version 1, 4 in 2 and 3, little-endian), then a Python dictionary in ASCII (UTF-8 in version 3), padded with spaces:
//
//     {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }

#include "storage/formats/npy_header.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "storage/encoding/tile_codec.hpp"

namespace eindb {
namespace {

constexpr std::string_view kNpyMagic{"\x93NUMPY", 6};
/// The longest accepted header. NumPy itself reads at most 10,000 bytes; only structured types need more.
constexpr std::int64_t kMaxHeader = kNpyPrefix - 12;
constexpr std::size_t kAlignment = 64;

[[noreturn]] void corrupt(const std::string& name, std::int64_t offset, const std::string& what) {
  throw Error(ErrorKind::Corrupt, name + " is no valid NPY file: " + what + " at byte " + std::to_string(offset));
}

/// Parses the dictionary, which is untrusted. Accepts the literals that NumPy writes: strings, True and False, and a
/// tuple of integers.
class NpyHeaderParser {
 public:
  NpyHeaderParser(const std::string& name, std::string_view text, std::int64_t text_offset)
      : name_(name), text_(text), text_offset_(text_offset) {}

  NpyHeader parse() {
    expect('{');
    while (!accept('}')) {
      parse_entry();
      if (accept(',')) continue;
      expect('}');
      break;
    }
    skip_spaces();
    if (at_ != text_.size()) fail("text after the dictionary");
    return finish();
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    corrupt(name_, text_offset_ + static_cast<std::int64_t>(at_), what);
  }

  void skip_spaces() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }

  bool accept(char c) {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) fail(std::string("expected '") + c + "'");
  }

  bool accept_word(std::string_view word) {
    skip_spaces();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  std::string_view parse_string() {
    skip_spaces();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') fail("expected a string");
    const auto end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("a string without an end");
    const auto content = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return content;
  }

  void parse_entry() {
    const auto key = parse_string();
    expect(':');
    if (key == "descr" && !element_) element_ = parse_element();
    else if (key == "fortran_order" && !column_major_) column_major_ = parse_bool();
    else if (key == "shape" && !extents_) extents_ = parse_shape();
    else fail("unknown or repeated key '" + std::string(key.substr(0, 40)) + "'");
  }

  bool parse_bool() {
    if (accept_word("True")) return true;
    if (accept_word("False")) return false;
    fail("expected True or False");
  }

  std::int64_t parse_extent() {
    skip_spaces();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range) fail("an extent beyond 64 bits");
    if (error != std::errc{}) fail("expected an extent");
    if (value < 0) fail("a negative extent");
    at_ = static_cast<std::size_t>(end - text_.data());
    accept_word("L");  // Python 2's notation for long integers
    return value;
  }

  std::vector<std::int64_t> parse_shape() {
    expect('(');
    std::vector<std::int64_t> extents;
    while (!accept(')')) {
      if (extents.size() == kMaxStoredRank) fail("more than " + std::to_string(kMaxStoredRank) + " dimensions");
      extents.push_back(parse_extent());
      if (accept(',')) continue;
      if (extents.size() == 1) fail("expected ','");  // (3) is a number, not a tuple
      expect(')');
      break;
    }
    return extents;
  }

  NpyElement parse_element() {
    skip_spaces();
    if (at_ < text_.size() && text_[at_] == '[') unsupported("structured elements");
    const auto descr = parse_string();
    std::string_view rest = descr;
    NpyElement element;
    if (!rest.empty() && std::string_view("<>=|").find(rest[0]) != std::string_view::npos) {
      element.big_endian = rest[0] == '>';
      rest.remove_prefix(1);
    }
    if (rest.empty()) fail("an empty element type");
    element.kind = rest[0];
    const auto [end, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), element.size);
    if (!is_number(element) || error != std::errc{} || end != rest.data() + rest.size())
      unsupported("elements of type '" + std::string(descr.substr(0, 40)) + "'");
    return element;
  }

  static bool is_number(const NpyElement& element) {
    switch (element.kind) {
      case 'f': return element.size == 2 || element.size == 4 || element.size == 8;
      case 'c': return element.size == 8 || element.size == 16;
      case 'i':
      case 'u': return element.size == 1 || element.size == 2 || element.size == 4 || element.size == 8;
      case 'b': return element.size == 1;
      default: return false;
    }
  }

  [[noreturn]] void unsupported(const std::string& what) const {
    throw Error(
        ErrorKind::Unsupported,
        name_ + " holds " + what + " (at byte " + std::to_string(text_offset_ + static_cast<std::int64_t>(at_)) + ")",
        std::nullopt, "save it from NumPy as float32, float64, complex64, complex128 or int64");
  }

  NpyHeader finish() const {
    if (!element_) fail("the key 'descr' is missing");
    if (!column_major_) fail("the key 'fortran_order' is missing");
    if (!extents_) fail("the key 'shape' is missing");
    if (!try_product(*extents_)) fail("the shape " + bracketed(*extents_) + " overflows 64 bits");
    return {.element = *element_,
            .column_major = *column_major_,
            .shape = Shape(*extents_),
            .data_offset = text_offset_ + static_cast<std::int64_t>(text_.size())};
  }

  const std::string& name_;
  std::string_view text_;
  std::int64_t text_offset_;
  std::size_t at_ = 0;
  std::optional<NpyElement> element_;
  std::optional<bool> column_major_;
  std::optional<std::vector<std::int64_t>> extents_;
};

struct Preamble {
  std::int64_t text_offset = 0;
  std::int64_t text_size = 0;
};

Preamble read_preamble(const std::string& name, std::string_view prefix, std::int64_t file_size) {
  if (!prefix.starts_with(kNpyMagic)) corrupt(name, 0, "the magic \\x93NUMPY is missing");
  const int major = prefix.size() < 8 ? 0 : prefix[6];
  if (major < 1 || major > 3) corrupt(name, 6, "an unknown format version");
  const std::size_t digits = major == 1 ? 2 : 4;
  if (prefix.size() < 8 + digits) corrupt(name, 8, "the file ends in the header's length");
  std::int64_t size = 0;
  for (std::size_t i = digits; i-- > 0;) size = size * 256 + static_cast<unsigned char>(prefix[8 + i]);
  const auto offset = static_cast<std::int64_t>(8 + digits);
  if (size > file_size - offset)
    corrupt(name, 8, "a header of " + std::to_string(size) + " bytes, longer than the file,");
  if (size > kMaxHeader)
    corrupt(name, 8, "a header of " + std::to_string(size) + " bytes, longer than any array needs,");
  return {offset, size};
}

void verify_length(const std::string& name, const NpyHeader& header, std::int64_t file_size) {
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(header.shape.element_count(), std::int64_t{header.element.size}, &bytes))
    corrupt(name, header.data_offset, "values of more bytes than 64 bits can count,");
  const auto present = file_size - header.data_offset;
  if (bytes <= present) return;
  corrupt(name, file_size,
          "the values of shape " + header.shape.to_string() + " take " + std::to_string(bytes) +
              " bytes, the file ends after " + std::to_string(present));
}

}  // namespace

StoredType NpyElement::type() const {
  switch (kind) {
    case 'f':
      if (size == 2) return with_encoding(Encoding::Float16);
      return StoredType(size == 8 ? DType::Float64 : DType::Float32);
    case 'c': return StoredType(size == 16 ? DType::Complex128 : DType::Complex64);
    case 'B': return with_encoding(Encoding::BFloat16);
    case '4': return with_encoding(Encoding::Float8E4M3);
    case '5': return with_encoding(Encoding::Float8E5M2);
    case 'b': return with_encoding(Encoding::Bool);
    case 'i':
      if (size == 1) return with_encoding(Encoding::Int8);
      if (size == 2) return with_encoding(Encoding::Int16);
      return size == 4 ? with_encoding(Encoding::Int32) : DType::Int64;
    default: CHECK(kind == 'u', "an element has one of the kinds that are known"); break;
  }
  if (size == 1) return with_encoding(Encoding::UInt8);
  if (size == 2) return with_encoding(Encoding::UInt16);
  return size == 4 ? with_encoding(Encoding::UInt32) : DType::Int64;
}

NpyElement npy_element_of(StoredType type) {
  switch (type.encoding) {
    case Encoding::Bool: return {'b', 1};
    case Encoding::Int8: return {'i', 1};
    case Encoding::UInt8: return {'u', 1};
    case Encoding::Int16: return {'i', 2};
    case Encoding::UInt16: return {'u', 2};
    case Encoding::Int32: return {'i', 4};
    case Encoding::UInt32: return {'u', 4};
    case Encoding::Float16: return {'f', 2};
    case Encoding::BFloat16: return {'B', 2};
    case Encoding::Float8E4M3: return {'4', 1};
    case Encoding::Float8E5M2: return {'5', 1};
    case Encoding::Q80:
    case Encoding::Q40:
    case Encoding::Plain: break;
  }
  const char kind = type.values == DType::Int64 ? 'i' : is_complex(type.values) ? 'c' : 'f';
  return {kind, static_cast<int>(size_of(type.values))};
}

NpyElement npy_file_element_of(StoredType type) {
  const auto element = npy_element_of(type);
  const bool is_known = element.kind != 'B' && element.kind != '4' && element.kind != '5';
  return is_known ? element : npy_element_of(type.values);
}

NpyHeader parse_npy_header(const std::string& name, std::span<const std::byte> prefix, std::int64_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(prefix.data()), prefix.size());
  const auto preamble = read_preamble(name, bytes, size);
  CHECK(std::cmp_less_equal(preamble.text_offset + preamble.text_size, bytes.size()),
        "a prefix holds any header that is accepted");
  const auto text =
      bytes.substr(static_cast<std::size_t>(preamble.text_offset), static_cast<std::size_t>(preamble.text_size));
  auto header = NpyHeaderParser(name, text, preamble.text_offset).parse();
  verify_length(name, header, size);
  return header;
}

std::int64_t npy_values_offset(const std::string& name, std::span<const std::byte> prefix, std::int64_t size) {
  const auto preamble = read_preamble(name, {reinterpret_cast<const char*>(prefix.data()), prefix.size()}, size);
  return preamble.text_offset + preamble.text_size;
}

NpyHeader read_npy_header(const InputFile& file) {
  std::vector<std::byte> prefix(static_cast<std::size_t>(std::min(file.size(), kNpyPrefix)));
  file.read(0, prefix);
  return parse_npy_header(file.path(), prefix, file.size());
}

void reshape_array(NpyHeader& array, const Shape& shape, const std::string& name) {
  if (shape.element_count() != array.shape.element_count()) {
    throw Error(ErrorKind::Shape,
                name + " holds " + std::to_string(array.shape.element_count()) + " values of shape " +
                    array.shape.to_string() + ", which are not those of shape " + shape.to_string(),
                std::nullopt, "the product of the extents must stay the same");
  }
  if (array.column_major && array.shape.rank() > 1) {
    throw Error(ErrorKind::Unsupported, name + " is column-major: its values cannot be read in another shape",
                std::nullopt, "copy it as it is, or save it from NumPy with numpy.ascontiguousarray");
  }
  array.shape = shape;
}

std::string make_npy_header(const NpyElement& element, const Shape& shape) {
  CHECK(std::string_view("fciub").find(element.kind) != std::string_view::npos,
        "NPY files have elements of five kinds");
  std::string tuple;
  for (const auto extent : shape.extents()) tuple += std::to_string(extent) + ", ";
  if (shape.rank() > 1) tuple.resize(tuple.size() - 2);
  if (shape.rank() == 1) tuple.resize(tuple.size() - 1);
  std::string text = std::string("{'descr': '") + (element.size == 1 ? '|' : '<') + element.kind +
                     std::to_string(element.size) + "', 'fortran_order': False, 'shape': (" + tuple + "), }";
  constexpr std::size_t kPrefix = 10;
  const auto unpadded = kPrefix + text.size() + 1;
  text.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  text += '\n';
  CHECK((kPrefix + text.size()) % kAlignment == 0, "the values begin aligned");
  CHECK(text.size() <= 0xFFFF, "a header of version 1 has a length of two bytes");
  std::string out(kNpyMagic);
  out += std::string{'\x01', '\x00', static_cast<char>(text.size() & 0xFF), static_cast<char>(text.size() >> 8U)};
  return out + text;
}

}  // namespace eindb

// The GGUF format (ggml, docs/gguf.md). All numbers are little-endian; a text is its length, 8 bytes, and its bytes.
//
//     "GGUF"  version:4  tensors:8  entries of metadata:8
//     metadata: key:text type:4 value             numbers of 1 to 8 bytes, texts, and lists: type:4 count:8 values
//     tensors:  name:text rank:4 extents:8*rank type:4 offset:8
//     zeros up to a multiple of the alignment, then the data of the tensors at their offsets
//
// The alignment is the metadata's general.alignment, or 32. The first extent is that of the dimension whose elements
// are contiguous. Types of blocks have rows of whole blocks.

#include "storage/formats/gguf_header.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <set>
#include <span>
#include <string_view>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "storage/formats/array_name.hpp"
#include "storage/formats/little_endian.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kLongestHeader = std::int64_t{256} << 20;
constexpr std::int64_t kLongestName = 4096;
constexpr std::uint64_t kMostGgufRank = 8;
constexpr int kDeepestList = 4;

struct GgmlType {
  std::uint32_t number;
  std::string_view name;
  std::optional<Encoding> encoding;  // Plain: values of `plain`
  DType plain = DType::Float32;
  std::optional<KQuant> quant = {};
};

// Others are named by their number.
constexpr std::array kGgmlTypes{
    GgmlType{0, "F32", Encoding::Plain, DType::Float32},
    GgmlType{1, "F16", Encoding::Float16},
    GgmlType{2, "Q4_0", Encoding::Q40},
    GgmlType{3, "Q4_1", std::nullopt},
    GgmlType{6, "Q5_0", std::nullopt},
    GgmlType{7, "Q5_1", std::nullopt},
    GgmlType{8, "Q8_0", Encoding::Q80},
    GgmlType{9, "Q8_1", std::nullopt},
    GgmlType{10, "Q2_K", std::nullopt},
    GgmlType{11, "Q3_K", std::nullopt},
    GgmlType{12, "Q4_K", Encoding::Plain, DType::Float32, KQuant::Q4K},
    GgmlType{13, "Q5_K", Encoding::Plain, DType::Float32, KQuant::Q5K},
    GgmlType{14, "Q6_K", Encoding::Plain, DType::Float32, KQuant::Q6K},
    GgmlType{15, "Q8_K", std::nullopt},
    GgmlType{24, "I8", Encoding::Int8},
    GgmlType{25, "I16", Encoding::Int16},
    GgmlType{26, "I32", Encoding::Int32},
    GgmlType{27, "I64", Encoding::Plain, DType::Int64},
    GgmlType{28, "F64", Encoding::Plain, DType::Float64},
    GgmlType{30, "BF16", Encoding::BFloat16},
};

// Reads a file from its start, piece by piece.
class GgufParser {
 public:
  explicit GgufParser(const InputFile& file) : file_(file) {}

  std::vector<GgufEntry> parse() {
    if (text_of(4) != "GGUF") corrupt("the magic GGUF is missing");
    const auto version = number<std::uint32_t>();
    if (version > 0xFFFF)
      unsupported("is of the other byte order", "convert it with llama.cpp's gguf_convert_endian.py");
    if (version != 2 && version != 3)
      unsupported("has the version " + std::to_string(version), "versions 2 and 3 can be read");
    const auto tensors = number<std::uint64_t>();
    const auto entries = number<std::uint64_t>();
    check_count(tensors, 24, "tensors");
    check_count(entries, 13, "entries of metadata");
    for (std::uint64_t n = 0; n < entries; ++n) metadata();
    std::vector<GgufEntry> out;
    std::set<std::string> names;
    for (std::uint64_t n = 0; n < tensors; ++n) {
      out.push_back(tensor());
      if (!names.insert(out.back().name).second) corrupt("two tensors are named " + quoted_name(out.back().name));
    }
    place(out);
    return out;
  }

 private:
  [[noreturn]] void corrupt(const std::string& what) const {
    throw Error(ErrorKind::Corrupt,
                file_.path() + " is no valid GGUF file: " + what + " at byte " + std::to_string(begin_ + at_));
  }
  [[noreturn]] void unsupported(const std::string& what, const std::string& hint) const {
    throw Error(ErrorKind::Unsupported, file_.path() + " " + what, std::nullopt, hint);
  }

  std::int64_t position() const { return begin_ + at_; }

  // At least `count` bytes are in the buffer afterwards.
  void need(std::int64_t count) {
    CHECK(count <= kPiece, "what is read at a time fits the buffer");
    if (static_cast<std::int64_t>(buffer_.size()) - at_ >= count) return;
    begin_ += at_;
    at_ = 0;
    if (count > file_.size() - begin_) corrupt("the file ends in its header");
    if (begin_ + count > kLongestHeader) unsupported("has a header above 256 MiB", "write its tensors one by one");
    buffer_.resize(static_cast<std::size_t>(std::min(kPiece, file_.size() - begin_)));
    file_.read(begin_, buffer_);
  }

  template <class T>
  T number() {
    need(sizeof(T));
    const auto value = load_little_endian<T>(buffer_.data() + at_);
    at_ += static_cast<std::int64_t>(sizeof(T));
    return value;
  }

  std::string text_of(std::int64_t length) {
    need(length);
    std::string out(reinterpret_cast<const char*>(buffer_.data() + at_), static_cast<std::size_t>(length));
    at_ += length;
    return out;
  }

  void skip(std::uint64_t count) {
    const auto left = static_cast<std::uint64_t>(file_.size() - position());
    if (count > left) corrupt("a value ends behind the file");
    const auto inside = std::min<std::uint64_t>(count, buffer_.size() - static_cast<std::size_t>(at_));
    at_ += static_cast<std::int64_t>(inside);
    if (count == inside) return;
    begin_ = position() + static_cast<std::int64_t>(count - inside);
    at_ = 0;
    buffer_.clear();
  }

  // Counts are of things that take some bytes each.
  void check_count(std::uint64_t count, std::uint64_t least_bytes, const std::string& what) const {
    if (count > static_cast<std::uint64_t>(file_.size() - position()) / least_bytes)
      corrupt(std::to_string(count) + " " + what + ", more than the file has room for,");
  }

  std::string name(const std::string& what) {
    const auto length = number<std::uint64_t>();
    if (length > static_cast<std::uint64_t>(kLongestName)) corrupt(what + " of " + std::to_string(length) + " bytes");
    return text_of(static_cast<std::int64_t>(length));
  }

  void metadata() {
    const auto key = name("a key");
    const auto type = number<std::uint32_t>();
    if (key == "general.alignment") {
      if (type != kUint32) corrupt("the alignment is no number of 32 bits");
      alignment_ = number<std::uint32_t>();
      if (alignment_ == 0 || alignment_ > 65536 || (alignment_ & (alignment_ - 1)) != 0)
        corrupt("an alignment of " + std::to_string(alignment_));
      return;
    }
    value(type, kDeepestList);
  }

  void value(std::uint32_t type, int depth) {
    static constexpr std::array<std::uint64_t, 13> kSizes{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    if (type >= kSizes.size()) corrupt("metadata of an unknown type " + std::to_string(type));
    if (type == kText) return skip(number<std::uint64_t>());
    if (type != kList) return skip(kSizes[type]);
    if (depth == 0) corrupt("lists nest too deeply");
    const auto of = number<std::uint32_t>();
    const auto count = number<std::uint64_t>();
    if (of >= kSizes.size()) corrupt("metadata of an unknown type " + std::to_string(of));
    if (of != kText && of != kList) {
      check_count(count, kSizes[of], "numbers");
      return skip(count * kSizes[of]);
    }
    check_count(count, 8, "values");
    for (std::uint64_t n = 0; n < count; ++n) value(of, depth - 1);
  }

  GgufEntry tensor() {
    GgufEntry entry;
    entry.name = name("a name");
    const auto rank = number<std::uint32_t>();
    if (rank > kMostGgufRank) corrupt("a tensor of " + std::to_string(rank) + " dimensions");
    std::vector<std::int64_t> extents;
    for (std::uint32_t d = 0; d < rank; ++d) {
      const auto extent = number<std::uint64_t>();
      if (extent > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        corrupt("an extent beyond 63 bits");
      extents.insert(extents.begin(), static_cast<std::int64_t>(extent));
    }
    if (!try_product(extents)) corrupt("the shape of tensor " + quoted_name(entry.name) + " overflows");
    entry.shape = Shape(std::move(extents));
    const auto number_of_type = number<std::uint32_t>();
    entry.type = "type " + std::to_string(number_of_type);
    const auto* const type = std::find_if(kGgmlTypes.begin(), kGgmlTypes.end(),
                                          [&](const GgmlType& one) { return one.number == number_of_type; });
    if (type != kGgmlTypes.end()) {
      entry.type = type->name;
      entry.quant = type->quant;
      if (type->encoding)
        entry.stored = *type->encoding == Encoding::Plain ? StoredType(type->plain) : with_encoding(*type->encoding);
    }
    const auto offset = number<std::uint64_t>();
    if (offset > static_cast<std::uint64_t>(file_.size()))
      corrupt("tensor " + quoted_name(entry.name) + " lies behind the file");
    entry.data_offset = static_cast<std::int64_t>(offset);
    return entry;
  }

  // Makes offsets count from the start of the file.
  void place(std::vector<GgufEntry>& entries) const {
    const auto data = round_up(position(), std::int64_t{alignment_});
    for (auto& entry : entries) {
      const auto what = "tensor " + quoted_name(entry.name);
      if (entry.data_offset % alignment_ != 0) corrupt(what + " is not aligned");
      entry.data_offset += data;
      if (!entry.stored) continue;
      const auto unit = entry.unit();
      const auto row = entry.shape.rank() == 0 ? 1 : entry.shape[entry.shape.rank() - 1];
      if (row % unit.cells != 0) corrupt(what + " has rows of " + std::to_string(row) + " cells, which are no blocks,");
      const auto cells = entry.shape.element_count();
      if (cells / unit.cells > (file_.size() - std::min(file_.size(), entry.data_offset)) / unit.bytes)
        corrupt(what + " ends behind the file");
    }
  }

  static std::int64_t round_up(std::int64_t value, std::int64_t to) { return (value + to - 1) / to * to; }

  static constexpr std::int64_t kPiece = 1 << 20;
  static constexpr std::uint32_t kUint32 = 4;
  static constexpr std::uint32_t kText = 8;
  static constexpr std::uint32_t kList = 9;

  const InputFile& file_;
  std::vector<std::byte> buffer_;
  std::int64_t begin_ = 0;  // of the buffer in the file
  std::int64_t at_ = 0;     // in the buffer
  std::uint32_t alignment_ = 32;
};

}  // namespace

std::vector<GgufEntry> read_gguf_header(const InputFile& file) { return GgufParser(file).parse(); }

}  // namespace eindb

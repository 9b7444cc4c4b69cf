// A classic file of netCDF: "CDF" and a version (1, 2 or 5), the number of records, then lists of dimensions,
// attributes and variables, and the values behind. Numbers have their highest byte first; counts take 4 bytes, in
// version 5 eight, and places of values 4 bytes, from version 2 on eight. A list has a tag (0 for an empty one) and a
// count. Names and values of attributes are padded to 4 bytes. A dimension of length 0 is that of records: variables
// with it lie interleaved, record by record, each padded to 4 bytes unless it is the only one.

#include "storage/formats/classic_netcdf.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "storage/encoding/tile_codec.hpp"
#include "storage/formats/array_name.hpp"
#include "storage/formats/dense_block_reader.hpp"
#include "storage/formats/npy_element.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kMostClassicHeader = std::int64_t{16} << 20U;
constexpr std::int64_t kMostClassicItems = 10'000;
constexpr std::int64_t kLongestClassicName = 256;  // netCDF's own limit
constexpr std::size_t kMostClassicMissing = 64;

struct ClassicType {
  const char* name;
  char kind;  // of NpyElement; 0: characters
  int size;
};
// By their numbers, from 1 on; those from 7 on are of version 5.
constexpr std::array<ClassicType, 11> kClassicTypes{{{"byte", 'i', 1},
                                                     {"char", 0, 1},
                                                     {"short", 'i', 2},
                                                     {"int", 'i', 4},
                                                     {"float", 'f', 4},
                                                     {"double", 'f', 8},
                                                     {"ubyte", 'u', 1},
                                                     {"ushort", 'u', 2},
                                                     {"uint", 'u', 4},
                                                     {"int64", 'i', 8},
                                                     {"uint64", 'u', 8}}};

struct ClassicDimension {
  std::string name;
  std::int64_t extent;
  bool is_record;
};

/// The numbers of an attribute; none for one of characters.
struct ClassicAttribute {
  std::string name;
  ClassicType type{};
  std::vector<Packing::Missing> values;
};

class ClassicHeader {
 public:
  explicit ClassicHeader(const InputFile& file) : file_(file) {
    bytes_.resize(static_cast<std::size_t>(std::min(file.size(), kMostClassicHeader)));
    file.read(0, bytes_);
  }

  std::vector<ClassicVariable> read() {
    const auto magic = take(4);
    version_ = std::to_integer<int>(magic[3]);
    if (std::memcmp(magic.data(), "CDF", 3) != 0 || (version_ != 1 && version_ != 2 && version_ != 5))
      fail("it has no version 1, 2 or 5");
    records_ = version_ == 5 ? number(8) : number(4);
    const bool is_streaming = records_ == (version_ == 5 ? -1 : 0xFFFFFFFF);
    if (!is_streaming && records_ < 0) fail("a negative number of records");
    read_list(0x0A, [&] { read_dimension(); });
    read_list(0x0C, [&] { attribute(); });
    read_list(0x0B, [&] { read_variable(); });
    place_records(is_streaming);
    for (const auto& variable : variables_) check_place(variable);
    return std::move(variables_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    if (std::cmp_equal(bytes_.size(), kMostClassicHeader) && at_ > bytes_.size() / 2)
      throw Error(ErrorKind::Unsupported, file_.path() + " has a header above 16 MiB");
    throw Error(ErrorKind::Corrupt, file_.path() + " is no valid file of netCDF: " + what);
  }

  std::span<const std::byte> take(std::int64_t count) {
    if (count < 0 || std::cmp_greater(count, bytes_.size() - at_)) fail("its header ends early");
    const auto taken = std::span<const std::byte>(bytes_).subspan(at_, static_cast<std::size_t>(count));
    at_ += taken.size();
    return taken;
  }
  /// Of 4 bytes never negative.
  std::int64_t number(int size) {
    std::uint64_t value = 0;
    for (const auto one : take(size)) value = value << 8U | std::to_integer<std::uint64_t>(one);
    return static_cast<std::int64_t>(value);
  }
  std::int64_t count() { return number(version_ == 5 ? 8 : 4); }
  std::span<const std::byte> padded(std::int64_t size) {
    const auto taken = take(size);
    take((4 - size % 4) % 4);
    return taken;
  }
  std::string name() {
    const auto size = count();
    if (size > kLongestClassicName) fail("a name of " + std::to_string(size) + " bytes");
    const auto text = padded(size);
    return {reinterpret_cast<const char*>(text.data()), text.size()};
  }
  const ClassicType& type() {
    const auto n = number(4);
    if (n < 1 || n > (version_ == 5 ? 11 : 6)) fail("values of type " + std::to_string(n));
    return kClassicTypes.at(static_cast<std::size_t>(n - 1));
  }

  template <class F>
  void read_list(std::int64_t tag, const F& read_one) {
    const auto found = number(4);
    const auto items = count();
    if ((found != tag && (found != 0 || items != 0)) || items < 0 || items > kMostClassicItems)
      fail("a list with the tag " + std::to_string(found) + " and " + std::to_string(items) + " entries");
    for (std::int64_t n = 0; n < items; ++n) read_one();
  }

  void read_dimension() {
    auto called = name();
    const auto extent = count();
    if (extent < 0) fail("a dimension of negative length");
    dimensions_.push_back({std::move(called), extent, extent == 0});
  }

  ClassicAttribute attribute() {
    ClassicAttribute out{.name = name(), .type = type(), .values = {}};
    const auto items = count();
    if (items < 0 || items > kMostClassicHeader) fail("an attribute of no sensible length");
    const auto bytes = padded(items * out.type.size);
    if (out.type.kind == 0) return out;
    const NpyElement element{.kind = out.type.kind, .size = out.type.size, .big_endian = true};
    for (std::int64_t n = 0; n < std::min<std::int64_t>(items, kMostClassicMissing); ++n) {
      std::array<std::byte, 8> value{};
      if (npy_conversion(element)(bytes.data() + n * out.type.size, value.data(), 1, 1) != 1) continue;
      out.values.push_back(missing_of(element.dtype(), value.data()));
    }
    return out;
  }

  static Packing::Missing missing_of(DType type, const std::byte* value) {
    Packing::Missing out;
    if (type == DType::Int64) {
      std::memcpy(&out.integer, value, sizeof out.integer);
      out.real = static_cast<double>(out.integer);
    } else if (type == DType::Float64) {
      std::memcpy(&out.real, value, sizeof out.real);
    } else {
      float single = 0;
      std::memcpy(&single, value, sizeof single);
      out.real = double{single};
    }
    return out;
  }

  void read_variable() {
    ClassicVariable variable;
    variable.name = name();
    const auto rank = count();
    if (rank < 0 || std::cmp_greater(rank, kMaxStoredRank))
      fail("a variable of " + std::to_string(rank) + " dimensions");
    std::vector<std::int64_t> extents;
    for (std::int64_t d = 0; d < rank; ++d) {
      const auto id = count();
      if (id < 0 || std::cmp_greater_equal(id, dimensions_.size())) fail("a variable of a dimension that is not there");
      const auto& dimension = dimensions_[static_cast<std::size_t>(id)];
      if (dimension.is_record && d > 0) fail("a variable whose records are not its first dimension");
      if (dimension.is_record) variable.record_bytes = 1;  // until all records are known
      extents.push_back(dimension.extent);
      variable.labels.push_back(dimension.name);
    }
    std::vector<ClassicAttribute> attributes;
    read_list(0x0C, [&] { attributes.push_back(attribute()); });
    const auto& of = type();
    variable.file_type = of.name;
    if (of.kind != 0) variable.element = NpyElement{.kind = of.kind, .size = of.size, .big_endian = true};
    count();  // its size, which follows from its shape
    variable.begin = number(version_ == 1 ? 4 : 8);
    if (variable.begin < 0) fail("a variable that begins before the file");
    variable.is_coordinate = rank == 1 && variable.labels[0] == variable.name;
    if (variable.element) variable.packing = packing_of(attributes, *variable.element);
    if (!try_product(extents)) fail("the shape " + bracketed(extents) + " overflows 64 bits");
    sizes_.push_back(of.size);
    variable.shape = Shape(std::move(extents));
    variables_.push_back(std::move(variable));
  }

  /// By netCDF's and CF's conventions; attributes that are not as they say mean nothing.
  static Packing packing_of(const std::vector<ClassicAttribute>& attributes, const NpyElement& element) {
    Packing out(element.dtype());
    std::optional<double> scale;
    std::optional<double> offset;
    bool all_single = element.dtype() == DType::Float32 || (element.dtype() == DType::Int64 && element.size <= 2);
    for (const auto& attribute : attributes) {
      const bool is_one = attribute.values.size() == 1 && std::isfinite(attribute.values[0].real);
      if (is_one && attribute.name == "scale_factor") scale = attribute.values[0].real;
      else if (is_one && attribute.name == "add_offset") offset = attribute.values[0].real;
      else continue;
      all_single = all_single && attribute.type.kind == 'f' && attribute.type.size == 4;
    }
    if (scale || offset)
      out.set_scale(scale.value_or(1), offset.value_or(0), all_single ? DType::Float32 : DType::Float64);
    for (const auto& attribute : attributes) {
      if (attribute.name != "_FillValue" && attribute.name != "missing_value") continue;
      if ((attribute.type.kind == 'f') != (element.kind == 'f')) continue;
      for (auto value : attribute.values) {
        value.text = attribute.name;
        if (element.dtype() == DType::Float32) value.real = double{static_cast<float>(value.real)};
        out.add_missing(std::move(value));
      }
    }
    return out;
  }

  /// Bytes of a variable, or of one record of it.
  std::int64_t slice_bytes(std::size_t n) const {
    auto extents = variables_[n].shape.extents();
    if (variables_[n].record_bytes != 0) extents.erase(extents.begin());
    extents.push_back(sizes_[n]);
    return checked_product(extents);
  }

  void place_records(bool is_streaming) {
    std::int64_t with_records = 0;
    std::int64_t record = 0;
    std::int64_t first = file_.size();
    for (std::size_t n = 0; n < variables_.size(); ++n) {
      if (variables_[n].record_bytes == 0) continue;
      ++with_records;
      first = std::min(first, variables_[n].begin);
      record = checked_add(record, checked_multiply(ceil_divide(slice_bytes(n), 4), 4));
    }
    if (with_records == 0) return;
    for (std::size_t n = 0; n < variables_.size(); ++n)
      if (with_records == 1 && variables_[n].record_bytes != 0) record = slice_bytes(n);
    if (is_streaming) records_ = record == 0 ? 0 : (file_.size() - first) / record;
    for (auto& variable : variables_) {
      if (variable.record_bytes == 0) continue;
      variable.record_bytes = std::max<std::int64_t>(record, 1);
      auto extents = variable.shape.extents();
      extents[0] = records_;
      if (!try_product(extents)) fail("the shape " + bracketed(extents) + " overflows 64 bits");
      variable.shape = Shape(std::move(extents));
    }
  }

  void check_place(const ClassicVariable& variable) const {
    if (variable.shape.element_count() == 0) return;
    const auto n = static_cast<std::size_t>(&variable - variables_.data());
    const auto records = variable.record_bytes == 0 ? 0 : variable.shape[0] - 1;
    const auto end =
        checked_add(checked_add(variable.begin, checked_multiply(records, variable.record_bytes)), slice_bytes(n));
    if (end > file_.size())
      fail("variable " + quoted_name(variable.name) + " ends at byte " + std::to_string(end) + ", the file at " +
           std::to_string(file_.size()));
  }

  const InputFile& file_;
  std::vector<std::byte> bytes_;
  std::size_t at_ = 0;
  int version_ = 1;
  std::int64_t records_ = 0;
  std::vector<ClassicDimension> dimensions_;
  std::vector<ClassicVariable> variables_;
  std::vector<std::int64_t> sizes_;  // of their elements
};

ClassicVariable chosen_variable(const InputFile& file, const std::string& wanted) {
  auto variables = read_classic_netcdf(file);
  if (wanted.empty() && !std::all_of(variables.begin(), variables.end(), [](const auto& v) { return v.is_coordinate; }))
    std::erase_if(variables, [](const ClassicVariable& variable) { return variable.is_coordinate; });
  std::vector<std::string> names;
  for (const auto& variable : variables) names.push_back(variable.name);
  auto& chosen = variables[choose_array(file.path(), names, wanted, "DATASET")];
  if (chosen.element) return std::move(chosen);
  throw Error(ErrorKind::Unsupported, file.path() + ": variable " + quoted_name(chosen.name) + " has characters",
              std::nullopt, "variables of numbers are read");
}

}  // namespace

std::optional<StoredType> ClassicVariable::type(PackedValues values) const {
  if (!element) return std::nullopt;
  const bool is_scaled = values == PackedValues::Unpack && packing.is_scaled();
  return is_scaled ? StoredType(packing.dtype()) : element->type();
}

bool is_classic_netcdf(const InputFile& file) {
  std::array<std::byte, 3> begin{};
  return file.read_some(0, begin) == begin.size() && std::memcmp(begin.data(), "CDF", begin.size()) == 0;
}

std::vector<ClassicVariable> read_classic_netcdf(const InputFile& file) { return ClassicHeader(file).read(); }

ClassicNetcdfReader::ClassicNetcdfReader(const FilePath& path, const std::string& name, PackedValues values)
    : file_(path), values_(values), variable_(chosen_variable(file_, name)) {}

Tile ClassicNetcdfReader::read_block(const std::vector<std::int64_t>& begin, const Shape& extents) const {
  auto tile = stored_block(begin, extents);
  if (values_ == PackedValues::Keep) return tile;
  return variable_.packing.unpack(std::move(tile), file_.path() + ": variable " + quoted_name(variable_.name));
}

Tile ClassicNetcdfReader::stored_block(const std::vector<std::int64_t>& begin, const Shape& extents) const {
  NpyHeader array{.element = *variable_.element, .shape = variable_.shape, .data_offset = variable_.begin};
  if (extents.element_count() == 0) return Tile::zeros(array.element.dtype(), extents);
  if (variable_.record_bytes == 0) return read_dense_block(file_, array, begin, extents);
  const auto rest = [](const std::vector<std::int64_t>& all) {
    return std::vector<std::int64_t>(all.begin() + 1, all.end());
  };
  auto tile = Tile::uninitialized(array.element.dtype(), extents);
  array.shape = Shape(rest(variable_.shape.extents()));
  auto* target = tile.mutable_bytes().data();
  for (std::int64_t n = 0; n < extents[0]; ++n) {
    array.data_offset = variable_.begin + (begin[0] + n) * variable_.record_bytes;
    const auto record = read_dense_block(file_, array, rest(begin), Shape(rest(extents.extents())));
    std::memcpy(target, record.bytes().data(), record.byte_size());
    target += record.byte_size();
  }
  return tile;
}

}  // namespace eindb

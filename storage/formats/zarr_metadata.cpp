// The metadata of Zarr, by the specifications of version 2 and 3 at zarr-specs.readthedocs.io. Version 2 has a file
// .zarray in the directory of an array:
//
//     {"zarr_format": 2, "shape": [3, 4], "chunks": [2, 2], "dtype": "<f8", "order": "C", "fill_value": 0.0,
//      "compressor": {"id": "zstd", "level": 3}, "filters": null, "dimension_separator": "."}
//
// and xarray's names of dimensions in .zattrs: {"_ARRAY_DIMENSIONS": ["i", "j"]}. Version 3 has one file, zarr.json:
//
//     {"zarr_format": 3, "node_type": "array", "shape": [3, 4], "data_type": "float64", "fill_value": 0.0,
//      "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 2]}},
//      "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
//      "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "dimension_names": ["i", "j"]}

#include "storage/formats/zarr_metadata.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "storage/encoding/tile_codec.hpp"
#include "storage/formats/array_name.hpp"
#include "storage/formats/npy_element.hpp"
#include "tensor/small_float.hpp"

namespace eindb {
namespace {

using nlohmann::json;

constexpr int kDeepestMetadata = 32;
constexpr std::size_t kMostCodecs = 16;
constexpr const char* kDimensions = "_ARRAY_DIMENSIONS";

/// The members of metadata, with the errors of what they must be.
class ZarrText {
 public:
  ZarrText(std::string_view text, const std::string& name) : name_(name) {
    const auto shallow = [&](int depth, json::parse_event_t /*event*/, json& /*value*/) {
      if (depth > kDeepestMetadata) fail("it is nested more than 32 deep");
      return true;
    };
    root_ = json::parse(text, shallow, false);
    if (!root_.is_object()) fail("it is no object of JSON");
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorKind::Corrupt, name_ + " is no valid metadata of Zarr: " + what);
  }
  [[noreturn]] void refuse(const std::string& what, const std::string& hint) const {
    throw Error(ErrorKind::Unsupported, name_ + " has " + what, std::nullopt, hint);
  }

  const json& root() const { return root_; }
  const json& member(const json& object, const char* key) const {
    const auto found = object.find(key);
    if (found == object.end()) fail(std::string("'") + key + "' is missing");
    return *found;
  }
  const json* optional(const json& object, const char* key) const {
    const auto found = object.find(key);
    return found == object.end() || found->is_null() ? nullptr : &*found;
  }
  std::string text(const json& value, const char* what) const {
    if (!value.is_string()) fail(std::string("'") + what + "' is no text");
    return value.get<std::string>();
  }
  std::int64_t integer(const json& value, const char* what) const {
    const bool fits = value.is_number_integer() &&
                      (!value.is_number_unsigned() ||
                       value.get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<std::int64_t>::max()});
    if (!fits) fail(std::string("'") + what + "' has something that is no integer of 64 bits");
    return value.get<std::int64_t>();
  }
  /// At most kMaxStoredRank integers, none below `least`.
  std::vector<std::int64_t> integers(const json& value, const char* what, std::int64_t least) const {
    if (!value.is_array()) fail(std::string("'") + what + "' is no list");
    if (value.size() > kMaxStoredRank) fail("more than " + std::to_string(kMaxStoredRank) + " dimensions");
    std::vector<std::int64_t> out;
    for (const auto& one : value) {
      out.push_back(integer(one, what));
      if (out.back() < least) fail(std::string("'") + what + "' has " + std::to_string(out.back()) + " in it");
    }
    return out;
  }
  /// The name of an extension, "regular" of {"name": "regular", "configuration": {...}}.
  std::string extension(const json& value, const char* what) const {
    if (value.is_string()) return value.get<std::string>();
    if (!value.is_object()) fail(std::string("'") + what + "' is neither a name nor an object");
    return text(member(value, "name"), what);
  }
  /// Its configuration; an empty object without one.
  const json& configuration(const json& value) const {
    static const json kNone = json::object();
    const auto* found = value.is_object() ? optional(value, "configuration") : nullptr;
    if (found == nullptr) return kNone;
    if (!found->is_object()) fail("a configuration is no object");
    return *found;
  }

 private:
  const std::string& name_;
  json root_;
};

// ---- Types and fill values -----------------------------------------------------------------------------------------

NpyElement v2_element(const ZarrText& text, const json& value) {
  if (!value.is_string()) text.refuse("structured elements", "eindb reads arrays of numbers");
  const auto type = value.get<std::string>();
  const auto refuse = [&] { text.refuse("elements of type " + quoted_name(type), "eindb reads arrays of numbers"); };
  if (type.size() < 3 || std::string_view("<>|").find(type[0]) == std::string_view::npos) refuse();
  NpyElement element{.kind = type[1], .size = 0, .big_endian = type[0] == '>'};
  const auto* end = type.data() + type.size();
  const auto [stop, error] = std::from_chars(type.data() + 2, end, element.size);
  if (error != std::errc{} || stop != end) refuse();
  const auto is_one_of = [&](std::initializer_list<int> sizes) {
    return std::find(sizes.begin(), sizes.end(), element.size) != sizes.end();
  };
  const bool is_known = (element.kind == 'f' && is_one_of({2, 4, 8})) || (element.kind == 'c' && is_one_of({8, 16})) ||
                        ((element.kind == 'i' || element.kind == 'u') && is_one_of({1, 2, 4, 8})) ||
                        (element.kind == 'b' && element.size == 1);
  if (!is_known) refuse();
  return element;
}

struct V3Type {
  std::string_view name;
  NpyElement element;
};

const std::array<V3Type, 17>& v3_types() {
  static const std::array<V3Type, 17> kTypes{{{"bool", {'b', 1}},
                                              {"int8", {'i', 1}},
                                              {"int16", {'i', 2}},
                                              {"int32", {'i', 4}},
                                              {"int64", {'i', 8}},
                                              {"uint8", {'u', 1}},
                                              {"uint16", {'u', 2}},
                                              {"uint32", {'u', 4}},
                                              {"uint64", {'u', 8}},
                                              {"float16", {'f', 2}},
                                              {"float32", {'f', 4}},
                                              {"float64", {'f', 8}},
                                              {"bfloat16", {'B', 2}},
                                              {"float8_e4m3fn", {'4', 1}},
                                              {"float8_e5m2", {'5', 1}},
                                              {"complex64", {'c', 8}},
                                              {"complex128", {'c', 16}}}};
  return kTypes;
}

NpyElement v3_element(const ZarrText& text, const std::string& type) {
  for (const auto& known : v3_types())
    if (known.name == type) return known.element;
  text.refuse("elements of type " + quoted_name(type), "eindb reads arrays of numbers");
}

/// Bits of a float as version 3 writes them, "0x7fc00000".
std::optional<double> float_of_bits(std::string_view text, const NpyElement& element) {
  if (!text.starts_with("0x")) return std::nullopt;
  text.remove_prefix(2);
  std::uint64_t bits = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), bits, 16);
  const auto size = element.kind == 'c' ? element.size / 2 : element.size;
  if (error != std::errc{} || stop != text.data() + text.size() || std::cmp_not_equal(text.size(), 2 * size))
    return std::nullopt;
  const NpyElement part{.kind = element.kind == 'c' ? 'f' : element.kind, .size = size};
  std::array<std::byte, 8> value{};
  npy_conversion(part)(reinterpret_cast<const std::byte*>(&bits), value.data(), 1, 1);
  float single = 0;
  double real = 0;
  std::memcpy(&single, value.data(), sizeof single);
  std::memcpy(&real, value.data(), sizeof real);
  return part.dtype() == DType::Float32 ? double{single} : real;
}

double real_fill(const ZarrText& text, const json& value, const NpyElement& element) {
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) {
    const auto name = value.get<std::string>();
    if (name == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (name == "Infinity") return std::numeric_limits<double>::infinity();
    if (name == "-Infinity") return -std::numeric_limits<double>::infinity();
    if (const auto bits = float_of_bits(name, element)) return *bits;
  }
  text.fail("'fill_value' is no number of the array's type");
}

std::int64_t integer_fill(const ZarrText& text, const json& value, const NpyElement& element) {
  if (element.kind == 'b') {
    if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
    if (value.is_number_integer() && (value == 0 || value == 1)) return value.get<std::int64_t>();
    text.fail("'fill_value' is no truth value");
  }
  // Zarr for Python writes that of integers as 0.0, too.
  if (value.is_number_float() && value.get<double>() == 0) return 0;
  const auto integer = text.integer(value, "fill_value");
  if (element.size == 8) return integer;
  const auto bits = 8 * element.size;
  const auto least = element.kind == 'u' ? 0 : -(std::int64_t{1} << (bits - 1));
  const auto most = (std::int64_t{1} << (element.kind == 'u' ? bits : bits - 1)) - 1;
  if (integer < least || integer > most) text.fail("'fill_value' is not in the range of the array's type");
  return integer;
}

template <class T>
void put_fill(ZarrArray& array, T value) {
  static_assert(sizeof(T) <= sizeof array.fill);
  std::memcpy(array.fill.data(), &value, sizeof value);
}

/// A JSON null, of version 2, is no value at all: 0 takes its place.
void read_fill(const ZarrText& text, const json& value, ZarrArray& array) {
  if (value.is_null() && array.version == 2) return;
  array.has_fill = true;
  const auto& element = array.element;
  switch (element.dtype()) {
    case DType::Int64: return put_fill(array, integer_fill(text, value, element));
    case DType::Float32: return put_fill(array, static_cast<float>(real_fill(text, value, element)));
    case DType::Float64: return put_fill(array, real_fill(text, value, element));
    default: break;
  }
  std::complex<double> number;
  if (value.is_array()) {
    if (value.size() != 2) text.fail("'fill_value' of complex numbers has not two parts");
    number = {real_fill(text, value[0], element), real_fill(text, value[1], element)};
  } else {
    number = real_fill(text, value, element);
  }
  if (element.dtype() == DType::Complex128) return put_fill(array, number);
  put_fill(array, std::complex<float>(number));
}

// ---- Shapes --------------------------------------------------------------------------------------------------------

void read_zarr_shape(const ZarrText& text, const json& value, ZarrArray& array) {
  const auto extents = text.integers(value, "shape", 0);
  const auto count = try_product(extents);
  if (!count) text.fail("the shape " + bracketed(extents) + " overflows 64 bits");
  array.shape = Shape(extents);
}

/// Chunks of a dimension without indices may have none either.
std::vector<std::int64_t> read_chunk(const ZarrText& text, const json& value, const char* key, const ZarrArray& array) {
  auto chunk = text.integers(value, key, 0);
  if (chunk.size() != array.shape.rank()) text.fail(std::string("'") + key + "' has not one extent per dimension");
  for (std::size_t d = 0; d < chunk.size(); ++d) {
    if (chunk[d] == 0 && array.shape[d] != 0) text.fail("a chunk has the extent 0");
    chunk[d] = std::max<std::int64_t>(chunk[d], 1);
  }
  return chunk;
}

void check_chunk_size(const ZarrText& text, const ZarrArray& array) {
  auto factors = array.chunk;
  factors.push_back(
      std::max<std::int64_t>(array.element.size, static_cast<std::int64_t>(size_of(array.element.dtype()))));
  if (!try_product(factors)) text.fail("a chunk of shape " + bracketed(array.chunk) + " overflows 64 bits");
}

std::vector<std::size_t> row_major_order(std::size_t rank) {
  std::vector<std::size_t> order(rank);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

void read_labels(const ZarrText& text, const json* names, const char* key, ZarrArray& array) {
  array.labels_key = key;
  if (names == nullptr || !names->is_array() || names->size() != array.shape.rank()) {
    if (names != nullptr && array.version == 3) text.fail("'dimension_names' are not one per dimension");
    return;  // attributes of version 2 are the user's own
  }
  for (const auto& one : *names) array.labels.push_back(one.is_string() ? one.get<std::string>() : std::string());
}

constexpr std::size_t kMostMissingValues = 64;

/// Attributes are the user's own: what is not as the conventions say means nothing.
void read_packing(const json& attributes, ZarrArray& array) {
  if (!attributes.is_object()) return;
  const auto number = [&](const char* name) -> std::optional<double> {
    const auto found = attributes.find(name);
    if (found == attributes.end() || !found->is_number() || !std::isfinite(found->get<double>())) return std::nullopt;
    return found->get<double>();
  };
  array.packing.scale = number("scale_factor");
  array.packing.offset = number("add_offset");
  const auto add = [&](const char* name, const json& value) {
    const bool is_integer = value.is_number_integer() &&
                            (!value.is_number_unsigned() ||
                             value.get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<std::int64_t>::max()});
    const bool fits = array.element.dtype() == DType::Int64 ? is_integer : value.is_number();
    if (!fits || array.packing.missing.size() == kMostMissingValues) return;
    Packing::Missing missing{.real = value.get<double>(), .text = std::string(name) + " " + value.dump()};
    if (is_integer) missing.integer = value.get<std::int64_t>();
    if (array.element.dtype() == DType::Float32) missing.real = double{static_cast<float>(missing.real)};
    array.packing.missing.push_back(std::move(missing));
  };
  for (const auto* name : {"_FillValue", "missing_value"}) {
    const auto found = attributes.find(name);
    if (found == attributes.end()) continue;
    if (!found->is_array()) add(name, *found);
    else
      for (const auto& one : *found) add(name, one);
  }
}

// ---- Codecs --------------------------------------------------------------------------------------------------------

void add_filter(const ZarrText& text, ZarrFilter filter, std::vector<ZarrFilter>& filters) {
  const auto compresses = [](ZarrFilter one) { return one != ZarrFilter::Crc32c; };
  if (filters.size() == kMostCodecs) text.fail("more than 16 codecs");
  if (compresses(filter) && std::any_of(filters.begin(), filters.end(), compresses))
    text.refuse("two codecs that compress", "one suffices");
  filters.push_back(filter);
}

void read_v2_compressor(const ZarrText& text, ZarrArray& array) {
  const auto* filters = text.optional(text.root(), "filters");
  if (filters != nullptr && !(filters->is_array() && filters->empty()))
    text.refuse("filters", "write it without filters, as Zarr for Python does by default");
  const auto* compressor = text.optional(text.root(), "compressor");
  if (compressor == nullptr) return;
  if (!compressor->is_object()) text.fail("'compressor' is no object");
  const auto id = text.text(text.member(*compressor, "id"), "compressor");
  if (id == "blosc") add_filter(text, ZarrFilter::Blosc, array.filters);
  else if (id == "zstd") add_filter(text, ZarrFilter::Zstd, array.filters);
  else if (id == "zlib" || id == "gzip") add_filter(text, ZarrFilter::Gzip, array.filters);
  else text.refuse("the compressor " + quoted_name(id), "eindb reads blosc, zstd, zlib and gzip");
}

/// numpy.transpose's axes, or "C" and "F" of early files.
void apply_transpose(const ZarrText& text, const json& codec, ZarrArray& array) {
  const auto& value = text.member(text.configuration(codec), "order");
  const auto rank = array.shape.rank();
  std::vector<std::size_t> axes = row_major_order(rank);
  if (value == "F") std::reverse(axes.begin(), axes.end());
  if (value.is_array()) {
    const auto order = text.integers(value, "order", 0);
    if (order.size() != rank) text.fail("a transposition has not one axis per dimension");
    std::vector<bool> seen(rank);
    for (std::size_t n = 0; n < rank; ++n) {
      if (std::cmp_greater_equal(order[n], rank) || seen[static_cast<std::size_t>(order[n])])
        text.fail("the order of a transposition is no permutation");
      axes[n] = static_cast<std::size_t>(order[n]);
      seen[axes[n]] = true;
    }
  } else if (value != "C" && value != "F") {
    text.fail("the order of a transposition is no list");
  }
  auto composed = array.order;
  for (std::size_t n = 0; n < rank; ++n) composed[n] = array.order[axes[n]];
  array.order = composed;
}

bool read_endian(const ZarrText& text, const json& codec) {
  const auto* endian = text.optional(text.configuration(codec), "endian");
  if (endian == nullptr || *endian == "little") return false;
  if (*endian != "big") text.fail("the order of bytes is neither little nor big");
  return true;
}

std::optional<ZarrFilter> filter_named(std::string_view name) {
  if (name == "blosc") return ZarrFilter::Blosc;
  if (name == "zstd") return ZarrFilter::Zstd;
  if (name == "gzip") return ZarrFilter::Gzip;
  if (name == "crc32c") return ZarrFilter::Crc32c;
  return std::nullopt;
}

void read_codecs(const ZarrText& text, const json& codecs, ZarrArray& array);

/// The chunk of the grid is a shard, and its parts are the chunks.
void read_shards(const ZarrText& text, const json& codec, ZarrArray& array) {
  if (array.shards) text.refuse("shards in shards", "one level is read");
  if (array.order != row_major_order(array.shape.rank()))
    text.refuse("a transposition of whole shards", "transpose the chunks in them");
  const auto& configuration = text.configuration(codec);
  const auto inner = read_chunk(text, text.member(configuration, "chunk_shape"), "chunk_shape", array);
  ZarrShards shards;
  for (std::size_t d = 0; d < inner.size(); ++d) {
    if (array.chunk[d] % inner[d] != 0) text.fail("the chunks of a shard do not fill it");
    shards.chunks.push_back(array.chunk[d] / inner[d]);
  }
  if (!try_product(shards.chunks)) text.fail("a shard has more chunks than 64 bits count");
  const auto* location = text.optional(configuration, "index_location");
  if (location != nullptr && *location != "start" && *location != "end") text.fail("an index lies nowhere");
  shards.index_is_first = location != nullptr && *location == "start";
  const auto& index_codecs = text.member(configuration, "index_codecs");
  if (!index_codecs.is_array() || index_codecs.empty()) text.fail("'index_codecs' is no list of codecs");
  for (std::size_t n = 0; n < index_codecs.size(); ++n) {
    const auto name = text.extension(index_codecs[n], "index_codecs");
    if (n == 0 && name == "bytes") shards.index_is_big_endian = read_endian(text, index_codecs[n]);
    else if (n > 0 && name == "crc32c") add_filter(text, ZarrFilter::Crc32c, shards.index_filters);
    else
      text.refuse("an index of shards by the codec " + quoted_name(name), "eindb reads bytes, and crc32c behind them");
  }
  array.chunk = inner;
  array.shards = std::move(shards);
  read_codecs(text, text.member(configuration, "codecs"), array);
}

void read_codecs(const ZarrText& text, const json& codecs, ZarrArray& array) {
  if (!codecs.is_array() || codecs.empty() || codecs.size() > kMostCodecs) text.fail("'codecs' is no list of codecs");
  bool has_bytes = false;
  for (const auto& codec : codecs) {
    const auto name = text.extension(codec, "codecs");
    const auto filter = filter_named(name);
    if (name == "sharding_indexed" && !has_bytes && codecs.size() == 1) return read_shards(text, codec, array);
    if (name == "transpose" && !has_bytes) {
      apply_transpose(text, codec, array);
    } else if ((name == "bytes" || name == "endian") && !has_bytes) {
      array.element.big_endian = read_endian(text, codec);
      has_bytes = true;
    } else if (filter && has_bytes) {
      add_filter(text, *filter, array.filters);
    } else {
      text.refuse("the codec " + quoted_name(name) + " at its place",
                  "eindb reads transpose, then bytes, then blosc, zstd, gzip and crc32c; or sharding_indexed alone");
    }
  }
  if (!has_bytes) text.fail("no codec makes bytes of a chunk");
}

void read_key_encoding(const ZarrText& text, ZarrArray& array) {
  const auto& encoding = text.member(text.root(), "chunk_key_encoding");
  const auto name = text.extension(encoding, "chunk_key_encoding");
  if (name != "default" && name != "v2")
    text.refuse("the chunk keys " + quoted_name(name), "eindb reads those that are called default and v2");
  array.has_chunk_prefix = name == "default";
  array.separator = name == "default" ? '/' : '.';
  const auto* separator = text.optional(text.configuration(encoding), "separator");
  if (separator == nullptr) return;
  if (*separator != "/" && *separator != ".") text.fail("the separator of chunk keys is neither '/' nor '.'");
  array.separator = *separator == "/" ? '/' : '.';
}

ZarrArray v3_array(const ZarrText& text) {
  const auto& root = text.root();
  ZarrArray array;
  array.version = 3;
  array.file_type = text.extension(text.member(root, "data_type"), "data_type");
  array.element = v3_element(text, array.file_type);
  read_zarr_shape(text, text.member(root, "shape"), array);
  const auto& grid = text.member(root, "chunk_grid");
  if (const auto name = text.extension(grid, "chunk_grid"); name != "regular")
    text.refuse("the chunk grid " + quoted_name(name), "eindb reads regular ones");
  array.chunk = read_chunk(text, text.member(text.configuration(grid), "chunk_shape"), "chunk_shape", array);
  array.order = row_major_order(array.shape.rank());
  read_key_encoding(text, array);
  read_codecs(text, text.member(root, "codecs"), array);
  check_chunk_size(text, array);
  const auto* transformers = text.optional(root, "storage_transformers");
  if (transformers != nullptr && !(transformers->is_array() && transformers->empty()))
    text.refuse("storage transformers", "eindb reads arrays without them");
  read_fill(text, text.member(root, "fill_value"), array);
  read_labels(text, text.optional(root, "dimension_names"), "dimension_names", array);
  if (const auto* attributes = text.optional(root, "attributes")) read_packing(*attributes, array);
  return array;
}

// ---- Writing -------------------------------------------------------------------------------------------------------

json v2_compressor(Compression compression) {
  switch (compression) {
    case Compression::Zstd: return {{"id", "zstd"}, {"level", 3}};
    case Compression::Gzip: return {{"id", "gzip"}, {"level", 5}};
    case Compression::Blosc:
      return {{"id", "blosc"}, {"cname", "lz4"}, {"clevel", 5}, {"shuffle", 1}, {"blocksize", 0}};
    default: return nullptr;
  }
}

json v3_codecs(const NpyElement& element, Compression compression) {
  auto bytes = json{{"name", "bytes"}};
  if (element.size > 1) bytes["configuration"] = {{"endian", "little"}};
  auto codecs = json::array({bytes});
  if (compression == Compression::Zstd)
    codecs.push_back({{"name", "zstd"}, {"configuration", {{"level", 3}, {"checksum", false}}}});
  if (compression == Compression::Gzip) codecs.push_back({{"name", "gzip"}, {"configuration", {{"level", 5}}}});
  if (compression == Compression::Blosc)
    codecs.push_back(
        {{"name", "blosc"},
         {"configuration",
          {{"cname", "lz4"}, {"clevel", 5}, {"shuffle", "shuffle"}, {"typesize", element.size}, {"blocksize", 0}}}});
  return codecs;
}

json zero_fill(const ZarrArray& array) {
  if (array.element.kind == 'b') return false;
  if (array.element.kind == 'c') return json::array({0.0, 0.0});
  if (array.element.dtype() == DType::Int64) return 0;
  return 0.0;
}

std::string v2_type(const NpyElement& element) {
  return std::string(1, element.size == 1 ? '|' : '<') + element.kind + std::to_string(element.size);
}

std::string v3_type(const NpyElement& element) {
  for (const auto& known : v3_types())
    if (known.element.kind == element.kind && known.element.size == element.size) return std::string(known.name);
  CHECK(false, "every element of NumPy's has a name in Zarr");
}

std::string zarr_dump(const json& value) { return value.dump(2, ' ', false, json::error_handler_t::replace) + "\n"; }

}  // namespace

ZarrArray parse_zarr_v2(std::string_view zarray, std::string_view zattrs, const std::string& name) {
  const ZarrText text(zarray, name);
  const auto& root = text.root();
  if (text.integer(text.member(root, "zarr_format"), "zarr_format") != 2) text.fail("its version is not 2");
  ZarrArray array;
  const auto& type = text.member(root, "dtype");
  array.element = v2_element(text, type);
  array.file_type = type.get<std::string>();
  read_zarr_shape(text, text.member(root, "shape"), array);
  array.chunk = read_chunk(text, text.member(root, "chunks"), "chunks", array);
  check_chunk_size(text, array);
  array.order = row_major_order(array.shape.rank());
  const auto& order = text.member(root, "order");
  if (order != "C" && order != "F") text.fail("the order of dimensions is neither C nor F");
  if (order == "F") std::reverse(array.order.begin(), array.order.end());
  read_v2_compressor(text, array);
  const auto* separator = text.optional(root, "dimension_separator");
  if (separator != nullptr && *separator != "." && *separator != "/")
    text.fail("'dimension_separator' is neither '.' nor '/'");
  array.separator = separator != nullptr && *separator == "/" ? '/' : '.';
  const auto fill = root.find("fill_value");
  if (fill != root.end()) read_fill(text, *fill, array);
  if (!zattrs.empty()) {
    const ZarrText attributes(zattrs, name);
    read_labels(attributes, attributes.optional(attributes.root(), kDimensions), kDimensions, array);
    read_packing(attributes.root(), array);
  }
  return array;
}

ZarrNode parse_zarr_v3(std::string_view json_text, const std::string& name) {
  const ZarrText text(json_text, name);
  const auto& root = text.root();
  if (text.integer(text.member(root, "zarr_format"), "zarr_format") != 3) text.fail("its version is not 3");
  const auto type = text.text(text.member(root, "node_type"), "node_type");
  if (type == "array") return {.version = 3, .array = v3_array(text)};
  if (type != "group") text.fail("it is neither an array nor a group");
  return {.version = 3, .array = {}, .is_consolidated = text.optional(root, "consolidated_metadata") != nullptr};
}

std::string zarr_array_text(const ZarrArray& array, Compression compression, bool has_all_chunks) {
  nlohmann::ordered_json out;
  out["zarr_format"] = array.version;
  if (array.version == 2) {
    out["shape"] = array.shape.extents();
    out["chunks"] = array.chunk;
    out["dtype"] = v2_type(array.element);
    out["compressor"] = v2_compressor(compression);
    out["fill_value"] = has_all_chunks ? json() : zero_fill(array);
    out["order"] = "C";
    out["filters"] = nullptr;
    out["dimension_separator"] = std::string(1, array.separator);
    return out.dump(2) + "\n";
  }
  out["node_type"] = "array";
  out["shape"] = array.shape.extents();
  out["data_type"] = v3_type(array.element);
  out["chunk_grid"] = {{"name", "regular"}, {"configuration", {{"chunk_shape", array.chunk}}}};
  out["chunk_key_encoding"] = {{"name", "default"}, {"configuration", {{"separator", "/"}}}};
  out["fill_value"] = zero_fill(array);
  out["codecs"] = v3_codecs(array.element, compression);
  out["attributes"] = nlohmann::ordered_json::object();
  if (!array.labels.empty()) out["dimension_names"] = array.labels;
  return out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string zarr_attributes_text(const ZarrArray& array) { return zarr_dump({{kDimensions, array.labels}}); }

std::string zarr_group_text(int version) {
  if (version == 2) return zarr_dump({{"zarr_format", 2}});
  return zarr_dump({{"zarr_format", 3}, {"node_type", "group"}, {"attributes", json::object()}});
}

}  // namespace eindb

#include "storage/formats/zarr_codecs.hpp"

#include <blosc.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <boost/crc.hpp>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb {
namespace {

constexpr int kZarrZstdLevel = 3;
constexpr int kZarrGzipLevel = 5;
constexpr int kZarrBloscLevel = 5;
constexpr int kGzipWindow = 15 + 16;     // a header of gzip, as zlib has it
constexpr int kAnyZlibWindow = 15 + 32;  // one of zlib or gzip
constexpr std::size_t kCrcBytes = 4;

[[noreturn]] void bad_chunk(const std::string& name, const std::string& what) {
  throw Error(ErrorKind::Corrupt, name + ": " + what);
}

std::vector<std::byte> from_blosc(std::span<const std::byte> bytes, std::size_t size, const std::string& name) {
  std::size_t found = 0;
  if (bytes.size() < BLOSC_MIN_HEADER_LENGTH || ::blosc_cbuffer_validate(bytes.data(), bytes.size(), &found) != 0)
    bad_chunk(name, "it is no buffer of Blosc");
  if (found != size)
    bad_chunk(name, "it decodes to " + std::to_string(found) + " bytes, and a chunk has " + std::to_string(size));
  std::vector<std::byte> out(size);
  const auto got = ::blosc_decompress_ctx(bytes.data(), out.data(), out.size(), 1);
  if (got < 0 || !std::cmp_equal(got, size)) bad_chunk(name, "Blosc cannot decode it");
  return out;
}

std::vector<std::byte> from_zstd(std::span<const std::byte> bytes, std::size_t size, const std::string& name) {
  std::vector<std::byte> out(size);
  const auto got = ::ZSTD_decompress(out.data(), out.size(), bytes.data(), bytes.size());
  if (::ZSTD_isError(got) != 0) bad_chunk(name, std::string("zstd cannot decode it: ") + ::ZSTD_getErrorName(got));
  if (got != size)
    bad_chunk(name, "it decodes to " + std::to_string(got) + " bytes, and a chunk has " + std::to_string(size));
  return out;
}

struct EndInflate {
  void operator()(z_stream* stream) const noexcept { ::inflateEnd(stream); }
};
struct EndDeflate {
  void operator()(z_stream* stream) const noexcept { ::deflateEnd(stream); }
};

/// As many bytes as zlib takes at a time.
uInt piece_of(std::size_t left) {
  return static_cast<uInt>(std::min<std::size_t>(left, std::numeric_limits<uInt>::max()));
}

const Bytef* zarr_zlib_bytes(const std::byte* bytes) { return reinterpret_cast<const Bytef*>(bytes); }

/// One byte more than the chunk has room, so that a longer one is seen.
std::vector<std::byte> from_gzip(std::span<const std::byte> bytes, std::size_t size, const std::string& name) {
  z_stream stream{};
  if (::inflateInit2(&stream, kAnyZlibWindow) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, EndInflate> end(&stream);
  std::vector<std::byte> out(size + 1);
  std::size_t read = 0;
  std::size_t made = 0;
  for (int state = Z_OK; state != Z_STREAM_END;) {
    stream.next_in = const_cast<Bytef*>(zarr_zlib_bytes(bytes.data() + read));  // zlib does not write it
    stream.avail_in = piece_of(bytes.size() - read);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + made);
    stream.avail_out = piece_of(out.size() - made);
    const auto given = stream.avail_in;
    const auto room = stream.avail_out;
    state = ::inflate(&stream, Z_NO_FLUSH);
    read += given - stream.avail_in;
    made += room - stream.avail_out;
    if (made > size) bad_chunk(name, "it decodes to more bytes than a chunk has, " + std::to_string(size));
    if (state != Z_OK && state != Z_STREAM_END) bad_chunk(name, "zlib cannot decode it");
  }
  if (made != size)
    bad_chunk(name, "it decodes to " + std::to_string(made) + " bytes, and a chunk has " + std::to_string(size));
  out.resize(size);
  return out;
}

std::uint32_t crc32c_of(std::span<const std::byte> bytes) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> sum;
  sum.process_bytes(bytes.data(), bytes.size());
  return sum.checksum();
}

void take_crc32c(std::vector<std::byte>& bytes, const std::string& name) {
  if (bytes.size() < kCrcBytes) bad_chunk(name, "it ends before its checksum");
  const auto body = std::span<const std::byte>(bytes).first(bytes.size() - kCrcBytes);
  std::uint32_t stored = 0;
  for (std::size_t n = kCrcBytes; n-- > 0;)
    stored = stored << 8U | std::to_integer<std::uint32_t>(bytes[body.size() + n]);
  if (stored != crc32c_of(body)) bad_chunk(name, "its bytes do not match their CRC-32C");
  bytes.resize(body.size());
}

std::vector<std::byte> to_blosc(std::span<const std::byte> bytes, std::size_t element_size) {
  if (bytes.size() > BLOSC_MAX_BUFFERSIZE)
    throw Error(ErrorKind::Value, "Blosc compresses no chunk of 2 GiB and more", std::nullopt,
                "use COMPRESSION zstd, or PARTITION the tensor into smaller tiles");
  std::vector<std::byte> out(bytes.size() + BLOSC_MAX_OVERHEAD);
  const auto size = ::blosc_compress_ctx(kZarrBloscLevel, BLOSC_SHUFFLE, element_size, bytes.size(), bytes.data(),
                                         out.data(), out.size(), BLOSC_LZ4_COMPNAME, 0, 1);
  CHECK(size > 0, "Blosc has room for any chunk");
  out.resize(static_cast<std::size_t>(size));
  return out;
}

std::vector<std::byte> to_zstd(std::span<const std::byte> bytes) {
  std::vector<std::byte> out(::ZSTD_compressBound(bytes.size()));
  const auto size = ::ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), kZarrZstdLevel);
  if (::ZSTD_isError(size) != 0) throw std::bad_alloc();
  out.resize(size);
  return out;
}

std::vector<std::byte> to_gzip(std::span<const std::byte> bytes) {
  z_stream stream{};
  if (::deflateInit2(&stream, kZarrGzipLevel, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  const std::unique_ptr<z_stream, EndDeflate> end(&stream);
  std::vector<std::byte> out(::deflateBound(&stream, bytes.size()));
  std::size_t read = 0;
  std::size_t made = 0;
  for (int state = Z_OK; state != Z_STREAM_END;) {
    stream.next_in = const_cast<Bytef*>(zarr_zlib_bytes(bytes.data() + read));  // zlib does not write it
    stream.avail_in = piece_of(bytes.size() - read);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + made);
    stream.avail_out = piece_of(out.size() - made);
    const auto given = stream.avail_in;
    const auto room = stream.avail_out;
    state = ::deflate(&stream, given == bytes.size() - read ? Z_FINISH : Z_NO_FLUSH);
    read += given - stream.avail_in;
    made += room - stream.avail_out;
    CHECK(state == Z_OK || state == Z_STREAM_END, "zlib has room for any chunk");
  }
  out.resize(made);
  return out;
}

/// The bytes behind the first `count` filters; nullopt where one of these compresses.
std::optional<std::size_t> size_behind(const std::vector<ZarrFilter>& filters, std::size_t count, std::size_t size) {
  for (std::size_t n = 0; n < count; ++n) {
    if (filters[n] != ZarrFilter::Crc32c) return std::nullopt;
    size += kCrcBytes;
  }
  return size;
}

}  // namespace

std::vector<std::byte> decode_zarr_chunk(std::vector<std::byte> bytes, const std::vector<ZarrFilter>& filters,
                                         std::size_t size, const std::string& name) {
  for (auto n = filters.size(); n-- > 0;) {
    const auto before = size_behind(filters, n, size);
    CHECK(before || filters[n] == ZarrFilter::Crc32c, "one filter of a chunk compresses at most");
    switch (filters[n]) {
      case ZarrFilter::Blosc: bytes = from_blosc(bytes, *before, name); break;
      case ZarrFilter::Zstd: bytes = from_zstd(bytes, *before, name); break;
      case ZarrFilter::Gzip: bytes = from_gzip(bytes, *before, name); break;
      case ZarrFilter::Crc32c: take_crc32c(bytes, name); break;
    }
  }
  if (bytes.size() != size)
    bad_chunk(name, "it has " + std::to_string(bytes.size()) + " bytes, and a chunk has " + std::to_string(size));
  return bytes;
}

std::int64_t most_zarr_bytes(std::int64_t size) { return size > (std::int64_t{1} << 60U) ? size : 2 * size + 65536; }

std::vector<std::byte> encode_zarr_chunk(std::span<const std::byte> bytes, Compression compression,
                                         std::size_t element_size) {
  switch (compression) {
    case Compression::Zstd: return to_zstd(bytes);
    case Compression::Gzip: return to_gzip(bytes);
    case Compression::Blosc: return to_blosc(bytes, element_size);
    default: CHECK(compression == Compression::None, "Zarr has no other compression"); break;
  }
  return {bytes.begin(), bytes.end()};
}

}  // namespace eindb

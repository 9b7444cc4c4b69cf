#include "storage/formats/zip_inflater.hpp"

#include <zlib.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/check.hpp"
#include "common/error.hpp"
#include "storage/formats/array_name.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kInputBytes = 256 << 10;

}  // namespace

struct ZipInflater::State {
  State(const InputFile& source, const ZipEntry& member)
      : file(source), entry(member), data_offset(zip_data_offset(source, member)) {
    // A negative value selects raw deflate, without zlib's own header.
    if (entry.method != 0) CHECK(inflateInit2(&stream, -MAX_WBITS) == Z_OK, "zlib has memory and the right version");
  }
  ~State() {
    if (entry.method != 0) inflateEnd(&stream);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorKind::Corrupt, file.path() + ": member " + quoted_name(entry.name) + " " + what);
  }

  std::size_t read_stored(std::span<std::byte> target) {
    const auto wanted = std::min<std::int64_t>(static_cast<std::int64_t>(target.size()), entry.size - given);
    file.read(data_offset + given, target.first(static_cast<std::size_t>(wanted)));
    return static_cast<std::size_t>(wanted);
  }

  void refill() {
    CHECK(stream.avail_in == 0 && taken <= entry.compressed_size, "what was read is inflated before more is");
    const auto wanted = std::min(kInputBytes, entry.compressed_size - taken);
    if (wanted == 0) fail("ends inside its compressed data");
    input.resize(static_cast<std::size_t>(wanted));
    file.read(data_offset + taken, input);
    taken += wanted;
    stream.next_in = reinterpret_cast<Bytef*>(input.data());
    stream.avail_in = static_cast<uInt>(input.size());
  }

  std::size_t inflate_some(std::span<std::byte> target) {
    constexpr std::size_t kMost = 1 << 30;  // zlib counts in 32 bits
    target = target.first(std::min(target.size(), kMost));
    stream.next_out = reinterpret_cast<Bytef*>(target.data());
    stream.avail_out = static_cast<uInt>(target.size());
    while (stream.avail_out > 0 && !ended) {
      if (stream.avail_in == 0) refill();
      const int status = inflate(&stream, Z_NO_FLUSH);
      if (status == Z_STREAM_END) ended = true;
      else if (status != Z_OK) fail("is damaged: its compressed data cannot be read");
    }
    return target.size() - stream.avail_out;
  }

  void finish() {
    if (entry.method != 0) {
      std::byte more{};
      if (!ended && inflate_some({&more, 1}) > 0)
        fail("has more than the " + std::to_string(entry.size) + " bytes it claims");
      if (stream.avail_in > 0 || taken < entry.compressed_size) fail("has bytes behind its compressed data");
    }
    if (crc != entry.crc) fail("is damaged: its checksum does not match");
  }

  const InputFile& file;
  const ZipEntry entry;
  const std::int64_t data_offset;
  z_stream stream{};
  std::vector<std::byte> input;
  std::int64_t taken = 0;  // compressed bytes read
  std::int64_t given = 0;  // bytes returned
  bool ended = false;      // the compressed data have ended
  bool finished = false;   // size and checksum are verified
  std::uint32_t crc = 0;
};

ZipInflater::ZipInflater(const InputFile& file, const ZipEntry& entry) : state_(std::make_unique<State>(file, entry)) {}

ZipInflater::~ZipInflater() = default;

std::int64_t ZipInflater::data_offset() const { return state_->data_offset; }

std::size_t ZipInflater::read(std::span<std::byte> target) {
  auto& s = *state_;
  std::size_t done = 0;
  while (done < target.size() && s.given < s.entry.size) {
    const auto left = static_cast<std::size_t>(s.entry.size - s.given);
    const auto rest = target.subspan(done, std::min(target.size() - done, left));
    const auto got = s.entry.method == 0 ? s.read_stored(rest) : s.inflate_some(rest);
    if (got == 0)
      s.fail("has " + std::to_string(s.given) + " bytes, not the " + std::to_string(s.entry.size) + " it claims");
    s.crc = static_cast<std::uint32_t>(crc32_z(s.crc, reinterpret_cast<const Bytef*>(rest.data()), got));
    CHECK(got <= rest.size(), "no more is inflated than there is room for");
    s.given += static_cast<std::int64_t>(got);
    done += got;
  }
  if (s.given == s.entry.size && !s.finished) {
    s.finish();
    s.finished = true;
  }
  return done;
}

}  // namespace eindb

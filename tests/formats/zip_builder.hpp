#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

#include "storage/formats/little_endian.hpp"

namespace eindb {

/// `bytes` as raw deflate data.
inline std::string deflated(const std::string& bytes) {
  z_stream stream{};
  deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  auto input = bytes;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// A member as an archive is to have it; a test changes what is to be wrong.
struct ZipMember {
  std::string name;
  std::string data;  ///< as it stands in the archive
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint32_t crc = 0;
  std::uint32_t size = 0;             ///< in the central directory
  std::uint32_t compressed_size = 0;  ///< in the central directory
  std::string local_name;
  std::uint32_t local_size = 0;
  std::string extra;         ///< in the central directory
  std::int64_t offset = -1;  ///< of the local header; -1: the true one
};

inline ZipMember zip_member(const std::string& name, const std::string& contents, bool compress = false) {
  ZipMember member;
  member.name = member.local_name = name;
  member.data = compress ? deflated(contents) : contents;
  member.method = compress ? 8 : 0;
  member.crc = static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(contents.data()), contents.size()));
  member.size = member.local_size = static_cast<std::uint32_t>(contents.size());
  member.compressed_size = static_cast<std::uint32_t>(member.data.size());
  return member;
}

/// An archive of the members, with `comment` at its end.
inline std::string zip_archive(const std::vector<ZipMember>& members, const std::string& comment = "") {
  const auto put16 = [](std::string& out, std::size_t v) { append_little_endian(out, static_cast<std::uint16_t>(v)); };
  const auto put32 = [](std::string& out, std::size_t v) { append_little_endian(out, static_cast<std::uint32_t>(v)); };
  const auto put_fields = [&](std::string& out, const ZipMember& member, std::uint32_t size) {
    put16(out, 20);
    put16(out, member.flags);
    put16(out, member.method);
    put32(out, 0);  // time and date
    put32(out, member.crc);
    put32(out, member.compressed_size);
    put32(out, size);
  };
  std::string out;
  std::string directory;
  for (const auto& member : members) {
    const auto offset = member.offset >= 0 ? static_cast<std::size_t>(member.offset) : out.size();
    out += "PK\x03\x04";
    put_fields(out, member, member.local_size);
    put16(out, member.local_name.size());
    put16(out, 0);
    out += member.local_name + member.data;
    directory += "PK\x01\x02";
    put16(directory, 20);
    put_fields(directory, member, member.size);
    put16(directory, member.name.size());
    put16(directory, member.extra.size());
    directory.append(10, '\0');  // no comment, first volume, attributes
    put32(directory, offset);
    directory += member.name + member.extra;
  }
  const auto begin = out.size();
  out += directory + "PK\x05\x06";
  put32(out, 0);
  put16(out, members.size());
  put16(out, members.size());
  put32(out, directory.size());
  put32(out, begin);
  put16(out, comment.size());
  return out + comment;
}

}  // namespace eindb

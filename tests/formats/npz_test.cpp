// NPZ files: what NumPy writes and reads, archives beyond 4 GiB, and archives that lie.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <span>

#include "storage/formats/array_name.hpp"
#include "storage/formats/npz_reader.hpp"
#include "storage/formats/npz_writer.hpp"
#include "tensor/dense_tensor.hpp"
#include "tests/formats/npy_bytes.hpp"
#include "tests/formats/zip_builder.hpp"
#include "tests/storage/random_tile.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

const std::string kThree = npy_file("<f8", "(3,)", raw_bytes<double>({1, 2, 4}));

class NpzTest : public ::testing::Test {
 protected:
  Tile read_all(const std::string& member = "") const {
    NpzReader reader(path, member);
    return reader.read_block(std::vector<std::int64_t>(reader.shape().rank(), 0), reader.shape());
  }
  double sum(const std::string& member = "") const {
    const auto tile = read_all(member);
    double total = 0;
    for (std::int64_t n = 0; n < tile.shape().element_count(); ++n) total += tile.data<double>()[n];
    return total;
  }
  void expect_fault(const std::string& archive, const std::string& text, ErrorKind kind = ErrorKind::Corrupt) {
    SCOPED_TRACE(text);
    write_file(path, archive);
    EXPECT_ERROR(read_all(), kind, text);
    EXPECT_ERROR(read_all(), kind, path);
  }
  /// Quicker than write_file, which makes the file system flush the old contents.
  void rewrite(const std::string& archive) const {
    std::filesystem::remove(path);
    write_file(path, archive);
  }
  /// The archive of one member, changed.
  template <class Change>
  void expect_fault_of(bool compress, const Change& change, const std::string& text,
                       ErrorKind kind = ErrorKind::Corrupt) {
    auto member = zip_member("x.npy", kThree, compress);
    change(member);
    expect_fault(zip_archive({member}), text, kind);
  }

  ScratchDirectory scratch;
  std::string path = scratch.file("x.npz");
  std::mt19937_64 random{22};
};

TEST_F(NpzTest, StoredAndDeflatedMembers) {
  for (const bool compress : {false, true}) {
    write_file(path, zip_archive({zip_member("x.npy", kThree, compress)}, "a comment"));
    EXPECT_EQ(sum(), 7);
    EXPECT_EQ(sum("x"), 7);
    EXPECT_EQ(sum("x.npy"), 7);
  }
}

TEST_F(NpzTest, MembersAreChosenByName) {
  const auto two = npy_file("<f8", "()", raw_bytes<double>({2}));
  write_file(path, zip_archive({zip_member("a.npy", kThree), zip_member("../../etc/b.npy", two, true),
                                zip_member("/abs\n\xFF.npy", kThree), zip_member("readme.txt", "no array")}));
  EXPECT_EQ(sum("a"), 7);
  EXPECT_EQ(sum("../../etc/b"), 2);  // a name is a name: nothing is written by it
  EXPECT_ERROR(read_all(), ErrorKind::Value, "holds 3 arrays: 'a', '../../etc/b', '/abs\\x0A\\xFF'");
  EXPECT_ERROR(read_all("c"), ErrorKind::UnknownName, "no array 'c'");
  EXPECT_ERROR(read_all("readme.txt"), ErrorKind::UnknownName, "readme.txt");
  write_file(path, zip_archive({zip_member("readme.txt", "no array")}));
  EXPECT_ERROR(read_all(), ErrorKind::Value, "holds no array");
  write_file(path, zip_archive({}));
  EXPECT_ERROR(read_all(), ErrorKind::Value, "holds no array");
}

TEST_F(NpzTest, BlocksInAnyOrderAndLayout) {
  for (const bool compress : {false, true}) {
    for (const bool fortran : {false, true}) {
      const Shape shape({7, 5});
      const auto dense = random_tile(random, DType::Float64, shape);
      std::vector<double> values;
      for (std::int64_t n = 0; n < 35; ++n) values.push_back(dense.data<double>()[fortran ? n % 7 * 5 + n / 7 : n]);
      write_file(path,
                 zip_archive({zip_member("x.npy", npy_file("<f8", "(7, 5)", raw_bytes(values), fortran), compress)}));
      const TileGrid grid(shape, {3, 2});
      const auto tiles = split(dense, grid);
      NpzReader reader(path, "");
      for (std::int64_t id = grid.tile_count(); id-- > 0;) {
        const auto key = grid.key_of(id);
        EXPECT_TRUE(same_tile(reader.read_block(grid.tile_begin(key), grid.tile_shape(key)),
                              *tiles[static_cast<std::size_t>(id)]));
      }
    }
  }
}

TEST_F(NpzTest, ProgressCoversTheMemberAndMayStopIt) {
  const auto large = npy_file("<f8", "(500000,)", std::string(4'000'000, '\0'));
  write_file(path, zip_archive({zip_member("x.npy", large, true)}));
  std::int64_t last = -1;
  NpzReader reader(path, "", [&](std::int64_t done, std::int64_t total) {
    EXPECT_GT(done, last);
    EXPECT_EQ(total, static_cast<std::int64_t>(large.size()));
    last = done;
  });
  EXPECT_EQ(last, -1);
  reader.read_block({0}, Shape({1}));
  EXPECT_EQ(last, static_cast<std::int64_t>(large.size()));
  NpzReader stopped(path, "", [](auto, auto) { throw Error(ErrorKind::Cancelled, "stop"); });
  EXPECT_ERROR(stopped.read_block({0}, Shape({1})), ErrorKind::Cancelled, "stop");
}

TEST_F(NpzTest, DamagedContents) {
  for (const bool compress : {false, true}) {
    const auto flip_checksum = [](ZipMember& m) { m.crc ^= 1; };
    const auto flip_bit = [](ZipMember& m) { m.data[m.data.size() - 3] ^= 1; };
    expect_fault_of(compress, flip_checksum, "checksum");
    expect_fault_of(compress, flip_bit, "member 'x.npy' ");
  }
  const auto no_block_type = [](ZipMember& m) { m.data[0] = '\x07'; };
  expect_fault_of(true, no_block_type, "compressed data cannot be read");
}

TEST_F(NpzTest, SizesThatLie) {
  // The header's shape asks for 24 bytes of values.
  const auto longer = [](ZipMember& m, const std::string& contents) { m = zip_member("x.npy", contents, true); };
  expect_fault_of(
      true, [&](auto& m) { longer(m, kThree + "more"); }, "but its array ends after");
  expect_fault_of(
      true, [&](auto& m) { longer(m, kThree + std::string(8'000'000, '\0')); }, "but its array ends after");
  expect_fault_of(
      true,
      [&](auto& m) {  // inflates to more than it says
        longer(m, kThree + std::string(1'000'000, '\0'));
        m.size = m.local_size = static_cast<std::uint32_t>(kThree.size());
      },
      "more than the");
  expect_fault_of(
      true,
      [&](auto& m) {  // inflates to less
        longer(m, kThree.substr(0, kThree.size() - 8));
        m.size = m.local_size = static_cast<std::uint32_t>(kThree.size());
      },
      "bytes, not the");
  expect_fault_of(
      true, [](auto& m) { m.size = m.local_size = 0x7FFFFFFF; }, "can stand for");
  expect_fault_of(
      true, [](auto& m) { m.size = 0; }, "contradicts the directory");
  expect_fault_of(
      true, [](auto& m) { m.data += "junk", m.compressed_size += 4; }, "behind its compressed data");
  expect_fault_of(
      true, [](auto& m) { m.data.pop_back(), --m.compressed_size; }, "ends inside its compressed data");
  expect_fault_of(
      false, [](auto& m) { m.size += 1, m.local_size += 1; }, "stored with two sizes");
  expect_fault_of(
      false, [](auto& m) { m.compressed_size = m.size = m.local_size = 0xFFFFFFF0; }, "ends behind the members");
  expect_fault_of(
      false, [](auto& m) { m = zip_member("x.npy", ""); }, "magic");
  expect_fault_of(
      false, [](auto& m) { m = zip_member("x.npy", "PK no array"); }, "magic");
}

TEST_F(NpzTest, ShapesThatLie) {
  for (const bool compress : {false, true}) {
    const auto fault = [&](const std::string& shape, const std::string& text) {
      expect_fault(zip_archive({zip_member("x.npy", npy_file("<f8", shape, std::string(24, '\0')), compress)}), text);
    };
    fault("(4,)", "take 32 bytes");
    fault("(2,)", "but its array ends after");
    fault("(-3,)", "negative extent");
    fault("(4611686018427387904, 4)", "overflows");
    fault("(1000000000000,)", "the file ends after 24");
  }
}

TEST_F(NpzTest, EncryptedUnknownOddMembers) {
  for (const std::uint16_t flag : {0x0001, 0x0041, 0x2000})
    expect_fault_of(
        true, [&](auto& m) { m.flags = flag; }, "is encrypted", ErrorKind::Unsupported);
  for (const std::uint16_t method : {1, 9, 12, 14, 93, 99})
    expect_fault_of(
        true, [&](auto& m) { m.method = method; }, "method " + std::to_string(method), ErrorKind::Unsupported);
  expect_fault_of(
      false, [](auto& m) { m.local_name = "y.npy"; }, "contradicts the directory");
  expect_fault_of(
      false, [](auto& m) { m.offset = 1; }, "overlaps");
  expect_fault(zip_archive({zip_member("x.npy", kThree), zip_member("x.npy", kThree)}),
               "two members have the name 'x.npy'");
}

TEST_F(NpzTest, OverlappingMembers) {
  auto first = zip_member("a.npy", kThree);
  auto second = zip_member("b.npy", kThree);
  second.offset = 0;
  expect_fault(zip_archive({first, second}), "overlaps what follows it");
  second.offset = 20;
  expect_fault(zip_archive({first, second}), "overlaps what follows it");
  first.compressed_size += 1;
  second.offset = -1;
  expect_fault(zip_archive({first, second}), "overlaps what follows it");
}

TEST_F(NpzTest, EveryPrefixOfAnArchiveIsRefused) {
  for (const bool compress : {false, true}) {
    const auto whole = zip_archive({zip_member("x.npy", kThree, compress)});
    for (std::size_t size = 0; size < whole.size(); ++size) {
      rewrite(whole.substr(0, size));
      EXPECT_ERROR(read_all(), ErrorKind::Corrupt, path);
    }
  }
}

TEST_F(NpzTest, ChangedBytesGiveTheValuesOrAnError) {
  for (const bool compress : {false, true}) {
    const auto whole = zip_archive({zip_member("x.npy", kThree, compress)});
    for (int n = 0; n < 2000; ++n) {
      auto changed = whole;
      for (int times = static_cast<int>(random() % 3); times >= 0; --times)
        changed[random() % changed.size()] = static_cast<char>(random());
      rewrite(changed);
      try {
        EXPECT_EQ(sum(), 7);  // dates, attributes, unused fields
      } catch (const Error& error) {
        EXPECT_NE(error.kind(), ErrorKind::Internal) << error.message();
      }
    }
  }
}

TEST_F(NpzTest, DirectoriesThatLie) {
  const auto whole = zip_archive({zip_member("x.npy", kThree)});
  const auto end = whole.size() - 22;
  const auto changed = [&](std::size_t offset, const std::string& bytes) {
    auto copy = whole;
    return copy.replace(end + offset, bytes.size(), bytes);
  };
  expect_fault(changed(10, "\xFF\xFF"), "more entries than");
  expect_fault(changed(10, std::string("\2\0", 2)), "more entries than");
  expect_fault(changed(12, "\xF0\xFF\xFF\x7F"), "does not lie before its end record");
  expect_fault(changed(16, "\xF0\xFF\xFF\x7F"), "does not lie before its end record");
  expect_fault(changed(16, std::string("\1\0\0\0", 4)), "no entry of the central directory");
  expect_fault(changed(4, std::string("\1\0", 2)), "volume", ErrorKind::Unsupported);
  expect_fault(whole + "x", "no end record");
  auto member = zip_member("x.npy", kThree);
  member.compressed_size = 0xFFFFFFFF;
  expect_fault(zip_archive({member}), "no valid ZIP64 field");
  member.extra = std::string("\1\0\x08\0", 4) + std::string(8, '\xFF');
  expect_fault(zip_archive({member}), "no valid ZIP64 field");
}

TEST_F(NpzTest, WriterRoundTripsInAnyOrder) {
  for (const auto compression : {Compression::None, Compression::Deflate}) {
    for (const auto type : kAllTypes) {
      const Shape shape({5, 6, 3});
      const auto dense = random_tile(random, type, shape);
      const TileGrid grid(shape, {2, 3, 2});
      const auto tiles = split(dense, grid);
      NpzWriter writer(path, "w", type, shape, compression);
      for (std::int64_t id = grid.tile_count(); id-- > 0;)
        writer.write_block(grid.tile_begin(grid.key_of(id)), *tiles[static_cast<std::size_t>(id)]);
      writer.commit();
      EXPECT_TRUE(same_tile(read_all("w"), dense));
    }
  }
  EXPECT_EQ(scratch.file_count(), 1U);
}

TEST_F(NpzTest, WriterOfScalarsNothingAndLargeArrays) {
  for (const auto compression : {Compression::None, Compression::Deflate}) {
    for (const auto& extents : std::vector<std::vector<std::int64_t>>{{}, {0}, {3, 0}, {300, 1000}}) {
      const auto dense = random_tile(random, DType::Float64, Shape(extents));
      NpzWriter writer(path, "x", DType::Float64, dense.shape(), compression);
      writer.write_block(std::vector<std::int64_t>(extents.size(), 0), dense);
      writer.commit();
      EXPECT_TRUE(same_tile(read_all(), dense));
    }
  }
}

TEST_F(NpzTest, ArchivesBeyondFourGibibytes) {
  // 4 GiB of doubles and some; all but the last are a hole of the file.
  const std::int64_t many = std::int64_t{1} << 29;
  const auto few = random_tile(random, DType::Float64, Shape({100}));
  NpzWriter writer(path, "x", DType::Float64, Shape({many + 100}));
  writer.write_block({many}, few);
  writer.commit();
  const InputFile file(path);
  const auto entries = read_zip_directory(file);
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].size, 128 + (many + 100) * 8);
  EXPECT_EQ(entries[0].size, entries[0].compressed_size);
  std::string tail(800, '\0');
  file.read(zip_data_offset(file, entries[0]) + 128 + many * 8, std::as_writable_bytes(std::span(tail)));
  EXPECT_EQ(tail, std::string(reinterpret_cast<const char*>(few.bytes().data()), 800));
  EXPECT_EQ(NpzReader(path, "").shape(), Shape({many + 100}));
}

TEST_F(NpzTest, HolesAreZerosAlsoForTheChecksum) {
  const std::int64_t rows = 3000;
  const auto row = random_tile(random, DType::Int64, Shape({1, 1000}));
  for (const std::vector<std::int64_t>& written :
       std::vector<std::vector<std::int64_t>>{{}, {0}, {2999}, {1, 1500, 1501, 2000}}) {
    NpzWriter writer(path, "x", DType::Int64, Shape({rows, 1000}));
    for (const auto at : written) writer.write_block({at, 0}, row);
    writer.commit();
    NpzReader reader(path, "");
    for (std::int64_t at = 0; at < rows; at += 500) {
      const bool filled = std::find(written.begin(), written.end(), at) != written.end();
      EXPECT_EQ(reader.read_block({at, 0}, Shape({1, 1000})).is_all_zero(), !filled);
    }
  }
}

TEST_F(NpzTest, DeflatingCanBeStopped) {
  NpzWriter writer(path, "x", DType::Float64, Shape({std::int64_t{1} << 32}), Compression::Deflate);
  EXPECT_ERROR(writer.commit([](std::int64_t done, std::int64_t) {
    if (done > 0) throw Error(ErrorKind::Cancelled, "stop");
  }),
               ErrorKind::Cancelled, "stop");
}

TEST_F(NpzTest, OtherArraysAreLostOnlyWhenToldSo) {
  const auto make = [&](const std::string& member, Overwrite overwrite = Overwrite::No) {
    return NpzWriter(path, member, DType::Float64, Shape({2}), Compression::None, overwrite);
  };
  make("a").commit();
  make("a.npy").commit();
  EXPECT_ERROR(make("b"), ErrorKind::DuplicateName, "x.npz holds other arrays, which would be lost: 'a.npy'");
  make("b", Overwrite::Yes).commit();
  EXPECT_EQ(read_all("b").shape(), Shape({2}));
  // What others have written meanwhile is not lost.
  auto replacing = make("b");
  make("c", Overwrite::Yes).commit();
  EXPECT_ERROR(replacing.commit(), ErrorKind::Conflict, "changed meanwhile");
  std::filesystem::remove(path);
  auto first = make("a");
  make("b").commit();
  EXPECT_ERROR(first.commit(), ErrorKind::Conflict, "changed meanwhile");
  EXPECT_EQ(read_all("b").shape(), Shape({2}));
  write_file(path, "PK, but no archive");
  EXPECT_ERROR(make("a"), ErrorKind::Corrupt, "no valid ZIP archive");
  write_file(path, "");
  make("a").commit();  // an empty file holds nothing
}

TEST_F(NpzTest, WriterNamesAndPaths) {
  const auto write = [](const std::string& target, const std::string& member) {
    NpzWriter(target, member, DType::Float64, Shape());
  };
  EXPECT_ERROR(write(path, ""), ErrorKind::Value, "the name of a member");
  EXPECT_ERROR(write(path, std::string(70000, 'x')), ErrorKind::Value, "the name of a member");
  EXPECT_ERROR(write(scratch.file("no/x.npz"), "x"), ErrorKind::Io, "no/x.npz");
  EXPECT_ERROR(write("/dev/null", "x"), ErrorKind::Io, "not a regular file");
  EXPECT_EQ(scratch.file_count(), 0U);
}

TEST(ArrayNameTest, NamesOfStrangersArePrintable) {
  EXPECT_EQ(quoted_name("w"), "'w'");
  EXPECT_EQ(quoted_name("\xC3\xA9t\xC3\xA9"), "'\xC3\xA9t\xC3\xA9'");
  EXPECT_EQ(quoted_name("\x1B[31m\x7F"), "'\\x1B[31m\\x7F'");
  EXPECT_EQ(quoted_name("\xC3"), "'\\xC3'");
  EXPECT_EQ(quoted_name(std::string(1000, 'a')), "'" + std::string(60, 'a') + "...'");
}

}  // namespace
}  // namespace eindb

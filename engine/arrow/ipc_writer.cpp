// Arrow's IPC format (arrow.apache.org/docs/format/Columnar.html): a stream is messages, first the schema and then the
// batches. A message is
//
//     0xFFFFFFFF, the size of the metadata (4 bytes), the metadata padded to 8 bytes, the body
//
// and a size of 0 ends the stream. The metadata are a FlatBuffer, a table Message, whose fields are numbered here as in
// Message.fbs and Schema.fbs of the specification; the body has the buffers of all columns. A file is "ARROW1" and two
// bytes, a stream, a FlatBuffer of the table Footer, its size (4 bytes), and "ARROW1".

#include "engine/arrow/ipc_writer.hpp"

#include <flatbuffers/flatbuffers.h>

#include <span>
#include <string>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"

namespace eindb {
namespace {

using flatbuffers::FlatBufferBuilder;
using FlatOffset = flatbuffers::Offset<flatbuffers::Table>;

constexpr std::string_view kFileMagic = "ARROW1";
constexpr std::int64_t kBodyAlignment = 64;
constexpr std::int16_t kVersion5 = 4;

/// The numbers of unions' members.
constexpr std::uint8_t kSchemaHeader = 1;
constexpr std::uint8_t kBatchHeader = 3;
enum class FlatType : std::uint8_t {
  Null = 1,
  Int = 2,
  FloatingPoint = 3,
  Bool = 6,
  Date = 8,
  Timestamp = 10,
  FixedSizeList = 16,
  LargeBinary = 19,
  LargeUtf8 = 20
};

struct FieldNode {
  std::int64_t length;
  std::int64_t null_count;
};
struct BufferPlace {
  std::int64_t offset;
  std::int64_t length;
};

/// The place of a table's field, by its number in the specification.
constexpr flatbuffers::voffset_t flat_place(int number) { return static_cast<flatbuffers::voffset_t>(4 + 2 * number); }

template <class F>
FlatOffset made_table(FlatBufferBuilder& builder, const F& fill) {
  const auto start = builder.StartTable();
  fill();
  return FlatOffset(builder.EndTable(start));
}

std::int64_t padded_size(std::int64_t size, std::int64_t alignment) {
  return checked_multiply(ceil_divide(size, alignment), alignment);
}

std::pair<FlatType, FlatOffset> flat_type(FlatBufferBuilder& builder, const ArrowField& field) {
  const auto made = [&](FlatType type, const auto& fill) { return std::pair(type, made_table(builder, fill)); };
  const auto nothing = [] {};
  const auto& format = field.format;
  if (format == "n") return made(FlatType::Null, nothing);
  if (format == "b") return made(FlatType::Bool, nothing);
  if (format == "U") return made(FlatType::LargeUtf8, nothing);
  if (format == "Z") return made(FlatType::LargeBinary, nothing);
  if (format == "l")
    return made(FlatType::Int, [&] {
      builder.AddElement<std::int32_t>(flat_place(0), 64, 0);
      builder.AddElement<std::uint8_t>(flat_place(1), 1, 0);
    });
  if (format == "f" || format == "g")
    return made(FlatType::FloatingPoint,
                [&] { builder.AddElement<std::int16_t>(flat_place(0), format == "f" ? 1 : 2, 0); });
  if (format == "tdD") return made(FlatType::Date, [&] { builder.AddElement<std::int16_t>(flat_place(0), 0, 1); });
  if (format == "tss:")
    return made(FlatType::Timestamp, [&] { builder.AddElement<std::int16_t>(flat_place(0), 0, 0); });
  CHECK(format == "+w:2", "a column has one of the formats that columns are made in");
  return made(FlatType::FixedSizeList, [&] { builder.AddElement<std::int32_t>(flat_place(0), 2, 0); });
}

FlatOffset flat_field(FlatBufferBuilder& builder, const ArrowField& field) {
  std::vector<FlatOffset> children;
  for (const auto& child : field.children) children.push_back(flat_field(builder, child));
  const auto list = builder.CreateVector(children);
  const auto name = builder.CreateString(field.name);
  const auto [type, described] = flat_type(builder, field);
  return made_table(builder, [&, type = type, described = described] {
    builder.AddOffset(flat_place(0), name);
    builder.AddElement<std::uint8_t>(flat_place(1), field.is_nullable ? 1 : 0, 0);
    builder.AddElement<std::uint8_t>(flat_place(2), static_cast<std::uint8_t>(type), 0);
    builder.AddOffset(flat_place(3), described);
    builder.AddOffset(flat_place(5), list);
  });
}

FlatOffset flat_schema(FlatBufferBuilder& builder, const ArrowField& schema) {
  std::vector<FlatOffset> fields;
  for (const auto& field : schema.children) fields.push_back(flat_field(builder, field));
  const auto list = builder.CreateVector(fields);
  return made_table(builder, [&] { builder.AddOffset(flat_place(1), list); });
}

void finish_message(FlatBufferBuilder& builder, std::uint8_t type, FlatOffset header, std::int64_t body_size) {
  builder.Finish(made_table(builder, [&] {
    builder.AddElement<std::int64_t>(flat_place(3), body_size, 0);
    builder.AddOffset(flat_place(2), header);
    builder.AddElement<std::int16_t>(flat_place(0), kVersion5, 0);
    builder.AddElement<std::uint8_t>(flat_place(1), type, 0);
  }));
}

/// A batch's columns, each before its children: how long they are, and where their buffers lie in the body.
struct BatchLayout {
  std::vector<FieldNode> nodes;
  std::vector<BufferPlace> places;
  std::vector<const ArrowBytes*> buffers;
  std::int64_t size = 0;

  void add(const ArrowValues& column) {
    nodes.push_back({column.length, column.null_count});
    for (const auto& buffer : column.buffers) {
      const auto bytes = buffer.data == nullptr ? 0 : buffer.size;
      places.push_back({size, bytes});
      buffers.push_back(&buffer);
      size = checked_add(size, padded_size(bytes, kBodyAlignment));
    }
    for (const auto& child : column.children) add(child);
  }
};

}  // namespace

ArrowIpcWriter::ArrowIpcWriter(OutputFile& file, ArrowField schema, Kind kind)
    : file_(file), schema_(std::move(schema)), kind_(kind) {
  if (kind_ == Kind::File) append("ARROW1\0", 8);
  FlatBufferBuilder builder;
  finish_message(builder, kSchemaHeader, flat_schema(builder, schema_), 0);
  append_message(builder.GetBufferPointer(), builder.GetSize());
}

void ArrowIpcWriter::append(const void* bytes, std::int64_t size) {
  file_.append({static_cast<const std::byte*>(bytes), static_cast<std::size_t>(size)});
  written_ = checked_add(written_, size);
}

/// Returns the size of all that precedes the body.
std::int32_t ArrowIpcWriter::append_message(const std::uint8_t* bytes, std::int64_t size) {
  std::string message(8, '\xFF');
  message.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  message.resize(static_cast<std::size_t>(padded_size(static_cast<std::int64_t>(message.size()), 8)), '\0');
  const auto metadata_size = static_cast<std::uint32_t>(message.size() - 8);
  for (std::size_t n = 0; n < 4; ++n) message[4 + n] = static_cast<char>(metadata_size >> (8 * n));
  append(message.data(), static_cast<std::int64_t>(message.size()));
  return static_cast<std::int32_t>(message.size());
}

void ArrowIpcWriter::write(const ArrowValues& batch) {
  BatchLayout layout;
  for (const auto& column : batch.children) layout.add(column);
  FlatBufferBuilder builder;
  const auto nodes = builder.CreateVectorOfStructs(layout.nodes);
  const auto places = builder.CreateVectorOfStructs(layout.places);
  const auto header = made_table(builder, [&] {
    builder.AddElement<std::int64_t>(flat_place(0), batch.length, 0);
    builder.AddOffset(flat_place(1), nodes);
    builder.AddOffset(flat_place(2), places);
  });
  finish_message(builder, kBatchHeader, header, layout.size);
  const auto offset = written_;
  const auto metadata_size = append_message(builder.GetBufferPointer(), builder.GetSize());
  blocks_.push_back({offset, metadata_size, 0, layout.size});
  static constexpr char kZeros[kBodyAlignment] = {};
  for (std::size_t n = 0; n < layout.buffers.size(); ++n) {
    const auto size = layout.places[n].length;
    if (size > 0) append(layout.buffers[n]->data, size);
    append(kZeros, padded_size(size, kBodyAlignment) - size);
  }
}

void ArrowIpcWriter::finish() {
  append("\xFF\xFF\xFF\xFF\0\0\0", 8);
  if (kind_ == Kind::Stream) return;
  FlatBufferBuilder builder;
  const auto schema = flat_schema(builder, schema_);
  const auto blocks = builder.CreateVectorOfStructs(blocks_);
  builder.Finish(made_table(builder, [&] {
    builder.AddOffset(flat_place(1), schema);
    builder.AddOffset(flat_place(3), blocks);
    builder.AddElement<std::int16_t>(flat_place(0), kVersion5, 0);
  }));
  const auto size = static_cast<std::uint32_t>(builder.GetSize());
  append(builder.GetBufferPointer(), size);
  std::string end;
  for (unsigned n = 0; n < 4; ++n) end += static_cast<char>(size >> (8 * n));
  end += kFileMagic;
  append(end.data(), static_cast<std::int64_t>(end.size()));
}

}  // namespace eindb

// ipc_writer.cpp documents the format. A stream is read message by message; a file by the list at its end, as some
// writers leave out the schema at its beginning.

#include "engine/arrow/ipc_reader.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "common/checked_math.hpp"
#include "common/error.hpp"

namespace eindb {
namespace {

constexpr std::string_view kArrowFileMagic = "ARROW1";
constexpr std::int64_t kMostMetadata = std::int64_t{64} << 20U;
constexpr std::size_t kMostFields = 100'000;
constexpr int kDeepestField = 16;
constexpr std::uint32_t kContinuation = 0xFFFFFFFF;
constexpr std::uint8_t kSchemaMessage = 1;
constexpr std::uint8_t kDictionaryMessage = 2;
constexpr std::uint8_t kBatchMessage = 3;

constexpr const char* kDictionaryId = "eindb:dictionary";  // of a field of ours: the number of its dictionary

std::int64_t dictionary_of(const ArrowField& field) {
  for (const auto& [key, value] : field.metadata)
    if (key == kDictionaryId) return std::stoll(value);
  return -1;
}

/// How many buffers a column of this format has in a batch; -1: as many as the batch says.
int buffers_of(const std::string& format) {
  if (format == "n") return 0;
  if (format == "+s" || format.starts_with("+w")) return 1;
  if (format == "u" || format == "U" || format == "z" || format == "Z") return 3;
  return format == "vu" || format == "vz" ? -1 : 2;
}

}  // namespace

struct ArrowIpcReader::BatchReading {
  FlatTable::List nodes;
  FlatTable::List buffers;
  FlatTable::List variadic;
  std::shared_ptr<const std::vector<std::byte>> body;
  std::size_t node = 0;
  std::size_t buffer = 0;
  std::size_t view = 0;
};

ArrowIpcReader::ArrowIpcReader(const InputFile& file, std::int64_t memory_limit)
    : file_(file), name_(file.path()), most_(memory_limit / 4) {
  std::string magic(kArrowFileMagic.size(), '\0');
  const auto got = file_.read_some(0, std::as_writable_bytes(std::span(magic)));
  is_stream_ = got != magic.size() || magic != kArrowFileMagic;
  if (is_stream_) read_stream_schema();
  else read_footer();
}

void ArrowIpcReader::read_stream_schema() {
  const auto message = message_at();
  if (!message || message->type != kSchemaMessage) fail("it begins with no schema");
  const auto header = FlatTable::root(message->metadata, name_).table(2);
  if (!header) fail("it begins with no schema");
  read_schema(*header);
}

void ArrowIpcReader::read_footer() {
  constexpr std::int64_t kEnd = 10;  // a size, and the magic again
  if (file_.size() < 8 + kEnd) fail("it ends before its list of batches");
  std::uint32_t size = 0;
  file_.read(file_.size() - kEnd, std::as_writable_bytes(std::span(&size, 1)));
  std::string magic(kArrowFileMagic.size(), '\0');
  file_.read(file_.size() - std::ssize(magic), std::as_writable_bytes(std::span(magic)));
  if (magic != kArrowFileMagic || size > kMostMetadata || size > file_.size() - kEnd - 8)
    fail("its list of batches is missing, as in one that was not written to its end");
  std::vector<std::byte> bytes(size);
  file_.read(file_.size() - kEnd - size, bytes);
  const auto footer = FlatTable::root(bytes, name_);
  const auto schema = footer.table(1);
  if (!schema) fail("it has no schema");
  read_schema(*schema);
  for (const int field : {2, 3}) {  // dictionaries, then batches
    const auto blocks = footer.structs(field, 24);
    for (std::size_t n = 0; n < blocks.count(); ++n) blocks_.push_back(blocks.scalar<std::int64_t>(n, 0));
  }
}

void ArrowIpcReader::fail(const std::string& what) const {
  throw Error(ErrorKind::Corrupt, name_ + " is no valid file of Arrow: " + what);
}

void ArrowIpcReader::refuse(const std::string& what, const std::string& hint) const {
  throw Error(ErrorKind::Unsupported, name_ + " has " + what, std::nullopt, hint);
}

std::optional<ArrowIpcReader::Message> ArrowIpcReader::next_message() {
  if (is_stream_) return message_at();
  if (block_ == blocks_.size()) return std::nullopt;
  at_ = blocks_[block_++];
  if (at_ < 0 || at_ >= file_.size()) fail("a batch that lies outside of it");
  auto message = message_at();
  if (!message) fail("a batch without metadata");
  return message;
}

/// The message that begins at at_, which then is behind it; nullopt at the end, which a stream may lack.
std::optional<ArrowIpcReader::Message> ArrowIpcReader::message_at() {
  if (at_ >= file_.size()) return std::nullopt;
  const auto number = [&] {
    std::uint32_t value = 0;
    file_.read(at_, std::as_writable_bytes(std::span(&value, 1)));
    at_ += 4;
    return value;
  };
  auto size = number();
  if (size == kContinuation) size = number();  // files before version 0.15 have none
  if (size == 0) return std::nullopt;
  if (size > kMostMetadata || size > file_.size() - at_) fail("metadata of " + std::to_string(size) + " bytes");
  Message message;
  message.metadata.resize(size);
  file_.read(at_, message.metadata);
  at_ += size;
  const auto table = FlatTable::root(message.metadata, name_);
  message.type = table.scalar<std::uint8_t>(1, 0);
  message.body_size = table.scalar<std::int64_t>(3, 0);
  message.body_offset = at_;
  if (message.body_size < 0 || message.body_size > file_.size() - at_)
    fail("a batch of " + std::to_string(message.body_size) + " bytes, longer than the file");
  at_ += message.body_size;
  return message;
}

void ArrowIpcReader::read_schema(const FlatTable& schema) {
  if (schema.scalar<std::int16_t>(0, 0) != 0)
    refuse("values whose highest byte is first", "write it on another machine");
  schema_.format = "+s";
  const auto fields = schema.tables(1);
  if (fields.count() > kMostFields) fail("it has " + std::to_string(fields.count()) + " columns");
  for (std::size_t n = 0; n < fields.count(); ++n) schema_.children.push_back(field_of(fields.table(n), 0));
}

std::string ArrowIpcReader::format_of(const FlatTable& field) const {
  const auto type = field.scalar<std::uint8_t>(2, 0);
  const auto about = field.table(3);
  const auto number = [&]<class T>(int n, T missing) { return about ? about->scalar<T>(n, missing) : missing; };
  switch (type) {
    case 1: return "n";
    case 2: {
      const auto bits = number(0, std::int32_t{0});
      const bool is_signed = number(1, std::uint8_t{0}) != 0;
      const std::string letters = is_signed ? "csil" : "CSIL";
      for (std::size_t n = 0; n < 4; ++n)
        if (bits == 8 << n) return letters.substr(n, 1);
      fail("integers of " + std::to_string(bits) + " bits");
    }
    case 3: {
      const auto precision = number(0, std::int16_t{0});
      if (precision < 0 || precision > 2) fail("floats of no precision");
      return std::string("efg").substr(static_cast<std::size_t>(precision), 1);
    }
    case 4: return "z";
    case 5: return "u";
    case 6: return "b";
    case 7: {
      const auto bits = number(2, std::int32_t{128});
      return "d:" + std::to_string(number(0, std::int32_t{0})) + "," + std::to_string(number(1, std::int32_t{0})) +
             (bits == 128 ? "" : "," + std::to_string(bits));
    }
    case 8: return number(0, std::int16_t{1}) == 0 ? "tdD" : "tdm";
    case 10: {
      const auto unit = number(0, std::int16_t{0});
      if (unit < 0 || unit > 3) fail("times of no unit");
      return std::string("ts") + "smun"[unit] + ":" + (about ? about->text(1) : "");
    }
    case 13: return "+s";
    case 16: return "+w:" + std::to_string(number(0, std::int32_t{0}));
    case 19: return "Z";
    case 20: return "U";
    case 24: return "vu";
    default: break;
  }
  refuse("a column '" + field.text(0).substr(0, 80) + "' of type " + std::to_string(type) + " of Schema.fbs",
         "columns are numbers, truth values, texts, days, times and dictionaries of them");
}

ArrowField ArrowIpcReader::field_of(const FlatTable& field, int depth) {
  if (depth > kDeepestField) fail("columns nested more than 16 deep");
  if (++fields_ > kMostFields) fail("more than 100,000 columns");  // one table may stand at many places
  ArrowField out{
      .name = field.text(0), .format = format_of(field), .is_nullable = field.scalar<std::uint8_t>(1, 0) != 0};
  const auto children = field.tables(5);
  if (children.count() > kMostFields) fail("it has " + std::to_string(children.count()) + " columns");
  for (std::size_t n = 0; n < children.count(); ++n) out.children.push_back(field_of(children.table(n), depth + 1));
  const auto metadata = field.tables(6);
  for (std::size_t n = 0; n < std::min<std::size_t>(metadata.count(), 1000); ++n)
    if (auto key = metadata.table(n).text(0); key != kDictionaryId)
      out.metadata.emplace_back(std::move(key), metadata.table(n).text(1));
  const auto dictionary = field.table(4);
  if (!dictionary) return out;
  // The type that stands at the column is that of the dictionary; its keys are 32-bit integers without another word.
  const auto id = dictionary->scalar<std::int64_t>(0, 0);
  ArrowField keys{.name = out.name, .format = "i", .is_nullable = out.is_nullable};
  if (const auto index = dictionary->table(1)) {
    const auto bits = index->scalar<std::int32_t>(0, 0);
    const std::string letters = index->scalar<std::uint8_t>(1, 0) != 0 ? "csil" : "CSIL";
    keys.format.clear();
    for (std::size_t n = 0; n < 4; ++n)
      if (bits == 8 << n) keys.format = letters.substr(n, 1);
    if (keys.format.empty()) fail("keys of " + std::to_string(bits) + " bits");
  }
  keys.metadata = {{kDictionaryId, std::to_string(id)}};
  dictionary_fields_.emplace(id, out);
  keys.dictionary.push_back(std::move(out));
  return keys;
}

ArrowValues ArrowIpcReader::batch_of(const FlatTable& header, const Message& message, const ArrowField& field) const {
  if (header.has(3))
    refuse("compressed batches", "write it uncompressed, as pyarrow does with compression='uncompressed'");
  if (message.body_size > most_)
    throw Error(
        ErrorKind::MemoryLimit,
        name_ + " has a batch of " + std::to_string(message.body_size) + " bytes, more than a quarter of memory_limit",
        std::nullopt, "SET memory_limit to more, or write smaller batches");
  auto body = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(message.body_size));
  file_.read(message.body_offset, *body);
  BatchReading reading{
      .nodes = header.structs(1, 16), .buffers = header.structs(2, 16), .variadic = header.structs(4, 8), .body = body};
  ArrowValues out{.length = header.scalar<std::int64_t>(0, 0), .null_count = 0, .buffers = {{}}};
  if (out.length < 0) fail("a batch of negative length");
  for (const auto& column : field.children) out.children.push_back(column_of(column, reading));
  out.owner = body;
  return out;
}

ArrowValues ArrowIpcReader::column_of(const ArrowField& field, BatchReading& reading) const {
  if (reading.node == reading.nodes.count()) fail("a batch that lacks columns");
  ArrowValues out{.length = reading.nodes.scalar<std::int64_t>(reading.node, 0),
                  .null_count = reading.nodes.scalar<std::int64_t>(reading.node, 8),
                  .buffers = {}};
  ++reading.node;
  std::int64_t count = buffers_of(field.format);
  if (count < 0) {
    if (reading.view == reading.variadic.count()) fail("a batch that lacks a number of buffers");
    count = reading.variadic.scalar<std::int64_t>(reading.view++, 0);
    if (count < 0 || count > std::ssize(*reading.body) + 2) fail("a batch with a wrong number of buffers");
    count += 2;
  }
  for (std::int64_t n = 0; n < count; ++n) {
    if (reading.buffer == reading.buffers.count()) fail("a batch that lacks buffers");
    const auto offset = reading.buffers.scalar<std::int64_t>(reading.buffer, 0);
    const auto size = reading.buffers.scalar<std::int64_t>(reading.buffer, 8);
    ++reading.buffer;
    const auto whole = std::ssize(*reading.body);
    if (offset < 0 || size < 0 || offset > whole || size > whole - offset) fail("a buffer that leaves its batch");
    // The bits of missing values are left out where there are none.
    if (n == 0 && size == 0) out.buffers.emplace_back();
    else out.buffers.push_back({.data = reading.body->data() + offset, .owner = reading.body, .size = size});
  }
  for (const auto& child : field.children) out.children.push_back(column_of(child, reading));
  return out;
}

void ArrowIpcReader::take_dictionary(const FlatTable& header, const Message& message) {
  const auto id = header.scalar<std::int64_t>(0, 0);
  const auto batch = header.table(1);
  const auto field = dictionary_fields_.find(id);
  if (!batch || field == dictionary_fields_.end()) fail("a dictionary of no column");
  if (header.scalar<std::uint8_t>(2, 0) != 0 || dictionaries_.contains(id))
    refuse("a dictionary that changes", "write it with one dictionary for all batches");
  const ArrowField row{.name = "", .format = "+s", .is_nullable = false, .metadata = {}, .children = {field->second}};
  auto values = batch_of(*batch, message, row);
  auto column = std::move(values.children.front());
  column.owner = values.owner;
  dictionaries_.emplace(id, std::move(column));
}

void ArrowIpcReader::add_dictionaries(const ArrowField& field, ArrowValues& values) const {
  for (std::size_t n = 0; n < field.children.size(); ++n) add_dictionaries(field.children[n], values.children[n]);
  if (field.dictionary.empty()) return;
  const auto found = dictionaries_.find(dictionary_of(field));
  if (found == dictionaries_.end()) fail("a batch before its dictionary");
  values.dictionary.push_back(found->second);
}

std::optional<ArrowValues> ArrowIpcReader::next() {
  while (const auto message = next_message()) {
    const auto header = FlatTable::root(message->metadata, name_).table(2);
    if (!header) fail("a message without a header");
    if (message->type == kDictionaryMessage) {
      take_dictionary(*header, *message);
    } else if (message->type == kBatchMessage) {
      auto values = batch_of(*header, *message, schema_);
      add_dictionaries(schema_, values);
      return values;
    } else {
      fail("a message of type " + std::to_string(message->type));
    }
  }
  return std::nullopt;
}

}  // namespace eindb

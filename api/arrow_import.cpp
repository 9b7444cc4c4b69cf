#include "api/arrow_import.hpp"

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "common/error.hpp"
#include "engine/arrow/arrow_type.hpp"

namespace eindb {
namespace {

constexpr int kDeepestStruct = 16;
constexpr std::int64_t kMostArrowColumns = 100'000;
constexpr std::int64_t kMostBuffers = 1'000'000;

std::int32_t metadata_number(const char*& at) {
  std::int32_t value = 0;
  std::memcpy(&value, at, sizeof value);
  at += sizeof value;
  return value;
}

std::vector<std::pair<std::string, std::string>> metadata_of(const char* metadata, const std::string& name) {
  std::vector<std::pair<std::string, std::string>> out;
  if (metadata == nullptr) return out;
  const auto count = metadata_number(metadata);
  if (count < 0 || count > 1000) bad_arrow(name, "has metadata of no sensible length");
  const auto next = [&] {
    const auto size = metadata_number(metadata);
    if (size < 0 || size > (1 << 20)) bad_arrow(name, "has metadata of no sensible length");
    std::string text(metadata, static_cast<std::size_t>(size));
    metadata += size;
    return text;
  };
  for (std::int32_t n = 0; n < count; ++n) {
    auto key = next();
    out.emplace_back(std::move(key), next());
  }
  return out;
}

ArrowField field_of(const ArrowSchema& schema, int depth) {
  ArrowField field{.name = schema.name == nullptr ? "" : schema.name, .format = ""};
  if (schema.release == nullptr) bad_arrow(field.name, "has a schema that was released");
  if (schema.format == nullptr) bad_arrow(field.name, "has no format");
  if (depth > kDeepestStruct) bad_arrow(field.name, "is nested more than 16 deep");
  field.format = schema.format;
  field.metadata = metadata_of(schema.metadata, field.name);
  if (schema.n_children < 0 || schema.n_children > kMostArrowColumns ||
      (schema.n_children > 0 && schema.children == nullptr))
    bad_arrow(field.name, "has " + std::to_string(schema.n_children) + " children");
  for (std::int64_t n = 0; n < schema.n_children; ++n) {
    if (schema.children[n] == nullptr) bad_arrow(field.name, "has no child where it must have one");
    field.children.push_back(field_of(*schema.children[n], depth + 1));
  }
  if (schema.dictionary != nullptr) field.dictionary.push_back(field_of(*schema.dictionary, depth + 1));
  return field;
}

/// The values of a struct, of the field's type.
ArrowValues values_of(const ArrowArray& array, const ArrowField& field) {
  if (array.release == nullptr) bad_arrow(field.name, "was released");
  if (array.n_buffers < 0 || array.n_buffers > kMostBuffers || (array.n_buffers > 0 && array.buffers == nullptr))
    bad_arrow(field.name, "has " + std::to_string(array.n_buffers) + " buffers, or does not say where");
  ArrowValues values{.length = array.length, .null_count = array.null_count, .buffers = {}, .offset = array.offset};
  // The last buffer of views has the sizes of those before it.
  const auto count = field.format == "vu" ? array.n_buffers - 1 : array.n_buffers;
  for (std::int64_t n = 0; n < count; ++n)
    values.buffers.push_back({.data = array.buffers[n], .owner = nullptr, .size = ArrowBytes::kUnknown});
  if (array.n_children != std::ssize(field.children) || (array.n_children > 0 && array.children == nullptr))
    bad_arrow(field.name, "has " + std::to_string(array.n_children) + " children");
  for (std::int64_t n = 0; n < array.n_children; ++n) {
    if (array.children[n] == nullptr) bad_arrow(field.name, "has no child where it must have one");
    values.children.push_back(values_of(*array.children[n], field.children[static_cast<std::size_t>(n)]));
  }
  if (field.dictionary.empty()) return values;
  if (array.dictionary == nullptr) bad_arrow(field.name, "has no dictionary");
  values.dictionary.push_back(values_of(*array.dictionary, field.dictionary.front()));
  return values;
}

}  // namespace

ArrowBatches::ArrowBatches(ArrowArrayStream& stream) : stream_(stream) {
  if (!stream_) throw Error(ErrorKind::Value, "a stream of Arrow was released, or read by others");
  if (stream_->get_schema == nullptr || stream_->get_next == nullptr)
    throw Error(ErrorKind::Corrupt, "a stream of Arrow lacks a callback");
  ArrowSchema schema{};
  if (const int code = stream_->get_schema(stream_.raw(), &schema); code != 0) fail(code);
  const ArrowOwned<ArrowSchema> owned(schema);
  if (!owned) throw Error(ErrorKind::Corrupt, "a stream of Arrow has no schema");
  field_ = field_of(*owned, 0);
}

void ArrowBatches::fail(int code) {
  const auto* text = stream_->get_last_error == nullptr ? nullptr : stream_->get_last_error(stream_.raw());
  throw Error(ErrorKind::Io,
              "a stream of Arrow failed: " + std::string(text == nullptr ? std::strerror(code) : text).substr(0, 1000));
}

std::optional<ArrowValues> ArrowBatches::next() {
  ArrowArray array{};
  if (const int code = stream_->get_next(stream_.raw(), &array); code != 0) fail(code);
  ArrowOwned<ArrowArray> owned(array);
  if (!owned) return std::nullopt;
  auto values = values_of(*owned, field_);
  values.owner = std::make_shared<const ArrowOwned<ArrowArray>>(std::move(owned));
  return values;
}

}  // namespace eindb

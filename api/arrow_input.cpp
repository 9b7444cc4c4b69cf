// Rows that are loaded and arrays that are tensors, as others hand them over by Arrow.

#include "api/arrow_input.hpp"

#include <cstring>
#include <eindb/arrow.hpp>
#include <eindb/eindb.hpp>
#include <limits>
#include <memory>
#include <utility>

#include "api/arrow_import.hpp"
#include "api/arrow_owned.hpp"
#include "api/translation.hpp"
#include "common/check.hpp"
#include "common/checked_math.hpp"

namespace eindb {
namespace {

/// The numbers at the bottom of lists of fixed size.
const ArrowColumn& leaf_of(const ArrowColumn& column) {
  return column.type().kind == ArrowKind::List ? leaf_of(column.parts().front()) : column;
}
const ArrowType& leaf_of(const ArrowType& type) {
  return type.kind == ArrowKind::List ? leaf_of(type.parts.front()) : type;
}

void add_extents(const ArrowType& type, std::vector<std::int64_t>& extents) {
  if (type.kind != ArrowKind::List) return;
  if (type.shape.empty()) extents.push_back(type.list_size);
  else extents.insert(extents.end(), type.shape.begin(), type.shape.end());
  add_extents(type.parts.front(), extents);
}

void check_lists(const ArrowColumn& column) {
  if (column.type().kind != ArrowKind::List) return;
  for (std::int64_t n = 0; n < column.length(); ++n)
    if (column.is_null(n))
      throw Error(ErrorKind::NullValue, "Arrow's column '" + column.type().name + "' lacks a list");
  check_lists(column.parts().front());
}

ElementType element_of(const ArrowType& leaf) {
  switch (leaf.kind) {
    case ArrowKind::Bool:
    case ArrowKind::Signed:
    case ArrowKind::Unsigned: return ElementType::Int64;
    case ArrowKind::Float: return leaf.size == 8 ? ElementType::Float64 : ElementType::Float32;
    default: break;
  }
  throw Error(
      ErrorKind::Type,
      "Arrow's column '" + leaf.name + "' has the format '" + leaf.format + "', which elements of a tensor have not",
      std::nullopt, "numbers and truth values are elements, also in lists of a fixed size");
}

std::size_t bytes_of(ElementType type) { return type == ElementType::Float32 ? 4 : 8; }

/// Whether the elements lie in memory as a tensor's do.
bool lie_as_they_are(const ArrowColumn& leaf, ElementType type) {
  const auto& format = leaf.type().format;
  const bool same = format == "g" || format == "f" || format == "l";
  const auto address = reinterpret_cast<std::uintptr_t>(leaf.numbers());
  return same && !leaf.has_nulls() && leaf.length() > 0 && address % bytes_of(type) == 0;
}

void append_elements(const ArrowColumn& leaf, ElementType type, std::vector<std::byte>& out) {
  const auto put = [&](auto value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    out.insert(out.end(), bytes, bytes + sizeof value);
  };
  for (std::int64_t n = 0; n < leaf.length(); ++n) {
    const auto cell = leaf.cell(n);
    if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
      put(*integer);
    } else if (type == ElementType::Int64) {
      throw Error(ErrorKind::NullValue, "Arrow's column '" + leaf.type().name + "' has a missing value", std::nullopt,
                  "integers have no NaN: fill it, or make them floats");
    } else {
      const auto* real = std::get_if<double>(&cell);
      const auto value = real == nullptr ? std::numeric_limits<double>::quiet_NaN() : *real;
      if (type == ElementType::Float32) put(static_cast<float>(value));
      else put(value);
    }
  }
}

/// One batch as a stream.
struct SingleBatch {
  ArrowOwned<ArrowSchema> schema;
  ArrowOwned<ArrowArray> array;
};

int single_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  auto& held = *static_cast<SingleBatch*>(stream->private_data);
  *out = std::exchange(*held.schema.raw(), {});
  return 0;
}
int single_next(ArrowArrayStream* stream, ArrowArray* out) {
  auto& held = *static_cast<SingleBatch*>(stream->private_data);
  *out = std::exchange(*held.array.raw(), {});
  return 0;
}
const char* single_error(ArrowArrayStream* /*stream*/) { return nullptr; }
void release_single(ArrowArrayStream* stream) {
  delete static_cast<SingleBatch*>(stream->private_data);
  stream->release = nullptr;
}

ArrowArrayStream stream_of(ArrowSchema& schema, ArrowArray& array) {
  ArrowOwned<ArrowSchema> of_schema(schema);
  ArrowOwned<ArrowArray> of_array(array);
  if (!of_schema || !of_array) throw Error(ErrorKind::Value, "an array of Arrow was released, or taken by others");
  auto held = std::make_unique<SingleBatch>();
  held->schema = std::move(of_schema);
  held->array = std::move(of_array);
  return {.get_schema = single_schema,
          .get_next = single_next,
          .get_last_error = single_error,
          .release = release_single,
          .private_data = held.release()};
}

}  // namespace

ArrowInput::Impl::Impl(ArrowArrayStream& stream) : batches(stream), type(arrow_type(batches.schema())) {
  if (type.kind == ArrowKind::Struct) columns = arrow_columns(type);
}

std::int64_t load_rows_of(ArrowBatches& batches, const std::string& name, Session& session) {
  const auto loader =
      session.load({.schema = "", .name = name, .columns = arrow_columns(arrow_type(batches.schema()))});
  load_batches(batches, *loader);
  return loader->finish();
}

ArrowInput::ArrowInput(ArrowArrayStream& stream) {
  impl_ = translated("", [&] { return std::make_unique<Impl>(stream); });
}
ArrowInput::ArrowInput(ArrowSchema& schema, ArrowArray& array) {
  impl_ = translated("", [&] {
    auto stream = stream_of(schema, array);
    return std::make_unique<Impl>(stream);
  });
}
ArrowInput::~ArrowInput() = default;
ArrowInput::ArrowInput(ArrowInput&&) noexcept = default;
ArrowInput& ArrowInput::operator=(ArrowInput&&) noexcept = default;

bool ArrowInput::has_rows() const noexcept { return impl_->type.kind == ArrowKind::Struct; }
const std::vector<std::string>& ArrowInput::columns() const noexcept { return impl_->columns; }

std::vector<ColumnInfo> ArrowInput::column_infos() const {
  std::vector<ColumnInfo> out;
  if (!has_rows()) return out;
  for (const auto& part : impl_->type.parts) {
    const auto& leaf = part.kind == ArrowKind::Dictionary ? part.parts.front() : part;
    std::string type = "TEXT";
    if (leaf.kind == ArrowKind::Signed || leaf.kind == ArrowKind::Unsigned || leaf.kind == ArrowKind::Bool)
      type = "INTEGER";
    else if (leaf.kind == ArrowKind::Decimal) type = leaf.per_unit == 1 ? "INTEGER" : "REAL";
    else if (leaf.kind == ArrowKind::Float) type = "REAL";
    else if (leaf.kind == ArrowKind::Null || leaf.kind == ArrowKind::List || leaf.kind == ArrowKind::Struct) type = "";
    out.push_back({part.name, type});
  }
  return out;
}

struct ArrowTensor::Impl {
  std::shared_ptr<const void> owner;  // of the memory that the elements lie in
  std::vector<std::byte> elements;    // or a copy of them
  TensorView view;
  bool is_copy = false;
};

ArrowTensor::ArrowTensor(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
ArrowTensor::~ArrowTensor() = default;
ArrowTensor::ArrowTensor(const ArrowTensor&) = default;
ArrowTensor& ArrowTensor::operator=(const ArrowTensor&) = default;
const TensorView& ArrowTensor::view() const noexcept { return impl_->view; }
bool ArrowTensor::is_copy() const noexcept { return impl_->is_copy; }

ArrowTensor ArrowInput::tensor() && {
  return translated("", [&] {
    auto& batches = impl_->batches;
    const auto& type = impl_->type;
    if (type.kind == ArrowKind::Struct)
      throw Error(ErrorKind::Type, "Arrow's rows of columns are no tensor", std::nullopt,
                  "hand over one column, or load the rows into a tensor");
    auto made = std::make_shared<ArrowTensor::Impl>();
    const auto element = element_of(leaf_of(type));
    auto first = batches.next();
    auto second = first ? batches.next() : std::nullopt;
    std::int64_t length = 0;
    const auto take = [&](const ArrowValues& values) {
      const ArrowColumn column(type, values);
      check_lists(column);
      length = checked_add(length, column.length());
      append_elements(leaf_of(column), element, made->elements);
    };
    const void* data = nullptr;
    if (first && !second) {
      const ArrowColumn column(type, *first);
      check_lists(column);
      if (lie_as_they_are(leaf_of(column), element)) {
        data = leaf_of(column).numbers();
        length = column.length();
      }
    }
    made->is_copy = data == nullptr;
    if (made->is_copy) {
      if (first) take(*first);
      if (second) take(*second);
      while (second) {
        second = batches.next();
        if (second) take(*second);
      }
      data = made->elements.data();
    } else {
      made->owner = first->owner;
    }
    std::vector<std::int64_t> extents{length};
    add_extents(type, extents);
    made->view = {element, data, extents, {}, {}};
    std::int64_t stride = 1;
    made->view.strides.resize(extents.size());
    for (std::size_t d = extents.size(); d-- > 0;
         stride = checked_multiply(stride, std::max<std::int64_t>(extents[d], 1)))
      made->view.strides[d] = stride;
    return ArrowTensor(std::move(made));
  });
}

}  // namespace eindb

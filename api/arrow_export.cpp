#include "api/arrow_export.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "api/arrow_build.hpp"
#include "api/arrow_owned.hpp"
#include "api/translation.hpp"
#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "engine/arrow/arrow_batches.hpp"

namespace eindb {
namespace {

// ---- The stream ----------------------------------------------------------------------------------------------------

struct HeldStream {
  std::shared_ptr<const void> session;  // first, so that it outlives the rows
  std::string text;
  std::size_t offset = 0;
  std::unique_ptr<ArrowBatchSource> batches;
  std::string error;
  bool is_broken = false;
};

/// Runs `f`; an exception becomes the stream's error and a number of errno.
template <class F>
int guarded(ArrowArrayStream* stream, const F& f) noexcept {
  auto& held = *static_cast<HeldStream*>(stream->private_data);
  try {
    try {
      translated(held.text, f, held.offset);
      return 0;
    } catch (const Exception& error) {
      held.is_broken = true;
      held.error = error.what();
      if (error.code() == ErrorCode::Cancelled) return ECANCELED;
      if (error.code() == ErrorCode::MemoryLimit) return ENOMEM;
      return error.code() == ErrorCode::Io ? EIO : EINVAL;
    } catch (const std::bad_alloc&) {
      held.is_broken = true;
      held.error = "out of memory";
      return ENOMEM;
    } catch (const std::exception& error) {
      held.is_broken = true;
      held.error = error.what();
      return EIO;
    }
  } catch (...) {
    return ENOMEM;
  }
}

int stream_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  out->release = nullptr;
  auto& held = *static_cast<HeldStream*>(stream->private_data);
  return guarded(stream, [&] { hand_over(held.batches->schema(), *out); });
}

int stream_next(ArrowArrayStream* stream, ArrowArray* out) {
  *out = {};
  auto& held = *static_cast<HeldStream*>(stream->private_data);
  if (held.is_broken) return EINVAL;
  return guarded(stream, [&] {
    if (auto values = held.batches->next()) hand_over(*std::move(values), *out);
  });
}

const char* stream_error(ArrowArrayStream* stream) {
  const auto& held = *static_cast<HeldStream*>(stream->private_data);
  return held.error.empty() ? nullptr : held.error.c_str();
}

void release_stream(ArrowArrayStream* stream) {
  delete static_cast<HeldStream*>(stream->private_data);
  stream->private_data = nullptr;
  stream->release = nullptr;
}

void begin_stream(std::unique_ptr<HeldStream> held, ArrowArrayStream& out) {
  out = {.get_schema = stream_schema,
         .get_next = stream_next,
         .get_last_error = stream_error,
         .release = release_stream,
         .private_data = held.release()};
}

}  // namespace

void export_rows(std::shared_ptr<const void> session, std::string text, std::size_t offset, Result result,
                 std::int64_t rows_per_batch, ArrowArrayStream& out) {
  auto held = std::make_unique<HeldStream>();
  held->batches = row_batches(std::move(result), rows_per_batch);
  held->session = std::move(session);
  held->text = std::move(text);
  held->offset = offset;
  begin_stream(std::move(held), out);
}

void export_cells(std::shared_ptr<const TensorRelation> tensor, std::int64_t rows_per_batch, ArrowArrayStream& out) {
  auto held = std::make_unique<HeldStream>();
  held->batches = tensor_batches(TensorStrips(std::move(tensor)), rows_per_batch);
  begin_stream(std::move(held), out);
}
void export_tensor(const TensorRelation& tensor, ArrowBytes values, ArrowSchema& schema, ArrowArray& array) {
  auto extents = tensor.grid.shape().extents();
  const std::int64_t length = extents.empty() ? 1 : extents.front();
  if (!extents.empty()) extents.erase(extents.begin());
  nlohmann::ordered_json about;
  about["shape"] = extents;
  if (is_complex(tensor.dtype)) about["shape"].push_back(2);
  std::vector<std::string> names(tensor.labels.begin() + (tensor.labels.empty() ? 0 : 1), tensor.labels.end());
  if (is_complex(tensor.dtype)) names.emplace_back("part");
  if (!names.empty()) about["dim_names"] = names;
  const auto cells = checked_product(extents);
  const auto numbers = is_complex(tensor.dtype) ? checked_multiply(cells, 2) : cells;
  const bool is_single = tensor.dtype == DType::Float32 || tensor.dtype == DType::Complex64;
  if (numbers > std::numeric_limits<std::int32_t>::max())
    throw Error(ErrorKind::Unsupported,
                "a list of Arrow has at most 2^31 - 1 elements, and this tensor's slices " + std::to_string(numbers),
                std::nullopt, "hand over its rows instead");
  ArrowField field{tensor.name, "+w:" + std::to_string(numbers)};
  field.metadata = {{"ARROW:extension:name", "arrow.fixed_shape_tensor"}, {"ARROW:extension:metadata", about.dump()}};
  field.children.push_back({"item", tensor.dtype == DType::Int64 ? "l" : is_single ? "f" : "g"});
  ArrowOwned<ArrowSchema> made;
  hand_over(field, *made.raw());
  hand_over(ArrowValues{.length = length,
                        .null_count = 0,
                        .buffers = {{}},
                        .children = {{.length = checked_multiply(length, numbers),
                                      .null_count = 0,
                                      .buffers = {{}, std::move(values)}}}},
            array);
  schema = std::exchange(*made.raw(), {});
}

}  // namespace eindb

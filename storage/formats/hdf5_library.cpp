#include "storage/formats/hdf5_library.hpp"

#include <algorithm>

#include "common/caught_error.hpp"
#include "common/check.hpp"
#include "storage/formats/array_name.hpp"

namespace eindb {
namespace {

constexpr std::size_t kLongestReason = 200;
constexpr std::size_t kMetadataCache = 4 << 20;

extern "C" herr_t refuse_external_link(const char* /*parent_file*/, const char* /*parent_group*/,
                                       const char* /*child_file*/, const char* /*child_object*/, unsigned* /*flags*/,
                                       hid_t /*access*/, void* /*data*/) {
  return -1;
}

/// The type of the real part of a complex number, or the type of a real number.
hid_t part_type(DType dtype, bool in_file) {
  switch (dtype) {
    case DType::Float32:
    case DType::Complex64: return in_file ? H5T_IEEE_F32LE : H5T_NATIVE_FLOAT;
    case DType::Float64:
    case DType::Complex128: return in_file ? H5T_IEEE_F64LE : H5T_NATIVE_DOUBLE;
    case DType::Int64: break;
  }
  return in_file ? H5T_STD_I64LE : H5T_NATIVE_INT64;
}

Hdf5Handle make_type(DType dtype, bool in_file) {
  const hid_t part = part_type(dtype, in_file);
  if (!is_complex(dtype)) return {H5Tcopy(part), H5Tclose};
  const auto size = size_of(dtype);
  Hdf5Handle compound(H5Tcreate(H5T_COMPOUND, size), H5Tclose);
  CHECK(H5Tinsert(compound.get(), "r", 0, part) >= 0 && H5Tinsert(compound.get(), "i", size / 2, part) >= 0,
        "a complex number has two parts");
  return compound;
}

extern "C" herr_t keep_innermost(unsigned n, const H5E_error2_t* error, void* text) {
  if (n == 0 && error->desc != nullptr) *static_cast<std::string*>(text) = error->desc;
  return 0;
}

/// The library's message for its last failure, which is then cleared.
std::string take_reason() {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_innermost, &reason);
  H5Eclear2(H5E_DEFAULT);
  return reason;
}

/// The library's message for a failed system call ends with "errno = 5, error message = 'Input/output error'".
bool is_of_system(const std::string& reason) { return reason.find("errno = ") != std::string::npos; }

}  // namespace

std::mutex& hdf5_mutex() {
  static std::mutex mutex;
  return mutex;
}

void prepare_hdf5() {
  static const bool done = [] {
    H5dont_atexit();
    if (H5open() < 0) throw out_of_memory("libhdf5");  // the library's predefined types are unavailable then
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    H5PLset_loading_state(0);
    return true;
  }();
  CHECK(done, "the library is set up");
}

Error hdf5_error(ErrorKind kind, const std::string& what) {
  const auto reason = take_reason();
  return {kind, reason.empty() ? what : what + ": " + printable(reason, kLongestReason)};
}

Error hdf5_read_error(const std::string& path, const std::string& what) {
  const auto reason = take_reason();
  const auto words = printable(reason, kLongestReason);
  if (is_of_system(reason))
    return {ErrorKind::Io, "cannot read " + path + ": " + words, std::nullopt, "look at the disk and at the path"};
  return {ErrorKind::Corrupt, path + what + (reason.empty() ? "" : ": " + words)};
}

Error hdf5_write_error(const std::string& path, bool is_trusted) {
  const auto reason = take_reason();
  const auto what = "cannot write " + path + (reason.empty() ? "" : ": " + printable(reason, kLongestReason));
  if (is_trusted || is_of_system(reason)) return {ErrorKind::Io, what};
  return {ErrorKind::Corrupt, what, std::nullopt,
          "write to another file; if this one is sound, the machine's memory may be short"};
}

void bound_hdf5_metadata(hid_t access) {
  H5AC_cache_config_t cache{};
  cache.version = H5AC__CURR_CACHE_CONFIG_VERSION;
  if (H5Pget_mdc_config(access, &cache) < 0) return;
  cache.max_size = kMetadataCache;
  cache.initial_size = std::min(cache.initial_size, kMetadataCache);
  // A smaller cache is always valid, so only a lack of memory can fail here.
  if (H5Pset_mdc_config(access, &cache) < 0) throw out_of_memory("libhdf5");
}

void refuse_hdf5_external_links(hid_t access) { H5Pset_elink_cb(access, refuse_external_link, nullptr); }

Hdf5Handle hdf5_memory_type(DType dtype) { return make_type(dtype, false); }

Hdf5Handle hdf5_half_type(H5T_order_t order) {
  Hdf5Handle half(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);
  const bool made = H5Tset_fields(half.get(), 15, 10, 5, 0, 10) >= 0 && H5Tset_precision(half.get(), 16) >= 0 &&
                    H5Tset_ebias(half.get(), 15) >= 0 && H5Tset_size(half.get(), 2) >= 0 &&
                    H5Tset_order(half.get(), order) >= 0;
  CHECK(made, "half precision is a type of the library");
  return half;
}

Hdf5Handle hdf5_file_type(StoredType type) {
  const auto copy = [](hid_t known) { return Hdf5Handle(H5Tcopy(known), H5Tclose); };
  switch (type.encoding) {
    case Encoding::Bool:
    case Encoding::Int8: return copy(H5T_STD_I8LE);
    case Encoding::UInt8: return copy(H5T_STD_U8LE);
    case Encoding::Int16: return copy(H5T_STD_I16LE);
    case Encoding::UInt16: return copy(H5T_STD_U16LE);
    case Encoding::Int32: return copy(H5T_STD_I32LE);
    case Encoding::UInt32: return copy(H5T_STD_U32LE);
    case Encoding::Float16: return hdf5_half_type(H5T_ORDER_LE);
    default: return make_type(type.values, true);
  }
}

}  // namespace eindb

#pragma once

#include <hdf5.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include "common/error.hpp"
#include "tensor/stored_type.hpp"

namespace eindb {

/// Guards all of libhdf5: the serial library has global state, and only one thread may call it at a time. Hold it
/// during every use of an Hdf5Handle, its destruction included.
std::mutex& hdf5_mutex();

/// Sets up the library once per process: it prints nothing, loads no filter plugins from disk and installs no exit
/// handler. Call it with hdf5_mutex() held, before any other function of the library. Error{MemoryLimit}.
void prepare_hdf5();

/// An error of `what` with the innermost reason that the library's last call reported.
Error hdf5_error(ErrorKind kind, const std::string& what);
/// The same for reading `path`: Error{Io} if the system call failed, else Error{Corrupt} with `path` and `what`.
Error hdf5_read_error(const std::string& path, const std::string& what);

/// The same for writing `path`, of which `is_trusted` says whether the library itself has made all of it: if not, what
/// is no failure of the system is Error{Corrupt}.
Error hdf5_write_error(const std::string& path, bool is_trusted);

/// Keeps the library's cache of metadata small in files that are opened with `access`. Error{MemoryLimit}.
void bound_hdf5_metadata(hid_t access);
/// Makes the library refuse links into other files on the way to a data set that is opened or made with `access`.
void refuse_hdf5_external_links(hid_t access);

/// Bytes of the library's chunk cache per data set. Chunks shared by neighbouring tiles are compressed and decompressed
/// only once if they fit.
inline constexpr std::int64_t kHdf5ChunkCache = 32 << 20;

/// Owns an identifier of libhdf5, and closes it with the function for its kind.
class Hdf5Handle {
 public:
  using Close = herr_t (*)(hid_t);

  Hdf5Handle() = default;
  Hdf5Handle(hid_t id, Close close) : id_(id), close_(close) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;
  ~Hdf5Handle() { close(); }

  hid_t get() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }
  /// False if the library failed, for instance because buffered values could not be written.
  bool close() { return id_ < 0 || close_(std::exchange(id_, H5I_INVALID_HID)) >= 0; }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

/// The library's type for the elements of a tile; complex numbers are compounds of r and i, as in h5py.
Hdf5Handle hdf5_memory_type(DType dtype);
/// The IEEE 754 half precision type, which the library does not predefine.
Hdf5Handle hdf5_half_type(H5T_order_t order);
/// The type of a tensor's elements in a file, always little-endian: BOOL is an integer of a byte, and what the library
/// has no type for (BFLOAT16, floats of 8 bits, what has scales) is FLOAT32.
Hdf5Handle hdf5_file_type(StoredType type);

}  // namespace eindb

#pragma once

#include <hdf5.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include "common/error.hpp"
#include "tensor/dtype.hpp"

namespace eindb {

/// Guards libhdf5, all of it: the serial library has global state and may not be called by two threads at once. Hold it
/// around every use of an Hdf5Handle, its destruction included.
std::mutex& hdf5_mutex();

/// Sets the library up, once per process: it prints nothing, loads no filter plugins from the disk and leaves the end
/// of the process alone. Call it with hdf5_mutex() held, before anything else of the library. Error{MemoryLimit}.
void prepare_hdf5();

/// An error to throw: `what` and the innermost reason that the library's last call gives.
Error hdf5_error(ErrorKind kind, const std::string& what);
/// The same for reading `path`: Error{Io} where the system failed, else Error{Corrupt} with `path` and `what`.
Error hdf5_read_error(const std::string& path, const std::string& what);

/// Bytes of chunks that the library keeps of a dataset: chunks that neighbouring tiles share are compressed and
/// decompressed once if they fit.
inline constexpr std::int64_t kHdf5ChunkCache = 32 << 20;

/// Owns an identifier of libhdf5; closes it with the function of its kind.
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
  /// False if the library failed, as it does where buffered values cannot be written.
  bool close() { return id_ < 0 || close_(std::exchange(id_, H5I_INVALID_HID)) >= 0; }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

/// The elements of a tile as the library knows them; complex numbers are compounds of r and i, as in h5py.
Hdf5Handle hdf5_memory_type(DType dtype);
/// The same for a file: little-endian on every machine.
Hdf5Handle hdf5_file_type(DType dtype);

}  // namespace eindb

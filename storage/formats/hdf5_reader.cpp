#include "storage/formats/hdf5_reader.hpp"

#include <memory>

#include "storage/formats/hdf5_dataset.hpp"

namespace eindb {

Hdf5Reader::Hdf5Reader(const FilePath& path, const std::string& name, std::int64_t memory_limit,
                       const Cancellation* cancellation, PackedValues values)
    : file_(path),
      reader_(
          file_.path(), hdf5_mutex(),
          [&] { return std::make_unique<Hdf5Dataset>(file_, name, memory_limit / 4, values); }, cancellation) {}

}  // namespace eindb

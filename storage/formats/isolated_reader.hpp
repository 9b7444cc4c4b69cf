#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/cancellation.hpp"
#include "storage/formats/block_reader.hpp"
#include "storage/formats/isolated_process.hpp"

namespace eindb {

/// A BlockReader that lives in a process of its own, forked for it: what a library does wrong with a hostile file stays
/// there. A crash, too much memory, an endless loop become an Error here, and the statement goes on to roll back.
///
///     this process                          the reader's process
///     IsolatedReader  -- fork ------------> open()
///                     <- type and shape --- or its Error
///     read_block      -- begin, extents --> reader->read_block()
///                     <- elements --------- or its Error
///     ~IsolatedReader -- end of stream ---> _exit
///
/// Until the file is open the child may take 24 MiB more than this process does, and two seconds of CPU time; then what
/// the reader's working_bytes and the block need. See IsolatedProcess for the rest.
class IsolatedReader {
 public:
  using Open = std::function<std::unique_ptr<BlockReader>()>;

  /// `path` is for messages. A lock that another thread holds stays locked in the child for ever: `open` and what it
  /// opens take none but `library`, which is held while forking. Throws what `open` throws; Error{Corrupt} if the child
  /// dies; Error{Cancelled} if `cancellation`, which may be null and must outlive the reader, says so.
  IsolatedReader(const std::string& path, std::mutex& library, const Open& open, const Cancellation* cancellation);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  /// As BlockReader::read_block; the same errors as the constructor.
  Tile read_block(const std::vector<std::int64_t>& begin, const Shape& extents);

 private:
  void receive_shape();

  IsolatedProcess process_;
  DType dtype_ = DType::Float64;
  Shape shape_;
};

}  // namespace eindb

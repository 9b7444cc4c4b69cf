#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/cancellation.hpp"
#include "storage/formats/block_reader.hpp"
#include "storage/formats/isolated_process.hpp"

namespace eindb {

/// A BlockReader in a process forked for it, so that a library's faults on a hostile file stay there. A crash, too much
/// memory or an endless loop becomes an Error here, and the statement rolls back.
///
///     this process                          the reader's process
///     IsolatedReader  -- fork ------------> open()
///                     <- type and shape --- or its Error
///     read_block      -- begin, extents --> reader->read_block()
///                     <- elements --------- or its Error
///     ~IsolatedReader -- end of stream ---> _exit
///
/// Until the file is open the child may take 24 MiB more than this process, and two seconds of CPU time; afterwards, as
/// much as the reader's working_bytes and the block require. IsolatedProcess documents the rest.
class IsolatedReader {
 public:
  using Open = std::function<std::unique_ptr<BlockReader>()>;

  /// `path` is for messages. `open`, and the reader that it returns, must take no lock but `library`, which is held
  /// while forking, since a lock that another thread holds stays locked in the child forever. Throws the errors of
  /// `open`; Error{Corrupt} if the child dies; Error{Cancelled} by `cancellation`, which may be null and must outlive
  /// the reader.
  IsolatedReader(const std::string& path, std::mutex& library, const Open& open, const Cancellation* cancellation);

  DType dtype() const { return type_.values; }
  StoredType type() const { return type_; }
  const Shape& shape() const { return shape_; }
  const std::vector<std::string>& labels() const { return labels_; }
  /// Like BlockReader::read_block; throws the same errors as the constructor.
  Tile read_block(const std::vector<std::int64_t>& begin, const Shape& extents);

 private:
  void receive_shape();

  IsolatedProcess process_;
  StoredType type_;
  Shape shape_;
  std::vector<std::string> labels_;
};

/// The bytes that `make` returns in a process like that of an IsolatedReader, which ends then; its time is limited as
/// until the file is open, and its memory to `most` bytes more. Error{Corrupt} for an answer of more than `most` bytes;
/// otherwise as IsolatedReader.
std::vector<std::byte> isolated_answer(const std::string& path, std::mutex& library,
                                       const std::function<std::vector<std::byte>()>& make, std::size_t most,
                                       const Cancellation* cancellation);

}  // namespace eindb

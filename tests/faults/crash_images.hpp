#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/faults/layer/fault_layer.hpp"

namespace eindb::faults {

/// What a disk may hold after the power was lost at some moment of a recording.
///
/// What was synced is there. Of what was written since, each sector of 512 bytes is there or is not, whatever the order
/// of the writes: writes are torn, left out, and older ones outlast later ones. The same for lengths. Names that a
/// directory got, lost or changed since it was synced come in order, up to some moment that each name has of its own.
///
/// The index of a write-ahead log ("-shm"), which lives in memory, is never there.
class CrashImages {
 public:
  enum class Loss : std::uint8_t {
    Everything,  ///< that was not synced
    Nothing,     ///< as if the process alone was killed
    Some,        ///< at random
  };

  explicit CrashImages(Recording recording);

  std::size_t moments() const { return recording_.events.size() + 1; }
  /// Goes on to the moment before event n, which is not before the last one.
  void advance_to(std::size_t moment);
  /// The last mark so far, -1 at first.
  std::int64_t last_mark() const { return mark_; }
  /// Whether the event before this moment changed what can be found.
  bool has_changed() const { return changed_; }

  /// Path to contents, of all that is found.
  using Image = std::map<std::string, std::vector<std::byte>>;
  /// `loss_of` says of each path what is lost: machines lose their power one by one.
  Image image(const std::function<Loss(const std::string&)>& loss_of, std::uint64_t seed) const;

 private:
  struct File {
    std::vector<std::byte> synced;
    std::vector<std::size_t> pending;  // events
  };
  struct Name {
    int synced = -1;  // the file, -1 for none
    std::vector<int> pending;
  };

  void take(const FileEvent& event, std::size_t n);
  void sync_names(const std::string& directory);
  int file_of(const Name& name, Loss loss, std::mt19937_64& random) const;
  std::vector<std::byte> contents_of(int file, Loss loss, std::mt19937_64& random) const;

  Recording recording_;
  std::size_t moment_ = 0;
  std::int64_t mark_ = -1;
  bool changed_ = true;
  std::map<int, File> files_;
  std::map<std::string, Name> names_;
};

/// Writes the image's files, whose paths are below `from`, below the directory `to`, which is emptied before.
void write_image(const CrashImages::Image& image, const std::string& from, const std::string& to);

}  // namespace eindb::faults

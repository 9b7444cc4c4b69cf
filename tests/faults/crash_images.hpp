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

/// The possible contents of a disk after a power loss at some moment of a recording.
///
/// Synced data is present. Of later writes, each sector of 512 bytes is present or not, independently of the order of
/// the writes: writes may be torn or missing, and older ones may outlast later ones. The same holds for lengths.
/// Changes of names in a directory since its last sync apply in order, up to a random moment for each name.
///
/// The index of a write-ahead log ("-shm") is in memory and never present.
class CrashImages {
 public:
  enum class Loss : std::uint8_t {
    Everything,  ///< everything unsynced is lost
    Nothing,     ///< as if only the process was killed
    Some,        ///< random losses
  };

  explicit CrashImages(Recording recording);

  std::size_t moments() const { return recording_.events.size() + 1; }
  /// Advances to the moment before event n, which must not precede the current one.
  void advance_to(std::size_t moment);
  /// The last mark so far; -1 if there is none.
  std::int64_t last_mark() const { return mark_; }
  /// Whether the event before this moment changed the files.
  bool has_changed() const { return changed_; }

  /// The files by path, with their contents.
  using Image = std::map<std::string, std::vector<std::byte>>;
  /// `loss_of` determines the loss for each path, since machines lose power separately.
  Image image(const std::function<Loss(const std::string&)>& loss_of, std::uint64_t seed) const;

 private:
  struct File {
    std::vector<std::byte> synced;
    std::vector<std::size_t> pending;  // events
  };
  struct Name {
    int synced = -1;  // number of the file; -1: none
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

/// Writes the image's files to the directory `to`, which is emptied first; their paths begin with `from`.
void write_image(const CrashImages::Image& image, const std::string& from, const std::string& to);

}  // namespace eindb::faults

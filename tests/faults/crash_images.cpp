#include "tests/faults/crash_images.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "common/check.hpp"

namespace eindb::faults {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::byte>;

constexpr std::size_t kSector = 512;

void write(Bytes& file, std::size_t offset, const std::byte* bytes, std::size_t size) {
  if (file.size() < offset + size) file.resize(offset + size);
  std::copy_n(bytes, size, file.begin() + static_cast<std::ptrdiff_t>(offset));
}

void redo(Bytes& file, const FileEvent& event) {
  const auto offset = static_cast<std::size_t>(event.offset);
  if (event.kind == FileEvent::Kind::Truncate) file.resize(offset);
  else write(file, offset, event.bytes.data(), event.bytes.size());
}

bool heads(std::mt19937_64& random) { return (random() & 1U) != 0; }

/// Applies each sector of the write or omits it.
void redo_torn(Bytes& file, const FileEvent& event, std::mt19937_64& random) {
  const auto begin = static_cast<std::size_t>(event.offset);
  const auto end = begin + event.bytes.size();
  for (auto at = begin; at < end;) {
    const auto next = std::min(end, (at / kSector + 1) * kSector);
    if (heads(random)) write(file, at, event.bytes.data() + (at - begin), next - at);
    at = next;
  }
}

void redo_in_part(Bytes& file, const FileEvent& event, std::mt19937_64& random) {
  switch (random() % 4) {
    case 0: return;
    case 1:
      if (event.kind == FileEvent::Kind::Write) return redo_torn(file, event, random);
      return;
    default: redo(file, event);
  }
}

bool lives_in_memory(const std::string& path) { return path.ends_with("-shm"); }

}  // namespace

CrashImages::CrashImages(Recording recording) : recording_(std::move(recording)) {
  for (auto& file : recording_.before) {
    names_[file.name].synced = file.file;
    files_[file.file].synced = std::move(file.bytes);
  }
}

void CrashImages::advance_to(std::size_t moment) {
  CHECK(moment >= moment_ && moment < moments(), "moments are taken in order");
  for (; moment_ < moment; ++moment_) take(recording_.events[moment_], moment_);
}

void CrashImages::take(const FileEvent& event, std::size_t n) {
  using Kind = FileEvent::Kind;
  changed_ = !lives_in_memory(event.name);
  switch (event.kind) {
    case Kind::Write:
    case Kind::Truncate: files_[event.file].pending.push_back(n); break;
    case Kind::Sync: {
      auto& file = files_[event.file];
      for (const auto done : std::exchange(file.pending, {})) redo(file.synced, recording_.events[done]);
      break;
    }
    case Kind::Create:
    case Kind::Link: names_[event.name].pending.push_back(event.file); break;
    case Kind::Unlink: names_[event.name].pending.push_back(-1); break;
    case Kind::Rename:
      names_[event.name].pending.push_back(-1);
      names_[event.other].pending.push_back(event.file);
      break;
    case Kind::SyncNames: sync_names(event.name); break;
    case Kind::Mark: mark_ = event.offset; changed_ = true;
  }
}

void CrashImages::sync_names(const std::string& directory) {
  for (auto& [path, name] : names_) {
    if (name.pending.empty() || fs::path(path).parent_path() != directory) continue;
    name.synced = name.pending.back();
    name.pending.clear();
  }
}

int CrashImages::file_of(const Name& name, Loss loss, std::mt19937_64& random) const {
  std::size_t kept = 0;
  if (loss == Loss::Nothing) kept = name.pending.size();
  if (loss == Loss::Some) kept = random() % (name.pending.size() + 1);
  return kept == 0 ? name.synced : name.pending[kept - 1];
}

std::vector<std::byte> CrashImages::contents_of(int file, Loss loss, std::mt19937_64& random) const {
  const auto found = files_.find(file);
  if (found == files_.end()) return {};
  auto bytes = found->second.synced;
  for (const auto n : found->second.pending) {
    const auto& event = recording_.events[n];
    if (loss == Loss::Nothing) redo(bytes, event);
    if (loss == Loss::Some) redo_in_part(bytes, event, random);
  }
  return bytes;
}

CrashImages::Image CrashImages::image(const std::function<Loss(const std::string&)>& loss_of,
                                      std::uint64_t seed) const {
  std::mt19937_64 random(seed);
  Image image;
  for (const auto& [path, name] : names_) {
    if (lives_in_memory(path)) continue;
    const auto loss = loss_of(path);
    if (const int file = file_of(name, loss, random); file >= 0) image[path] = contents_of(file, loss, random);
  }
  return image;
}

void write_image(const CrashImages::Image& image, const std::string& from, const std::string& to) {
  fs::remove_all(to);
  fs::create_directories(to);
  for (const auto& [path, bytes] : image) {
    const auto target = fs::path(to) / fs::path(path).lexically_relative(from);
    fs::create_directories(target.parent_path());
    std::ofstream file(target, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
}

}  // namespace eindb::faults

// A store is a directory. Version 2: a directory with .zarray is an array, one with .zgroup a group. Version 3:
// zarr.json says what a directory is. Groups have arrays and groups in directories of their own.

#include "storage/formats/zarr_store.hpp"

#include "common/error.hpp"
#include "storage/formats/array_name.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kLongestMetadata = std::int64_t{8} << 20U;
constexpr std::size_t kMostNodes = 10'000;
constexpr std::size_t kMostInGroup = 1'000'000;
constexpr int kDeepestGroup = 16;

class ZarrSearch {
 public:
  explicit ZarrSearch(const InputDirectory& store) : store_(store) {}

  void search(const std::string& name, int depth) {
    if (++nodes_ > kMostNodes)
      throw Error(ErrorKind::Unsupported, store_.path() + " has more than 10,000 arrays and groups");
    std::optional<ZarrNode> node;
    try {
      node = zarr_node(store_, name);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Unsupported) throw;
      entries_.push_back({.name = name, .array = {}, .why = error.message()});
      return;
    }
    if (!node) {
      if (depth == 0)
        throw Error(ErrorKind::Corrupt, store_.path() + " is no store of Zarr", std::nullopt,
                    "its directory has .zarray, .zgroup or zarr.json in it");
      return;
    }
    if (node->array) entries_.push_back({.name = name, .array = std::move(node->array), .why = {}});
    else search_group(name, depth);
  }

  std::vector<ZarrEntry> take() { return std::move(entries_); }

 private:
  void search_group(const std::string& group, int depth) {
    if (depth == kDeepestGroup)
      throw Error(ErrorKind::Unsupported, store_.path() + " has groups nested more than 16 deep");
    for (const auto& name : store_.names(group, kMostInGroup)) {
      const auto path = zarr_path(group, name);
      if (!name.starts_with('.') && store_.has_directory(path)) search(path, depth + 1);
    }
  }

  const InputDirectory& store_;
  std::vector<ZarrEntry> entries_;
  std::size_t nodes_ = 0;
};

}  // namespace

std::string zarr_path(const std::string& directory, const std::string& name) {
  return directory.empty() ? name : directory + "/" + name;
}

std::optional<ZarrNode> zarr_node(const InputDirectory& store, const std::string& name) {
  const auto read = [&](const char* file) { return store.read(zarr_path(name, file), kLongestMetadata); };
  const auto message_name = zarr_path(store.path(), name);
  if (const auto text = read("zarr.json")) return parse_zarr_v3(*text, printable(message_name + "/zarr.json", 200));
  if (const auto text = read(".zarray"))
    return ZarrNode{.version = 2,
                    .array = parse_zarr_v2(*text, read(".zattrs").value_or(""), printable(message_name, 200))};
  if (read(".zgroup")) return ZarrNode{};
  return std::nullopt;
}

bool is_consolidated(const InputDirectory& store, const std::string& name, const ZarrNode& node) {
  return node.is_consolidated || store.file(zarr_path(name, ".zmetadata")) != nullptr;
}

std::vector<ZarrEntry> zarr_arrays(const InputDirectory& store) {
  ZarrSearch search(store);
  search.search("", 0);
  return search.take();
}

}  // namespace eindb

#include "catalog/tensor_info.hpp"

#include <algorithm>
#include <array>

#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "storage/encoding/tile_codec.hpp"

namespace eindb {
namespace {

constexpr std::array<std::string_view, 3> kReservedPrefixes{"eindb_", "sqlite_", "pragma_"};

/// Virtual tables and modules that may be built into SQLite; in SQL they hide a tensor of the same name.
constexpr std::array<std::string_view, 20> kTablesOfSqlite{
    "bytecode",  "carray",    "completion", "csv",       "dbstat",      "fts3",    "fts3tokenize",
    "fts4",      "fts4aux",   "fts5",       "fts5vocab", "fuzzer",      "geopoly", "generate_series",
    "json_each", "json_tree", "rtree",      "rtree_i32", "tables_used", "zipfile"};

bool starts_with_folded(std::string_view name, std::string_view prefix) {
  if (name.size() < prefix.size()) return false;
  for (std::size_t i = 0; i < prefix.size(); ++i) {
    const char c = name[i] >= 'A' && name[i] <= 'Z' ? static_cast<char>(name[i] - 'A' + 'a') : name[i];
    if (c != prefix[i]) return false;
  }
  return true;
}

void check_text(ErrorKind kind, const std::string& what, std::string_view name) {
  if (name.empty()) throw Error(kind, what + " cannot be empty");
  if (name.find('\0') != std::string_view::npos) throw Error(kind, what + " cannot contain a zero byte");
  if (name.size() > kMaxNameLength) {
    throw Error(kind, what + " has " + std::to_string(name.size()) + " bytes", std::nullopt,
                "use at most " + std::to_string(kMaxNameLength));
  }
}

}  // namespace

void check_tensor_name(std::string_view name) {
  check_text(ErrorKind::Value, "the name of a tensor", name);
  for (const auto prefix : kReservedPrefixes) {
    if (!starts_with_folded(name, prefix)) continue;
    throw Error(ErrorKind::Value, "names that begin with " + std::string(prefix) + " are reserved", std::nullopt,
                "use another name");
  }
  if (std::any_of(kTablesOfSqlite.begin(), kTablesOfSqlite.end(),
                  [&](std::string_view known) { return equal_ignoring_case(known, name); }))
    throw Error(ErrorKind::DuplicateName, std::string(name) + " is a table of SQL's own", std::nullopt,
                "use another name");
}

void check_label_name(std::string_view label) { check_text(ErrorKind::Label, "a label", label); }

std::vector<std::string> default_labels(std::size_t rank) {
  static constexpr std::string_view kLetters = "ijklmnopqrstuvwxyzabcdefgh";
  std::vector<std::string> labels;
  for (std::size_t d = 0; d < rank; ++d)
    labels.push_back(d < kLetters.size() ? std::string(1, kLetters[d]) : "i" + std::to_string(d));
  return labels;
}

void check_storable(const Shape& shape, DType dtype) {
  if (shape.rank() > kMaxStoredRank) {
    throw Error(ErrorKind::Unsupported, "a tensor of " + std::to_string(shape.rank()) + " dimensions cannot be stored",
                std::nullopt, "at most " + std::to_string(kMaxStoredRank) + " dimensions can");
  }
  checked_multiply(shape.element_count(), static_cast<std::int64_t>(size_of(dtype)));
}

}  // namespace eindb

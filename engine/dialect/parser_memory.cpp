#include "engine/dialect/parser_memory.hpp"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "common/check.hpp"

namespace eindb::dialect {

/// Stands at the beginning of its block; pieces follow, each behind its size.
struct ParserMemory::Reserve {
  char* next_piece;
  char* end;
  Reserve* kept_before = nullptr;  // those that were needed form a list
  bool needed = false;
};

namespace {

constexpr std::size_t kAlignment = 16;

thread_local ParserMemory::Reserve* reserve_of_thread = nullptr;
std::atomic<ParserMemory::Reserve*> kept{nullptr};

std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

void keep(ParserMemory::Reserve& reserve) {
  reserve.needed = true;
  reserve.kept_before = kept.load(std::memory_order_relaxed);
  while (!kept.compare_exchange_weak(reserve.kept_before, &reserve, std::memory_order_release,
                                     std::memory_order_relaxed)) {
  }
}

bool is_of_reserve(const void* piece) {
  for (const auto* each = kept.load(std::memory_order_acquire); each != nullptr; each = each->kept_before)
    if (piece > each && piece < each->end) return true;
  return false;
}

/// Null if the reserve is used up.
void* take(std::size_t bytes) {
  auto* const reserve = reserve_of_thread;
  if (reserve == nullptr) return nullptr;
  const auto size = aligned(bytes) + kAlignment;
  if (size < bytes || size > static_cast<std::size_t>(reserve->end - reserve->next_piece)) return nullptr;
  if (!reserve->needed) keep(*reserve);
  char* const piece = reserve->next_piece + kAlignment;
  reserve->next_piece += size;
  std::memcpy(piece - kAlignment, &bytes, sizeof(bytes));
  return piece;
}

std::size_t size_of_piece(const void* piece) {
  std::size_t bytes = 0;
  std::memcpy(&bytes, static_cast<const char*>(piece) - kAlignment, sizeof(bytes));
  return bytes;
}

}  // namespace

ParserMemory::ParserMemory(std::size_t bytes) : reserve_(nullptr) {
  CHECK(reserve_of_thread == nullptr, "a thread calls the parser once at a time");
  const auto header = aligned(sizeof(Reserve));
  auto* const block = static_cast<char*>(std::malloc(header + bytes));
  if (block == nullptr) throw std::bad_alloc();
  reserve_ = new (block) Reserve{.next_piece = block + header, .end = block + header + bytes};
  reserve_of_thread = reserve_;
}

ParserMemory::~ParserMemory() {
  reserve_of_thread = nullptr;
  if (!reserve_->needed) std::free(reserve_);
}

}  // namespace eindb::dialect

using eindb::dialect::is_of_reserve;
using eindb::dialect::size_of_piece;
using eindb::dialect::take;

// The parser's calls of malloc(), free(), realloc() and strdup() are linked to these functions.
extern "C" {
void* eindb_parser_malloc(std::size_t bytes);
void eindb_parser_free(void* piece);
void* eindb_parser_realloc(void* piece, std::size_t bytes);
char* eindb_parser_strdup(const char* text);

void* eindb_parser_malloc(std::size_t bytes) {
  void* const made = std::malloc(bytes);
  return made != nullptr ? made : take(bytes);
}

void eindb_parser_free(void* piece) {
  if (!is_of_reserve(piece)) std::free(piece);
}

void* eindb_parser_realloc(void* piece, std::size_t bytes) {
  const bool of_reserve = piece != nullptr && is_of_reserve(piece);
  if (!of_reserve)
    if (void* const made = std::realloc(piece, bytes); made != nullptr) return made;
  const auto size = piece == nullptr ? 0 : of_reserve ? size_of_piece(piece) : malloc_usable_size(piece);
  void* const made = of_reserve ? eindb_parser_malloc(bytes) : take(bytes);
  if (made == nullptr) return nullptr;
  std::memcpy(made, piece, std::min(size, bytes));
  eindb_parser_free(piece);
  return made;
}

char* eindb_parser_strdup(const char* text) {
  const auto bytes = std::strlen(text) + 1;
  void* const made = eindb_parser_malloc(bytes);
  if (made != nullptr) std::memcpy(made, text, bytes);
  return static_cast<char*>(made);
}
}

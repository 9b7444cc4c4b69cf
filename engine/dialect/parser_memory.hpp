#pragma once

#include <cstddef>

namespace eindb::dialect {

/// Memory in reserve for a call of PostgreSQL's parser, which ends the process if an allocation of its own fails. While
/// an object lives, allocations of the parser on this thread that the system refuses are taken from its reserve: they
/// succeed as long as they are not larger together. The build redirects the parser's malloc() and its like here.
///
/// The parser keeps some blocks between calls, so a reserve that was needed is never freed; the others are.
class ParserMemory {
 public:
  /// Throws std::bad_alloc if there is no memory for the reserve.
  explicit ParserMemory(std::size_t bytes);
  ~ParserMemory();
  ParserMemory(const ParserMemory&) = delete;
  ParserMemory& operator=(const ParserMemory&) = delete;

  struct Reserve;

 private:
  Reserve* reserve_;
};

}  // namespace eindb::dialect

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace eindb {

/// Turns the messages that a Backend writes for one statement into events for the console: lines of JSON.
///
///     {"statement":0,"position":12}                     it begins, at this character of the text
///     {"columns":[{"name":"i","type":"int8"}, ...]}
///     {"rows":[[1,"a",null], ...]}                      as many as come together
///     {"progress":"join: 30 %, about 12 s left"}        {"notice":"..."}
///     {"done":"SELECT 2","rows":2,"more":true}          more: rows are left that nobody asked for
///     {"error":{"code":"42601","message":"...","hint":"...","position":17}}
///
/// Positions count characters of the whole text from 0. A value is a number where JSON's readers keep it exactly
/// (integers up to 2^53, FLOAT32 and FLOAT64 that are finite), true or false, null, or else a text:
/// "9223372036854775807", "NaN", "Infinity". Of a text beyond kMostTextBytes the beginning comes:
/// {"cut":"...","bytes":1000000}. Not thread-safe.
class MessageEvents {
 public:
  static constexpr std::size_t kMostTextBytes = std::size_t{64} << 10U;

  /// Call when statement number `number` begins, whose text begins at character `position`. Returns its first event.
  std::string begin(std::size_t number, std::size_t position);
  /// The events of whole messages, which may be those of a part of the statement's answer. Throws ProtocolError if they
  /// are not as a backend writes them.
  std::string translate(std::string_view messages);

  bool is_over() const { return over_; }             ///< the client may send its next statement
  bool has_failed() const { return failed_; }        ///< the statement, or the whole connection
  bool wants_rows() const { return copies_in_; }     ///< a COPY FROM STDIN waits for rows
  char transaction() const { return transaction_; }  ///< as in ReadyForQuery: 'I', 'T' or 'E'

 private:
  void take(char type, std::string_view body);
  void take_columns(std::string_view body);
  void take_row(std::string_view body);
  void take_notice(char type, std::string_view body);
  void put(const std::string& event);
  void end_rows();

  std::size_t position_ = 0;
  std::vector<std::int32_t> types_;
  std::int64_t rows_ = 0;
  std::string events_;
  std::string pending_rows_;  // of the event that is begun; empty: none is
  bool over_ = true;
  bool failed_ = false;
  bool copies_in_ = false;
  char transaction_ = 'I';
};

}  // namespace eindb

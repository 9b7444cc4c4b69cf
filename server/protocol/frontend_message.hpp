#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "server/protocol/frame_reader.hpp"

/// The messages of clients in version 3 of the protocol, parsed and checked. Texts and values are views into their
/// frame.
namespace eindb::frontend {

// ---- Before the session: without a type --------------------------------------------------------------------------

struct SslRequest {};
struct GssRequest {};
/// Sent on a connection of its own.
struct CancelRequest {
  std::int32_t process = 0;
  std::int32_t secret = 0;
};
struct Startup {
  std::int16_t major = 0;
  std::int16_t minor = 0;
  std::vector<std::pair<std::string_view, std::string_view>> parameters;
};
using FirstMessage = std::variant<SslRequest, GssRequest, CancelRequest, Startup>;

/// The first message of a connection. Throws ProtocolError.
FirstMessage parse_first(const Frame& frame);

// ---- In the session ----------------------------------------------------------------------------------------------

enum class Format : std::int16_t { Text = 0, Binary = 1 };

/// A password, or a step of SASL, depending on the server's request.
struct Password {
  std::string_view body;
};
struct Query {
  std::string_view text;
};
struct Parse {
  std::string_view name;
  std::string_view text;
  std::vector<std::int32_t> parameter_types;  ///< oids; 0: unspecified
};
struct Bind {
  std::string_view portal;
  std::string_view statement;
  std::vector<Format> parameter_formats;
  std::vector<std::optional<std::string_view>> values;
  std::vector<Format> result_formats;
};
/// For a statement ('S') or a portal ('P').
struct Describe {
  char what = 'S';
  std::string_view name;
};
struct Close {
  char what = 'S';
  std::string_view name;
};
struct Execute {
  std::string_view portal;
  std::int32_t most_rows = 0;  ///< 0: all
};
struct Sync {};
struct Flush {};
struct CopyData {
  std::string_view bytes;
};
struct CopyDone {};
struct CopyFail {
  std::string_view reason;
};
struct FunctionCall {};
struct Terminate {};

using Message = std::variant<Password, Query, Parse, Bind, Describe, Close, Execute, Sync, Flush, CopyData, CopyDone,
                             CopyFail, FunctionCall, Terminate>;

/// Parses a message of the session. Throws ProtocolError for an unknown type or a malformed body.
Message parse(const Frame& frame);

/// The format of value `n`. `formats` is empty if all are text, has one format for all values, or one for each. Missing
/// formats mean text.
Format format_of(const std::vector<Format>& formats, std::size_t n);

}  // namespace eindb::frontend

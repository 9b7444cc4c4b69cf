#include "server/protocol/frontend_message.hpp"

#include <string>

#include "server/protocol/body_reader.hpp"

namespace eindb::frontend {
namespace {

// Request codes in place of a protocol version; the upper half is 1234.
constexpr std::int32_t kCancel = (1234 << 16) | 5678;
constexpr std::int32_t kSsl = (1234 << 16) | 5679;
constexpr std::int32_t kGss = (1234 << 16) | 5680;

Startup parse_startup(std::int32_t version, BodyReader& body) {
  Startup startup{.major = static_cast<std::int16_t>(version >> 16),
                  .minor = static_cast<std::int16_t>(version & 0xFFFF),
                  .parameters = {}};
  if (startup.major != 3) {
    throw ProtocolError("version " + std::to_string(startup.major) + " of the protocol is not spoken here; 3 is",
                        "0A000");
  }
  while (true) {
    const auto name = body.text();
    if (name.empty()) break;
    startup.parameters.emplace_back(name, body.text());
  }
  body.end();
  return startup;
}

std::vector<Format> parse_formats(BodyReader& body) {
  std::vector<Format> formats(body.count(sizeof(std::int16_t)));
  for (auto& format : formats) {
    const auto code = body.integer<std::int16_t>();
    if (code != 0 && code != 1) throw ProtocolError("there is no format " + std::to_string(code) + " of values");
    format = static_cast<Format>(code);
  }
  return formats;
}

void check_formats(const std::vector<Format>& formats, std::size_t values) {
  if (formats.size() <= 1 || formats.size() == values) return;
  throw ProtocolError("Bind has " + std::to_string(formats.size()) + " formats for " + std::to_string(values) +
                      " parameters");
}

Parse parse_parse(BodyReader& body) {
  Parse parse{.name = body.text(), .text = body.text(), .parameter_types = {}};
  parse.parameter_types.resize(body.count(sizeof(std::int32_t)));
  for (auto& type : parse.parameter_types) type = body.integer<std::int32_t>();
  return parse;
}

Bind parse_bind(BodyReader& body) {
  Bind bind{.portal = body.text(),
            .statement = body.text(),
            .parameter_formats = parse_formats(body),
            .values = {},
            .result_formats = {}};
  bind.values.resize(body.count(sizeof(std::int32_t)));
  for (auto& value : bind.values) value = body.value();
  check_formats(bind.parameter_formats, bind.values.size());
  bind.result_formats = parse_formats(body);
  return bind;
}

template <class T>
T parse_target(BodyReader& body) {
  const T target{.what = body.bytes(1)[0], .name = body.text()};
  if (target.what != 'S' && target.what != 'P') throw ProtocolError("neither a statement nor a portal is meant");
  return target;
}

Message parse_body(char type, BodyReader& body) {
  switch (type) {
    case 'p': return Password{body.rest()};
    case 'Q': return Query{body.text()};
    case 'P': return parse_parse(body);
    case 'B': return parse_bind(body);
    case 'D': return parse_target<Describe>(body);
    case 'C': return parse_target<Close>(body);
    case 'E': return Execute{.portal = body.text(), .most_rows = body.integer<std::int32_t>()};
    case 'S': return Sync{};
    case 'H': return Flush{};
    case 'd': return CopyData{body.rest()};
    case 'c': return CopyDone{};
    case 'f': return CopyFail{body.text()};
    case 'F': body.rest(); return FunctionCall{};
    case 'X': return Terminate{};
    default: break;
  }
  throw ProtocolError("there is no message of type " + std::to_string(static_cast<unsigned char>(type)));
}

}  // namespace

FirstMessage parse_first(const Frame& frame) {
  BodyReader body(frame.body);
  const auto code = body.integer<std::int32_t>();
  if (code == kCancel) {
    const CancelRequest cancel{.process = body.integer<std::int32_t>(), .secret = body.integer<std::int32_t>()};
    body.end();
    return cancel;
  }
  if (code != kSsl && code != kGss) return parse_startup(code, body);
  body.end();
  if (code == kSsl) return SslRequest{};
  return GssRequest{};
}

Message parse(const Frame& frame) {
  BodyReader body(frame.body);
  auto message = parse_body(frame.type, body);
  body.end();
  return message;
}

Format format_of(const std::vector<Format>& formats, std::size_t n) {
  if (formats.empty()) return Format::Text;
  if (formats.size() == 1) return formats[0];
  return n < formats.size() ? formats[n] : Format::Text;
}

}  // namespace eindb::frontend

#include "cluster/address.hpp"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <charconv>
#include <sstream>

#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb {

using boost::asio::ip::tcp;

namespace {

struct HostAndPort {
  std::string host;
  std::string port;
};

bool is_port(const std::string& text) {
  std::uint16_t port = 0;
  const auto* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, port);
  return result.ec == std::errc() && result.ptr == end;
}

HostAndPort split(const std::string& address) {
  const auto colon = address.rfind(':');
  HostAndPort parts;
  if (colon != std::string::npos) parts = {address.substr(0, colon), address.substr(colon + 1)};
  const bool has_brackets = parts.host.size() > 2 && parts.host.front() == '[' && parts.host.back() == ']';
  if (has_brackets) parts.host = parts.host.substr(1, parts.host.size() - 2);
  if (parts.host.empty() || !is_port(parts.port) || (!has_brackets && parts.host.find(':') != std::string::npos))
    throw Error(ErrorKind::Value, "'" + address + "' is no address of a node", std::nullopt,
                "HOST:PORT, as in 10.0.0.3:7700 or [::1]:7700");
  return parts;
}

}  // namespace

std::vector<tcp::endpoint> resolve_address(const std::string& address) {
  const auto [host, port] = split(address);
  boost::asio::io_context io;
  boost::system::error_code error;
  const auto found = tcp::resolver(io).resolve(host, port, error);
  if (error) throw Error(ErrorKind::WorkerLost, "the host of '" + address + "' is not known: " + error.message());
  CHECK(!found.empty(), "a host that is known has an address");
  return {found.begin(), found.end()};
}

bool is_loopback(const std::vector<tcp::endpoint>& endpoints) {
  return std::all_of(endpoints.begin(), endpoints.end(),
                     [](const auto& endpoint) { return endpoint.address().is_loopback(); });
}

std::string text_of(const tcp::endpoint& endpoint) {
  std::ostringstream text;
  text << endpoint;
  return text.str();
}

}  // namespace eindb

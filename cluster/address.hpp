#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <string>
#include <vector>

namespace eindb {

/// Where "HOST:PORT" is, with a name, a number or a number in brackets ("[::1]:7700") as host. Waits for the system to
/// look up names. Error{Value} for what is no address, Error{WorkerLost} for a name that is not known.
std::vector<boost::asio::ip::tcp::endpoint> resolve_address(const std::string& address);

/// Whether all of them are on this machine, for nobody else to reach.
bool is_loopback(const std::vector<boost::asio::ip::tcp::endpoint>& endpoints);

/// "10.0.0.3:7700", "[::1]:7700".
std::string text_of(const boost::asio::ip::tcp::endpoint& endpoint);

}  // namespace eindb

#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <string>
#include <vector>

namespace eindb {

/// The endpoints of "HOST:PORT". The host is a name, an IPv4 address or an IPv6 address in brackets ("[::1]:7700").
/// Blocks while the system resolves names. Error{Value} for an invalid address, Error{WorkerLost} for an unknown name.
std::vector<boost::asio::ip::tcp::endpoint> resolve_address(const std::string& address);

/// Whether all endpoints are on this machine and unreachable from others.
bool is_loopback(const std::vector<boost::asio::ip::tcp::endpoint>& endpoints);

/// Text such as "10.0.0.3:7700" or "[::1]:7700".
std::string text_of(const boost::asio::ip::tcp::endpoint& endpoint);

}  // namespace eindb

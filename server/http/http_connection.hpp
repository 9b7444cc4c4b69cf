#pragma once

#include <boost/asio/ip/tcp.hpp>

#include "server/http/http_source.hpp"

namespace eindb {

/// Serves the requests of one connection, in clear text or, where the client begins so, with TLS. The connection owns
/// itself, and ends with its last exchange or its `io_context`. `source` must outlive it.
void begin_http(HttpSource& source, boost::asio::ip::tcp::socket socket);

}  // namespace eindb

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/http_message.hpp"

namespace eindb {

/// Whether the request names this server as its host: by a numeric address, as localhost, or by one of `names`. A page
/// of a stranger whose name was made to mean 127.0.0.1 (DNS rebinding) names itself there.
bool names_this_host(const HttpRequest& request, const std::vector<std::string>& names);

/// Whether a request that changes something comes from a page of this server, and not from another page in the same
/// browser: it has the header that pages of other origins cannot send (kConsoleHeader), and no other origin.
bool is_from_own_page(const HttpRequest& request);

/// The header, in lower case, that the console's page sends with its requests; any value will do.
inline constexpr std::string_view kConsoleHeader = "x-eindb-console";

/// Whether the body is JSON by its content type.
bool has_json(const HttpRequest& request);

/// The value of a cookie of this name; nullopt if there is none, or several.
std::optional<std::string_view> cookie_of(const HttpRequest& request, std::string_view name);

}  // namespace eindb

#pragma once

#include <string_view>

namespace eindb {

/// Whether `text`, of any bytes, has the word PASSWORD, as CREATE USER and ALTER USER have before a password: what
/// keeps statements, a log or a history, leaves such a text out. It may be misspelt or a piece of a statement, so the
/// word counts wherever it stands.
bool mentions_password(std::string_view text);

}  // namespace eindb

#pragma once

#include "parser/ast.hpp"
#include "parser/token_stream.hpp"
#include "parser/tokenizer.hpp"

namespace eindb {

/// Whether GRADIENT OF or JVP OF follows, rather than a tensor named gradient or jvp.
bool starts_derivative(Tokenizer ahead);

/// GRADIENT OF L[] = e WITH RESPECT TO (W1 AS dW1, W2), starting at the word GRADIENT.
ast::Gradient parse_gradient(TokenStream& tokens);
/// JVP OF Y[i] = e WITH RESPECT TO (X ALONG V) [AS dY], starting at the word JVP.
ast::Jvp parse_jvp(TokenStream& tokens);

}  // namespace eindb

#pragma once

#include <eindb/eindb.hpp>
#include <functional>

namespace eindb_python {

/// Runs `work`, which executes statements of the connection, so that a handler of a signal that raises, as that of
/// Ctrl-C does, cancels them: on Python's main thread, which alone handles signals, `work` runs on a thread of its own
/// and this one listens. Throws what `work` throws, or the handler's error. Call without the GIL.
void run_interruptibly(eindb::Connection& connection, const std::function<void()>& work);

/// To be called once, on Python's main thread or with its identity.
void set_main_thread(unsigned long identity);

}  // namespace eindb_python

#pragma once

#include <eindb/eindb.hpp>
#include <functional>

namespace eindb_python {

/// Runs `work`, which executes statements of the connection, so that a signal's handler that raises, as that of Ctrl-C
/// does, cancels them. Throws what `work` throws, or the handler's error. Call without the GIL.
///
/// Python runs handlers on its main thread, and there alone something is done. Where Ctrl-C has Python's own handler,
/// the signal itself cancels the statement. Where a program has one of its own, which need not raise, `work` runs on a
/// thread of its own, and the main one runs handlers meanwhile.
void run_interruptibly(eindb::Connection& connection, const std::function<void()>& work);

/// To be called once, with the identity of Python's main thread.
void set_main_thread(unsigned long identity);

/// To be called for each connection, once: requests to cancel that a statement's beginning has lost are made again.
/// Progress of its statements is handed on to `tell`, if there is one, by the threads that execute them.
void watch_interrupts(eindb::Connection& connection, std::function<void(const eindb::ProgressInfo&)> tell = {});

}  // namespace eindb_python

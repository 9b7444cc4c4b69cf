#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace eindb::simulation {

/// Nanoseconds of virtual time, from the beginning of a simulation.
using Time = std::int64_t;
constexpr Time kNever = INT64_MAX;
constexpr Time kMicrosecond = 1000;
constexpr Time kMillisecond = 1000 * kMicrosecond;
constexpr Time kSecond = 1000 * kMillisecond;

/// A machine of the simulated cluster that a process runs on. Threads belong to the host of the thread that started
/// them, sockets to the host of the thread that created them.
struct Host;

// The threads of this process. After begin(), one of them runs at a time. The seed determines the next one whenever a
// thread waits, and now and then when one locks a mutex. Only waiting takes time: when all threads wait, time advances
// to the next deadline or event. libc_threads.cpp defines the C library's functions accordingly, for programs that know
// nothing of the simulation.

/// Makes threads virtual from now on; the calling one is the first. Once, in a process without other threads.
void begin(std::uint64_t seed);
/// Whether the calling thread is one of the simulation.
bool is_virtual();

Time now();
/// Lets time pass, as reading a clock does, so that a loop that waits for a time ends.
void pass(Time time);
/// The next number of the seed's sequence.
std::uint64_t draw();
/// A number from 0 to `count` - 1.
std::uint64_t draw_below(std::uint64_t count);
/// True once in `count` times.
bool draw_once_in(std::uint64_t count);

/// Waits until wake(key); false at the deadline.
bool wait(const void* key, Time deadline, const char* why);
/// The same for any of the keys.
bool wait_for_any(std::vector<const void*> keys, Time deadline, const char* why);
/// Wakes all threads that wait for the key, or one of them.
void wake_all(const void* key);
void wake_one(const void* key);
/// Any ready thread may run next, including this one.
void yield();
void sleep_until(Time deadline);

/// Calls `what` at the given time, in whichever thread lets time pass; it must not wait.
void at(Time time, std::function<void()> what);

Host* own_host();
void set_own_host(Host* host);

/// Creates a thread that runs `start`, for libc_threads.cpp.
int create_thread(unsigned long* thread, const void* attributes, void* (*start)(void*), void* argument);
int join_thread(unsigned long thread, void** result);

/// Adds an event to the trace, whose hash is trace_hash().
void trace(std::string_view what, std::int64_t a = 0, std::int64_t b = 0);
std::uint64_t trace_hash();
/// Prints the trace to standard error as it is written.
void print_trace();
/// Sets the function called by stand_still(), and when no thread can ever continue; it must not return.
void on_standstill(std::function<void(const std::string&)> what);
void stand_still(const std::string& why);
/// All threads with the keys that they wait for.
std::string describe_threads();
std::int64_t switches();

/// Makes a real system call.
long system_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0);

}  // namespace eindb::simulation

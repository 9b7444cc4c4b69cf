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
/// them, sockets to the host of the thread that made them.
struct Host;

// The threads of this process, of which one runs at a time once begin() was called. Who is next is chosen by the seed
// whenever a thread waits, and now and then when one takes a mutex. Nothing takes time but waiting: when all threads
// wait, the time goes on to the next deadline or event. libc_threads.cpp has the functions of the C library that make
// all of this happen to programs that know nothing of it.

/// From now on threads are virtual; the calling one is the first. Once in a process that has no other thread.
void begin(std::uint64_t seed);
/// Whether the calling thread is one of the simulation.
bool is_virtual();

Time now();
/// Lets time pass, as a call of a clock does, so that a loop that waits for a time comes to its end.
void pass(Time time);
/// The next number of the seed's sequence.
std::uint64_t draw();
/// One of 0 to `count` - 1.
std::uint64_t draw_below(std::uint64_t count);
/// True once in so many.
bool draw_once_in(std::uint64_t count);

/// Waits until wake(key), or the deadline: false.
bool wait(const void* key, Time deadline, const char* why);
/// The same for any of the keys.
bool wait_for_any(std::vector<const void*> keys, Time deadline, const char* why);
/// All that wait for the key go on, or one of them.
void wake_all(const void* key);
void wake_one(const void* key);
/// Any thread that can go on may do so, this one as well.
void yield();
void sleep_until(Time deadline);

/// Calls `what` at the time, in whichever thread lets time pass: it does not wait.
void at(Time time, std::function<void()> what);

Host* own_host();
void set_own_host(Host* host);

/// A thread, for libc_threads.cpp: `start` in a new one.
int create_thread(unsigned long* thread, const void* attributes, void* (*start)(void*), void* argument);
int join_thread(unsigned long thread, void** result);

/// Writes what has happened into the trace, of which trace_hash() is the hash.
void trace(std::string_view what, std::int64_t a = 0, std::int64_t b = 0);
std::uint64_t trace_hash();
/// Prints the trace as it comes, to standard error.
void print_trace();
/// Called by stand_still(), and when no thread can ever go on; does not return.
void on_standstill(std::function<void(const std::string&)> what);
void stand_still(const std::string& why);
/// Of all threads, what they wait for.
std::string describe_threads();
std::int64_t switches();

/// The system call itself.
long system_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0);

}  // namespace eindb::simulation

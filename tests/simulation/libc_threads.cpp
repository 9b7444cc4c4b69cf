// The C library's functions for threads, clocks and random numbers, in a program with virtual threads
// (virtual_threads.hpp). The linker uses these definitions in place of the C library's. Threads outside the simulation
// behave as usual.
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <random>

#include "tests/simulation/libc_function.hpp"
#include "tests/simulation/virtual_threads.hpp"

namespace sim = eindb::simulation;

namespace {

// The start of simulations. All clocks are equal, since the clock of a deadline is not always known.
constexpr sim::Time kEpoch = 1'800'000'000 * sim::kSecond;
// The virtual time that reading a clock takes.
constexpr sim::Time kLook = 100;
constexpr sim::Time kYield = 2 * sim::kMicrosecond;
// A thread that locks a mutex lets others run first once in this many times.
constexpr std::uint64_t kPreemption = 61;

int waiting_for_mutexes = 0;

timespec timespec_of(sim::Time time) { return {time / sim::kSecond, time % sim::kSecond}; }
sim::Time time_of(const timespec& time) { return time.tv_sec * sim::kSecond + time.tv_nsec; }

sim::Time look() {
  sim::pass(kLook);
  return kEpoch + sim::now();
}

void lock(pthread_mutex_t* mutex) {
  while (::pthread_mutex_trylock(mutex) == EBUSY) {
    ++waiting_for_mutexes;
    sim::wait(mutex, sim::kNever, "waits for a mutex");
    --waiting_for_mutexes;
  }
}

int unlock(pthread_mutex_t* mutex) {
  static auto* const next = sim::libc_function(&::pthread_mutex_unlock, "pthread_mutex_unlock");
  const int result = next(mutex);
  if (waiting_for_mutexes > 0 && sim::is_virtual()) sim::wake_all(mutex);
  return result;
}

int wait_until(pthread_cond_t* condition, pthread_mutex_t* mutex, sim::Time deadline) {
  unlock(mutex);
  const bool was_woken = sim::wait(condition, deadline, "waits for a condition");
  lock(mutex);
  return was_woken ? 0 : ETIMEDOUT;
}

sim::Time deadline_of(const timespec* time) { return time_of(*time) - kEpoch; }

int sleep(sim::Time time) {
  sim::sleep_until(sim::now() + time);
  return 0;
}

}  // namespace

extern "C" {

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  static auto* const next = sim::libc_function(&::pthread_create, "pthread_create");
  if (!sim::is_virtual()) return next(thread, attributes, start, argument);
  return sim::create_thread(thread, attributes, start, argument);
}

int pthread_join(pthread_t thread, void** result) {
  static auto* const next = sim::libc_function(&::pthread_join, "pthread_join");
  return sim::is_virtual() ? sim::join_thread(thread, result) : next(thread, result);
}

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  static auto* const next = sim::libc_function(&::pthread_mutex_lock, "pthread_mutex_lock");
  if (!sim::is_virtual()) return next(mutex);
  if (sim::draw_once_in(kPreemption)) sim::yield();
  lock(mutex);
  return 0;
}

int pthread_mutex_unlock(pthread_mutex_t* mutex) { return unlock(mutex); }

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  static auto* const next = sim::libc_function(&::pthread_cond_wait, "pthread_cond_wait");
  return sim::is_virtual() ? wait_until(condition, mutex, sim::kNever) : next(condition, mutex);
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* time) {
  static auto* const next = sim::libc_function(&::pthread_cond_timedwait, "pthread_cond_timedwait");
  return sim::is_virtual() ? wait_until(condition, mutex, deadline_of(time)) : next(condition, mutex, time);
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const timespec* time) {
  static auto* const next = sim::libc_function(&::pthread_cond_clockwait, "pthread_cond_clockwait");
  return sim::is_virtual() ? wait_until(condition, mutex, deadline_of(time)) : next(condition, mutex, clock, time);
}

int pthread_cond_signal(pthread_cond_t* condition) {
  static auto* const next = sim::libc_function(&::pthread_cond_signal, "pthread_cond_signal");
  if (!sim::is_virtual()) return next(condition);
  sim::wake_one(condition);
  return 0;
}

int pthread_cond_broadcast(pthread_cond_t* condition) {
  static auto* const next = sim::libc_function(&::pthread_cond_broadcast, "pthread_cond_broadcast");
  if (!sim::is_virtual()) return next(condition);
  sim::wake_all(condition);
  return 0;
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  if (!sim::is_virtual()) return sim::system_call(SYS_clock_gettime, clock, reinterpret_cast<long>(time)) == 0 ? 0 : -1;
  *time = timespec_of(look());
  return 0;
}

int gettimeofday(timeval* time, void* zone) noexcept {
  if (!sim::is_virtual())
    return sim::system_call(SYS_gettimeofday, reinterpret_cast<long>(time), reinterpret_cast<long>(zone)) == 0 ? 0 : -1;
  const auto now = look();
  *time = {now / sim::kSecond, now % sim::kSecond / sim::kMicrosecond};
  return 0;
}

time_t time(time_t* place) noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  if (place != nullptr) *place = now.tv_sec;
  return now.tv_sec;
}

int sched_yield() noexcept {
  if (!sim::is_virtual()) return static_cast<int>(sim::system_call(SYS_sched_yield));
  sim::pass(kYield);
  sim::yield();
  return 0;
}

int nanosleep(const timespec* time, timespec* left) {
  static auto* const next = sim::libc_function(&::nanosleep, "nanosleep");
  return sim::is_virtual() ? sleep(time_of(*time)) : next(time, left);
}

int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  static auto* const next = sim::libc_function(&::clock_nanosleep, "clock_nanosleep");
  if (!sim::is_virtual()) return next(clock, flags, time, left);
  return sleep((flags & TIMER_ABSTIME) != 0 ? deadline_of(time) - sim::now() : time_of(*time));
}

int usleep(useconds_t time) {
  static auto* const next = sim::libc_function(&::usleep, "usleep");
  return sim::is_virtual() ? sleep(time * sim::kMicrosecond) : next(time);
}

// For std::counting_semaphore, and for waits on atomics.
long syscall(long number, ...) noexcept {
  va_list arguments;
  va_start(arguments, number);
  long a[6];
  for (auto& argument : a) argument = va_arg(arguments, long);
  va_end(arguments);
  const auto operation = static_cast<int>(a[1]) & FUTEX_CMD_MASK;
  if (number == SYS_futex && sim::is_virtual()) {
    const auto* const key = reinterpret_cast<const void*>(a[0]);  // NOLINT(performance-no-int-to-ptr)
    if (operation == FUTEX_WAKE || operation == FUTEX_WAKE_BITSET) {
      sim::wake_all(key);
      return 0;
    }
    std::uint32_t value = 0;
    std::memcpy(&value, key, sizeof value);
    auto deadline = sim::kNever;
    const auto* const time = reinterpret_cast<const timespec*>(a[3]);  // NOLINT(performance-no-int-to-ptr)
    if (time != nullptr) deadline = operation == FUTEX_WAIT ? sim::now() + time_of(*time) : deadline_of(time);
    if (value != static_cast<std::uint32_t>(a[2])) errno = EAGAIN;
    else if (sim::wait(key, deadline, "waits for an atomic")) return 0;
    else errno = ETIMEDOUT;
    return -1;
  }
  const long result = sim::system_call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  if (result >= 0) return result;
  errno = static_cast<int>(-result);
  return -1;
}

ssize_t getrandom(void* bytes, size_t count, unsigned flags) {
  if (!sim::is_virtual())
    return sim::system_call(SYS_getrandom, reinterpret_cast<long>(bytes), static_cast<long>(count), flags);
  for (std::size_t n = 0; n < count; ++n)
    static_cast<unsigned char*>(bytes)[n] = static_cast<unsigned char>(sim::draw());
  return static_cast<ssize_t>(count);
}

// Nothing is lost with a machine here: a restarted process finds all written data.
int fsync(int file) {
  static auto* const next = sim::libc_function(&::fsync, "fsync");
  return sim::is_virtual() ? 0 : next(file);
}

int fdatasync(int file) {
  static auto* const next = sim::libc_function(&::fdatasync, "fdatasync");
  return sim::is_virtual() ? 0 : next(file);
}

}  // extern "C"

namespace std {
random_device::result_type random_device::_M_getval() {
  result_type value = 0;
  ::getrandom(&value, sizeof value, 0);
  return value;
}
}  // namespace std

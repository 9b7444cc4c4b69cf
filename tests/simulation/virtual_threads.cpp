#include "tests/simulation/virtual_threads.hpp"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <utility>

#include "tests/simulation/libc_function.hpp"

namespace eindb::simulation {
namespace {

struct Thread {
  int number = 0;
  Host* host = nullptr;
  std::atomic<std::uint32_t> may_run{0};
  enum class State : std::uint8_t { Ready, Waiting, Ended } state = State::Ready;
  std::vector<const void*> keys;  // the keys that it waits for
  Time deadline = kNever;
  bool was_woken = false;
  const char* why = "";
  // Set for threads created here:
  void* (*start)(void*) = nullptr;
  void* argument = nullptr;
  void* result = nullptr;
  std::atomic<long> kernel_thread{0};
};

struct Threads {
  std::mt19937_64 random;
  Time now = 0;
  std::vector<std::unique_ptr<Thread>> all;
  std::vector<Thread*> ready;  // without the running one
  std::set<std::pair<Time, int>> deadlines;
  std::map<std::pair<Time, std::int64_t>, std::function<void()>> events;
  std::int64_t last_event = 0;
  std::map<unsigned long, Thread*> by_handle;
  Thread* ending = nullptr;  // its system thread has not ended yet
  std::uint64_t hash = 0xcbf29ce484222325;
  bool prints = false;
  std::int64_t switches = 0;
  std::function<void(const std::string&)> on_standstill;
};

Threads* threads = nullptr;  // of the process, from begin() on; never freed
thread_local Thread* self = nullptr;

void wait_for_turn(Thread& thread) {
  while (thread.may_run.load(std::memory_order_acquire) == 0)
    system_call(SYS_futex, reinterpret_cast<long>(&thread.may_run), FUTEX_WAIT_PRIVATE, 0);
  thread.may_run.store(0, std::memory_order_relaxed);
}

void give_turn(Thread& thread) {
  thread.may_run.store(1, std::memory_order_release);
  system_call(SYS_futex, reinterpret_cast<long>(&thread.may_run), FUTEX_WAKE_PRIVATE, 1);
}

void make_ready(Thread& thread, bool was_woken) {
  if (thread.deadline != kNever) threads->deadlines.erase({thread.deadline, thread.number});
  thread.deadline = kNever;
  thread.state = Thread::State::Ready;
  thread.keys.clear();
  thread.was_woken = was_woken;
  threads->ready.push_back(&thread);
}

Time next_time() {
  Time next = kNever;
  if (!threads->events.empty()) next = threads->events.begin()->first.first;
  if (!threads->deadlines.empty()) next = std::min(next, threads->deadlines.begin()->first);
  return next;
}

// Runs what is due: events first, then deadlines.
void let_happen() {
  while (!threads->events.empty() && threads->events.begin()->first.first <= threads->now) {
    const auto what = std::move(threads->events.begin()->second);
    threads->events.erase(threads->events.begin());
    what();
  }
  while (!threads->deadlines.empty() && threads->deadlines.begin()->first <= threads->now)
    make_ready(*threads->all[static_cast<std::size_t>(threads->deadlines.begin()->second)], false);
}

Thread& choose() {
  for (;;) {
    if (next_time() <= threads->now) let_happen();
    if (!threads->ready.empty()) break;
    const auto next = next_time();
    if (next == kNever) stand_still("no thread can go on\n" + describe_threads());
    threads->now = next;
  }
  const auto chosen = threads->ready.begin() + static_cast<std::ptrdiff_t>(draw_below(threads->ready.size()));
  auto& thread = **chosen;
  threads->ready.erase(chosen);
  ++threads->switches;
  trace("run", thread.number);
  return thread;
}

// A system thread completes its final work, such as freeing memory, before others continue.
void wait_for_ending() {
  auto* ended = std::exchange(threads->ending, nullptr);
  if (ended == nullptr) return;
  while (system_call(SYS_tgkill, ::getpid(), ended->kernel_thread, 0) == 0) system_call(SYS_sched_yield);
}

// The calling thread must be ready or waiting.
void switch_thread() {
  auto& chosen = choose();
  if (&chosen == self) return;
  auto& own = *self;
  give_turn(chosen);
  wait_for_turn(own);
  wait_for_ending();
}

void* run_thread(void* place) {
  auto& thread = *static_cast<Thread*>(place);
  thread.kernel_thread = system_call(SYS_gettid);
  self = &thread;
  wait_for_turn(thread);
  wait_for_ending();
  thread.result = thread.start(thread.argument);
  thread.state = Thread::State::Ended;
  wake_all(&thread);
  self = nullptr;
  threads->ending = &thread;
  give_turn(choose());
  return thread.result;
}

}  // namespace

long system_call(long number, long a, long b, long c, long d, long e, long f) {
  long result = 0;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

void begin(std::uint64_t seed) {
  auto* begun = new Threads;
  begun->random.seed(seed);
  begun->all.push_back(std::make_unique<Thread>());
  threads = begun;
  self = begun->all.front().get();
}

bool is_virtual() { return self != nullptr; }
Time now() { return threads->now; }
void pass(Time time) { threads->now += time; }
std::uint64_t draw() { return threads->random(); }
std::uint64_t draw_below(std::uint64_t count) { return count < 2 ? 0 : draw() % count; }
bool draw_once_in(std::uint64_t count) { return draw_below(count) == 0; }

bool wait_for_any(std::vector<const void*> keys, Time deadline, const char* why) {
  auto& own = *self;
  own.state = Thread::State::Waiting;
  own.keys = std::move(keys);
  own.deadline = deadline;
  own.why = why;
  if (deadline != kNever) threads->deadlines.insert({deadline, own.number});
  switch_thread();
  return own.was_woken;
}

bool wait(const void* key, Time deadline, const char* why) { return wait_for_any({key}, deadline, why); }

void wake_all(const void* key) {
  for (const auto& thread : threads->all)
    if (thread->state == Thread::State::Waiting &&
        std::find(thread->keys.begin(), thread->keys.end(), key) != thread->keys.end())
      make_ready(*thread, true);
}

void wake_one(const void* key) {
  std::vector<Thread*> waiting;
  for (const auto& thread : threads->all)
    if (thread->state == Thread::State::Waiting &&
        std::find(thread->keys.begin(), thread->keys.end(), key) != thread->keys.end())
      waiting.push_back(thread.get());
  if (!waiting.empty()) make_ready(*waiting[draw_below(waiting.size())], true);
}

void yield() {
  threads->ready.push_back(self);
  switch_thread();
}

void sleep_until(Time deadline) { wait_for_any({}, deadline, "sleeps"); }

void at(Time time, std::function<void()> what) {
  threads->events.emplace(std::pair(std::max(time, threads->now), ++threads->last_event), std::move(what));
}

Host* own_host() { return self->host; }
void set_own_host(Host* host) { self->host = host; }

int create_thread(unsigned long* thread, const void* attributes, void* (*start)(void*), void* argument) {
  static auto* const create = libc_function(&::pthread_create, "pthread_create");
  auto made = std::make_unique<Thread>();
  made->number = static_cast<int>(threads->all.size());
  made->host = self->host;
  made->start = start;
  made->argument = argument;
  const int error = create(thread, static_cast<const pthread_attr_t*>(attributes), run_thread, made.get());
  if (error != 0) return error;
  threads->by_handle[*thread] = made.get();
  threads->ready.push_back(made.get());
  threads->all.push_back(std::move(made));
  return 0;
}

int join_thread(unsigned long thread, void** result) {
  static auto* const join = libc_function(&::pthread_join, "pthread_join");
  auto* const joined = threads->by_handle.at(thread);
  while (joined->state != Thread::State::Ended) wait(joined, kNever, "joins");
  threads->by_handle.erase(thread);
  return join(thread, result);
}

void trace(std::string_view what, std::int64_t a, std::int64_t b) {
  const auto add = [](std::uint64_t value) { threads->hash = (threads->hash ^ value) * 0x100000001b3; };
  for (const char letter : what) add(static_cast<unsigned char>(letter));
  add(static_cast<std::uint64_t>(a));
  add(static_cast<std::uint64_t>(b));
  add(static_cast<std::uint64_t>(threads->now));
  if (threads->prints)
    std::fprintf(stderr, "%14.6f %.*s %lld %lld\n", static_cast<double>(threads->now) / kSecond,
                 static_cast<int>(what.size()), what.data(), static_cast<long long>(a), static_cast<long long>(b));
}

std::uint64_t trace_hash() { return threads->hash; }
void print_trace() { threads->prints = true; }
void on_standstill(std::function<void(const std::string&)> what) { threads->on_standstill = std::move(what); }

void stand_still(const std::string& why) { threads->on_standstill(why); }

std::string describe_threads() {
  std::ostringstream out;
  for (const auto& thread : threads->all) {
    if (thread->state == Thread::State::Ended) continue;
    out << "  thread " << thread->number << ": " << (thread->state == Thread::State::Waiting ? thread->why : "is ready")
        << "\n";
  }
  return out.str();
}

std::int64_t switches() { return threads->switches; }

}  // namespace eindb::simulation

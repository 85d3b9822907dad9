// Stackful coroutines on one thread: a core of the chip that waits lets another one run.
#pragma once
#include <cstddef>
#include <cstdint>
#include <ucontext.h>

namespace kw {

class Fibre {
 public:
  static constexpr size_t kStackBytes = 1 << 20;

  Fibre();
  ~Fibre();
  Fibre(const Fibre&) = delete;
  Fibre& operator=(const Fibre&) = delete;

  // Prepares `body(argument)`; the next resume() starts it.
  void prepare(void (*body)(void*), void* argument);
  // Runs until the body suspends or ends; from outside of the fibre only.
  void resume();
  // Back to resume(); from inside only.
  void suspend();
  bool isDone() const { return isDone_; }

 private:
  static void enter(Fibre* self);

  char* stack_ = nullptr;
  void (*body_)(void*) = nullptr;
  void* argument_ = nullptr;
  bool isDone_ = true;
#if defined(__x86_64__) || defined(__aarch64__)
  friend void fibreEntry(void* self);
  void* inside_ = nullptr;   // stack pointers while switched out
  void* outside_ = nullptr;
#else
  static void entry(unsigned high, unsigned low);
  ucontext_t inside_, outside_;
#endif
};

}  // namespace kw

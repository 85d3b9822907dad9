#include "fibre.h"

#include <sys/mman.h>
#include <cstdlib>

#if defined(__x86_64__)
// kwSwitch(void** save, void* load): callee-saved registers, and the floating-point controls.
asm(R"(
.text
.globl kwSwitch
.hidden kwSwitch
.type kwSwitch, @function
kwSwitch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  subq $8, %rsp
  stmxcsr (%rsp)
  fnstcw 4(%rsp)
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  ldmxcsr (%rsp)
  fldcw 4(%rsp)
  addq $8, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size kwSwitch, .-kwSwitch
)");
#elif defined(__aarch64__)
asm(R"(
.text
.globl kwSwitch
.hidden kwSwitch
.type kwSwitch, %function
kwSwitch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x2, sp
  str x2, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size kwSwitch, .-kwSwitch
)");
#endif

namespace kw {

Fibre::Fibre() {
  void* memory = mmap(nullptr, kStackBytes + 4096, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  mprotect(memory, 4096, PROT_NONE);  // an overflow is a crash, not a corruption
  stack_ = static_cast<char*>(memory);
}

Fibre::~Fibre() { munmap(stack_, kStackBytes + 4096); }

void Fibre::enter(Fibre* self) {
  self->body_(self->argument_);
  self->isDone_ = true;
  self->suspend();
  std::abort();  // a finished fibre is not resumed
}

#if defined(__x86_64__) || defined(__aarch64__)

extern "C" void kwSwitch(void** save, void* load);

void fibreEntry(void* self) { Fibre::enter(static_cast<Fibre*>(self)); }

namespace {
Fibre* g_starting = nullptr;
void start() { fibreEntry(g_starting); }
}  // namespace

void Fibre::prepare(void (*body)(void*), void* argument) {
  body_ = body;
  argument_ = argument;
  isDone_ = false;
  auto top = reinterpret_cast<uintptr_t>(stack_ + 4096 + kStackBytes) & ~uintptr_t{15};
  auto* words = reinterpret_cast<uint64_t*>(top);
#if defined(__x86_64__)
  uint32_t mxcsr;
  uint16_t control;
  asm volatile("stmxcsr %0" : "=m"(mxcsr));
  asm volatile("fnstcw %0" : "=m"(control));
  words -= 9;  // at entry the stack is 8 off a multiple of 16, as after a call
  words[0] = mxcsr | static_cast<uint64_t>(control) << 32;
  for (int i = 1; i <= 6; ++i) words[i] = 0;
  words[7] = reinterpret_cast<uint64_t>(&start);
  words[8] = 0;
#else
  words -= 20;
  for (int i = 0; i < 20; ++i) words[i] = 0;
  words[11] = reinterpret_cast<uint64_t>(&start);
#endif
  inside_ = words;
}

void Fibre::resume() {
  g_starting = this;
  kwSwitch(&outside_, inside_);
}

void Fibre::suspend() { kwSwitch(&inside_, outside_); }

#else

void Fibre::entry(unsigned high, unsigned low) {
  enter(reinterpret_cast<Fibre*>(static_cast<uintptr_t>(high) << 32 | low));
}

void Fibre::prepare(void (*body)(void*), void* argument) {
  body_ = body;
  argument_ = argument;
  isDone_ = false;
  getcontext(&inside_);
  inside_.uc_stack.ss_sp = stack_ + 4096;
  inside_.uc_stack.ss_size = kStackBytes;
  inside_.uc_link = nullptr;
  const auto at = reinterpret_cast<uintptr_t>(this);
  makecontext(&inside_, reinterpret_cast<void (*)()>(entry), 2, static_cast<unsigned>(at >> 32),
              static_cast<unsigned>(at));
}

void Fibre::resume() { swapcontext(&outside_, &inside_); }
void Fibre::suspend() { swapcontext(&inside_, &outside_); }

#endif

}  // namespace kw

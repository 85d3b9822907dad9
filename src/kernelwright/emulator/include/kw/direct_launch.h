// What `kernel<<<blocks, l2, stream>>>(args)` becomes.
#pragma once
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace kw {

// Runs `body(context)` once a block on the emulated chip.
void launchDirect(const char* name, uint32_t blocks, void (*body)(void*), void* context);

template <typename F, typename... Args>
struct BoundKernel {
  F function;
  std::tuple<Args...> args;
  static void run(void* self) {
    auto* bound = static_cast<BoundKernel*>(self);
    std::apply(bound->function, bound->args);
  }
};

template <typename F, typename... Args>
BoundKernel<F, std::decay_t<Args>...> bindKernel(F function, Args&&... args) {
  return {function, std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...)};
}

template <typename Bound>
void launch(const char* name, uint64_t blocks, Bound bound) {
  launchDirect(name, static_cast<uint32_t>(blocks), &Bound::run, &bound);
}

}  // namespace kw

// Order between pipes inside one core: flags and barriers.
#pragma once
#include "kw/abi.h"
#include "kw/enums.h"

namespace kw {

void setFlag(Pipe from, Pipe to, int32_t id);
void waitFlag(Pipe from, Pipe to, int32_t id);
void pipeBarrier(Pipe pipe);
void pipeBarrierAll();

constexpr Pipe pipeOf(pipe_t pipe) {
  switch (pipe) {
    case PIPE_V: case PIPE_V2: return Pipe::V;
    case PIPE_M: return Pipe::M;
    case PIPE_MTE1: return Pipe::MTE1;
    case PIPE_MTE2: return Pipe::MTE2;
    case PIPE_MTE3: return Pipe::MTE3;
    case PIPE_FIX: return Pipe::FIX;
    default: return Pipe::S;
  }
}

struct EventPipes { Pipe from; Pipe to; };

#define KW_EVENT(a, b) case AscendC::HardEvent::a##_##b: return {Pipe::a, Pipe::b};
constexpr EventPipes eventPipes(AscendC::HardEvent event) {
  switch (event) {
    KW_EVENT(MTE2, MTE1) KW_EVENT(MTE1, MTE2) KW_EVENT(MTE1, M) KW_EVENT(M, MTE1)
    KW_EVENT(MTE2, V) KW_EVENT(V, MTE2) KW_EVENT(MTE3, V) KW_EVENT(V, MTE3) KW_EVENT(M, V)
    KW_EVENT(V, M) KW_EVENT(V, V) KW_EVENT(MTE3, MTE1) KW_EVENT(MTE1, MTE3) KW_EVENT(MTE1, V)
    KW_EVENT(MTE2, M) KW_EVENT(M, MTE2) KW_EVENT(V, MTE1) KW_EVENT(M, FIX) KW_EVENT(FIX, M)
    KW_EVENT(MTE3, MTE2) KW_EVENT(MTE2, MTE3) KW_EVENT(S, V) KW_EVENT(V, S) KW_EVENT(S, MTE2)
    KW_EVENT(MTE2, S) KW_EVENT(S, MTE3) KW_EVENT(MTE3, S) KW_EVENT(MTE2, FIX)
    KW_EVENT(FIX, MTE2) KW_EVENT(FIX, S) KW_EVENT(M, S) KW_EVENT(FIX, MTE3) KW_EVENT(MTE1, FIX)
    KW_EVENT(FIX, MTE1) KW_EVENT(FIX, FIX) KW_EVENT(S, M) KW_EVENT(S, FIX) KW_EVENT(S, MTE1)
    KW_EVENT(MTE1, S) KW_EVENT(FIX, V) KW_EVENT(V, FIX) KW_EVENT(MTE3, FIX)
    default: return {Pipe::S, Pipe::S};
  }
}
#undef KW_EVENT

}  // namespace kw

namespace AscendC {

template <HardEvent event>
KW_API void SetFlag(int32_t id) {
  kw::setFlag(kw::eventPipes(event).from, kw::eventPipes(event).to, id);
}
template <HardEvent event>
KW_API void WaitFlag(int32_t id) {
  kw::waitFlag(kw::eventPipes(event).from, kw::eventPipes(event).to, id);
}

template <pipe_t src, pipe_t dst>
class TQueSync {
 public:
  KW_API void SetFlag(TEventID id) { kw::setFlag(kw::pipeOf(src), kw::pipeOf(dst), id); }
  KW_API void WaitFlag(TEventID id) { kw::waitFlag(kw::pipeOf(src), kw::pipeOf(dst), id); }
};

template <pipe_t pipe>
KW_API void PipeBarrier() {
  if constexpr (pipe == PIPE_ALL) {
    kw::pipeBarrierAll();
  } else {
    kw::pipeBarrier(kw::pipeOf(pipe));
  }
}

}  // namespace AscendC

// The low forms; ids are event_t or plain integers.
KW_API void set_flag(pipe_t from, pipe_t to, int32_t id) {
  kw::setFlag(kw::pipeOf(from), kw::pipeOf(to), id);
}
KW_API void wait_flag(pipe_t from, pipe_t to, int32_t id) {
  kw::waitFlag(kw::pipeOf(from), kw::pipeOf(to), id);
}
KW_API void pipe_barrier(pipe_t pipe) {
  if (pipe == PIPE_ALL) {
    kw::pipeBarrierAll();
  } else {
    kw::pipeBarrier(kw::pipeOf(pipe));
  }
}

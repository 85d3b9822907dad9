// Simulated time of one launch: what each pipe of each core would have been doing, and until when.
//
// Takes:   instructions in program order, each with the earliest tick at which its flags allow it.
// Gives:   its (start, end) in ticks; per block and pipe busy times; the launch's duration.
// Leaves:  which instruction waits for which (flags carry times, and the launcher joins them),
//          values, and faults. Nothing here touches data.
//
// A tick is 1/64 of a core cycle, kept as an integer so that a launch is the same on every host.
// Usage by the launcher, in this order:
//   timing.begin(options)                       once a launch
//   CoreClock& clock = timing.enter(block, sub) when a fibre starts on a block
//   clock.issue(cost, earliest) / clock.wait(pipe, tick) / clock.signal(pipe) / ...
//   timing.leave(clock)                         when the fibre's kernel function returns
//   timing.finish()                             then json() for the report
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "timing_costs.h"

namespace kw {

// One copy's or vector instruction's shadow in the timeline.
struct TimingEvent {
    uint32_t block;
    uint8_t sub;
    TimedPipe pipe;
    Span span;
    const char* name;  // static text
    const void* pc;    // return address of the wrapper, as faults have it
};

class Timing;

// Time of one core while it runs one block. All methods are cheap and need no lock: one OS thread.
class CoreClock {
public:
    // Start `cost` no earlier than `earliest` (0: as soon as its pipe and the scalar unit allow).
    Span issue(const VectorCost& cost, Tick earliest = 0);
    Span issue(const CopyCost& cost, Tick earliest = 0);
    Span issue(const CubeCost& cost, Tick earliest = 0);
    // Work costed by a formula (high-level calls implemented by contract).
    Span occupy(TimedPipe pipe, double cycles, Tick earliest = 0);

    // SetFlag, EnQue, FreeTensor: the tick at which everything issued on `pipe` has ended.
    Tick signal(TimedPipe pipe);
    // WaitFlag, DeQue, AllocTensor: nothing issued later on `pipe` starts before `tick`.
    // On TimedPipe::S the scalar unit itself stands still.
    void wait(TimedPipe pipe, Tick tick);
    // PipeBarrier<pipe>, and PIPE_ALL.
    void barrier(TimedPipe pipe);
    void barrier_all();

    // `count` plain scalar instructions.
    void scalar(uint32_t count = 1) { stall(model_->scalar_ticks * count); }
    // GetValue or SetValue of a LocalTensor, which must see pipe work that ends at `earliest`.
    void scalar_ub_access(Tick earliest = 0);
    // GlobalTensor GetValue/SetValue through the data cache of 64-B lines. Inline: kernels that
    // work by scalars alone make hundreds of millions of these.
    inline void scalar_gm_access(uint64_t address, bool write);
    // The same for `hits` accesses of lines that are known to be cached.
    void scalar_gm_hits(uint32_t hits) {
        at(TimedPipe::S).free += model_->scalar_hit_ticks * hits;
        cache_accesses_ += hits;
    }
    // DataCacheCleanAndInvalid of one line, or of everything.
    void clean_cache(uint64_t address, bool whole);

    Tick now(TimedPipe pipe) const { return pipes_[static_cast<int>(pipe)].free; }
    Tick latest() const;
    uint32_t block() const { return block_; }
    uint32_t sub() const { return sub_; }
    const PipeTotals& totals(TimedPipe pipe) const { return totals_[static_cast<int>(pipe)]; }

private:
    friend class Timing;
    static constexpr int kDepth = 32;  // instructions a pipe's queue holds before S must wait
    static constexpr int kCacheLines = 512;
    static constexpr int kRecent = 4;

    struct PipeState {
        Tick free = 0;     // when the next instruction may start
        Tick ended = 0;    // when the last result is there
        Tick gate = 0;     // set by wait() and barrier(): nothing starts before
        Tick starts[kDepth] = {};
        uint32_t issued = 0;
    };
    struct WrittenRange {
        uint32_t low = 0;
        uint32_t high = 0;
        Tick ready = 0;
    };

    PipeState& at(TimedPipe pipe) { return pipes_[static_cast<int>(pipe)]; }
    void stall(Tick ticks) {
        at(TimedPipe::S).free += ticks;
        scalar_busy_ += ticks;
    }
    Tick issue_tick(PipeState& pipe);
    Span enter_queue(TimedPipe pipe, Tick earliest, Tick occupancy, Tick latency, uint64_t bytes);
    void count(TimedPipe pipe, Span span, uint64_t bytes);
    Tick vector_ready(const VectorCost& cost, Tick start) const;
    void remember_write(const VectorCost& cost, Tick ready);
    Tick repeat_ticks(const VectorCost& cost);
    Span issue_gm(const CopyCost& cost, TimedPipe pipe, Tick earliest);
    Tick wire_ticks(const CopyCost& cost, bool reads, Tick* hbm_ticks);
    void miss(uint64_t address, int line);

    const TimingModel* model_ = nullptr;
    Timing* launch_ = nullptr;
    uint32_t block_ = 0;
    uint32_t sub_ = 0;
    Tick begun_ = 0;
    Tick left_ = 0;
    PipeState pipes_[kPipes];
    PipeTotals totals_[kPipes];
    WrittenRange written_[kRecent];
    uint32_t next_written_ = 0;
    Tick scalar_busy_ = 0;
    uint64_t traffic_ = 0;         // bytes this core has moved to or from GM, for L2 ages
    uint64_t kept_traffic_ = 0;    // of these, bytes that take room in L2
    uint64_t conflicts_read_ = 0;  // extra cycles by two sources in one bank group
    uint64_t conflicts_bank_ = 0;  // extra cycles by a read and a write in one bank
    uint64_t vector_cycles_ = 0;
    uint64_t l2_hits_ = 0;         // bytes
    uint64_t l2_misses_ = 0;
    uint64_t ub_read_bytes_ = 0;
    uint64_t ub_written_bytes_ = 0;
    uint64_t cache_tags_[kCacheLines];
    bool cache_dirty_[kCacheLines] = {};
    uint64_t cache_accesses_ = 0;
    uint64_t cache_misses_ = 0;
    Tick share_ = 0;  // when this core's part of the HBM bandwidth is used up to
};

class Timing {
public:
    void begin(const LaunchOptions& options);
    // The clock of (block, sub); sub is 0 for the cube core of a MIX block, 1 and 2 for its vector
    // cores, and 0 in a vector kernel. Starts when a physical core is free (blocks > cores: waves).
    CoreClock& enter(uint32_t block, uint32_t sub);
    CoreClock& clock(uint32_t block, uint32_t sub) { return *clocks_[block * subs_ + sub]; }
    void leave(CoreClock& clock);
    void finish();

    // SyncAll: the tick at which all may go on, given when the last one arrived.
    Tick sync_all(Tick last_arrival, uint32_t cores) const;
    // CrossCoreSetFlag: when the flag, set behind everything on `pipe`, reaches the other cores.
    Tick cross_core(const CoreClock& clock, TimedPipe pipe) const;
    // Give every pipe of `clock` the start `tick` (the far side of SyncAll or CrossCoreWaitFlag).
    void resume(CoreClock& clock, Tick tick) const;

    void note(const CoreClock& clock, TimedPipe pipe, Span span, const char* name, const void* pc) {
        if (!options_.keep_events) return;
        events_.push_back({clock.block_, static_cast<uint8_t>(clock.sub_), pipe, span, name, pc});
    }
    const std::vector<TimingEvent>& events() const { return events_; }

    double duration_us() const;      // of the launch, with launch cost
    double microseconds(Tick ticks) const;
    const TimingModel& model() const { return model_; }
    const LaunchOptions& options() const { return options_; }
    // {"model": ..., "simulated": true, "duration_us": ..., "cores": ..., "blocks": [...]}
    std::string json() const;

private:
    friend class CoreClock;
    // 16 KiB of GM in L2: which of its 512-byte sectors, who touched it last and how long ago.
    struct L2Chunk {
        uint64_t key = 0;
        uint64_t age = 0;
        uint32_t sectors = 0;
        uint32_t core = 0xffffffffu;
        uint32_t sharers = 0;
    };
    struct L2Result {
        uint64_t hit = 0;
        uint64_t miss = 0;
        uint64_t contended = 0;  // of the hits, bytes that most cores read at one time
    };
    void l2_touch(CoreClock& clock, uint64_t address, uint64_t bytes, bool keep, L2Result* out);
    double written_back(const CoreClock& clock) const;
    L2Chunk& l2_find(uint64_t key, bool* fresh);
    void l2_grow();
    void share_bandwidth();
    void append_core(std::string& out, const CoreClock& clock) const;
    void append_events(std::string& out) const;

    TimingModel model_ = active_timing_model();
    LaunchOptions options_;
    uint32_t active_ = 1;  // cores that run at once
    // Ticks a byte (Q16) of one core at this number of cores.
    Tick read_wire_q_ = 0, read_hbm_q_ = 0, write_hbm_q_ = 0, read_l2_q_ = 0, write_l2_q_ = 0;
    Tick l1_hbm_q_ = 0, l1_miss_q_ = 0, l1_hit_q_ = 0, fixpipe_q_ = 0;
    uint64_t total_traffic_ = 0, kept_traffic_ = 0;  // GM bytes of all cores so far
    uint32_t subs_ = 1;
    std::vector<std::unique_ptr<CoreClock>> clocks_;  // by block * subs_ + sub
    std::vector<Tick> core_free_;
    std::vector<Tick> block_begun_;
    std::vector<int> block_core_;    // physical core of a block, -1 before it starts
    std::vector<L2Chunk> l2_;
    size_t l2_used_ = 0;
    std::vector<TimingEvent> events_;
    Tick finished_ = 0;
};

inline void CoreClock::scalar_gm_access(uint64_t address, bool write) {
    const uint64_t tag = address >> 6;
    const int line = static_cast<int>(tag & (kCacheLines - 1));
    PipeState& s = at(TimedPipe::S);
    s.free += model_->scalar_hit_ticks;  // busy time: cache_accesses_ times the same
    ++cache_accesses_;
    if (__builtin_expect(cache_tags_[line] != tag, 0)) miss(address, line);
    cache_dirty_[line] |= write;
}

}  // namespace kw

// Queues of the pipes, flags, scalar work, waves of blocks and the launch as a whole.
#include "timing.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace kw {

namespace {

constexpr Tick kBusyForever = std::numeric_limits<Tick>::max() / 4;

Tick ticks(double cycles) { return static_cast<Tick>(std::llround(cycles * kTicksPerCycle)); }

}  // namespace

Tick TimingModel::byte_ticks_q16(double gbps) const {
    if (gbps <= 0) return 0;
    const double bytes_per_tick = gbps * 1e9 / (clock_mhz * 1e6 * kTicksPerCycle);
    return static_cast<Tick>(std::llround(65536.0 / bytes_per_tick));
}

void TimingModel::prepare() {
    for (int i = 0; i < kVectorOps; ++i) {
        const VectorTiming& cost = vector[i];
        op_ticks[i] = {ticks(cost.head), ticks(cost.interval), ticks(cost.cycles16),
                       ticks(cost.cycles32)};
    }
    scalar_ticks = ticks(scalar_cycles);
    scalar_hit_ticks = ticks(scalar_hit_cycles);
    scalar_miss_ticks = ticks(scalar_miss_cycles);
    scalar_ub_ticks = ticks(scalar_ub_cycles);
    issue_ticks = ticks(issue_cycles);
    flag_ticks = ticks(flag_cycles);
    barrier_ticks = ticks(barrier_cycles);
    gap_ticks = ticks(vector_gap_cycles);
    bank_ticks = ticks(bank_conflict_cycles);
    copy_interval_ticks = ticks(copy_interval_cycles);
    burst_ticks = ticks(burst_cycles);
    read_latency_ticks = ticks(copy_latency_cycles);
    write_latency_ticks = ticks(write_latency_cycles);
}

TimingModel& active_timing_model() {
    static TimingModel model = [] {
        TimingModel built_in;
        built_in.prepare();
        return built_in;
    }();
    return model;
}

// ---------------------------------------------------------------- one core

void CoreClock::count(TimedPipe pipe, Span span, uint64_t bytes) {
    PipeTotals& totals = totals_[static_cast<int>(pipe)];
    // Starts of one pipe never go back, so the union of its spans needs no list.
    if (span.end > totals.last_end) {
        totals.busy += span.end - std::max(span.start, totals.last_end);
        totals.last_end = span.end;
    }
    ++totals.instructions;
    totals.bytes += bytes;
}

Tick CoreClock::issue_tick(PipeState& pipe) {
    PipeState& s = at(TimedPipe::S);
    stall(model_->issue_ticks);
    // A full queue stops the scalar unit until its oldest instruction has started.
    if (pipe.issued >= kDepth) s.free = std::max(s.free, pipe.starts[pipe.issued % kDepth]);
    return s.free;
}

Span CoreClock::enter_queue(TimedPipe pipe, Tick earliest, Tick occupancy, Tick latency,
                            uint64_t bytes) {
    PipeState& state = at(pipe);
    const Tick issued = issue_tick(state);
    const Tick start = std::max(std::max(issued, state.free), std::max(state.gate, earliest));
    const Span span{start, start + std::max(occupancy, latency)};
    state.free = start + occupancy;
    state.ended = std::max(state.ended, span.end);
    state.starts[state.issued++ % kDepth] = start;
    count(pipe, {start, start + occupancy}, bytes);
    return span;
}

Span CoreClock::occupy(TimedPipe pipe, double cycles, Tick earliest) {
    if (pipe == TimedPipe::S) {
        PipeState& s = at(TimedPipe::S);
        s.free = std::max(s.free, earliest);
        const Tick start = s.free;
        stall(ticks(cycles));
        return {start, s.free};
    }
    return enter_queue(pipe, earliest, ticks(cycles), 0, 0);
}

Tick CoreClock::signal(TimedPipe pipe) {
    stall(model_->issue_ticks);
    const Tick issued = at(TimedPipe::S).free;
    if (pipe == TimedPipe::S) return issued + model_->flag_ticks;
    PipeState& state = at(pipe);
    return std::max(std::max(state.ended, state.gate), issued) + model_->flag_ticks;
}

void CoreClock::wait(TimedPipe pipe, Tick tick) {
    stall(model_->issue_ticks);
    PipeState& state = at(pipe);
    if (pipe == TimedPipe::S)
        state.free = std::max(state.free, tick);
    else
        state.gate = std::max(state.gate, tick);
}

void CoreClock::barrier(TimedPipe pipe) {
    stall(model_->issue_ticks);
    PipeState& state = at(pipe);
    if (pipe == TimedPipe::S) return;
    state.gate = std::max(state.gate, state.ended + model_->barrier_ticks);
}

void CoreClock::barrier_all() {
    stall(model_->issue_ticks);
    const Tick all = latest() + model_->barrier_ticks;
    at(TimedPipe::S).free = all;
    for (PipeState& state : pipes_) state.gate = std::max(state.gate, all);
}

void CoreClock::scalar_ub_access(Tick earliest) {
    PipeState& s = at(TimedPipe::S);
    s.free = std::max(s.free, earliest);
    stall(model_->scalar_ub_ticks);
}

void CoreClock::miss(uint64_t address, int line) {
    PipeState& s = at(TimedPipe::S);
    // A dirty line is written back first; the write itself is posted and costs a window's time.
    if (cache_dirty_[line]) s.free += model_->copy_interval_ticks;
    cache_tags_[line] = address >> 6;
    cache_dirty_[line] = false;
    s.free += model_->scalar_miss_ticks;
    ++cache_misses_;
}

void CoreClock::clean_cache(uint64_t address, bool whole) {
    PipeState& s = at(TimedPipe::S);
    const int first = whole ? 0 : static_cast<int>((address >> 6) & (kCacheLines - 1));
    const int last = whole ? kCacheLines - 1 : first;
    for (int line = first; line <= last; ++line) {
        if (cache_dirty_[line]) s.free += model_->copy_interval_ticks;
        cache_dirty_[line] = false;
        if (whole || cache_tags_[line] == address >> 6) cache_tags_[line] = ~0ull;
    }
    stall(model_->issue_ticks);
}

Tick CoreClock::latest() const {
    Tick last = pipes_[0].free;
    for (const PipeState& state : pipes_) last = std::max(last, std::max(state.ended, state.free));
    return last;
}

// ---------------------------------------------------------------- the launch

void Timing::begin(const LaunchOptions& options) {
    model_ = active_timing_model();
    options_ = options;
    subs_ = options.mix ? 3 : 1;
    const bool by_cube = options.mix || options.cube_only;
    const int cores = static_cast<int>(by_cube ? model_.cube_cores : model_.vector_cores);
    const int busy = std::max(1, std::min(cores, static_cast<int>(options.blocks)));
    active_ = static_cast<uint32_t>(options.mix ? busy * 2 : busy);
    core_free_.assign(static_cast<size_t>(std::max(1, cores)), 0);
    block_core_.assign(options.blocks, -1);
    block_begun_.assign(options.blocks, 0);
    clocks_.clear();
    clocks_.resize(static_cast<size_t>(options.blocks) * subs_);
    l2_.assign(1 << 12, {});
    l2_used_ = 0;
    total_traffic_ = kept_traffic_ = 0;
    events_.clear();
    finished_ = 0;
    share_bandwidth();
}

CoreClock& Timing::enter(uint32_t block, uint32_t sub) {
    auto& slot = clocks_[static_cast<size_t>(block) * subs_ + sub];
    slot = std::make_unique<CoreClock>();
    CoreClock& clock = *slot;
    if (block_core_[block] < 0) {
        // The first core to come free takes the next block; while all run (a kernel that meets at
        // SyncAll), a block that starts anyway shares nothing with the one before it.
        auto first = std::min_element(core_free_.begin(), core_free_.end());
        block_core_[block] = static_cast<int>(first - core_free_.begin());
        clock.begun_ = *first >= kBusyForever ? 0 : *first;
        *first = kBusyForever;
        block_begun_[block] = clock.begun_;
    } else {
        clock.begun_ = block_begun_[block];
    }
    clock.model_ = &model_;
    clock.launch_ = this;
    clock.block_ = block;
    clock.sub_ = sub;
    clock.share_ = clock.begun_;
    for (auto& pipe : clock.pipes_) pipe.free = pipe.ended = pipe.gate = clock.begun_;
    std::memset(clock.cache_tags_, 0xff, sizeof clock.cache_tags_);
    return clock;
}

void Timing::leave(CoreClock& clock) {
    const Tick end = clock.latest();
    clock.left_ = end;
    Tick& core = core_free_[static_cast<size_t>(block_core_[clock.block_])];
    core = core >= kBusyForever ? end : std::max(core, end);
    finished_ = std::max(finished_, end);
}

void Timing::finish() {
    for (const auto& clock : clocks_)
        if (clock) finished_ = std::max(finished_, clock->latest());
}

Tick Timing::sync_all(Tick last_arrival, uint32_t cores) const {
    return last_arrival + ticks(model_.sync_all_cycles + model_.sync_all_core_cycles * cores);
}

Tick Timing::cross_core(const CoreClock& clock, TimedPipe pipe) const {
    const auto& state = clock.pipes_[static_cast<int>(pipe)];
    const Tick set = std::max(std::max(state.ended, state.gate), clock.pipes_[0].free);
    return set + ticks(model_.cross_core_cycles);
}

void Timing::resume(CoreClock& clock, Tick tick) const {
    for (auto& pipe : clock.pipes_) {
        pipe.gate = std::max(pipe.gate, tick);
        pipe.free = std::max(pipe.free, tick);
    }
}

double Timing::microseconds(Tick tick_count) const {
    return static_cast<double>(tick_count) / model_.ticks_per_us();
}

double Timing::duration_us() const {
    const double cores = static_cast<double>(std::min<size_t>(options_.blocks, core_free_.size()));
    return microseconds(finished_) + model_.launch_us + model_.launch_core_us * cores;
}

}  // namespace kw

extern "C" int kw_timing_configure(const char* version, const double* constants,
                                   int constant_count, const double* vector, int vector_count,
                                   const double* read_gbps, const double* write_gbps, int cores) {
    using kw::TimingModel;
    TimingModel model;
    double* const fields[] = {
#define KW_CONSTANT(name, value) &model.name,
#include "timing_constants.def"
#undef KW_CONSTANT
    };
    const int known = static_cast<int>(sizeof fields / sizeof *fields);
    if (constant_count != known || vector_count != 4 * kw::kVectorOps) return 1;
    if (cores < 0 || cores > kw::kMaxCores) return 1;
    for (int i = 0; i < known; ++i) *fields[i] = constants[i];
    for (int i = 0; i < kw::kVectorOps; ++i)
        model.vector[i] = {vector[4 * i], vector[4 * i + 1], vector[4 * i + 2], vector[4 * i + 3]};
    for (int i = 0; i < cores; ++i) {
        model.read_gbps[i] = read_gbps[i];
        model.write_gbps[i] = write_gbps[i];
    }
    std::strncpy(model.version, version, sizeof model.version - 1);
    model.version[sizeof model.version - 1] = '\0';
    model.prepare();
    kw::active_timing_model() = model;
    return 0;
}

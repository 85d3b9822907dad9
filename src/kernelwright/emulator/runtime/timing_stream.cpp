// Plays recorded instruction streams through the model, with no kernel: for tests of the model and
// for fitting its constants to published measurements.
#include <cstring>

#include "timing.h"

namespace {

// One record is eleven integers: the kind, then its arguments in the order given here.
enum Kind : int64_t {
    kVector = 0,     // op, item_bytes, repeats, dst, src0, src1, block_stride (all), repeat_stride
    kCopy = 1,       // path, rows, row_bytes, gm offset, gm_stride,
                     // flags (1 bypass, 2 converts, 4 atomic)
    kCube = 2,       // m, k, n, item_bytes, hf32
    kSignal = 3,     // pipe, slot
    kWait = 4,       // pipe, slot (an empty slot holds 0)
    kBarrier = 5,    // pipe, or -1 for all
    kScalar = 6,     // count
    kScalarGm = 7,   // gm offset, write
    kScalarUb = 8,   // -
    kOccupy = 9,     // pipe, cycles
};
constexpr int kFields = 11;

uint32_t operand(int64_t address) {
    return address < 0 ? kw::kNoOperand : static_cast<uint32_t>(address);
}

void play_vector(kw::Timing& timing, kw::CoreClock& clock, const int64_t* f) {
    kw::VectorCost cost;
    cost.op = static_cast<kw::VectorOp>(f[1]);
    cost.item_bytes = static_cast<uint8_t>(f[2]);
    cost.repeats = static_cast<uint32_t>(f[3]);
    const auto block = static_cast<uint16_t>(f[7]);
    const auto repeat = static_cast<uint16_t>(f[8]);
    cost.dst = {operand(f[4]), block, repeat};
    cost.src0 = {operand(f[5]), block, repeat};
    cost.src1 = {operand(f[6]), block, repeat};
    timing.note(clock, kw::TimedPipe::V, clock.issue(cost), "vector", nullptr);
}

void play_copy(kw::Timing& timing, kw::CoreClock& clock, const int64_t* f, uint64_t gm) {
    kw::CopyCost cost;
    cost.path = static_cast<kw::CopyPath>(f[1]);
    cost.rows = static_cast<uint32_t>(f[2]);
    cost.row_bytes = static_cast<uint64_t>(f[3]);
    cost.gm = gm + static_cast<uint64_t>(f[4]);
    cost.gm_stride = static_cast<uint64_t>(f[5]);
    cost.bypass_l2 = (f[6] & 1) != 0;
    cost.converts = (f[6] & 2) != 0;
    cost.atomic = (f[6] & 4) != 0;
    timing.note(clock, kw::pipe_of(cost.path), clock.issue(cost), "copy", nullptr);
}

void play_one(kw::Timing& timing, kw::CoreClock& clock, const int64_t* f, uint64_t gm,
              kw::Tick* slots) {
    const auto pipe = static_cast<kw::TimedPipe>(f[1]);
    switch (f[0]) {
        case kVector: play_vector(timing, clock, f); break;
        case kCopy: play_copy(timing, clock, f, gm); break;
        case kCube:
            clock.issue(kw::CubeCost{static_cast<uint32_t>(f[1]), static_cast<uint32_t>(f[2]),
                                     static_cast<uint32_t>(f[3]), static_cast<uint8_t>(f[4]),
                                     f[5] != 0});
            break;
        case kSignal: slots[f[2]] = clock.signal(pipe); break;
        case kWait: clock.wait(pipe, slots[f[2]]); break;
        case kBarrier: f[1] < 0 ? clock.barrier_all() : clock.barrier(pipe); break;
        case kScalar: clock.scalar(static_cast<uint32_t>(f[1])); break;
        case kScalarGm:
            clock.scalar_gm_access(gm + static_cast<uint64_t>(f[1]), f[2] != 0);
            break;
        case kScalarUb: clock.scalar_ub_access(); break;
        case kOccupy: clock.occupy(pipe, static_cast<double>(f[2])); break;
        default: break;
    }
}

}  // namespace

extern "C" {

void* kw_timing_begin(unsigned blocks, int mix, int cube_only, unsigned long long working_set,
                      int warm_l2, int keep_events) {
    auto* timing = new kw::Timing();
    kw::LaunchOptions options;
    options.blocks = blocks;
    options.mix = mix != 0;
    options.cube_only = cube_only != 0;
    options.working_set_bytes = working_set;
    options.warm_l2 = warm_l2 != 0;
    options.keep_events = keep_events != 0;
    timing->begin(options);
    return timing;
}

// Play `count` records as (block, sub); `gm` is added to every global address. Starts the core on
// its first call, and ends it with `last`. `slots` hold the times of flags between calls.
long long kw_timing_play(void* handle, unsigned block, unsigned sub, const long long* records,
                         long long count, unsigned long long gm, long long* slots, int first,
                         int last) {
    auto& timing = *static_cast<kw::Timing*>(handle);
    kw::CoreClock& clock = first != 0 ? timing.enter(block, sub) : timing.clock(block, sub);
    static_assert(sizeof(long long) == sizeof(int64_t), "records are 64-bit");
    const auto* at = reinterpret_cast<const int64_t*>(records);
    auto* times = reinterpret_cast<kw::Tick*>(slots);
    for (long long i = 0; i < count; ++i) play_one(timing, clock, at + i * kFields, gm, times);
    if (last != 0) timing.leave(clock);
    return clock.latest();
}

// SyncAll of `cores` started cores (block 0.. in order), then go on.
void kw_timing_sync_all(void* handle, unsigned blocks) {
    auto& timing = *static_cast<kw::Timing*>(handle);
    kw::Tick arrival = 0;
    for (unsigned block = 0; block < blocks; ++block) {
        const kw::Tick latest = timing.clock(block, 0).latest();
        arrival = latest > arrival ? latest : arrival;
    }
    const kw::Tick go = timing.sync_all(arrival, blocks);
    for (unsigned block = 0; block < blocks; ++block) timing.resume(timing.clock(block, 0), go);
}

// Finish and write the JSON report into `text`; returns its length (which may exceed `size`).
long long kw_timing_report(void* handle, char* text, long long size) {
    auto& timing = *static_cast<kw::Timing*>(handle);
    timing.finish();
    const std::string report = timing.json();
    const auto length = static_cast<long long>(report.size());
    if (text != nullptr && size > 0) {
        const long long kept = length < size - 1 ? length : size - 1;
        std::memcpy(text, report.data(), static_cast<size_t>(kept));
        text[kept] = '\0';
    }
    return length;
}

double kw_timing_duration_us(void* handle) {
    auto& timing = *static_cast<kw::Timing*>(handle);
    timing.finish();
    return timing.duration_us();
}

void kw_timing_end(void* handle) { delete static_cast<kw::Timing*>(handle); }

}  // extern "C"

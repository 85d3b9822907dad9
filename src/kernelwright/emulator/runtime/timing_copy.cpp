// Copies: start-up and per-burst costs, windows of GM, L2, and bandwidth shared by the cores.
//
// A copy takes its core's wire and a part of the chip's HBM bandwidth. The parts of all running
// cores are equal; what a core leaves unused it may catch up within a window, because the others
// are then likely to have used it. Reads and writes of a core draw on one part.
#include "timing.h"

#include <algorithm>
#include <cmath>

namespace kw {

namespace {

constexpr uint64_t kSectorBytes = 512;
constexpr uint64_t kChunkBytes = 16384;
constexpr uint32_t kAllSectors = 0xffffffffu;

Tick scaled(uint64_t bytes, Tick q16) {
    return static_cast<Tick>((bytes * static_cast<uint64_t>(q16)) >> 16);
}

}  // namespace

TimedPipe pipe_of(CopyPath path) {
    switch (path) {
        case CopyPath::GmToUb:
        case CopyPath::GmToL1: return TimedPipe::MTE2;
        case CopyPath::UbToGm:
        case CopyPath::UbToL1: return TimedPipe::MTE3;
        case CopyPath::UbToUb: return TimedPipe::V;
        case CopyPath::L0cToGm:
        case CopyPath::L0cToUb: return TimedPipe::FIX;
        default: return TimedPipe::MTE1;
    }
}

// ---------------------------------------------------------------- L2

Timing::L2Chunk& Timing::l2_find(uint64_t key, bool* fresh) {
    if (2 * l2_used_ >= l2_.size()) l2_grow();
    const size_t mask = l2_.size() - 1;
    size_t at = (key * 0x9e3779b97f4a7c15ull) >> 20 & mask;
    while (l2_[at].key != 0 && l2_[at].key != key) at = (at + 1) & mask;
    *fresh = l2_[at].key == 0;
    if (*fresh) {
        l2_[at].key = key;
        ++l2_used_;
    }
    return l2_[at];
}

void Timing::l2_grow() {
    std::vector<L2Chunk> old(l2_.size() * 2);
    old.swap(l2_);
    const size_t mask = l2_.size() - 1;
    for (const L2Chunk& chunk : old) {
        if (chunk.key == 0) continue;
        size_t at = (chunk.key * 0x9e3779b97f4a7c15ull) >> 20 & mask;
        while (l2_[at].key != 0) at = (at + 1) & mask;
        l2_[at] = chunk;
    }
}

// Blocks run one after the other here but together on the chip, so age is counted in each core's
// own traffic times the number of cores: what they all have moved when this one has moved so much.
void Timing::l2_touch(CoreClock& clock, uint64_t address, uint64_t bytes, bool keep,
                      L2Result* out) {
    const uint64_t end = address + bytes;
    const uint64_t now = clock.kept_traffic_ * active_;
    const auto capacity = static_cast<uint64_t>(model_.l2_bytes);
    const bool warm = options_.warm_l2 && options_.working_set_bytes <= capacity;
    const uint32_t core = clock.block_ * subs_ + clock.sub_;
    while (address < end) {
        const uint64_t chunk_end = std::min(end, (address / kChunkBytes + 1) * kChunkBytes);
        const uint64_t first = address % kChunkBytes / kSectorBytes;
        const uint64_t last = (chunk_end - 1) % kChunkBytes / kSectorBytes;
        const uint32_t wanted = static_cast<uint32_t>(((2ull << (last - first)) - 1) << first);
        bool fresh = false;
        L2Chunk& chunk = l2_find(address / kChunkBytes + 1, &fresh);
        const uint64_t distance = now > chunk.age ? now - chunk.age : chunk.age - now;
        if (fresh) chunk.sectors = warm ? kAllSectors : 0;
        else if (distance > capacity) chunk.sectors = 0;
        const auto missing = static_cast<uint64_t>(__builtin_popcount(wanted & ~chunk.sectors));
        const uint64_t part = chunk_end - address;
        const uint64_t missed = missing * kSectorBytes;
        out->miss += missed;
        const uint64_t hit = part > missed ? part - missed : 0;
        out->hit += hit;
        const bool together = !fresh && distance < 4 * kChunkBytes * active_;
        if (chunk.core != core) chunk.sharers = together ? chunk.sharers + 1 : 1;
        if (2 * chunk.sharers > active_ && active_ > 2) out->contended += hit;
        chunk.core = core;
        if (keep) {
            chunk.sectors |= wanted;
            chunk.age = now;
        }
        address = chunk_end;
    }
}

// The part of written bytes that HBM sees before the launch ends. What L2 holds at the end is a
// sample of all that went through it, so a launch that puts `footprint` bytes there writes back
// 1 - capacity / footprint of them. The footprint is foreseen: the memory the launch works on,
// times the part of its traffic so far that takes room in L2.
double Timing::written_back(const CoreClock& clock) const {
    double footprint = static_cast<double>(clock.kept_traffic_ * active_);
    if (options_.working_set_bytes != 0 && total_traffic_ != 0)
        footprint = static_cast<double>(options_.working_set_bytes) *
                    static_cast<double>(kept_traffic_) / static_cast<double>(total_traffic_);
    return footprint <= model_.l2_bytes ? 0.0 : 1.0 - model_.l2_bytes / footprint;
}

void Timing::share_bandwidth() {
    const double cores = active_;
    const int index = std::min<int>(static_cast<int>(active_), kMaxCores) - 1;
    // The curves fall with the number of cores for two reasons: the path (kept as the wire) and
    // the memory itself (kept as the share). The wire is the curve before the memory is full.
    double wire = 0;
    for (int i = 0; i < kMaxCores; ++i) {
        if (model_.read_gbps[i] <= 0) break;
        const bool memory_is_full = model_.read_gbps[i] * (i + 1) > 0.9 * model_.hbm_gbps;
        if (!memory_is_full && (i <= index || wire == 0)) wire = model_.read_gbps[i];
    }
    if (wire == 0) wire = model_.l2_core_read_gbps;
    read_wire_q_ = model_.byte_ticks_q16(wire);
    read_hbm_q_ = model_.byte_ticks_q16(model_.hbm_gbps / cores);
    write_hbm_q_ = model_.byte_ticks_q16(model_.hbm_write_gbps / cores);
    read_l2_q_ = model_.byte_ticks_q16(
        std::min(model_.l2_core_read_gbps, model_.l2_read_gbps / cores));
    const double write_wire = model_.write_gbps[0] > 0 ? model_.write_gbps[0] : wire;
    write_l2_q_ = model_.byte_ticks_q16(std::min(write_wire, model_.l2_write_gbps / cores));
    // A tile of a matrix is read by about sqrt(n) of n cube cores; the first pays for them all.
    const double cubes = std::min(cores, model_.cube_cores);
    l1_hbm_q_ = model_.byte_ticks_q16(model_.hbm_gbps / std::sqrt(cubes));
    l1_miss_q_ = model_.byte_ticks_q16(model_.gm_l1_gbps);
    l1_hit_q_ = model_.byte_ticks_q16(std::min(model_.l2_l1_gbps, model_.l2_read_gbps / cubes));
    fixpipe_q_ = model_.byte_ticks_q16(model_.fixpipe_gbps);
}

// ---------------------------------------------------------------- copies

Tick CoreClock::wire_ticks(const CopyCost& cost, bool reads, Tick* hbm_ticks) {
    const bool dense = cost.rows == 1 || cost.gm_stride == 0 || cost.gm_stride == cost.row_bytes;
    const uint64_t bytes = cost.row_bytes * cost.rows;
    const uint32_t bursts = dense ? 1 : cost.rows;
    const uint64_t length = dense ? bytes : cost.row_bytes;
    Timing::L2Result found;
    uint64_t missed_bursts = 0;
    const bool keep = !cost.bypass_l2;
    for (uint32_t row = 0; row < bursts; ++row) {
        const uint64_t before = found.miss;
        launch_->l2_touch(*this, cost.gm + row * cost.gm_stride, length, keep, &found);
        missed_bursts += found.miss != before;
    }
    traffic_ += bytes;
    launch_->total_traffic_ += bytes;
    if (keep) {
        kept_traffic_ += bytes;
        launch_->kept_traffic_ += bytes;
    }
    const bool aligned = cost.gm % kSectorBytes == 0 &&
                         (dense || cost.gm_stride % kSectorBytes == 0);
    const double efficiency = (aligned ? 1.0 : model_->unaligned_efficiency) *
                              (cost.converts ? model_->convert_efficiency : 1.0) *
                              (cost.atomic ? model_->atomic_efficiency : 1.0);
    const auto overhead = static_cast<uint64_t>(model_->burst_overhead_bytes) * missed_bursts;
    Tick wire;
    if (reads) {
        const bool cube = cost.path == CopyPath::GmToL1;
        l2_hits_ += found.hit;
        l2_misses_ += found.miss;
        const auto slowed = static_cast<uint64_t>(
            static_cast<double>(found.contended) * (1 / model_->same_address_efficiency - 1));
        wire = scaled(found.miss, cube ? launch_->l1_miss_q_ : launch_->read_wire_q_) +
               scaled(found.hit + slowed, cube ? launch_->l1_hit_q_ : launch_->read_l2_q_);
        const Tick rate = cube ? launch_->l1_hbm_q_ : launch_->read_hbm_q_;
        *hbm_ticks = found.miss == 0 ? 0 : scaled(found.miss + overhead, rate);
    } else {
        const bool cube = cost.path == CopyPath::L0cToGm;
        wire = scaled(bytes, cube ? launch_->fixpipe_q_ : launch_->write_l2_q_);
        const double part = cost.bypass_l2 ? 1.0 : launch_->written_back(*this);
        const Tick whole = scaled(bytes + overhead, launch_->write_hbm_q_);
        *hbm_ticks = static_cast<Tick>(static_cast<double>(whole) * part);
    }
    wire = std::max(wire, model_->burst_ticks * static_cast<Tick>(bursts));
    if (efficiency < 1.0) {
        wire = static_cast<Tick>(static_cast<double>(wire) / efficiency);
        *hbm_ticks = static_cast<Tick>(static_cast<double>(*hbm_ticks) / efficiency);
    }
    return wire;
}

Span CoreClock::issue_gm(const CopyCost& cost, TimedPipe pipe, Tick earliest) {
    const bool reads = pipe == TimedPipe::MTE2;
    Tick hbm = 0;
    const Tick wire = std::max(wire_ticks(cost, reads, &hbm), model_->copy_interval_ticks);
    PipeState& state = at(pipe);
    const Tick issued = issue_tick(state);
    const Tick start = std::max(std::max(issued, state.free), std::max(state.gate, earliest));
    Tick occupied = start + wire;
    if (hbm > 0) {
        const auto window = static_cast<Tick>(model_->share_window_cycles) * kTicksPerCycle;
        share_ = std::max(share_, start - window) + hbm;
        occupied = std::max(occupied, share_);
    }
    const Tick latency = reads ? model_->read_latency_ticks : model_->write_latency_ticks;
    const Span span{start, occupied + latency};
    state.free = occupied;
    state.ended = std::max(state.ended, span.end);
    state.starts[state.issued++ % kDepth] = start;
    const uint64_t bytes = cost.row_bytes * cost.rows;
    if (pipe == TimedPipe::MTE2 && cost.path == CopyPath::GmToUb) ub_written_bytes_ += bytes;
    if (pipe == TimedPipe::MTE3) ub_read_bytes_ += bytes;
    count(pipe, span, bytes);
    return span;
}

Span CoreClock::issue(const CopyCost& cost, Tick earliest) {
    const TimedPipe pipe = pipe_of(cost.path);
    switch (cost.path) {
        case CopyPath::GmToUb:
        case CopyPath::GmToL1:
        case CopyPath::UbToGm:
        case CopyPath::L0cToGm: return issue_gm(cost, pipe, earliest);
        default: break;
    }
    double rate = model_->ub_copy_bytes_per_cycle;
    double latency = model_->mte1_latency_cycles;
    if (cost.path == CopyPath::L1ToL0a) rate = model_->l1_l0a_bytes_per_cycle;
    if (cost.path == CopyPath::L1ToL0b) rate = model_->l1_l0b_bytes_per_cycle;
    if (cost.path == CopyPath::L0cToUb) latency = model_->fixpipe_latency_cycles;
    const uint64_t bytes = cost.row_bytes * cost.rows;
    const Tick work = static_cast<Tick>(static_cast<double>(bytes) / rate * kTicksPerCycle) +
                      model_->burst_ticks * (cost.rows > 0 ? cost.rows - 1 : 0) / 4;
    const Tick tail = static_cast<Tick>(latency * kTicksPerCycle);
    return enter_queue(pipe, earliest, work, work + tail, bytes);
}

}  // namespace kw

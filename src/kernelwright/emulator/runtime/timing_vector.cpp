// Vector, cube and on-chip copy instructions.
//
// A chain of n dependent vector instructions takes head + n * (interval + repeats * cycles), as
// msopmodeling (Mulan PSL v2) has it; independent ones follow each other after a short gap. Bank
// conflicts follow from UB addresses: BANK[17:16] ROW[15:9] GROUP[8:5] BYTE[4:0].
#include "timing.h"

#include <algorithm>

namespace kw {

namespace {

// Groups repeat every 16 blocks; the 8 blocks of a repeat lie `stride` groups apart, so that
// 16 / gcd(stride, 16) groups share them.
Tick blocks_in_one_group(uint16_t stride) {
    if (stride == 0 || stride % 2 != 0) return 1;  // 0 reads one block for all
    if (stride % 16 == 0) return 8;
    if (stride % 8 == 0) return 4;
    if (stride % 4 == 0) return 2;
    return 1;
}

uint32_t group_of(const VectorOperand& operand) { return (operand.address >> 5) & 15; }

bool same_operand(const VectorOperand& a, const VectorOperand& b) {
    return a.address == b.address && a.block_stride == b.block_stride &&
           a.repeat_stride == b.repeat_stride;
}

// Whether reading `width` blocks of each source in one cycle asks one group for two of them.
bool sources_collide(const VectorOperand& a, const VectorOperand& b, uint32_t width) {
    if (a.address == kNoOperand || b.address == kNoOperand || same_operand(a, b)) return false;
    const uint32_t apart = (group_of(b) - group_of(a)) & 15;
    return std::min(apart, 16 - apart) < width;
}

// A repeat's write falls into the read of a later repeat an odd number of half turns on: the same
// group phase is free, every other phase in the same 64 KiB meets a bank that is being read.
bool write_meets_read(const VectorOperand& dst, const VectorOperand& src) {
    if (dst.address == kNoOperand || src.address == kNoOperand) return false;
    if (dst.address >> 16 != src.address >> 16) return false;
    return ((group_of(dst) ^ group_of(src)) & 15) != 0;
}

uint32_t bytes_spanned(const VectorOperand& operand, uint32_t repeats) {
    return ((repeats - 1) * operand.repeat_stride + 7u * operand.block_stride + 1) * 32;
}

}  // namespace

Tick CoreClock::repeat_ticks(const VectorCost& cost) {
    const auto& op = model_->op_ticks[static_cast<int>(cost.op)];
    const Tick base = cost.item_bytes > 2 ? op.wide : op.narrow;
    const uint32_t width = base >= 4 * kTicksPerCycle ? 2 : base >= 2 * kTicksPerCycle ? 4 : 8;
    Tick each = base;
    if (sources_collide(cost.src0, cost.src1, width)) {
        each = base * 2;
        conflicts_read_ += static_cast<uint64_t>(cost.repeats) * (each - base) / kTicksPerCycle;
    } else if (write_meets_read(cost.dst, cost.src0) || write_meets_read(cost.dst, cost.src1)) {
        each = base + model_->bank_ticks;
        conflicts_bank_ += cost.repeats;
    }
    const Tick crowd = std::max(blocks_in_one_group(cost.dst.block_stride),
                                std::max(blocks_in_one_group(cost.src0.block_stride),
                                         blocks_in_one_group(cost.src1.block_stride)));
    if (crowd > 1) {
        const Tick crowded = std::max(each, crowd * kTicksPerCycle);
        conflicts_read_ += static_cast<uint64_t>(cost.repeats) * (crowded - each) / kTicksPerCycle;
        each = crowded;
    }
    return each;
}

// The first tick from `start` on at which no earlier instruction still writes what this one uses.
Tick CoreClock::vector_ready(const VectorCost& cost, Tick start) const {
    for (const WrittenRange& range : written_) {
        if (range.ready <= start) continue;
        const auto touches = [&](const VectorOperand& operand) {
            return operand.address < range.high &&
                   range.low < operand.address + bytes_spanned(operand, cost.repeats) &&
                   operand.address != kNoOperand;
        };
        if (touches(cost.src0) || touches(cost.dst) || touches(cost.src1)) start = range.ready;
    }
    return start;
}

void CoreClock::remember_write(const VectorCost& cost, Tick ready) {
    if (cost.dst.address == kNoOperand) return;
    WrittenRange& range = written_[next_written_++ % kRecent];
    range.low = cost.dst.address;
    range.high = cost.dst.address + bytes_spanned(cost.dst, cost.repeats);
    range.ready = ready;
}

Span CoreClock::issue(const VectorCost& cost, Tick earliest) {
    PipeState& pipe = at(TimedPipe::V);
    const auto& op = model_->op_ticks[static_cast<int>(cost.op)];
    const Tick issued = issue_tick(pipe);
    Tick start = std::max(std::max(issued, pipe.free), std::max(pipe.gate, earliest));
    start = vector_ready(cost, start);
    const Tick work = repeat_ticks(cost) * cost.repeats;
    const Tick head = start > pipe.ended ? op.head : 0;  // the pipe stood still
    const Tick ready = start + head + work + op.interval;
    pipe.free = start + head + work + model_->gap_ticks;
    pipe.ended = std::max(pipe.ended, ready);
    pipe.starts[pipe.issued++ % kDepth] = start;
    remember_write(cost, ready + model_->barrier_ticks);
    const uint64_t bytes = static_cast<uint64_t>(cost.repeats) * 256;
    vector_cycles_ += static_cast<uint64_t>(work / kTicksPerCycle);
    ub_written_bytes_ += bytes;
    ub_read_bytes_ += bytes * (cost.src0.address != kNoOperand) +
                      bytes * (cost.src1.address != kNoOperand);
    count(TimedPipe::V, {start, ready}, bytes);
    return {start, ready};
}

Span CoreClock::issue(const CubeCost& cost, Tick earliest) {
    const double depth = cost.item_bytes == 1 ? 32 : cost.item_bytes == 4 ? 8 : 16;
    const double rate = cost.item_bytes == 1   ? 2
                        : cost.item_bytes == 4 ? (cost.hf32 ? 0.5 : 0.25)
                                               : 1;
    const auto blocks = [](uint32_t size, double unit) {
        return static_cast<double>((size + static_cast<uint32_t>(unit) - 1) /
                                   static_cast<uint32_t>(unit));
    };
    const double macs = blocks(cost.m, 16) * 16 * blocks(cost.n, 16) * 16 *
                        blocks(cost.k, depth) * depth;
    const double cycles = macs / (model_->cube_macs_per_cycle * rate);
    const Tick work = static_cast<Tick>(cycles * kTicksPerCycle);
    const Tick head = static_cast<Tick>(model_->cube_head_cycles * kTicksPerCycle);
    return enter_queue(TimedPipe::M, earliest, work, work + head, 0);
}

}  // namespace kw

// The simulated launch as one JSON object, part of the launcher's report.
#include <cinttypes>
#include <cstdarg>
#include <cstdio>

#include "timing.h"

namespace kw {

namespace {

void append(std::string& out, const char* format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    const int length = std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    out.append(text, static_cast<size_t>(length));
}

}  // namespace

void Timing::append_core(std::string& out, const CoreClock& clock) const {
    const Tick end = clock.left_ != 0 ? clock.left_ : clock.latest();
    append(out, "{\"block\":%u,\"sub\":%u,\"start_us\":%.4f,\"end_us\":%.4f,\"busy_us\":{",
           clock.block_, clock.sub_, microseconds(clock.begun_), microseconds(end));
    for (int i = 0; i < kPipes; ++i) {
        const Tick scalar = clock.scalar_busy_ +
                            static_cast<Tick>(clock.cache_accesses_) * model_.scalar_hit_ticks +
                            static_cast<Tick>(clock.cache_misses_) * model_.scalar_miss_ticks;
        append(out, "%s\"%s\":%.4f", i == 0 ? "" : ",", kPipeNames[i],
               microseconds(i == 0 ? scalar : clock.totals_[i].busy));
    }
    out += "},\"instructions\":{";
    for (int i = 1; i < kPipes; ++i)
        append(out, "%s\"%s\":%" PRIu64, i == 1 ? "" : ",", kPipeNames[i],
               clock.totals_[i].instructions);
    append(out,
           "},\"gm_read_bytes\":%" PRIu64 ",\"gm_written_bytes\":%" PRIu64
           ",\"l2_hit_bytes\":%" PRIu64 ",\"l2_miss_bytes\":%" PRIu64,
           clock.totals_[static_cast<int>(TimedPipe::MTE2)].bytes,
           clock.totals_[static_cast<int>(TimedPipe::MTE3)].bytes +
               clock.totals_[static_cast<int>(TimedPipe::FIX)].bytes,
           clock.l2_hits_, clock.l2_misses_);
    append(out,
           ",\"ub_read_bytes\":%" PRIu64 ",\"ub_written_bytes\":%" PRIu64
           ",\"vector_cycles\":%" PRIu64 ",\"group_conflict_cycles\":%" PRIu64
           ",\"bank_conflict_cycles\":%" PRIu64,
           clock.ub_read_bytes_, clock.ub_written_bytes_, clock.vector_cycles_,
           clock.conflicts_read_, clock.conflicts_bank_);
    append(out, ",\"scalar_gm_accesses\":%" PRIu64 ",\"scalar_gm_misses\":%" PRIu64 "}",
           clock.cache_accesses_, clock.cache_misses_);
}

std::string Timing::json() const {
    std::string out = "{\"model\":\"";
    for (const char* c = model_.version; *c != '\0'; ++c)
        if (*c != '"' && *c != '\\' && *c >= ' ') out += *c;
    append(out,
           "\",\"simulated\":true,\"timing_only\":%s,\"duration_us\":%.4f,\"launch_us\":%.4f,"
           "\"clock_mhz\":%.1f,\"blocks\":%u,\"active_cores\":%u,\"mix\":%s,\"cores\":[",
           options_.timing_only ? "true" : "false", duration_us(),
           duration_us() - microseconds(finished_), model_.clock_mhz, options_.blocks, active_,
           options_.mix ? "true" : "false");
    bool first = true;
    for (const auto& clock : clocks_) {
        if (!clock) continue;
        if (!first) out += ',';
        first = false;
        append_core(out, *clock);
    }
    out += "]}";
    return out;
}

}  // namespace kw

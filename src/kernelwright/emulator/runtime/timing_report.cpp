// The simulated launch as one JSON object, part of the launcher's report.
#include <dlfcn.h>

#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <map>

#include "timing.h"

namespace kw {

namespace {

void append(std::string& out, const char* format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    const int length = std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const auto room = static_cast<int>(sizeof text) - 1;
    out.append(text, static_cast<size_t>(length < room ? length : room));
}

}  // namespace

void Timing::append_core(std::string& out, const CoreClock& clock) const {
    const Tick end = clock.left_ != 0 ? clock.left_ : clock.latest();
    const bool cube = options_.cube_only || (options_.mix && clock.sub_ == 0);
    append(out,
           "{\"block\":%u,\"sub\":%u,\"kind\":\"%s\",\"start_us\":%.4f,\"end_us\":%.4f,"
           "\"busy_us\":{",
           clock.block_, clock.sub_, cube ? "aic" : "aiv", microseconds(clock.begun_),
           microseconds(end));
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
           "\"clock_mhz\":%.1f,\"hbm_gbps\":%.1f,\"blocks\":%u,\"active_cores\":%u,"
           "\"chip_cores\":%zu,\"mix\":%s,\"cores\":[",
           options_.timing_only ? "true" : "false", duration_us(),
           duration_us() - microseconds(finished_), model_.clock_mhz, model_.hbm_gbps,
           options_.blocks, active_,
           core_free_.size() * (options_.mix ? 2 : 1), options_.mix ? "true" : "false");
    bool first = true;
    for (const auto& clock : clocks_) {
        if (!clock) continue;
        if (!first) out += ',';
        first = false;
        append_core(out, *clock);
    }
    out += ']';
    if (options_.keep_events) append_events(out);
    out += '}';
    return out;
}

// "events": [block, sub, pipe, start_us, end_us, name, place], "places": where each call stands.
void Timing::append_events(std::string& out) const {
    std::map<const void*, size_t> places;
    std::vector<const void*> order;
    out += ",\"events\":[";
    for (size_t i = 0; i < events_.size(); ++i) {
        const TimingEvent& event = events_[i];
        const auto found = places.emplace(event.pc, order.size());
        if (found.second) order.push_back(event.pc);
        append(out, "%s[%u,%u,\"%s\",%.4f,%.4f,\"%s\",%zu]", i == 0 ? "" : ",", event.block,
               static_cast<unsigned>(event.sub), kPipeNames[static_cast<int>(event.pipe)],
               microseconds(event.span.start), microseconds(event.span.end), event.name,
               found.first->second);
    }
    out += "],\"places\":[";
    for (size_t i = 0; i < order.size(); ++i) {
        Dl_info info{};
        const bool known = order[i] != nullptr && dladdr(order[i], &info) != 0;
        if (i != 0) out += ',';
        if (known)
            append(out, "{\"image\":\"%s\",\"offset\":%td}", info.dli_fname,
                   static_cast<const char*>(order[i]) - static_cast<const char*>(info.dli_fbase));
        else
            out += "null";
    }
    out += ']';
}

}  // namespace kw

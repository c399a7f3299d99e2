#include <callsign/base/assert.hpp>
#include <callsign/wire/gzip.hpp>

#include <zlib.h>

namespace callsign::wire {

std::string gzipped(std::string_view bytes) {
    constexpr int level = Z_BEST_SPEED;
    constexpr int gzip_header = 16;  // added to the window's bits
    constexpr int memory_level = 8;
    z_stream stream{};
    CALLSIGN_ASSERT(deflateInit2(&stream, level, Z_DEFLATED, MAX_WBITS + gzip_header, memory_level,
                                 Z_DEFAULT_STRATEGY) == Z_OK);
    std::string out(deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
    // Not written, but zlib's member is not const.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    CALLSIGN_ASSERT(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    out.resize(out.size() - stream.avail_out);
    deflateEnd(&stream);
    return out;
}

}  // namespace callsign::wire

#pragma once
// Counts the distinct database pages in a WAL. A page written ten times is ten frames, but a
// checkpoint moves it once: this count, not the WAL's length, is a checkpoint's cost.
//
// Not thread safe: for the connection that writes. Frames older than that connection are not
// counted.

#include <boost/endian/conversion.hpp>
#include <cstdint>
#include <new>
#include <vector>

namespace callsign::sqlite {

// WAL file format: sqlite.org/fileformat2.html, section 4.1.
inline constexpr std::int64_t log_header_bytes = 32;
inline constexpr std::int64_t frame_header_bytes = 24;

class log_pages {
  public:
    // Called for each write. SQLite writes the WAL's header when the WAL restarts, and for each
    // frame a header, which begins with the page number, and then the page.
    void wrote(const void* bytes, int size, std::int64_t offset) noexcept {
        if (offset == 0) {
            forget();
        } else if (size == frame_header_bytes) {
            add(boost::endian::load_big_u32(static_cast<const unsigned char*>(bytes)));
        }
    }

    std::int64_t count() const noexcept { return count_; }
    void forget() noexcept {
        in_log_.assign(in_log_.size(), false);
        count_ = 0;
    }

  private:
    void add(std::uint32_t page) noexcept {
        try {
            if (page >= in_log_.size()) in_log_.resize(page + page / 2 + 1);
            if (in_log_[page]) return;
            in_log_[page] = true;
        } catch (const std::bad_alloc&) {
            // Counts the page again: checkpoints come sooner.
        }
        ++count_;
    }
    std::vector<bool> in_log_;  // by page number
    std::int64_t count_ = 0;
};

}  // namespace callsign::sqlite

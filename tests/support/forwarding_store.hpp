#pragma once
// A store around a store that passes everything on: tests derive from it and say otherwise.

#include <callsign/ports/store.hpp>

#include <memory>

namespace callsign::testing {

class forwarding_store : public store {
  public:
    // `within` must outlive it.
    explicit forwarding_store(store& within) : within_(within) {}

    std::unique_ptr<write_tx> begin_write(write_batch batch) override {
        return within_.begin_write(batch);
    }
    std::unique_ptr<read_tx> begin_read() override { return within_.begin_read(); }
    void sync() override { within_.sync(); }
    row_of<store_totals> totals() override { return within_.totals(); }
    std::unique_ptr<store_copy> begin_copy(const std::filesystem::path& file) override {
        return within_.begin_copy(file);
    }
    void maintain(bool idle) override { within_.maintain(idle); }

  protected:
    store& within_;
};

}  // namespace callsign::testing

#pragma once
// A store that forwards all calls to another one; tests derive from it and override some.

#include <callsign/ports/store.hpp>

#include <memory>

namespace callsign::testing {

class forwarding_store : public store, public embedded_store {
  public:
    // `within` must outlive it.
    explicit forwarding_store(store& within) : within_(within) {}

    std::unique_ptr<write_tx> begin_write() override { return within_.begin_write(); }
    std::unique_ptr<read_tx> begin_read() override { return within_.begin_read(); }
    void sync() override { within_.sync(); }
    row_of<store_totals> totals() override { return within_.totals(); }
    embedded_store* embedded() noexcept override { return this; }
    void maintain(bool idle) override {
        if (auto* const its = within_.embedded()) its->maintain(idle);
    }
    void prove_writable() override {
        if (auto* const its = within_.embedded()) its->prove_writable();
    }
    void prove_readable() override {
        if (auto* const its = within_.embedded()) its->prove_readable();
    }
    std::unique_ptr<store_copy> begin_copy(const std::filesystem::path& file) override {
        return within_.embedded()->begin_copy(file);
    }

  protected:
    store& within_;
};

}  // namespace callsign::testing

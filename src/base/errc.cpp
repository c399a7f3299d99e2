#include <callsign/base/errc.hpp>

namespace callsign {
namespace {

class category final : public boost::system::error_category {
  public:
    const char* name() const noexcept override { return "callsign"; }

    std::string message(int value) const override {
        switch (static_cast<errc>(value)) {
        case errc::overloaded: return "the server is overloaded";
        case errc::shutting_down: return "the server is shutting down";
        case errc::deadline_exceeded: return "the deadline passed before the request was started";
        case errc::store_rejected: return "the store rejected the change";
        case errc::outcome_unknown: return "the outcome of the change is unknown";
        case errc::store_unavailable: return "the store cannot be read";
        case errc::storage_full: return "the disk is full";
        case errc::store_damaged: return "the store is damaged";
        case errc::record_damaged: return "a record is damaged";
        case errc::account_gone: return "the account no longer exists";
        case errc::remote_unavailable: return "the account's remote server is unavailable";
        }
        return "unknown error";
    }
};

}  // namespace

const boost::system::error_category& callsign_category() noexcept {
    static const category instance;
    return instance;
}

}  // namespace callsign

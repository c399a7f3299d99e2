#include "derivation.hpp"

#include <callsign/seal/envelope.hpp>

#include <array>

namespace callsign::api {
namespace {

// Questions wait behind a derivation: more at once would slow down everybody for the few who add
// devices.
constexpr int derivations_max = 1;

// One of those under way, as long as it lives.
class derivation {
  public:
    explicit derivation(std::shared_ptr<int> under_way) : under_way_(std::move(under_way)) {
        ++*under_way_;
    }
    ~derivation() { --*under_way_; }
    derivation(const derivation&) = delete;
    derivation& operator=(const derivation&) = delete;

  private:
    std::shared_ptr<int> under_way_;
};

}  // namespace

awaitable<std::optional<seal::key>> derive_aside(rooms& r, const std::string& secret,
                                                 uuid client_id) {
    if (*r.derivations >= derivations_max) co_return std::nullopt;
    const derivation mine(r.derivations);
    auto work = [&] {
        const auto* const text = reinterpret_cast<const std::uint8_t*>(secret.data());
        return seal::derive_key({text, secret.size()}, client_id);
    };
    co_return co_await r.engine.run_aside(std::move(work));
}

std::string sealed_at_rest(rooms& r, const seal::belongs_to& owner, const seal::key& derived) {
    std::array<std::uint8_t, seal::nonce_bytes> nonce{};
    r.entropy.fill(nonce);
    return seal::seal_at_rest(*r.master, owner, nonce, derived.bytes());
}

std::shared_ptr<const seal::key> open_device_key(const seal::key* master, const device& d) {
    if (master == nullptr) return nullptr;
    const seal::belongs_to owner{seal::purpose::device_key, d.account, d.client_id};
    const auto opened = seal::open_at_rest(*master, owner, d.sealed_key);
    const auto* const secret = std::get_if<seal::secret_bytes>(&opened);
    if (!secret || secret->size() != seal::key_bytes) return nullptr;
    return std::make_shared<const seal::key>(secret->bytes().first<seal::key_bytes>());
}

http_response answer_no_master_key(const call& c) {
    return answer_problem(c, problems::no_master_key,
                          "`callsign master-key new FILE` makes one; name the file in [secrets] "
                          "master_key_file and start the server again.");
}

}  // namespace callsign::api

#include "derivation.hpp"

#include <callsign/seal/envelope.hpp>

#include <array>

namespace callsign::api {
namespace {

// A good part of a second: as long as the store takes for so much.
constexpr cost derivation_cost{.operations = 20'000};

}  // namespace

awaitable<result<seal::key>> derive_aside(rooms& r, account_id account, const std::string& secret,
                                          uuid client_id) {
    auto work = [&] {
        const auto* const text = reinterpret_cast<const std::uint8_t*>(secret.data());
        return seal::derive_key({text, secret.size()}, client_id);
    };
    const claim asks{account, derivation_cost};
    co_return co_await r.engine.run_aside(asks, std::move(work));
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

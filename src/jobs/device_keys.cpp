#include <callsign/base/hex.hpp>
#include <callsign/jobs/device_keys.hpp>
#include <callsign/seal/envelope.hpp>

#include <array>
#include <string_view>

namespace callsign::jobs {

using boost::asio::awaitable;

namespace {

// A large part of a second: as long as the store takes for this many operations.
constexpr cost derivation_cost{.operations = 20'000};

// 256 bits in hexadecimal: a double click selects the whole, and shells, command lines and .taskrc
// need no quoting.
std::string draw_secret(entropy& source) {
    constexpr std::string_view digits = "0123456789abcdef";
    seal::secret_bytes bits(32);
    source.fill(bits.writable());
    std::string text;
    text.reserve(2 * bits.size());  // growing would leave parts of it in freed memory
    for (const std::uint8_t byte : bits.bytes()) {
        text += digits[byte >> 4];
        text += digits[byte & 0x0F];
    }
    return text;
}

}  // namespace

awaitable<result<seal::key>> derive_key(context& with, payer pays, const std::string& secret,
                                        uuid client_id) {
    auto work = [&] {
        const auto* const text = reinterpret_cast<const std::uint8_t*>(secret.data());
        return seal::derive_key({text, secret.size()}, client_id);
    };
    const claim asks{pays, derivation_cost};
    co_return co_await with.engine.offload(asks, std::move(work));
}

std::string sealed_at_rest(context& with, const seal::belongs_to& owner, const seal::key& derived) {
    std::array<std::uint8_t, seal::nonce_bytes> nonce{};
    with.entropy.fill(nonce);
    return with.master->seal(owner, nonce, derived.bytes());
}

std::shared_ptr<const seal::key> open_device_key(const seal::key_ring* master, const device& d) {
    if (master == nullptr) return nullptr;
    const seal::belongs_to owner{seal::purpose::device_key, d.account, d.client_id};
    const auto opened = master->open(owner, d.sealed_key);
    const auto* const secret = std::get_if<seal::secret_bytes>(&opened);
    if (!secret || secret->size() != seal::key_bytes) return nullptr;
    return std::make_shared<const seal::key>(secret->bytes().first<seal::key_bytes>());
}

awaitable<result<add_device_answer>> add_device(context& with, account_ref account,
                                                std::string name, actor by,
                                                std::optional<request_key> once,
                                                keyed_secret keyed) {
    const uuid client_id = draw_uuid(with.entropy);
    foresee_create_device question{std::move(account), name, client_id, std::move(once)};
    const auto ahead = co_await with.engine.ask(std::move(question));
    if (!ahead) co_return ahead.error();
    if (ahead->settled) co_return add_device_answer(*ahead->settled);
    if (with.master == nullptr) co_return add_device_answer(no_master_key{});

    std::string secret = draw_secret(with.entropy);
    seal::wiped afterwards(secret);
    const auto derived = co_await derive_key(with, ahead->account, secret, client_id);
    if (!derived) co_return derived.error();
    const seal::belongs_to place{seal::purpose::device_key, ahead->account, client_id};
    create_device command{.account = ahead->account,
                          .name = std::move(name),
                          .client_id = client_id,
                          .sealed_key = sealed_at_rest(with, place, *derived)};
    if (keyed) command.once = keyed(secret);
    const auto done = co_await with.engine.submit(std::move(command), std::move(by));
    if (!done) co_return done.error();
    const auto* const made = std::get_if<device>(&*done);
    if (made == nullptr) co_return add_device_answer(*done);
    co_return add_device_answer(new_device{*made, secret});
}

}  // namespace callsign::jobs

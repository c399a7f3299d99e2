#pragma once
// Devices, and the clients of opaque accounts.

#include <callsign/domain/commands/devices.hpp>
#include <callsign/domain/queries/page.hpp>
#include <callsign/domain/sealed_secret.hpp>

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace callsign {

// Whose client id it is; revoked ones included.
struct find_device {
    uuid client_id{};

    using answer = std::optional<device>;
};
claim claim_of(const find_device& q);

// Of a managed account; revoked ones included.
struct list_devices {
    account_ref account;
    page_request page;

    using answer = std::variant<page_of<device>, no_such_account, account_is_opaque>;
};
claim claim_of(const list_devices& q);

// Any that is not revoked and has a key; none: there is none. It shows whether a master key is the
// right one.
struct find_device_with_key {
    using answer = std::optional<device>;
};
claim claim_of(const find_device_with_key& q);

// What create_device would be answered now, if that is a no: its key is costly to make.
struct foresee_create_device {
    account_ref account;
    std::string name;
    uuid client_id{};

    struct answer {
        account_id account;
        std::optional<create_device::answer> refusal;
    };
};
claim claim_of(const foresee_create_device& q);

// At most `limit` of a kind after `after`, in the order of their rows; those of revoked devices and
// disabled webhooks included.
struct list_sealed {
    secret_kind kind = secret_kind::device_key;
    std::int64_t after = 0;
    std::int64_t limit = 0;

    using answer = std::vector<sealed_secret>;
};
claim claim_of(const list_sealed& q);

}  // namespace callsign

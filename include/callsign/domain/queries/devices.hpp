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

// The device with this client ID, including revoked ones.
struct find_device {
    uuid client_id{};

    using answer = std::optional<device>;
};

// The devices of a managed account, including revoked ones.
struct list_devices {
    account_ref account;
    page_request page;

    using answer = std::variant<page_of<device>, no_such_account, account_is_opaque>;
};

// A device with a key that is not revoked; none: there is none. Serves to verify the master key.
struct find_device_with_key {
    using answer = std::optional<device>;
};

// Returns create_device's answer if it would create nothing now: the key is costly to derive.
struct foresee_create_device {
    account_ref account;
    std::string name;
    uuid client_id{};
    std::optional<request_key> once{};

    struct answer {
        account_id account;
        std::optional<create_device::answer> settled;  // none: a device would be created
    };
};

// At most `limit` secrets of a kind after `after`, ordered by row ID, including those of revoked
// devices and disabled webhooks.
struct list_sealed {
    secret_kind kind = secret_kind::device_key;
    std::int64_t after = 0;
    std::int64_t limit = 0;

    using answer = std::vector<sealed_secret>;
};

}  // namespace callsign

#pragma once
// All secrets encrypted with the master key, of any table.

#include <callsign/domain/sealed_secret.hpp>
#include <callsign/ports/store.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace callsign::secrets {

// At most `limit` of one kind after row `after`; see list_sealed.
std::vector<sealed_secret> of(read_tx& tx, secret_kind kind, std::int64_t after,
                              std::int64_t limit);
// Replaces an encrypted secret. False: nothing was written, since the stored one is not `was`.
bool reseal(write_tx& tx, const sealed_secret& was, std::string_view now);

}  // namespace callsign::secrets

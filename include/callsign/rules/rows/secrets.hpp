#pragma once
// What is kept sealed under the master key, wherever it stands.

#include <callsign/domain/sealed_secret.hpp>
#include <callsign/ports/store.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace callsign::secrets {

// As list_sealed has it.
std::vector<sealed_secret> of(read_tx& tx, secret_kind kind, std::int64_t after,
                              std::int64_t limit);
// False, and nothing written: it is not what it was.
bool reseal(write_tx& tx, const sealed_secret& was, std::string_view now);

}  // namespace callsign::secrets

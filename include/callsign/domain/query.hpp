#pragma once
// Everything that can be asked of a store, as values. A query is answered by the rule of its name
// (rules/read.hpp) in a read transaction, of what was durable when it began, and changes nothing.
// Beside each stands its claim: who pays for it, and how much.
//
// Adding one: a struct in queries/ and its claim_of, a read() in rules/read/, a line in
// src/engine/ask.cpp.

#include <callsign/domain/queries/accounts.hpp>
#include <callsign/domain/queries/auditing.hpp>
#include <callsign/domain/queries/chain.hpp>
#include <callsign/domain/queries/devices.hpp>
#include <callsign/domain/queries/feed.hpp>
#include <callsign/domain/queries/remote_chain.hpp>
#include <callsign/domain/queries/scrubbing.hpp>
#include <callsign/domain/queries/sealed_chain.hpp>
#include <callsign/domain/queries/slots.hpp>
#include <callsign/domain/queries/tasks.hpp>
#include <callsign/domain/queries/webhooks.hpp>

#pragma once
// All questions to a store, as values. The rule of its name (rules/read.hpp) answers a query in a
// read transaction, from what was durable when it began, and changes nothing. Beside each query
// stands its claim: whose share it counts against, and its cost.
//
// To add one: a struct in queries/ and its claim_of, a read() in rules/read/, a line in
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

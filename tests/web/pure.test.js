// The page's pure functions: formatting, rates and quantiles, outcomes of other reaper windows.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asKey, bytes, fromNow, milliseconds, rounded, span, spanInWords, words } from '../../src/web/format.js';
import { columns, parse, quantile, sampleOf } from '../../src/web/metrics.js';
import { bars, model, outcome } from '../../src/web/windows.js';

test('keys are recognised in any spelling', () => {
  for (const typed of ['SYN-42', 'syn-42', ' syn 42 ', 'syn42', 'Syn-42']) assert.equal(asKey(typed), 'SYN-42');
  assert.equal(asKey('inc-20261120-7'), 'INC-20261120-7');
  assert.equal(asKey('a_1-3'), 'A_1-3');
  assert.equal(asKey('01A1F93C-0F29-7000-8062-FC89BBAF8517'), '01a1f93c-0f29-7000-8062-fc89bbaf8517');
  for (const typed of ['', 'syn', '42', '-42', 'syn-', 'say 42 times', '<b>-1', '../v1']) assert.equal(asKey(typed), '', typed);
});

test('durations are parsed and formatted', () => {
  assert.deepEqual(['250ms', '41s', '10m', '6h', '7d'].map(milliseconds), [250, 41_000, 600_000, 21_600_000, 604_800_000]);
  for (const text of ['', 'auto', '1.5s', '5', undefined]) assert.equal(milliseconds(text), null);
  assert.deepEqual([0.08, 380, 1_900, 12_000, 60_000, 90_000, 720_000, 9_000_000, 604_800_000, null].map(span),
    ['0.08 ms', '380 ms', '1.9 s', '12 s', '1 min', '1 min 30 s', '12 min', '2 h 30 min', '7 d', '–']);
  assert.equal(rounded(0), '0');
  assert.deepEqual(words(' home, garden  +x '), ['home', 'garden', '+x']);
});

test('sizes and ages are formatted briefly', () => {
  assert.deepEqual([0, 1, 999, 1_000, 217_088, 1_234_567, 9_960_000, 87_000_000_000, 5e15].map(bytes),
    ['0 bytes', '1 byte', '999 bytes', '1 kB', '217 kB', '1.2 MB', '10 MB', '87 GB', '5,000 TB']);
  assert.deepEqual([86_400_000, 2_592_000_000, 3_600_000, 129_600_000].map(spanInWords), ['1 day', '30 days', '1 h', '1 d 12 h']);
  assert.equal(fromNow('2026-11-20T02:00:00Z', Date.parse('2026-11-20T12:00:00Z')), '10 hours ago');
  assert.equal(fromNow('2026-11-20T02:00:00Z', Date.parse('2026-11-20T12:00:00Z'), 'narrow'), '10h ago');
});

const counted = (created, replayed, commits) => sampleOf(parse(`# HELP callsign_creates_total Creations answered, by outcome.
callsign_creates_total{outcome="created"} ${created}
callsign_creates_total{outcome="replayed"} ${replayed}
callsign_slots{state="pending"} 3
callsign_commit_seconds_count ${commits[2]}
callsign_commit_seconds_sum 0.5
callsign_commit_seconds_bucket{le="0.001"} ${commits[0]}
callsign_commit_seconds_bucket{le="0.005"} ${commits[1]}
callsign_commit_seconds_bucket{le="+Inf"} ${commits[2]}
callsign_batch_commands_count ${commits[2]}
callsign_batch_commands_sum ${commits[2] * 4}
callsign_queue_depth 2
callsign_build_info{sqlite="3.40.1",version="0.1.0"} 1
`), 0);

test('metrics become rates and quantiles', () => {
  const first = { ...counted(10, 0, [0, 0, 0]), at: 0 };
  const second = { ...counted(30, 5, [50, 100, 100]), at: 10_000 };
  assert.equal(second.version, '0.1.0');
  assert.equal(second.slots.pending, 3);
  // Stored as JSON, to survive a reload.
  const kept = JSON.parse(JSON.stringify([first, second]));
  const { at, created, retried, p50, p99, batch, queue } = columns(kept);
  assert.deepEqual([at, created, retried, batch, queue], [[10], [2], [0.5], [4], [2]]);
  assert.equal(p50[0], 1);
  assert.ok(Math.abs(p99[0] - 4.92) < 0.01, p99[0]);
  assert.equal(quantile(0.5, first.commit, first.commit), null, 'nothing was counted');
  // A quantile beyond the last bucket is that bucket's limit.
  assert.equal(quantile(0.99, first.commit, counted(0, 0, [0, 0, 10]).commit), 0.005);
});

test('a restart of the server gives null values', () => {
  const before = { ...counted(1_000, 7, [50, 100, 100]), at: 0 };
  const after = { ...counted(3, 0, [1, 1, 1]), at: 5_000 };
  const { created, retried, p99, batch } = columns([before, after]);
  assert.deepEqual([created, retried, p99, batch], [[null], [null], [null], [null]]);
});

// Ten slots whose clients retried after 10 s and 80 s, five each; two without a retry; observed for 1000 s.
const status = {
  accounts: 'local', window: '10m', wanted: '2m', p50: '10s', p99: '80s',
  retries: [{ upTo: '10s', retries: '5.00', failedRetried: 5, pending: String((2 * 10 + 10 * 10) / 1000) },
    { upTo: '80s', retries: '5.00', failedRetried: 0, pending: String((2 * 80 + 50 + 400) / 1000) }],
  others: [{ window: '1m', failedRetried: 5, pending: String((2 * 60 + 50 + 300) / 1000) },
    { window: '10m', failedRetried: 0, pending: String((2 * 600 + 450) / 1000) },
    { window: '1h', failedRetried: 0, pending: String((2 * 3_600 + 450) / 1000) }],
};

test('outcomes are exact between the known points', () => {
  const of = model(status);
  const truth = (s) => ({ failed: (s < 10 ? 5 : 0) + (s < 80 ? 5 : 0),
    pending: (2 * s + 5 * Math.min(s, 10) + 5 * Math.min(s, 80)) / 1000 });
  // A window fails the retries of all longer buckets; its own bucket is not counted, as on the server.
  for (const s of [10, 40, 60, 70, 80, 100, 600, 1_800, 3_600, 7_200]) {
    const { failed, pending } = outcome(of, s * 1_000);
    if (s !== 70) assert.equal(failed, truth(s).failed, `${s} s`);
    assert.ok(Math.abs(pending - truth(s).pending) < 1e-9, `${s} s: ${pending}`);
  }
  assert.equal(outcome(of, 70_000).failed, 0, 'in the bucket of the longest');
  assert.ok(Math.abs(outcome(of, 5_000).pending - truth(5).pending) < 1e-9);
});

test('windows on offer are sorted and include the current and the wanted one', () => {
  const { stops, inForce, wanted } = model({ ...status, window: '75s', wanted: '68s' });
  assert.deepEqual([...stops].sort((a, b) => a.ms - b.ms), stops);
  assert.equal(new Set(stops.map((stop) => stop.ms)).size, stops.length);
  for (const ms of [inForce, wanted]) assert.ok(stops.some((stop) => stop.ms === ms));
});

test('bars cover half a doubling each and count every retry', () => {
  const retries = Array.from({ length: 60 }, (_, i) => ({ upTo: `${Math.ceil(10 * 2 ** (i / 8))}ms`, retries: '1.00',
    failedRetried: 0, pending: '0.00' }));
  const found = bars(model({ ...status, retries }));
  assert.equal(found.reduce((sum, bar) => sum + bar.retries, 0), 60);
  assert.ok(found.length <= 17);
  for (const { from, to } of found) assert.ok(Math.abs(to / from - Math.SQRT2) < 1e-9);
  assert.deepEqual(bars(model({ ...status, retries: undefined })), []);
});

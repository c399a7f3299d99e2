// Computes what another window of the reaper would have done, from the reaper's status. Pure functions.

import { milliseconds } from './format.js';

// Windows that the slider offers.
const STOPS = ['1s', '2s', '3s', '5s', '10s', '15s', '20s', '30s', '45s', '1m', '90s', '2m', '3m', '4m', '5m', '7m', '10m',
  '12m', '15m', '20m', '30m', '45m', '1h', '90m', '2h', '3h', '4h', '6h', '8h', '12h', '18h', '24h', '2d', '3d', '5d', '7d'];

// Converts the status of one class of accounts to numbers, for the chart and for outcome().
export function model(status) {
  const at = (each, length) => ({ at: milliseconds(length), failed: each.failedRetried, pending: Number(each.pending) });
  const buckets = status.retries?.map((each) => ({ ...at(each, each.upTo), retries: Number(each.retries) })) ?? [];
  const points = [...buckets, ...status.others.map((each) => at(each, each.window))].sort((a, b) => a.at - b.at);
  const inForce = milliseconds(status.window);
  const wanted = milliseconds(status.wanted);
  const stops = [...new Map([...STOPS.map((text) => [milliseconds(text), text]), [wanted, status.wanted],
    [inForce, status.window]])].sort(([a], [b]) => a - b).map(([ms, text]) => ({ ms, text }));
  return {
    accounts: status.accounts, buckets, points, inForce, wanted, stops,
    p50: milliseconds(status.p50), p99: milliseconds(status.p99),
  };
}

// Returns how many slots a window would have failed too early and kept pending. Failed: the value of the next point at or
// above the window, since a bucket does not count its own retries. Pending: linear between two points, since a slot is
// pending until its retry or for the window, whichever is shorter.
export function outcome({ points }, window) {
  const above = points.findIndex((point) => point.at >= window);
  if (above === 0) {
    const first = points[0];
    return { failed: first.failed, pending: (first.pending * window) / first.at };
  }
  const [a, b] = above < 0 ? points.slice(-2) : points.slice(above - 1, above + 1);
  const failed = above < 0 ? points[points.length - 1].failed : b.failed;
  if (!b || a.at === b.at) return { failed, pending: a.pending };
  return { failed, pending: Math.max(0, a.pending + ((b.pending - a.pending) * (window - a.at)) / (b.at - a.at)) };
}

// Merges buckets into two per doubling, so that few retries give a readable chart.
export function bars({ buckets }) {
  const joined = new Map();
  for (const { at, retries } of buckets) {
    const half = Math.ceil(Math.log2(at / 10) * 2 - 0.01);
    joined.set(half, (joined.get(half) ?? 0) + retries);
  }
  return [...joined].sort(([a], [b]) => a - b).map(([half, retries]) => ({
    from: 10 * 2 ** ((half - 1) / 2), to: 10 * 2 ** (half / 2), retries,
  }));
}

// Samples of the server's metrics (/metrics, Prometheus' text format), kept while the tab is open. Counters become rates,
// buckets become quantiles. Pure functions.

// Returns the values by name{labels}.
export function parse(text) {
  const values = new Map();
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const end = line.lastIndexOf('}') + 1 || line.indexOf(' ');
    const value = Number(line.slice(end).trim().split(' ')[0]);
    if (!Number.isNaN(value)) values.set(line.slice(0, end), value);
  }
  return values;
}

function label(name, key) {
  return new RegExp(`${key}="([^"]*)"`).exec(name)?.[1];
}

function family(values, name, key) {
  const found = {};
  for (const [each, value] of values) if (each.startsWith(`${name}{`)) found[label(each, key)] = value;
  return found;
}

// Returns what is kept of one scrape.
export function sampleOf(values, at) {
  const histogram = (name) => ({
    count: values.get(`${name}_count`) ?? 0,
    sum: values.get(`${name}_sum`) ?? 0,
    buckets: Object.entries(family(values, `${name}_bucket`, 'le'))
      .map(([le, n]) => [le === '+Inf' ? Infinity : Number(le), n]).sort(([a], [b]) => a - b),
  });
  return {
    at,
    creates: family(values, 'callsign_creates_total', 'outcome'),
    slots: family(values, 'callsign_slots', 'state'),
    commit: packed(histogram('callsign_commit_seconds')),
    batch: packed(histogram('callsign_batch_commands')),
    held: values.get('callsign_series_held') ?? 0,
    queue: values.get('callsign_queue_depth') ?? 0,
    connections: values.get('callsign_http_connections') ?? 0,
    followers: values.get('callsign_followers') ?? 0,
    version: label([...values.keys()].find((name) => name.startsWith('callsign_build_info')) ?? '', 'version') ?? '',
  };
}

// JSON has no infinity.
function packed({ count, sum, buckets }) {
  return { count, sum, buckets: buckets.map(([le, n]) => [le === Infinity ? null : le, n]) };
}

// Returns the quantile `q` of what was counted between two samples, interpolated within its bucket as Prometheus does.
// Returns null if nothing was counted.
export function quantile(q, before, after) {
  const total = after.count - before.count;
  if (total <= 0 || after.buckets.length !== before.buckets.length) return null;
  let edge = 0;
  let below = 0;
  for (let i = 0; i < after.buckets.length; i += 1) {
    const [le, n] = after.buckets[i];
    const upTo = n - before.buckets[i][1];
    if (upTo >= q * total) {
      if (le === null) return edge;
      return upTo === below ? le : edge + (le - edge) * ((q * total - below) / (upTo - below));
    }
    edge = le;
    below = upTo;
  }
  return edge;
}

// Returns the columns of the charts, with a row for each sample but the first. Values are null after a restart of the
// server and where nothing was counted.
export function columns(samples) {
  const found = { at: [], created: [], retried: [], rejected: [], p50: [], p99: [], batch: [], queue: [] };
  for (let i = 1; i < samples.length; i += 1) {
    const [before, after] = [samples[i - 1], samples[i]];
    const seconds = (after.at - before.at) / 1000;
    const rate = (names) => {
      const sum = (of) => names.reduce((total, name) => total + (of.creates[name] ?? 0), 0);
      const grown = sum(after) - sum(before);
      return grown < 0 || seconds <= 0 ? null : grown / seconds;
    };
    const hasRestarted = after.commit.count < before.commit.count;
    const counted = after.batch.count - before.batch.count;
    found.at.push(after.at / 1000);
    found.created.push(rate(['created']));
    found.retried.push(rate(['replayed', 'existing']));
    found.rejected.push(rate(['failed', 'conflict', 'in_progress', 'rejected']));
    found.p50.push(hasRestarted ? null : inMs(quantile(0.5, before.commit, after.commit)));
    found.p99.push(hasRestarted ? null : inMs(quantile(0.99, before.commit, after.commit)));
    found.batch.push(hasRestarted || counted <= 0 ? null : (after.batch.sum - before.batch.sum) / counted);
    found.queue.push(after.queue);
  }
  return found;
}

function inMs(seconds) {
  return seconds === null ? null : seconds * 1000;
}

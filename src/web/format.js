// Formats instants, durations, sizes and counts, and parses what users type. Pure functions.

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const UNITS = { ms: 1, s: 1_000, m: MINUTE, h: HOUR, d: DAY };

// Parses a duration of the API, such as 1900ms, 41s, 10m, 6h or 7d. Returns null for any other text.
export function milliseconds(text) {
  const parts = /^(\d+)(ms|s|m|h|d)$/.exec(text ?? '');
  return parts ? Number(parts[1]) * UNITS[parts[2]] : null;
}

// Formats a duration briefly: 380 ms, 1.9 s, 12 min, 2 h 30 min.
export function span(ms) {
  if (ms === null || ms === undefined || Number.isNaN(ms)) return '–';
  if (ms < 1) return `${rounded(ms)} ms`;
  if (ms < 1_000) return `${rounded(ms)} ms`;
  if (ms < MINUTE) return `${rounded(ms / 1_000)} s`;
  const [large, name, small, smallName] =
    ms < HOUR ? [MINUTE, 'min', 1_000, 's'] : ms < DAY ? [HOUR, 'h', MINUTE, 'min'] : [DAY, 'd', HOUR, 'h'];
  const whole = Math.floor(ms / large + 1e-9);
  const rest = Math.round((ms - whole * large) / small);
  return rest && whole < 10 ? `${whole} ${name} ${rest} ${smallName}` : `${Math.round(ms / large)} ${name}`;
}

// Formats a duration for a sentence: whole days as "30 days", others as span() does.
export function spanInWords(ms) {
  return ms >= DAY && ms % DAY === 0 ? count(ms / DAY, 'day') : span(ms);
}

// Formats a number with at most two decimals below 10, one below 100 and none from 100.
export function rounded(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  const digits = value >= 100 || value === 0 ? 0 : value >= 10 ? 1 : 2;
  return value.toLocaleString(undefined, { maximumFractionDigits: digits });
}

// Formats a size in decimal units: 217 kB, 1.2 GB.
export function bytes(value) {
  let [size, unit] = [Number(value), 'bytes'];
  for (const next of ['kB', 'MB', 'GB', 'TB']) {
    if (size < 999.5) break;
    [size, unit] = [size / 1_000, next];
  }
  return unit === 'bytes' ? count(size, 'byte') : `${size.toLocaleString(undefined, { maximumFractionDigits: size < 9.95 ? 1 : 0 })} ${unit}`;
}

export function count(value, one, many = `${one}s`) {
  return `${Number(value).toLocaleString()} ${Number(value) === 1 ? one : many}`;
}

const relativeTimes = Object.fromEntries(['long', 'narrow'].map((style) =>
  [style, new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style })]));

// Formats an instant relative to `now`: in 3 days, yesterday, 5 minutes ago. The style "narrow" gives 5m ago.
export function fromNow(instant, now = Date.now(), style = 'long') {
  const relative = relativeTimes[style];
  const ms = Date.parse(instant) - now;
  const size = Math.abs(ms);
  if (size < 45_000) return ms < 0 ? 'just now' : 'in a moment';
  if (size < 45 * MINUTE) return relative.format(Math.round(ms / MINUTE), 'minute');
  if (size < 22 * HOUR) return relative.format(Math.round(ms / HOUR), 'hour');
  if (size < 26 * DAY) return relative.format(Math.round(ms / DAY), 'day');
  if (size < 320 * DAY) return relative.format(Math.round(ms / (30.44 * DAY)), 'month');
  return relative.format(Math.round(ms / (365.25 * DAY)), 'year');
}

export function dateTime(instant) {
  return instant ? new Date(instant).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' }) : '–';
}

export function clock(instant) {
  return new Date(instant).toLocaleTimeString(undefined, { timeStyle: 'medium' });
}

// toInput() and fromInput() convert an instant to the value of <input type="datetime-local">, in the browser's time
// zone, and back.
export function toInput(instant) {
  if (!instant) return '';
  const date = new Date(instant);
  return new Date(date.getTime() - date.getTimezoneOffset() * MINUTE).toISOString().slice(0, 16);
}

export function fromInput(text) {
  return text ? new Date(text).toISOString() : null;
}

export function words(text) {
  return text.split(/[\s,]+/).filter(Boolean);
}

// Returns the task key or UUID that a user typed, or '' for any other text. syn42 and "syn 42" give SYN-42.
export function asKey(text) {
  const trimmed = text.trim();
  const exact = /^[A-Za-z][A-Za-z0-9_]{0,9}(-\d+)?-\d+$/.exec(trimmed);
  if (exact) return trimmed.toUpperCase();
  const loose = /^([A-Za-z][A-Za-z0-9_]*?)[\s-]*(\d+)$/.exec(trimmed);
  if (loose) return `${loose[1].toUpperCase()}-${loose[2]}`;
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(trimmed) ? trimmed.toLowerCase() : '';
}

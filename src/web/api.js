// Client of the server's API: sends the token, throws problems as errors, reads server-sent events.

// The page's files are at assets/VERSION/ below the server's root, which may be a path of a reverse proxy.
export const ROOT = new URL('../../', import.meta.url);

// An RFC 9457 problem. The code "offline" is the page's own: no response was received.
export class Problem extends Error {
  constructor({ status = 0, code = '', title, detail = '', errors = [], cursor = '' }, retryAfter = 0) {
    super(detail ? `${title}: ${detail}` : title);
    Object.assign(this, { status, code, title, detail, errors, cursor, retryAfter });
  }

  // Returns whether the same request may succeed later.
  get isPassing() {
    return this.code === 'offline' || this.status === 429 || this.status >= 500 || this.code === 'request-in-progress';
  }
}

async function problemOf(response) {
  const retryAfter = Number(response.headers.get('Retry-After')) || 0;
  let said = {};
  try {
    said = await response.json();
  } catch {
    // The body is not JSON: a proxy has sent the response.
  }
  return new Problem({ title: `The server returned status ${response.status}`, ...said, status: response.status }, retryAfter);
}

// Resolves after `ms`, or at once when the signal aborts.
export function pause(ms, signal) {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => { clearTimeout(timer); resolve(); }, { once: true });
  });
}

export class Api {
  constructor(token, onUnauthorized = () => {}) {
    this.token = token;
    this.onUnauthorized = onUnauthorized;
  }

  async fetch(path, { method = 'GET', headers = {}, body, signal } = {}) {
    let response;
    try {
      response = await fetch(new URL(path, ROOT), {
        method, body, signal, cache: 'no-store', credentials: 'omit', redirect: 'error', referrerPolicy: 'no-referrer',
        headers: { Accept: 'application/json', Authorization: `Bearer ${this.token}`, ...headers },
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new Problem({ code: 'offline', title: 'Server unreachable',
        detail: 'Check the connection. The server may have processed the request.' });
    }
    if (response.ok) return response;
    const problem = await problemOf(response);
    if (problem.status === 401 || problem.code === 'account-disabled') this.onUnauthorized(problem);
    throw problem;
  }

  // Returns { data, etag, status, replayed }.
  async ask(path, options = {}) {
    const { json, ...rest } = options;
    if (json !== undefined) {
      rest.body = JSON.stringify(json);
      rest.headers = { 'Content-Type': 'application/json', ...rest.headers };
    }
    const response = await this.fetch(path, rest);
    const text = await response.text();
    return {
      data: text ? JSON.parse(text) : null,
      etag: response.headers.get('ETag'),
      status: response.status,
      replayed: response.headers.has('Idempotent-Replayed'),
    };
  }

  get(path, options) { return this.ask(path, options); }
  post(path, json, options) { return this.ask(path, { method: 'POST', json, ...options }); }
  delete(path, options) { return this.ask(path, { method: 'DELETE', ...options }); }
  patch(path, json, etag) {
    const headers = { 'Content-Type': 'application/merge-patch+json' };
    if (etag) headers['If-Match'] = etag;
    return this.ask(path, { method: 'PATCH', json, headers });
  }

  // Returns the rows of a paged list. Requests no further page once it has `most` rows.
  async all(path, rows, most = 2000) {
    const found = [];
    let next = '';
    do {
      const query = new URLSearchParams({ pageSize: '500' });
      if (next) query.set('pageToken', next);
      const { data } = await this.get(`${path}?${query}`);
      found.push(...data[rows]);
      next = data.nextPageToken ?? '';
    } while (next && found.length < most);
    return found;
  }

  async text(path) {
    return (await this.fetch(path, { headers: { Accept: 'text/plain' } })).text();
  }

  // Yields the server-sent events of a path as { event, data, id }. EventSource cannot send the token.
  async* events(path, signal) {
    const response = await this.fetch(path, { headers: { Accept: 'text/event-stream' }, signal });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let buffer = '';
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      buffer += value;
      for (let end = buffer.indexOf('\n\n'); end >= 0; end = buffer.indexOf('\n\n')) {
        const event = { event: 'message', data: '', id: '' };
        for (const line of buffer.slice(0, end).split('\n')) {
          const colon = line.indexOf(':');
          if (colon <= 0) continue;
          const name = line.slice(0, colon);
          const text = line.slice(colon + 1).replace(/^ /, '');
          if (name === 'data') event.data += event.data ? `\n${text}` : text;
          else if (name in event) event[name] = text;
        }
        buffer = buffer.slice(end + 2);
        if (event.data) yield event;
      }
    }
  }
}

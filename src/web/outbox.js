// Task creations without a final response. Each keeps its idempotency key across retries, so a retry never creates a
// second task. Creations survive a reload of the tab.

import { pause, Problem } from './api.js';
import { remember, remembered } from './session.js';

const RETRY_MIN = 1_000;
const RETRY_MAX = 30_000;

export class Outbox {
  // Calls changed() after every change of a creation, and created(receipt, body) once the server has created the task.
  constructor(api, { changed, created }) {
    Object.assign(this, { api, changed, created });
    this.waiting = remembered('creates', []).map((each) => ({ ...each, state: 'waiting', problem: null }));
    this.stopping = new AbortController();
    for (const each of this.waiting) this.#send(each);
  }

  stop() { this.stopping.abort(); }

  add(body) {
    const creation = { key: randomKey(), body, state: 'waiting', problem: null };
    this.waiting.unshift(creation);
    this.#keep();
    this.#send(creation);
  }

  // Retries a rejected creation: with a new key if the former one failed permanently, otherwise with the same key.
  again(creation) {
    if (creation.problem?.code === 'slot-failed') creation.key = randomKey();
    creation.problem = null;
    this.#keep();
    this.#send(creation);
  }

  drop(creation) {
    this.waiting = this.waiting.filter((each) => each !== creation);
    this.#keep();
  }

  #keep() {
    remember('creates', this.waiting.map(({ key, body }) => ({ key, body })));
    this.changed();
  }

  async #send(creation) {
    for (let wait = RETRY_MIN; !this.stopping.signal.aborted; wait = Math.min(wait * 2, RETRY_MAX)) {
      creation.state = 'sending';
      this.changed();
      try {
        const headers = { 'Idempotency-Key': `"${creation.key}"` };
        const { data } = await this.api.post('v1/tasks', creation.body, { headers });
        this.drop(creation);
        return this.created(data, creation.body);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        creation.problem = error;
        creation.state = error.isPassing ? 'waiting' : 'rejected';
        this.changed();
        if (!error.isPassing) return undefined;
        await pause(Math.max(wait, error.retryAfter * 1_000), this.stopping.signal);
      }
    }
    return undefined;
  }
}

// Returns 128 random bits in hexadecimal. crypto.randomUUID exists only over TLS and on loopback addresses.
function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

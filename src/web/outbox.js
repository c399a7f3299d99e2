// Creations that are not answered yet. Each keeps its idempotency key until it is: whatever is lost in between, sending
// it again makes no second task. They outlive a reload of the tab.

import { pause, Problem } from './api.js';
import { remember, remembered } from './session.js';

const RETRY_MIN = 1_000;
const RETRY_MAX = 30_000;

export class Outbox {
  // changed() whenever there is something to show; created(receipt, body) when a task has its number.
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

  // After a definite no: with a new key where the old one has failed for good, else with the same.
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
        creation.state = error.isPassing ? 'waiting' : 'refused';
        this.changed();
        if (!error.isPassing) return undefined;
        await pause(Math.max(wait, error.retryAfter * 1_000), this.stopping.signal);
      }
    }
    return undefined;
  }
}

// 128 bits. crypto.randomUUID is there over TLS and on this machine alone.
function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

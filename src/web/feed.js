// Follows the account's changes from a cursor, and reconnects after each interruption. Disconnects while the tab is hidden,
// since a browser limits the connections to one server.

import { pause, Problem } from './api.js';

// The server sends an event at least every feed.heartbeat (seconds). After this silence the page reconnects.
const SILENCE_MAX = 90_000;
const RETRY_MIN = 1_000;
const RETRY_MAX = 30_000;
const HIDDEN_FOR = 30_000;

export class Feed {
  // Calls heard(change); begun() when changes may have been missed and everything must be reloaded; and said(state) with
  // "live", "paused" or "away".
  constructor(api, { heard, begun, said }) {
    Object.assign(this, { api, heard, begun, said, cursor: null });
    this.stopping = new AbortController();
    this.isLeft = false;  // the page was left; the browser may keep it in the back/forward cache
    this.seen = (event) => {
      if (event.type !== 'visibilitychange') this.isLeft = event.type === 'pagehide';
      this.#wake?.();
    };
    for (const [target, type] of Feed.#sights) target.addEventListener(type, this.seen);
    this.#run();
  }

  static #sights = [[document, 'visibilitychange'], [window, 'pagehide'], [window, 'pageshow']];

  #wake = null;

  get #isHidden() { return document.hidden || this.isLeft; }

  stop() {
    this.stopping.abort();
    for (const [target, type] of Feed.#sights) target.removeEventListener(type, this.seen);
  }

  async #run() {
    let wait = RETRY_MIN;
    while (!this.stopping.signal.aborted) {
      try {
        await this.#whileVisible();
        if (this.stopping.signal.aborted) return;
        if (this.cursor === null) {
          const { data } = await this.api.get('v1/changes?after=now&limit=1', { signal: this.stopping.signal });
          this.cursor = data.cursor;
          this.begun();
        }
        await this.#follow(() => { wait = RETRY_MIN; });
      } catch (error) {
        if (this.stopping.signal.aborted) return;
        if (!(error instanceof Problem) && error.name !== 'AbortError' && error.name !== 'TypeError') throw error;
        // The cursor has expired or belongs to another history: get a new one and reload everything.
        if (error.status === 410) this.cursor = null;
        else if (error.status === 401 || error.status === 403 || error.status === 409) return this.said('away', error);
      }
      if (this.#isHidden) continue;
      this.said('away');
      await pause(wait, this.stopping.signal);
      wait = Math.min(wait * 2, RETRY_MAX);
    }
  }

  async #whileVisible() {
    if (!this.#isHidden) return;
    this.said('paused');
    await new Promise((resolve) => {
      this.#wake = () => { if (!this.#isHidden) resolve(); };
      this.stopping.signal.addEventListener('abort', resolve, { once: true });
    });
    this.#wake = null;
  }

  async #follow(itGoes) {
    const connection = new AbortController();
    const cut = () => connection.abort();
    this.stopping.signal.addEventListener('abort', cut, { once: true });
    let silence = setTimeout(cut, SILENCE_MAX);
    let hidden = 0;
    this.#wake = () => {
      clearTimeout(hidden);
      if (this.isLeft) cut();
      else if (document.hidden) hidden = setTimeout(cut, HIDDEN_FOR);
    };
    try {
      const path = `v1/changes/stream?after=${encodeURIComponent(this.cursor)}`;
      this.said('live');
      for await (const { event, data } of this.api.events(path, connection.signal)) {
        clearTimeout(silence);
        silence = setTimeout(cut, SILENCE_MAX);
        itGoes();
        const said = JSON.parse(data);
        if (event === 'end') return;
        this.cursor = said.cursor;
        if (event === 'change') this.heard(said);
      }
    } finally {
      clearTimeout(silence);
      clearTimeout(hidden);
      this.#wake = null;
      this.stopping.signal.removeEventListener('abort', cut);
      connection.abort();
    }
  }
}

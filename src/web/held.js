// Series that are held after a restore from a backup: what the backup has of each, the steps to take, and a form to
// resume each.

import { html, nothing } from './lit-html.js';
import { count } from './format.js';
import { problemNote } from './ui.js';

// Maximum number of accounts queried while the number of held series is unknown; and of concurrent queries.
const ASKED_MAX = 100;
const AT_ONCE = 4;
const SHOWN_MAX = 20;
const NAMES = { at: 'Resume at' };

export class HeldSeries {
  constructor({ api, update, tell }) {
    Object.assign(this, { api, update, tell });
    this.rows = [];  // { account, series, expected, at, problem, busy }
    this.asked = new Set();
    this.wanted = 0;
  }

  // Queries accounts until all held series are found. `held` is their number; undefined if there are no metrics.
  async look(accounts, held) {
    this.wanted = held ?? 0;
    if (held === 0) {
      this.rows = [];
      return this.asked.clear();
    }
    const most = held === undefined ? ASKED_MAX : accounts.length;
    // Another client has resumed a series.
    if (held < this.rows.length) await this.#ask([...new Set(this.rows.map((row) => row.account))]);
    const left = accounts.slice(0, most).filter((each) => !this.asked.has(each.accountId));
    while (left.length && !this.isLooking && !(held <= this.rows.length)) {
      await this.#ask(left.splice(0, AT_ONCE));
    }
    return undefined;
  }

  // Queries a selected account, even if it was queried before.
  lookAt(account) { return this.#ask([account]); }

  async #ask(accounts) {
    this.isLooking = true;
    await Promise.all(accounts.map(async (account) => {
      // Series of remote accounts are never held: the remote server has their numbers.
      this.asked.add(account.accountId);
      if (account.remote) return;
      try {
        const path = `v1/admin/accounts/${encodeURIComponent(account.name)}`;
        const found = (await this.api.all(`${path}/series`, 'series')).filter((series) => series.held);
        const devices = found.length && account.mode === 'managed' ? await this.api.all(`${path}/devices`, 'devices') : [];
        const expected = devices.filter((each) => each.resync === 'expected' && !each.revokedAt).map((each) => each.name);
        const others = this.rows.filter((row) => row.account.accountId !== account.accountId);
        const typed = (series) => this.rows.find((row) => !others.includes(row) && row.series.prefix === series.prefix)?.at;
        const rowOf = (series) => ({ account, series, expected, at: typed(series) ?? String(series.next), problem: null,
          busy: false });
        this.rows = [...others, ...found.map(rowOf)];
      } catch (error) {
        // Query the account again later, while fewer series were found than are held.
        if (error.isPassing) this.asked.delete(account.accountId);
      }
    }));
    this.isLooking = false;
    this.update();
  }

  async #resume(event, row) {
    event.preventDefault();
    const at = Number(row.at);
    const { account, series } = row;
    const gap = at === series.next + 1 ? `Number ${series.next} is` : `Numbers ${series.next} to ${at - 1} are`;
    const leaves = at > series.next ? ` ${gap} skipped unless found on a device.` : '';
    if (!confirm(`Resume ${series.prefix} of ${account.name} at ${series.prefix}-${at}?${leaves}`)) return;
    row.busy = true;
    row.problem = null;
    this.update();
    try {
      const path = `v1/admin/accounts/${encodeURIComponent(account.name)}/series/${series.prefix}/resume`;
      await this.api.post(path, { at });
      this.#drop(row);
      this.tell(`${series.prefix} of ${account.name} resumed at ${at}.`);
    } catch (error) {
      row.problem = error;
      if (error.code === 'series-not-held') {
        // Another client resumed the series, or the expected devices have returned.
        this.#drop(row);
        this.tell(`${series.prefix} of ${account.name} is already resumed.`);
      }
    }
    row.busy = false;
    this.update();
    requestAnimationFrame(() => document.querySelector('#held input, #overview-title')?.focus());
  }

  #drop(row) {
    this.rows = this.rows.filter((each) => each !== row);
    this.wanted -= 1;
  }

  // ---- templates ----

  template() {
    const many = Math.max(this.rows.length, this.wanted);
    if (!many) return nothing;
    return html`<section id="held" class="note held" aria-labelledby="held-title">
      <h2 id="held-title">${count(many, 'series', 'series')} held since a restore</h2>
      <p>This server was restored from a backup. Numbers assigned after the backup may be in use. To avoid duplicates,
        these series assign no numbers until they are resumed.</p>
      <ol><li>Sync each expected device: <code>task sync</code>. Tasks newer than the backup return with their keys. When all
          expected devices of an account have synced and one was newer, its series resume automatically.</li>
        <li>Revoke lost devices.</li>
        <li>Otherwise resume each series after the highest number known to be in use.</li></ol>
      ${this.rows.slice(0, SHOWN_MAX).map((row) => this.#row(row))}
      ${this.rows.length > SHOWN_MAX ? html`<p class="hint">${this.rows.length - SHOWN_MAX} more are shown as these are resumed.</p>`
        : nothing}
      ${this.isLooking ? html`<p class="hint">Searching for held series.</p>` : nothing}
    </section>`;
  }

  #row(row) {
    const { account, series, expected } = row;
    const name = `${series.prefix} of ${account.name}`;
    return html`<form class="make" aria-label=${name} @submit=${(e) => this.#resume(e, row)} autocomplete="off">
      <p class="what"><span class="key">${series.prefix}</span> <span class="of">of <b><bdi>${account.name}</bdi></b></span>
        <span class="hint">${series.next > 1 ? html`last in the backup: ${series.prefix}-${series.next - 1}`
          : 'none in the backup'}${expected.length ? html`; expected devices:
          ${expected.map((each, i) => html`${i ? ', ' : ''}<bdi>${each}</bdi>`)}` : nothing}</span></p>
      <label>Resume at <input name="at" type="number" required min=${series.next} max="999999999999" inputmode="numeric"
        .value=${row.at} @input=${(e) => { row.at = e.target.value; }} aria-label=${`Resume at, ${name}`}></label>
      <button ?disabled=${row.busy}>Resume</button>
      ${problemNote(row.problem, NAMES)}</form>`;
  }
}

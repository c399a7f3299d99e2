// Series that give no numbers since the store was put back from a backup: where they are, what there is to do, and where
// each goes on.

import { html, nothing } from './lit-html.js';
import { count } from './format.js';
import { problemNote } from './ui.js';

// Accounts that are asked when nobody says that there are any; and at once.
const ASKED_MAX = 100;
const AT_ONCE = 4;
const SHOWN_MAX = 20;
const NAMES = { at: 'Goes on at' };

export class HeldSeries {
  constructor({ api, update, tell }) {
    Object.assign(this, { api, update, tell });
    this.rows = [];  // { account, series, expected, at, problem, busy }
    this.asked = new Set();
    this.wanted = 0;
  }

  // Finds as many as there are; `held`: so many, or undefined where nobody says.
  async look(accounts, held) {
    this.wanted = held ?? 0;
    if (held === 0) {
      this.rows = [];
      return this.asked.clear();
    }
    const most = held === undefined ? ASKED_MAX : accounts.length;
    // Somebody else has let one go on.
    if (held < this.rows.length) await this.#ask([...new Set(this.rows.map((row) => row.account))]);
    const left = accounts.slice(0, most).filter((each) => !this.asked.has(each.accountId));
    while (left.length && !this.isLooking && !(held <= this.rows.length)) {
      await this.#ask(left.splice(0, AT_ONCE));
    }
    return undefined;
  }

  // The account is looked at: its series are to be known, whoever was asked before.
  lookAt(account) { return this.#ask([account]); }

  async #ask(accounts) {
    this.isLooking = true;
    await Promise.all(accounts.map(async (account) => {
      // The numbers of one whose tasks live elsewhere are there.
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
        // It is asked again when there are still more than were found.
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
    const gap = at === series.next + 1 ? `${series.next} is` : `${series.next} to ${at - 1} are`;
    const leaves = at > series.next ? ` What nobody brings of the numbers before it is nobody’s: ${gap} left out.` : '';
    if (!confirm(`${series.prefix} of ${account.name} goes on at ${series.prefix}-${at}.${leaves}`)) return;
    row.busy = true;
    row.problem = null;
    this.update();
    try {
      const path = `v1/admin/accounts/${encodeURIComponent(account.name)}/series/${series.prefix}/resume`;
      await this.api.post(path, { at });
      this.#drop(row);
      this.tell(`${series.prefix} of ${account.name} goes on at ${at}.`);
    } catch (error) {
      row.problem = error;
      if (error.code === 'series-not-held') {
        // Somebody else was there before, or its devices have come back.
        this.#drop(row);
        this.tell(`${series.prefix} of ${account.name} goes on already.`);
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
      <p>This server was put back from a backup. Numbers that were given after it may be on a device, in a mail, on a
        whiteboard; so that none is given twice, these series give none.</p>
      <ol><li>Sync each device that is expected: <code>task sync</code>. Tasks that are newer than the backup come back with
          their keys; when all devices have come and one was newer, its series go on by themselves.</li>
        <li>Revoke devices that are lost.</li>
        <li>Otherwise say where a series goes on: behind the highest number that anybody knows of.</li></ol>
      ${this.rows.slice(0, SHOWN_MAX).map((row) => this.#row(row))}
      ${this.rows.length > SHOWN_MAX ? html`<p class="hint">${this.rows.length - SHOWN_MAX} more are shown as these go on.</p>`
        : nothing}
      ${this.isLooking ? html`<p class="hint">Looking for them.</p>` : nothing}
    </section>`;
  }

  #row(row) {
    const { account, series, expected } = row;
    const name = `${series.prefix} of ${account.name}`;
    return html`<form class="make" aria-label=${name} @submit=${(e) => this.#resume(e, row)} autocomplete="off">
      <p class="what"><span class="key">${series.prefix}</span> <span class="of">of <b><bdi>${account.name}</bdi></b></span>
        <span class="hint">${series.next > 1 ? html`the backup has ${series.prefix}-${series.next - 1}`
          : 'the backup has none of it'}${expected.length ? html`; expected:
          ${expected.map((each, i) => html`${i ? ', ' : ''}<bdi>${each}</bdi>`)}` : nothing}</span></p>
      <label>Goes on at <input name="at" type="number" required min=${series.next} max="999999999999" inputmode="numeric"
        .value=${row.at} @input=${(e) => { row.at = e.target.value; }} aria-label=${`${name} goes on at`}></label>
      <button ?disabled=${row.busy}>Go on</button>
      ${problemNote(row.problem, NAMES)}</form>`;
  }
}

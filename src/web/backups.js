// Backups of the store: the list, the progress of a running one, and forms that create one.

import { html, nothing } from './lit-html.js';
import { pause } from './api.js';
import { bytes, dateTime, fromNow, milliseconds, spanInWords } from './format.js';
import { problemNote, problemText } from './ui.js';

const LOOK_EVERY = 60_000;
// Interval while a backup is running.
const WATCH_EVERY = 700;
const NAMES = { directory: 'Directory' };

export class Backups {
  constructor({ api, update, tell }) {
    Object.assign(this, { api, update, tell });
    this.status = null;
    this.problem = null;  // why the status is unknown
    this.rejected = null;  // why the last backup was not created
    this.asked = false;
    this.lookedAt = 0;
    this.stopping = new AbortController();
  }

  stop() { this.stopping.abort(); }

  get isRunning() { return this.asked || Boolean(this.status?.running); }

  // Returns the newest known backup, in any directory.
  get newest() {
    const [kept] = this.status?.kept ?? [];
    const last = this.status?.last;
    return last && (!kept || last.madeAt > kept.madeAt) ? last : kept;
  }

  // Returns whether a scheduled backup is overdue.
  get isLate() {
    const every = milliseconds(this.status?.every);
    return every !== null && (!this.newest || Date.now() - Date.parse(this.newest.madeAt) > 2 * every);
  }

  async look() {
    if (Date.now() - this.lookedAt < LOOK_EVERY || this.watching) return;
    await this.#load();
    if (this.status?.running) await this.#watch();
  }

  async #load() {
    this.lookedAt = Date.now();
    try {
      this.status = (await this.api.get('v1/admin/backups')).data;
      this.problem = null;
    } catch (error) {
      this.problem = error;
    }
    this.update();
  }

  // Polls the status until no backup is running.
  async #watch() {
    if (this.watching) return;
    this.watching = true;
    do {
      await pause(WATCH_EVERY, this.stopping.signal);
      await this.#load();
    } while (this.isRunning && !this.stopping.signal.aborted);
    this.watching = false;
  }

  async #make(body) {
    this.asked = true;
    this.rejected = null;
    this.update();
    this.#watch();
    try {
      const { data } = await this.api.post('v1/admin/backups', body);
      this.tell(`Backup created: ${bytes(data.bytes)} in ${data.directory}.`);
    } catch (error) {
      // If only the response was lost, the backup is created and appears in the list.
      this.rejected = error;
      if (!this.stopping.signal.aborted) this.tell(`Backup: ${problemText(error)}`);
    }
    this.asked = false;
    await this.#load();
    return this.rejected === null;
  }

  async #makeThere(event) {
    event.preventDefault();
    const form = event.target;
    if (await this.#make({ directory: form.elements.directory.value.trim() })) form.reset();
  }

  // ---- templates ----

  template() {
    const { status } = this;
    return html`<div class="section-head"><h2 id="backups-title">Backups</h2>
        ${status?.directory ? html`<button type="button" ?disabled=${this.isRunning}
          @click=${() => this.#make({})}>Back up now</button>` : nothing}</div>
      ${status ? this.#body() : this.problem ? nothing : html`<p class="hint">Loading.</p>`}
      ${problemNote(this.problem)}`;
  }

  #body() {
    const { status } = this;
    const every = milliseconds(status.every);
    return html`
      <p class="hint">${status.directory ? html`A backup is created every
        ${every === 86_400_000 ? 'day' : spanInWords(every)} in <bdi>${status.directory}</bdi>; the newest ${status.keep} are kept.`
        : html`Scheduled backups are disabled: <code>backup.directory</code> is not set.`} Backups do not contain the master
        key.</p>
      ${this.isRunning ? this.#progress() : nothing}
      ${status.lastError ? html`<p class="note bad" role="alert"><b>The last backup failed ${fromNow(status.lastErrorAt)}.</b>
        ${status.lastError}</p>` : this.isLate && !this.isRunning ? html`<p class="note bad"><b>Backup overdue.</b>
        ${this.newest ? html`Newest backup: ${fromNow(this.newest.madeAt)}.` : 'No backup yet.'}</p>` : nothing}
      ${this.#list()}
      ${status.lastError ? nothing : problemNote(this.rejected, NAMES)}
      <details ?open=${!status.directory}><summary>Back up to another directory</summary>
        <form class="make" @submit=${(e) => this.#makeThere(e)} autocomplete="off">
          <label class="wide">Directory on the server <input name="directory" required placeholder="/mnt/disk/callsign"
            spellcheck="false" autocapitalize="none"></label>
          <button ?disabled=${this.isRunning}>Back up</button></form></details>`;
  }

  #progress() {
    const { running, copied, total } = this.status;
    const part = running && total > 0 ? copied / total : null;
    return html`<p class="progress"><label for="backup-progress">${part === null ? 'Backing up' :
      `Backing up, ${Math.floor(100 * part)} %`}</label>
      <progress id="backup-progress" max="1" value=${part ?? nothing}></progress></p>`;
  }

  #list() {
    const { kept = [], last } = this.status;
    const all = last && !kept.some((each) => each.directory === last.directory) ? [last, ...kept] : kept;
    if (!all.length) return html`<p class="hint">No backups since the server started.</p>`;
    return html`<div class="scroll" tabindex="0" role="region" aria-label="All backups"><table><thead><tr><th scope="col">Created</th>
      <th scope="col">Size</th><th scope="col">Directory</th><th scope="col">Version</th></tr></thead>
      <tbody>${all.map((each) => html`<tr><th scope="row"><time datetime=${each.madeAt} title=${dateTime(each.madeAt)}>${
        fromNow(each.madeAt)}</time></th><td>${bytes(each.bytes)}</td>
        <td class="path"><bdi>${each.directory}</bdi></td><td>${each.program}</td></tr>`)}</tbody></table></div>`;
  }
}

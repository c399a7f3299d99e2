// For operators: how the server does, what the reaper does, who has an account and what opens it.

import { html, nothing } from './lit-html.js';
import { Accounts } from './accounts.js';
import { pause } from './api.js';
import { Timeline } from './charts.js';
import { Histogram } from './histogram.js';
import { count, dateTime, fromNow, milliseconds as ms, rounded, span } from './format.js';
import { columns, parse, quantile, sampleOf } from './metrics.js';
import { remember, remembered } from './session.js';
import { SecretDialog, Tokens } from './tokens.js';
import { problemNote } from './ui.js';

const LOOK_EVERY = 5_000;
// An hour of looks.
const SAMPLES_MAX = 720;
const SWEEPS_MAX = 20;
const STATES = { pending: 'Pending', in_flight: 'In flight', committed: 'Committed', failed: 'Failed' };
const CLASSES = { here: 'Accounts here', elsewhere: 'Accounts elsewhere' };

export class OperatorView {
  constructor({ api, update, tell }) {
    Object.assign(this, { api, update, tell });
    this.samples = remembered('samples', []);
    this.sweeps = remembered('sweeps', []);
    this.reaper = null;
    this.problem = null;
    this.sweeping = false;
    this.histograms = new Map();
    this.creates = new Timeline({ title: 'Creations a second', update, lines: [
      { name: 'Created', column: 'created', colour: 'accent' },
      { name: 'Retried', column: 'retried', colour: 'series-2' },
      { name: 'Refused', column: 'refused', colour: 'series-3' }] });
    this.commits = new Timeline({ title: 'Commit latency', update, lines: [
      { name: 'p99', column: 'p99', colour: 'accent', unit: 'ms' },
      { name: 'p50', column: 'p50', colour: 'series-3', unit: 'ms' }] });
    this.batches = new Timeline({ title: 'Batch size', update, lines: [
      { name: 'Commands', column: 'batch', colour: 'accent', unit: 'a commit' }] });
    this.secret = new SecretDialog();
    this.accounts = new Accounts({ api, update, tell, secret: this.secret });
    this.tokens = new Tokens({ api, path: 'v1/admin/tokens', update, tell, secret: this.secret, scopes: ['admin'],
      whose: 'operators' });
    this.stopping = new AbortController();
    this.#look();
    this.accounts.load();
    this.tokens.load();
  }

  stop() {
    this.stopping.abort();
    for (const chart of [this.creates, this.commits, this.batches]) chart.stop();
  }

  // ---- looking ----

  async #look() {
    while (!this.stopping.signal.aborted) {
      await this.#lookOnce();
      await pause(LOOK_EVERY, this.stopping.signal);
    }
  }

  async #lookOnce() {
    // A proxy may keep one from browsers and not the other.
    const [counted, reaper] = await Promise.allSettled([this.api.text('metrics'), this.api.get('v1/admin/reaper')]);
    if (this.stopping.signal.aborted) return;
    if (counted.value) this.#count(counted.value);
    if (reaper.value) this.#show(reaper.value.data);
    this.problem = reaper.reason ?? counted.reason ?? null;
    this.update();
  }

  #count(text) {
    this.samples = [...this.samples, sampleOf(parse(text), Date.now())].slice(-SAMPLES_MAX);
    remember('samples', this.samples);
    const found = columns(this.samples);
    for (const chart of [this.creates, this.commits, this.batches]) chart.show(found);
  }

  #show(reaper) {
    this.reaper = reaper;
    if (reaper.lastSweep && this.sweeps[0]?.at !== reaper.lastSweep) {
      this.sweeps = [{ at: reaper.lastSweep, ...reaper.lastResult }, ...this.sweeps].slice(0, SWEEPS_MAX);
      remember('sweeps', this.sweeps);
    }
    for (const each of reaper.windows) {
      if (!this.histograms.has(each.accounts)) this.histograms.set(each.accounts, new Histogram());
      this.histograms.get(each.accounts).show(each);
    }
  }

  async #sweep() {
    this.sweeping = true;
    this.update();
    try {
      const { data } = await this.api.post('v1/admin/reaper/sweep');
      this.tell(`Swept: ${count(data.scanned, 'slot')} looked at, ${data.committed} committed, ${data.failed} failed, ` +
        `${data.forgotten} forgotten.`);
      await this.#lookOnce();
    } catch (error) {
      this.problem = error;
    }
    this.sweeping = false;
    this.update();
  }

  // ---- templates ----

  template() {
    return html`<div class="operator">
      <nav aria-label="On this page"><a href="#overview" @click=${jump}>Overview</a> <a href="#reaper" @click=${jump}>Reaper</a>
        <a href="#accounts" @click=${jump}>Accounts</a> <a href="#tokens" @click=${jump}>Tokens</a></nav>
      ${this.problem ? problemNote(this.problem) : nothing}
      ${this.#overview()}
      ${this.#reaper()}
      <section id="accounts" aria-labelledby="accounts-title" tabindex="-1">${this.accounts.template()}</section>
      <section id="tokens" aria-labelledby="tokens-title" tabindex="-1">
        <h2 id="tokens-title">Operators’ tokens</h2>
        <p class="hint">Whoever has one may do all that is on this page.</p>
        ${this.tokens.template()}
      </section>
      ${this.secret.template()}
    </div>`;
  }

  #overview() {
    const latest = this.samples[this.samples.length - 1];
    const first = this.samples.findLast((each) => latest && latest.at - each.at > 55_000) ?? this.samples[0];
    const commits = latest && first ? quantile(0.99, first.commit, latest.commit) : null;
    const grown = latest && first !== latest ? (name) => (latest.creates[name] ?? 0) - (first.creates[name] ?? 0) : () => 0;
    return html`<section id="overview" aria-labelledby="overview-title" tabindex="-1">
      <h1 id="overview-title">How the server does</h1>
      <dl class="tiles">
        ${tile('Created, last minute', latest ? grown('created').toLocaleString() : '–')}
        ${tile('Pending', this.reaper ? this.reaper.pending.toLocaleString() : '–')}
        ${tile('Commit, p99', commits === null ? '–' : span(commits * 1000))}
        ${tile('Waiting in the queue', latest ? latest.queue.toLocaleString() : '–')}
        ${tile('Connections', latest ? latest.connections.toLocaleString() : '–')}
        ${tile('Following changes', latest ? latest.followers.toLocaleString() : '–')}
      </dl>
      <div class="charts">${this.creates.template()}${this.commits.template()}${this.batches.template()}
        ${latest ? this.#slots(latest.slots) : nothing}</div>
      <p class="hint">Looked at every ${LOOK_EVERY / 1000} seconds, since this tab was opened; an hour is kept.
        ${latest?.version ? `Callsign ${latest.version}.` : ''}</p>
    </section>`;
  }

  #slots(slots) {
    const most = Math.max(1, ...Object.values(slots));
    const waiting = this.reaper?.inFlight ?? [];
    return html`<figure class="slots"><figcaption><span class="title">Slots by state</span></figcaption>
      <table><tbody>${Object.entries(STATES).map(([state, name]) => html`<tr><th scope="row">${name}</th>
        <td>${(slots[state] ?? 0).toLocaleString()}</td>
        <td class="bar-cell" aria-hidden="true"><svg width="100%" height="10"><rect width="${((slots[state] ?? 0) / most) * 100}%"
          height="10" rx="3" class=${state}></rect></svg></td></tr>`)}</tbody></table>
      ${waiting.length ? html`<details open><summary>In flight, by account</summary><table><thead><tr><th scope="col">Account</th>
        <th scope="col">Creations</th><th scope="col">Oldest</th></tr></thead><tbody>${waiting.map((each) => html`<tr>
        <th scope="row"><bdi>${each.account}</bdi></th><td>${each.creations}</td><td>${fromNow(each.oldest)}</td></tr>`)}</tbody>
        </table></details>` : nothing}</figure>`;
  }

  #reaper() {
    const { reaper } = this;
    if (!reaper) return html`<section id="reaper" tabindex="-1"><h2>Reaper</h2></section>`;
    return html`<section id="reaper" aria-labelledby="reaper-title" tabindex="-1">
      <div class="section-head"><h2 id="reaper-title">Reaper</h2>
        <button type="button" ?disabled=${this.sweeping} @click=${() => this.#sweep()}>Sweep now</button></div>
      <p class="advice">${reaper.advice}</p>
      ${reaper.clockBehind ? html`<p class="note bad"><b>The clock is behind the store by ${reaper.clockBehind}.</b></p>` : nothing}
      ${reaper.windows.map((each) => this.#window(each, reaper.windows.length > 1))}
      ${this.#sweepTable()}
      <dl class="facts">
        <div><dt>Window</dt><dd>${reaper.windowSetting === 'auto' ? 'auto, chosen of what is seen' : `${reaper.windowSetting}, as configured`}</dd></div>
        <div><dt>Interval</dt><dd>${reaper.interval}</dd></div>
        <div><dt>Retention</dt><dd>${reaper.retention}</dd></div>
        <div><dt>Late retries</dt><dd>${reaper.lateRetries.toLocaleString()} since the start</dd></div>
        ${reaper.oldestPending ? html`<div><dt>Oldest pending</dt><dd>${fromNow(reaper.oldestPending)}</dd></div>` : nothing}
      </dl>
    </section>`;
  }

  #window(each, isOneOfMore) {
    return html`<figure class="window-figure">
      <figcaption><span class="title">How long clients take to retry${isOneOfMore ? `: ${CLASSES[each.accounts]}` : ''}</span>
        <span class="values"><span>${count(each.samples, 'retry', 'retries')} seen</span>
          <span>p50 <b>${each.p50 ? span(ms(each.p50)) : '–'}</b></span><span>p90 <b>${each.p90 ? span(ms(each.p90)) : '–'}</b></span>
          <span>p99 <b>${each.p99 ? span(ms(each.p99)) : '–'}</b></span>
          <span>window <b>${span(ms(each.window))}</b></span></span></figcaption>
      ${this.histograms.get(each.accounts).element}
      <p class="hint">${each.because}</p>
      <details><summary>Other windows, as a table</summary>
        <table><thead><tr><th scope="col">Window</th><th scope="col">Failed too early</th><th scope="col">Pending at a time</th></tr></thead>
        <tbody>${each.others.map((other) => html`<tr><th scope="row">${other.window}${other.window === each.window ? ', in force' : ''}</th>
          <td>${other.failedRetried.toLocaleString()}</td><td>${rounded(Number(other.pending))}</td></tr>`)}</tbody></table></details>
      <details><summary>Retries, as a table</summary>
        <table><thead><tr><th scope="col">Up to</th><th scope="col">Retries</th></tr></thead>
        <tbody>${(each.retries ?? []).map((bucket) => html`<tr><th scope="row">${span(ms(bucket.upTo))}</th>
          <td>${rounded(Number(bucket.retries))}</td></tr>`)}</tbody></table></details>
    </figure>`;
  }

  #sweepTable() {
    return html`<h3>Last sweeps</h3>
      ${this.sweeps.length ? html`<div class="scroll" tabindex="0" role="region" aria-label="Last sweeps"><table><thead><tr><th scope="col">When</th>
        <th scope="col">Looked at</th><th scope="col">Committed</th><th scope="col">Failed</th><th scope="col">Forgotten</th></tr></thead>
        <tbody>${this.sweeps.map((sweep) => html`<tr><th scope="row"><time datetime=${sweep.at} title=${dateTime(sweep.at)}>${
          new Date(sweep.at).toLocaleTimeString()}</time></th><td>${sweep.scanned}</td><td>${sweep.committed}</td>
          <td>${sweep.failed}</td><td>${sweep.forgotten}</td></tr>`)}</tbody></table></div>` : html`<p class="hint">None yet.</p>`}`;
  }
}

function tile(name, value) {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
}

function jump(event) {
  event.preventDefault();
  const section = document.querySelector(event.currentTarget.getAttribute('href'));
  section?.scrollIntoView();
  section?.focus({ preventScroll: true });
}

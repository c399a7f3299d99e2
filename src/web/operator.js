// The view of operators: status, reaper, accounts, operator tokens, backups and held series.

import { html, nothing } from './lit-html.js';
import { Accounts } from './accounts.js';
import { pause } from './api.js';
import { Backups } from './backups.js';
import { Timeline } from './charts.js';
import { HeldSeries } from './held.js';
import { Histogram } from './histogram.js';
import { count, dateTime, fromNow, milliseconds as ms, rounded, span } from './format.js';
import { columns, parse, quantile, sampleOf } from './metrics.js';
import { remember, remembered } from './session.js';
import { SecretDialog, Tokens } from './tokens.js';
import { announce, problemNote, problemText } from './ui.js';

const LOOK_EVERY = 5_000;
// Interval of requests for metrics while they are unavailable.
const METRICS_AGAIN = 60_000;
// One hour of samples.
const SAMPLES_MAX = 720;
const SWEEPS_MAX = 20;
const STATES = { pending: 'Pending', in_flight: 'In flight', committed: 'Committed', failed: 'Failed' };
const CLASSES = { local: 'local accounts', remote: 'remote accounts' };

export class OperatorView {
  constructor({ api, update, tell }) {
    Object.assign(this, { api, update, tell });
    this.samples = remembered('samples', []);
    this.sweeps = remembered('sweeps', []);
    this.reaper = null;
    this.problem = null;
    this.ready = null;  // { is, why }
    this.noMetrics = null;  // the problem of the last request for them
    this.countedAt = 0;
    this.sweeping = false;
    this.histograms = new Map();
    this.creates = new Timeline({ title: 'Creations per second', update, lines: [
      { name: 'Created', column: 'created', colour: 'accent' },
      { name: 'Retried', column: 'retried', colour: 'series-2' },
      { name: 'Rejected', column: 'rejected', colour: 'series-3' }] });
    this.commits = new Timeline({ title: 'Commit latency', update, lines: [
      { name: 'p99', column: 'p99', colour: 'accent', unit: 'ms' },
      { name: 'p50', column: 'p50', colour: 'series-3', unit: 'ms' }] });
    this.batches = new Timeline({ title: 'Batch size', update, lines: [
      { name: 'Commands', column: 'batch', colour: 'accent', unit: 'per commit' }] });
    this.secret = new SecretDialog();
    this.backups = new Backups({ api, update, tell });
    this.held = new HeldSeries({ api, update, tell });
    this.accounts = new Accounts({ api, update, tell, secret: this.secret, grace: () => this.reaper?.accountGrace,
      opened: (account) => this.held.lookAt(account) });
    this.tokens = new Tokens({ api, path: 'v1/admin/tokens', update, tell, secret: this.secret, scopes: ['admin'],
      whose: 'operators' });
    this.stopping = new AbortController();
    this.#look();
    this.accounts.load();
    this.tokens.load();
  }

  stop() {
    this.stopping.abort();
    this.backups.stop();
    for (const chart of [this.creates, this.commits, this.batches]) chart.stop();
  }

  // ---- polling ----

  async #look() {
    while (!this.stopping.signal.aborted) {
      await this.#lookOnce();
      await pause(LOOK_EVERY, this.stopping.signal);
    }
  }

  async #lookOnce() {
    const [counted, reaper, ready] = await Promise.allSettled([this.#metrics(), this.api.get('v1/admin/reaper'),
      this.api.text('readyz')]);
    if (this.stopping.signal.aborted) return;
    if (counted.value) this.#count(counted.value);
    if (reaper.value) this.#show(reaper.value.data);
    this.problem = reaper.reason ?? null;
    this.#showReady(ready);
    this.update();
    this.backups.look();
    this.accounts.refresh();
    if (this.accounts.rows) this.held.look(this.accounts.rows, this.noMetrics ? undefined : this.latest?.held);
  }

  // Metrics may be on a separate port, or a proxy may block them. The rest of the page works without them.
  async #metrics() {
    if (this.noMetrics && Date.now() - this.countedAt < METRICS_AGAIN) return '';
    this.countedAt = Date.now();
    try {
      const text = await this.api.text('metrics');
      this.noMetrics = null;
      return text;
    } catch (error) {
      if (error.code !== 'offline') this.noMetrics = error;
      return '';
    }
  }

  #showReady({ value, reason }) {
    const was = this.ready;
    if (value) this.ready = { is: true, why: '' };
    else if (reason.code === 'offline') this.ready = { is: false, why: 'Server unreachable.' };
    else this.ready = { is: false, why: reason.code === 'not-ready' ? reason.detail : problemText(reason) };
    if (was && was.is !== this.ready.is) announce(this.ready.is ? 'The server is ready again.' : `Not ready. ${this.ready.why}`);
  }

  get latest() { return this.noMetrics ? undefined : this.samples[this.samples.length - 1]; }

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
      this.tell(`Sweep finished: ${count(data.scanned, 'slot')} scanned, ${data.committed} committed, ${data.failed} failed, ` +
        `${data.forgotten} expired.`);
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
      <nav aria-label="On this page"><a href="#overview" @click=${jump}>Status</a> <a href="#reaper" @click=${jump}>Reaper</a>
        <a href="#accounts" @click=${jump}>Accounts</a> <a href="#tokens" @click=${jump}>Tokens</a>
        <a href="#backups" @click=${jump}>Backups</a></nav>
      ${this.held.template()}
      ${this.problem && this.problem.code !== 'offline' ? problemNote(this.problem) : nothing}
      ${this.#overview()}
      ${this.#reaper()}
      <section id="accounts" aria-labelledby="accounts-title" tabindex="-1">${this.accounts.template()}</section>
      <section id="tokens" aria-labelledby="tokens-title" tabindex="-1">
        <h2 id="tokens-title">Operator tokens</h2>
        <p class="hint">An operator token permits everything on this page.</p>
        ${this.tokens.template()}
      </section>
      <section id="backups" aria-labelledby="backups-title" tabindex="-1">${this.backups.template()}</section>
      ${this.secret.template()}
    </div>`;
  }

  #overview() {
    const { latest } = this;
    const first = this.samples.findLast((each) => latest && latest.at - each.at > 55_000) ?? this.samples[0];
    const commits = latest && first ? quantile(0.99, first.commit, latest.commit) : null;
    const grown = latest && first !== latest ? (name) => (latest.creates[name] ?? 0) - (first.creates[name] ?? 0) : () => 0;
    const { newest, isLate } = this.backups;
    return html`<section id="overview" aria-labelledby="overview-title" tabindex="-1">
      <div class="section-head"><h1 id="overview-title" tabindex="-1">Status</h1>${this.#readiness()}</div>
      <dl class="tiles">
        ${latest ? tile('Created, last minute', grown('created').toLocaleString()) : nothing}
        ${tile('Pending slots', this.reaper ? this.reaper.pending.toLocaleString() : '–')}
        ${latest ? html`${tile('Commit, p99', commits === null ? '–' : span(commits * 1000))}
          ${tile('Queued commands', latest.queue.toLocaleString())}
          ${tile('Connections', latest.connections.toLocaleString())}
          ${tile('Followers', latest.followers.toLocaleString())}` : nothing}
        ${tile('Newest backup', newest ? fromNow(newest.madeAt, Date.now(), 'narrow') : 'none', isLate)}
      </dl>
      ${this.noMetrics ? this.#withoutMetrics() : nothing}
      <div class="charts">${this.noMetrics ? nothing
        : html`${this.creates.template()}${this.commits.template()}${this.batches.template()}`}${this.#slots()}</div>
      ${this.noMetrics ? nothing : html`<p class="hint">Updated every ${LOOK_EVERY / 1000} seconds while this tab is
        open; the last hour is shown. ${latest?.version ? `Callsign ${latest.version}.` : ''}</p>`}
    </section>`;
  }

  #readiness() {
    if (!this.ready) return nothing;
    return html`<p class="ready ${this.ready.is ? '' : 'not'}"><i aria-hidden="true"></i><span>${this.ready.is ? 'Ready'
      : html`<b>Not ready.</b> ${this.ready.why}`}</span></p>`;
  }

  #withoutMetrics() {
    const isElsewhere = this.noMetrics.status === 404;
    return html`<div class="note"><p><b>Metrics unavailable: creations, commits and connections are not shown.</b>
      ${isElsewhere ? html`The server has them on a separate port (<code>metrics.listen</code>), which this page cannot read.`
        : html`This page cannot read <code>/metrics</code>: ${problemText(this.noMetrics)}`}</p></div>`;
  }

  // Without metrics, shows only the states that the reaper's status contains.
  #slots() {
    const waiting = this.reaper?.inFlight ?? [];
    if (!this.latest && !this.reaper) return nothing;
    const slots = this.latest?.slots ?? { pending: this.reaper.pending,
      in_flight: waiting.reduce((sum, each) => sum + Number(each.creations), 0) };
    const most = Math.max(1, ...Object.values(slots));
    return html`<figure class="slots"><figcaption><span class="title">Slots by state</span></figcaption>
      <table><tbody>${Object.entries(STATES).filter(([state]) => state in slots).map(([state, name]) => html`<tr>
        <th scope="row">${name}</th><td>${slots[state].toLocaleString()}</td>
        <td class="bar-cell" aria-hidden="true"><svg width="100%" height="10"><rect width="${(slots[state] / most) * 100}%"
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
      ${reaper.clockBehind ? html`<p class="note bad"><b>Wall clock is behind store time by ${reaper.clockBehind}.</b>
        Check the system clock.</p>` : nothing}
      ${reaper.windows.map((each) => this.#window(each, reaper.windows.length > 1))}
      ${this.#sweepTable()}
      <dl class="facts">
        <div><dt>Window</dt><dd>${reaper.windowSetting === 'auto' ? 'auto, from observed retries' : `${reaper.windowSetting}, fixed`}</dd></div>
        <div><dt>Interval</dt><dd>${reaper.interval}</dd></div>
        <div><dt>Retention</dt><dd>${reaper.retention}</dd></div>
        <div><dt>Late retries</dt><dd>${reaper.lateRetries.toLocaleString()} since the server started</dd></div>
        ${reaper.oldestPending ? html`<div><dt>Oldest pending</dt><dd>${fromNow(reaper.oldestPending)}</dd></div>` : nothing}
      </dl>
    </section>`;
  }

  #window(each, isOneOfMore) {
    return html`<figure class="window-figure">
      <figcaption><span class="title">Retry times${isOneOfMore ? `: ${CLASSES[each.accounts]}` : ''}</span>
        <span class="values"><span>${count(each.samples, 'retry', 'retries')} observed</span>
          <span>p50 <b>${each.p50 ? span(ms(each.p50)) : '–'}</b></span><span>p90 <b>${each.p90 ? span(ms(each.p90)) : '–'}</b></span>
          <span>p99 <b>${each.p99 ? span(ms(each.p99)) : '–'}</b></span>
          <span>window <b>${span(ms(each.window))}</b></span></span></figcaption>
      ${this.histograms.get(each.accounts).element}
      <p class="hint">${each.because}</p>
      <details><summary>Table of other windows</summary>
        <table><thead><tr><th scope="col">Window</th><th scope="col">Failed too early</th><th scope="col">Pending on average</th></tr></thead>
        <tbody>${each.others.map((other) => html`<tr><th scope="row">${other.window}${other.window === each.window ? ', current' : ''}</th>
          <td>${other.failedRetried.toLocaleString()}</td><td>${rounded(Number(other.pending))}</td></tr>`)}</tbody></table></details>
      <details><summary>Table of retries</summary>
        <table><thead><tr><th scope="col">Up to</th><th scope="col">Retries</th></tr></thead>
        <tbody>${(each.retries ?? []).map((bucket) => html`<tr><th scope="row">${span(ms(bucket.upTo))}</th>
          <td>${rounded(Number(bucket.retries))}</td></tr>`)}</tbody></table></details>
    </figure>`;
  }

  #sweepTable() {
    return html`<h3>Recent sweeps</h3>
      ${this.sweeps.length ? html`<div class="scroll" tabindex="0" role="region" aria-label="Recent sweeps"><table><thead><tr><th scope="col">Time</th>
        <th scope="col">Scanned</th><th scope="col">Committed</th><th scope="col">Failed</th><th scope="col">Expired</th></tr></thead>
        <tbody>${this.sweeps.map((sweep) => html`<tr><th scope="row"><time datetime=${sweep.at} title=${dateTime(sweep.at)}>${
          new Date(sweep.at).toLocaleTimeString()}</time></th><td>${sweep.scanned}</td><td>${sweep.committed}</td>
          <td>${sweep.failed}</td><td>${sweep.forgotten}</td></tr>`)}</tbody></table></div>` : html`<p class="hint">No sweeps yet.</p>`}`;
  }
}

function tile(name, value, isBad = false) {
  return html`<div class=${isBad ? 'bad' : ''}><dt>${name}</dt><dd>${value}</dd></div>`;
}

function jump(event) {
  event.preventDefault();
  const section = document.querySelector(event.currentTarget.getAttribute('href'));
  section?.scrollIntoView();
  section?.focus({ preventScroll: true });
}

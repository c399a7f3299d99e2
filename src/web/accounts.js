// The server's accounts, each with its tokens and devices.

import { html, nothing } from './lit-html.js';
import { count, dateTime, fromNow, milliseconds, spanInWords } from './format.js';
import { Devices, Tokens } from './tokens.js';
import { icon, problemNote } from './ui.js';

const NAMES = { name: 'Name', prefix: 'Prefix', mode: 'Kind' };
const REMOTE_STATES = { starting: 'starting', up_to_date: 'up to date', pulling: 'pulling', sending: 'pushing',
  waiting: 'retrying', halted: 'halted' };
const HALTED = {
  'history-lost': { why: 'The remote server has lost versions. Restore its newest backup. To accept the history that it ' +
    'has then, run', flags: ' --accept-loss' },
  'history-incomplete': { why: 'The remote server’s history is incomplete and has no snapshot. Sync one of its replicas, which ' +
    'sends one, then run', flags: '' },
};
// Further accounts are found by their full names.
const LISTED_MAX = 1000;
const SHOWN_MAX = 200;

export class Accounts {
  // grace() returns how long a deleted account can be restored. Calls opened(account) when an account is selected.
  constructor({ api, update, tell, secret, grace, opened }) {
    Object.assign(this, { api, update, tell, secret, grace, opened });
    this.rows = null;
    this.problem = null;
    this.hasMore = false;
    this.text = '';
    this.open = null;  // the selected account, with its tokens and devices
  }

  async load() {
    try {
      const { data } = await this.api.get(`v1/admin/accounts?pageSize=${LISTED_MAX}`);
      this.rows = data.accounts;
      this.hasMore = Boolean(data.nextPageToken);
      this.problem = null;
    } catch (error) {
      this.problem = error;
    }
    this.update();
  }

  async #find(event) {
    event.preventDefault();
    const name = this.text.trim();
    const known = this.rows.find((row) => row.name === name);
    this.problem = null;
    try {
      const found = known ?? (await this.api.get(`v1/admin/accounts/${encodeURIComponent(name)}`)).data;
      if (!known) this.rows = [...this.rows, found];
      if (this.open?.account.accountId !== found.accountId) this.#look(found);
    } catch (error) {
      this.problem = error;
    }
    this.update();
  }

  #look(account) {
    if (this.open?.account.accountId === account.accountId) {
      this.open = null;
      return this.update();
    }
    const { api, update, tell, secret } = this;
    const path = `v1/admin/accounts/${encodeURIComponent(account.name)}`;
    const common = { api, update, tell, secret, whose: account.name };
    const tokens = new Tokens({ ...common, path: `${path}/tokens` });
    const devices = account.mode === 'managed' ? new Devices({ ...common, path: `${path}/devices` }) : null;
    this.open = { account, tokens, devices, problem: null, busy: false };
    tokens.load();
    devices?.load();
    this.opened(account);
    this.refresh();
    this.update();
    requestAnimationFrame(() => {
      // Discards what was typed for another account.
      for (const form of document.querySelectorAll('.panel form')) form.reset();
      document.getElementById('account-title')?.focus();
    });
    return undefined;
  }

  // Polls the selected account if it is remote: its state changes without a request from this page.
  async refresh() {
    const { open } = this;
    if (!open?.account.remote || open.busy) return;
    try {
      const { data } = await this.api.get(`v1/admin/accounts/${encodeURIComponent(open.account.name)}`);
      if (!open.busy) this.#put(open, data);
    } catch {
      // The last known state stays visible.
    }
    this.update();
  }

  #put(open, account) {
    this.rows = this.rows.map((row) => (row.accountId === account.accountId ? account : row));
    open.account = account;
  }

  // Changes the selected account by `ask` and shows the message says(account, formerName). Returns whether it succeeded.
  async #change(ask, says) {
    const { open } = this;
    const { name } = open.account;
    open.busy = true;
    open.problem = null;
    this.update();
    try {
      const { data } = await ask(`v1/admin/accounts/${encodeURIComponent(name)}`);
      this.#put(open, data);
      this.tell(says(data, name));
      // A rename changes the path of its tokens and devices.
      if (data.name !== name && this.open === open) {
        this.open = null;
        this.#look(data);
      }
    } catch (error) {
      open.problem = error;
    }
    open.busy = false;
    this.update();
    return open.problem === null;
  }

  #rename(event) {
    event.preventDefault();
    const name = event.target.elements.newName.value.trim();
    return this.#change((path) => this.api.patch(path, { name }), (now, before) => `${before} renamed to ${now.name}.`);
  }

  #disable() {
    const { name } = this.open.account;
    if (!confirm(`Disable ${name}? Its tokens and devices are rejected until it is enabled. No data is lost.`)) return;
    this.#change((path) => this.api.patch(path, { disabled: true }), (now) => `${now.name} disabled.`);
  }

  #enable() {
    this.#change((path) => this.api.patch(path, { disabled: false }), (now) => `${now.name} is active again.`);
  }

  async #delete(event) {
    event.preventDefault();
    const form = event.target;
    if (form.elements.typed.value !== this.open.account.name) return form.elements.typed.focus();
    const isDone = await this.#change((path) => this.api.delete(path), (now) => `${now.name} deleted; ${this.#left(now)}.`);
    if (isDone) requestAnimationFrame(() => document.getElementById('account-title')?.focus());
    return undefined;
  }

  // Returns until when a deleted account can be restored, as a phrase.
  #left(account) {
    const grace = milliseconds(this.grace());
    if (grace === null) return 'can be restored during the grace period';
    const end = new Date(Date.parse(account.deletedAt) + grace);
    return end > Date.now() ? `can be restored until ${dateTime(end)}` : 'its data is being removed';
  }

  async #create(event) {
    event.preventDefault();
    const form = event.target;
    const { name, prefix, mode } = form.elements;
    this.problem = null;
    try {
      const { data } = await this.api.post('v1/admin/accounts',
        { name: name.value.trim(), prefix: prefix.value.trim().toUpperCase(), mode: mode.value });
      form.reset();
      const parts = [[`Token of ${data.name}`, data.token]];
      if (data.clientId) parts.push(['Client ID for Taskwarrior', data.clientId]);
      this.secret.show(`Account ${data.name}`, parts.filter(([, secret]) => secret), this.update);
      await this.load();
    } catch (error) {
      this.problem = error;
      this.update();
    }
  }

  template() {
    return html`<h2 id="accounts-title">Accounts</h2>
      ${this.rows ? this.#listing() : this.problem ? nothing : html`<p class="hint">Loading.</p>`}
      ${problemNote(this.problem, NAMES)}
      <form class="make" @submit=${(e) => this.#create(e)} autocomplete="off">
        <label>New account name <input name="name" required maxlength="63" spellcheck="false"></label>
        <label>Prefix <input name="prefix" required maxlength="10" placeholder="SYN" autocapitalize="characters" spellcheck="false"></label>
        <label class="kind">Kind <select name="mode"><option value="managed">Managed: readable by the server</option>
          <option value="opaque">Opaque: unreadable by the server</option></select></label>
        <button>Create account</button></form>`;
  }

  #listing() {
    const text = this.text.trim().toLowerCase();
    const found = this.rows.filter((row) => row.name.toLowerCase().includes(text) || row.prefix?.toLowerCase().includes(text));
    const shown = found.slice(0, SHOWN_MAX);
    return html`
      ${this.rows.length > 8 ? html`<form role="search" aria-label="Accounts" @submit=${(e) => this.#find(e)}>
        <label class="field-search narrow"><span class="unseen">Search accounts</span>${icon('search')}
          <input type="search" placeholder="Search accounts" .value=${this.text}
            @input=${(e) => { this.text = e.target.value; this.update(); }}></label></form>` : nothing}
      <p class="hint">${this.hasMore ? 'First ' : ''}${count(this.rows.length, 'account')}${
        this.hasMore ? ' (to find others, enter the full name)' : ''}${found.length < this.rows.length ? `, ${found.length} matching` : ''}${
        found.length > shown.length ? `, first ${shown.length} shown` : ''}.</p>
      <div class="scroll" tabindex="0" role="region" aria-label="All accounts"><table class="accounts"><thead><tr><th scope="col">Name</th>
        <th scope="col">Prefix</th><th scope="col">Kind</th><th scope="col">State</th><th scope="col">Changes</th>
        <th scope="col">Created</th></tr></thead>
        <tbody>${shown.map((row) => this.#row(row))}</tbody></table></div>
      ${this.open ? this.#detail() : nothing}`;
  }

  #row(row) {
    const isOpen = this.open?.account.accountId === row.accountId;
    const isBad = row.remote?.state === 'halted' || row.remote?.lastError;
    return html`<tr class=${[isOpen && 'open', row.state !== 'active' && 'over'].filter(Boolean).join(' ')}><th scope="row"><button type="button" class="link" aria-expanded=${isOpen}
        @click=${() => this.#look(row)}><bdi>${row.name}</bdi></button></th>
      <td class="key">${row.prefix}</td><td>${row.remote ? 'remote' : row.mode}</td>
      <td class=${isBad && row.state === 'active' ? 'bad' : ''}>${this.#stateOf(row)}</td><td>${Number(row.seq).toLocaleString()}</td>
      <td><time datetime=${row.createdAt} title=${dateTime(row.createdAt)}>${fromNow(row.createdAt)}</time></td></tr>`;
  }

  #stateOf({ state, remote }) {
    if (state !== 'active' || !remote) return state;
    return remote.moving ? 'moving' : remoteState(remote);
  }

  #detail() {
    const { account, tokens, devices, problem, busy } = this.open;
    const isDeleted = account.state === 'deleted';
    return html`<div class="panel" role="group" aria-labelledby="account-title">
      <div class="section-head"><h3 id="account-title" tabindex="-1"><bdi>${account.name}</bdi></h3>
        <button type="button" class="quiet" @click=${() => this.#look(account)}>Close</button></div>
      ${account.state === 'active' ? nothing : html`<div class="note closed"><p>${isDeleted
        ? html`<b>Deleted ${fromNow(account.deletedAt)}.</b> No access; ${this.#left(account)}.`
        : html`<b>Disabled.</b> Tokens and devices are rejected; no data is lost.`}</p>
        <button type="button" class="primary" ?disabled=${busy} @click=${() => this.#enable()}>${
          isDeleted ? 'Restore' : 'Enable'}</button></div>`}
      ${account.remote ? this.#remote(account) : nothing}
      ${isDeleted ? nothing : html`<h4>Tokens</h4>${tokens.template()}
        ${devices ? html`<h4>Devices</h4>${devices.template()}` : nothing}`}
      <h4>Settings</h4>
      ${problemNote(problem, NAMES)}
      <form class="make" @submit=${(e) => this.#rename(e)} autocomplete="off">
        <label>Account name <input name="newName" required maxlength="63" .defaultValue=${account.name}
          spellcheck="false" autocapitalize="none"></label>
        <button ?disabled=${busy}>Rename</button>
        ${account.state === 'active' ? html`<button type="button" ?disabled=${busy} @click=${() => this.#disable()}>Disable</button>`
          : nothing}</form>
      ${isDeleted ? nothing : this.#deletion(account, busy)}
    </div>`;
  }

  #deletion(account, busy) {
    const grace = milliseconds(this.grace());
    return html`<details class="deletion"><summary>Delete account</summary>
      <p>Tokens and devices are rejected at once. ${grace === 0 ? 'All data is deleted at once: ' : html`The account can be
        restored ${grace === null ? 'during the grace period' : `for ${spanInWords(grace)}`}; then all data is deleted: `}tasks,
        history, devices, tokens, webhooks.</p>
      <form class="make" @submit=${(e) => this.#delete(e)} autocomplete="off">
        <label>Type <b><bdi>${account.name}</bdi></b> to confirm <input name="typed" required spellcheck="false"
          autocapitalize="none" @input=${() => this.update()}></label>
        <button class="bad" ?disabled=${busy || this.#typed() !== account.name}>Delete</button></form></details>`;
  }

  #typed() { return document.querySelector('.deletion [name=typed]')?.value; }

  #remote({ name, remote }) {
    const facts = [
      ['Remote server', remote.url],
      ['State', remoteState(remote)],
      ['Last synced', remote.upToDateAt ? fromNow(remote.upToDateAt) : 'never'],
      ['Last error', remote.lastError && `${remote.lastError} (${fromNow(remote.lastErrorAt)})`],
      ['Pulled', Number(remote.pulled) > 0 && count(remote.pulled, 'version')],
      ['Waiting', Number(remote.creationsWaiting) + Number(remote.keysWaiting) > 0 &&
        `${count(remote.creationsWaiting, 'creation')}, ${count(remote.keysWaiting, 'key')}, oldest ${fromNow(remote.oldestWaiting)}`],
      ['Moving', remote.moving && `${count(remote.tasksMoved, 'task')} sent`],
    ].filter(([, value]) => value);
    const { why, flags } = HALTED[remote.halted] ?? { why: 'Correct the cause of the last error, then run', flags: '' };
    return html`${remote.state === 'halted' ? html`<p class="note bad" role="alert"><b>Halted.</b> ${why}
        <code>callsign account remote ${name}${flags}</code></p>` : nothing}
      <dl class="facts">${facts.map(([what, value]) => html`<div><dt>${what}</dt><dd><bdi>${value}</bdi></dd></div>`)}</dl>`;
  }
}

function remoteState({ state }) {
  return REMOTE_STATES[state] ?? state ?? 'not started';
}

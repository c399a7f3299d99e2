// The accounts of the server, each with its tokens and devices.

import { html, nothing } from './lit-html.js';
import { count, dateTime, fromNow } from './format.js';
import { Devices, Tokens } from './tokens.js';
import { icon, problemNote } from './ui.js';

const NAMES = { name: 'Name', prefix: 'Prefix', mode: 'Kind' };
// Of more than the first the server has, the others are found by their names.
const LISTED_MAX = 1000;
const SHOWN_MAX = 200;

export class Accounts {
  constructor({ api, update, tell, secret }) {
    Object.assign(this, { api, update, tell, secret });
    this.rows = null;
    this.problem = null;
    this.hasMore = false;
    this.text = '';
    this.open = null;  // the one that is looked at, with its listings
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
      if (this.open?.account.name !== found.name) this.#look(found);
    } catch (error) {
      this.problem = error;
    }
    this.update();
  }

  #look(account) {
    if (this.open?.account.name === account.name) {
      this.open = null;
      return this.update();
    }
    const { api, update, tell, secret } = this;
    const path = `v1/admin/accounts/${encodeURIComponent(account.name)}`;
    const common = { api, update, tell, secret, whose: account.name };
    const tokens = new Tokens({ ...common, path: `${path}/tokens` });
    const devices = account.mode === 'managed' ? new Devices({ ...common, path: `${path}/devices` }) : null;
    this.open = { account, tokens, devices };
    tokens.load();
    devices?.load();
    this.update();
    requestAnimationFrame(() => document.getElementById('account-title')?.focus());
    return undefined;
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
      const parts = [[`A token of ${data.name}`, data.token]];
      if (data.clientId) parts.push(['Client id for its Taskwarriors', data.clientId]);
      this.secret.show(`The account ${data.name}`, parts.filter(([, secret]) => secret), this.update);
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
        <label>New account’s name <input name="name" required maxlength="63" spellcheck="false"></label>
        <label>Prefix <input name="prefix" required maxlength="10" placeholder="SYN" autocapitalize="characters" spellcheck="false"></label>
        <label>Kind <select name="mode"><option value="managed">Managed: the server can read it</option>
          <option value="opaque">Opaque: it cannot</option></select></label>
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
      <p class="hint">${this.hasMore ? 'The first ' : ''}${count(this.rows.length, 'account')}${
        this.hasMore ? '; others are found by their whole name and Enter' : ''}${found.length < this.rows.length ? `, ${found.length} of them found` : ''}${
        found.length > shown.length ? `. The first ${shown.length} are shown` : ''}.</p>
      <div class="scroll" tabindex="0" role="region" aria-label="All accounts"><table class="accounts"><thead><tr><th scope="col">Name</th>
        <th scope="col">Prefix</th><th scope="col">Kind</th><th scope="col">Changes</th><th scope="col">Made</th></tr></thead>
        <tbody>${shown.map((row) => this.#row(row))}</tbody></table></div>
      ${this.open ? this.#detail() : nothing}`;
  }

  #row(row) {
    const isOpen = this.open?.account.name === row.name;
    return html`<tr class=${isOpen ? 'open' : ''}><th scope="row"><button type="button" class="link" aria-expanded=${isOpen}
        @click=${() => this.#look(row)}><bdi>${row.name}</bdi></button></th>
      <td class="key">${row.prefix}</td><td>${row.remote ? 'elsewhere' : row.mode}</td><td>${Number(row.seq).toLocaleString()}</td>
      <td><time datetime=${row.createdAt} title=${dateTime(row.createdAt)}>${fromNow(row.createdAt)}</time></td></tr>`;
  }

  #detail() {
    const { account, tokens, devices } = this.open;
    return html`<div class="panel" role="group" aria-labelledby="account-title">
      <div class="section-head"><h3 id="account-title" tabindex="-1"><bdi>${account.name}</bdi></h3>
        <button type="button" class="quiet" @click=${() => this.#look(account)}>Close</button></div>
      ${account.remote ? html`<p class="hint">Its tasks live at ${account.remote.url}: ${account.remote.state.replace('_', ' ')}.
        ${account.remote.lastError ?? ''}</p>` : nothing}
      <h4>Tokens</h4>${tokens.template()}
      ${devices ? html`<h4>Devices</h4>${devices.template()}` : nothing}
    </div>`;
  }
}

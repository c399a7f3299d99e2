// API tokens and devices. Their secrets are shown once, when they are created.

import { html, nothing } from './lit-html.js';
import { dateTime, fromNow } from './format.js';
import { copyText, icon, problemNote } from './ui.js';

const NAMES = { name: 'Name', scope: 'Scope', expiresAt: 'Lifetime' };
const RESYNC = { expected: 'expected after the restore', seen: 'synced since the restore', returned: 'synced, newer tasks recovered' };
const DAY = 86_400_000;
const LIVES = { '': 'No expiry', 1: '1 day', 30: '30 days', 90: '90 days', 365: '1 year' };

// Shows secrets that the server returns only once.
export class SecretDialog {
  constructor() { this.parts = null; }

  // `parts`: [[label, secret], ...].
  show(title, parts, update) {
    Object.assign(this, { title, parts, update });
    update();
    queueMicrotask(() => queueMicrotask(() => document.getElementById('secret').showModal()));
  }

  #forget() {
    this.parts = null;
    this.update();
  }

  template() {
    return html`<dialog id="secret" aria-labelledby="secret-title" @close=${() => this.#forget()}>
      ${this.parts ? html`<h2 id="secret-title">${this.title}</h2>
        <p>Shown only once: copy it now.</p>
        ${this.parts.map(([what, secret]) => html`<div class="secret"><label>${what}
          <textarea readonly rows=${secret.split('\n').length} spellcheck="false" .value=${secret}
            @focus=${(e) => e.target.select()}></textarea></label>
          <button type="button" @click=${() => copyText(secret, what)}>${icon('copy')}<span>Copy</span></button></div>`)}
        <form method="dialog"><button class="primary">Close</button></form>` : nothing}
    </dialog>`;
  }
}

// A list with a form that creates an entry and a button that revokes one. Subclasses define columns and fields.
class Listing {
  constructor({ api, path, update, tell, secret, whose }) {
    Object.assign(this, { api, path, update, tell, secret, whose });
    this.rows = null;
    this.problem = null;
    this.showsRevoked = false;
  }

  async load() {
    try {
      this.rows = await this.api.all(this.path, this.kind);
      this.problem = null;
    } catch (error) {
      this.problem = error;
    }
    this.update();
  }

  async create(event) {
    event.preventDefault();
    const form = event.target;
    this.problem = null;
    try {
      const { data } = await this.api.post(this.path, this.bodyOf(form.elements));
      form.reset();
      this.secret.show(...this.secretOf(data), this.update);
      await this.load();
    } catch (error) {
      this.problem = error;
      this.update();
    }
  }

  async revoke(row) {
    if (!confirm(`Revoke ${this.one} “${row.name}” of ${this.whose}? It is rejected from then on.`)) return;
    try {
      await this.api.delete(this.pathOf(row));
      this.tell(`Revoked ${this.one} ${row.name}.`);
      await this.load();
    } catch (error) {
      this.problem = error;
      this.update();
    }
  }

  isOver(row) {
    return Boolean(row.revokedAt) || (row.expiresAt && Date.parse(row.expiresAt) <= Date.now());
  }

  stateOf(row) {
    if (row.revokedAt) return html`revoked ${fromNow(row.revokedAt)}`;
    if (row.expiresAt) return html`${this.isOver(row) ? 'expired' : 'expires'} ${fromNow(row.expiresAt)}`;
    return 'active';
  }

  template() {
    if (!this.rows) return this.problem ? problemNote(this.problem) : html`<p class="hint">Loading.</p>`;
    const over = this.rows.filter((row) => this.isOver(row));
    const shown = this.showsRevoked ? this.rows : this.rows.filter((row) => !this.isOver(row));
    return html`
      ${shown.length ? html`<div class="scroll" tabindex="0" role="region" aria-label=${`List of ${this.kind} of ${this.whose}`}><table>
        <thead><tr>${this.heads.map((head) => html`<th scope="col">${head}</th>`)}<th scope="col">Created</th><th scope="col">State</th>
          <th scope="col"><span class="unseen">Actions</span></th></tr></thead>
        <tbody>${shown.map((row) => html`<tr class=${this.isOver(row) ? 'over' : ''}>${this.cellsOf(row)}
          <td><time datetime=${row.createdAt} title=${dateTime(row.createdAt)}>${fromNow(row.createdAt)}</time></td>
          <td>${this.stateOf(row)}</td>
          <td>${row.revokedAt ? nothing : html`<button type="button" class="quiet bad" aria-label=${`Revoke ${row.name}`}
            @click=${() => this.revoke(row)}>Revoke</button>`}</td></tr>`)}</tbody></table></div>`
        : html`<p class="hint">No active ${this.kind}.</p>`}
      ${over.length ? html`<button type="button" class="quiet" @click=${() => { this.showsRevoked = !this.showsRevoked; this.update(); }}>
        ${this.showsRevoked ? 'Hide revoked and expired' : `Show ${over.length} revoked or expired`}</button>` : nothing}
      ${problemNote(this.problem, NAMES)}
      <form class="make" @submit=${(e) => this.create(e)} autocomplete="off">${this.fields()}</form>`;
  }
}

export class Tokens extends Listing {
  kind = 'tokens';
  one = 'token';
  heads = ['Name', 'Scope'];

  constructor({ scopes = ['write', 'read', 'admin'], ...rest }) {
    super(rest);
    this.scopes = scopes;
  }

  // Account tokens and operator tokens are revoked at the same path.
  pathOf(row) { return `v1/admin/tokens/${row.tokenId}`; }

  bodyOf({ name, scope, days }) {
    const body = { name: name.value.trim(), scope: scope?.value ?? this.scopes[0] };
    if (days.value) body.expiresAt = new Date(Date.now() + Number(days.value) * DAY).toISOString();
    return body;
  }

  secretOf(data) { return [`Token for ${this.whose}`, [[`Token ${data.name}`, data.token]]]; }

  cellsOf(row) { return html`<th scope="row"><bdi>${row.name}</bdi></th><td>${row.scope}</td>`; }

  fields() {
    return html`<label>New token name <input name="name" required maxlength="63" spellcheck="false"></label>
      ${this.scopes.length > 1 ? html`<label>Scope <select name="scope">${this.scopes.map((scope) =>
        html`<option>${scope}</option>`)}</select></label>` : nothing}
      <label>Lifetime <select name="days">${Object.entries(LIVES).map(([days, name]) =>
        html`<option value=${days} .selected=${days === ''}>${name}</option>`)}</select></label>
      <button>Create token</button>`;
  }
}

export class Devices extends Listing {
  kind = 'devices';
  one = 'device';
  heads = ['Name', 'Client ID'];

  pathOf(row) { return `${this.path}/${row.deviceId}`; }

  bodyOf({ name }) { return { name: name.value.trim() }; }

  secretOf(data) {
    return [`Device ${data.name}`, [['Lines for .taskrc', data.taskrc], ['Encryption secret', data.encryptionSecret]]];
  }

  cellsOf(row) { return html`<th scope="row"><bdi>${row.name}</bdi></th><td class="id">${row.clientId}</td>`; }

  // After a restore, shows whether a device has synced.
  stateOf(row) {
    return row.revokedAt || !row.resync ? super.stateOf(row) : RESYNC[row.resync];
  }

  fields() {
    return html`<label>New device name <input name="name" required maxlength="63" spellcheck="false"></label>
      <button>Create device</button>`;
  }
}

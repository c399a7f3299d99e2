// One task: its key, with a link to copy, and a form that does not overwrite concurrent changes by other clients.

import { html, nothing } from './lit-html.js';
import { ROOT } from './api.js';
import { dateTime, fromInput, fromNow, toInput, words } from './format.js';
import { announce, copyText, icon, problemNote } from './ui.js';
import { keyParts, meta, nameOf, refOf } from './tasks.js';

// `text` gives the form's text of a field, `value` the patch's value of that text. An empty text removes the field.
const same = (text) => text;
const FIELDS = [
  { name: 'description', label: 'Description', text: (t) => t.description ?? '', value: same },
  { name: 'project', label: 'Project', text: (t) => t.project ?? '', value: same },
  { name: 'tags', label: 'Tags', text: (t) => (t.tags ?? []).join(' '), value: words },
  { name: 'priority', label: 'Priority', text: (t) => t.priority ?? '', value: same },
  { name: 'due', label: 'Due', text: (t) => toInput(t.due), value: fromInput, instant: true },
  { name: 'wait', label: 'Wait until', text: (t) => toInput(t.wait), value: fromInput, instant: true },
  { name: 'scheduled', label: 'Scheduled', text: (t) => toInput(t.scheduled), value: fromInput, instant: true },
  { name: 'until', label: 'Expires', text: (t) => toInput(t.until), value: fromInput, instant: true },
  { name: 'depends', label: 'Depends on', text: (t, keys) => (t.depends ?? []).map((id) => keys.get(id) ?? id).join(' '),
    value: words },
];
const NAMES = Object.fromEntries(FIELDS.map((field) => [field.name, field.label]));
// Fields that are collapsed while all of them are empty.
const RARE = ['wait', 'scheduled', 'until', 'depends'];
// Maximum number of dependencies whose keys are looked up.
const DEPENDS_MAX = 20;

export class TaskView {
  constructor({ api, ref, update, goTo, close, act, tell }) {
    Object.assign(this, { api, ref, update, goTo, close, act, tell });
    this.task = null;
    this.problem = null;  // why the task cannot be shown
    this.rejected = null;  // why the last change was rejected
    this.keys = new Map();
    this.form = {};
    this.conflict = null;
    this.newer = null;  // a change that arrived while the form was being edited
    this.busy = false;
    this.load();
  }

  async load() {
    try {
      const { data } = await this.api.get(`v1/tasks/${encodeURIComponent(this.ref)}`);
      this.#show(data);
    } catch (error) {
      this.problem = error;
    }
    this.update();
    await this.#lookUpDepends();
  }

  #show(task) {
    this.task = task;
    this.problem = null;
    this.newer = null;
    this.conflict = null;
    this.form = this.#formOf(task);
  }

  #formOf(task) {
    return Object.fromEntries(FIELDS.map((field) => [field.name, field.text(task, this.keys)]));
  }

  async #lookUpDepends() {
    const unknown = (this.task?.depends ?? []).filter((id) => !this.keys.has(id)).slice(0, DEPENDS_MAX);
    if (!unknown.length) return;
    const dirty = this.isDirty;
    await Promise.all(unknown.map(async (id) => {
      try {
        this.keys.set(id, refOf((await this.api.get(`v1/tasks/${id}`)).data));
      } catch {
        // The dependency is shown by its UUID.
      }
    }));
    if (!dirty) this.form = this.#formOf(this.task);
    this.update();
  }

  #dirtyFields(base = this.task) {
    return FIELDS.filter((field) => this.form[field.name] !== field.text(base, this.keys));
  }

  get isDirty() { return this.task !== null && this.#dirtyFields().length > 0; }

  // ---- changes from the feed ----

  heard(change) {
    if (!this.task || change.task.uuid !== this.task.uuid || change.seq <= this.task.seq) return;
    if (change.purged) {
      this.task = null;
      this.problem = { title: `${nameOf(change.task)} permanently deleted`, detail: 'Its number is not reused.' };
    } else if (this.isDirty || this.conflict) {
      this.newer = change;
    } else {
      this.#show(change.task);
    }
    this.update();
    this.#lookUpDepends();
  }

  // ---- saving ----

  async save(event) {
    event?.preventDefault();
    const fields = this.#dirtyFields();
    if (!fields.length || this.busy) return;
    await this.#send(this.#patchOf(fields, this.form), this.task.etag);
  }

  #patchOf(fields, form) {
    return Object.fromEntries(fields.map((field) => [
      field.name, form[field.name].trim() === '' && field.name !== 'description' ? null : field.value(form[field.name].trim()),
    ]));
  }

  async #send(patch, etag) {
    this.busy = true;
    this.rejected = null;
    this.update();
    try {
      const { data } = await this.api.patch(`v1/tasks/${this.task.uuid}`, patch, etag);
      this.#show(data);
      announce(`${nameOf(data)} saved.`);
    } catch (error) {
      if (error.status === 412) await this.#compare();
      else this.rejected = error;
    }
    this.busy = false;
    this.update();
    if (this.conflict) requestAnimationFrame(() => document.getElementById('conflict-title')?.focus());
  }

  // Compares the server's current task with the edits in the form.
  async #compare() {
    try {
      const { data: theirs } = await this.api.get(`v1/tasks/${this.task.uuid}`);
      const rows = [];
      for (const field of FIELDS) {
        const base = field.text(this.task, this.keys);
        const mine = this.form[field.name];
        const other = field.text(theirs, this.keys);
        if (other === base && mine === base) continue;
        const isBoth = other !== base && mine !== base && mine !== other;
        rows.push({ field, base, mine, theirs: other, isBoth, take: mine !== base ? 'mine' : 'theirs' });
      }
      this.conflict = { theirs, rows, by: this.newer?.by ?? '' };
      announce('The task has changed. Choose which values to keep.');
    } catch (error) {
      this.rejected = error;
    }
  }

  async #settle() {
    const { theirs, rows } = this.conflict;
    for (const row of rows) this.form[row.field.name] = row.take === 'mine' ? row.mine : row.theirs;
    this.task = theirs;
    this.conflict = null;
    this.newer = null;
    const fields = this.#dirtyFields();
    if (fields.length) await this.#send(this.#patchOf(fields, this.form), theirs.etag);
    else this.#show(theirs);
    this.update();
  }

  #takeTheirs() {
    this.#show(this.conflict?.theirs ?? this.newer.task);
    this.update();
  }

  // ---- annotations ----

  async #annotate(event) {
    event.preventDefault();
    const input = event.target.elements.annotation;
    const description = input.value.trim();
    if (!description) return;
    if (await this.#note('annotate', { description })) input.value = '';
  }

  async #note(verb, annotation) {
    this.rejected = null;
    const dirty = this.isDirty;
    try {
      const { data } = await this.api.post(`v1/tasks/${this.task.uuid}:${verb}`, annotation);
      const form = this.form;
      const base = this.#formOf(this.task);
      this.#show(data);
      // Unsaved edits stay in the form; they now apply to the current task.
      if (dirty) for (const field of FIELDS) if (form[field.name] !== base[field.name]) this.form[field.name] = form[field.name];
      announce(verb === 'annotate' ? 'Annotation added.' : 'Annotation removed.');
      this.update();
      return true;
    } catch (error) {
      this.rejected = error;
      this.update();
      return false;
    }
  }

  // ---- templates ----

  template() {
    return html`<section class="task" aria-labelledby="task-title">
      <div class="task-head">
        <button type="button" class="quiet back" @click=${this.close}>${icon('back')}<span>Back to list</span></button>
        ${this.task ? this.#actions() : nothing}
      </div>
      <div class="hero-line">
        <h2 id="task-title" tabindex="-1" class="hero">${keyParts(this.task?.key ?? this.ref)}</h2>
        ${this.task?.key ? this.#copyButton(this.task.key) : nothing}
      </div>
      ${this.task ? this.#body() : this.#absent()}
    </section>`;
  }

  #copyButton(key) {
    return html`<button type="button" class="quiet"
      @click=${() => copyText(new URL(key, ROOT).href, `Link to ${key}`)}>${icon('copy')}<span>Copy link</span></button>`;
  }

  #absent() {
    if (!this.problem) return html`<div class="skeleton" aria-hidden="true"><i></i><i></i></div>`;
    return html`${problemNote(this.problem)}
      ${this.problem.isPassing ? html`<button type="button" @click=${() => this.load()}>Retry</button>` : nothing}`;
  }

  #actions() {
    const { task } = this;
    const isOpen = task.status === 'pending' || task.status === 'recurring';
    const button = (verb, name, kind = '') =>
      html`<button type="button" class=${kind} @click=${() => this.act(task, verb)}>${name}</button>`;
    return html`<div class="actions">
      ${isOpen ? button('complete', 'Complete', 'primary') : button('reopen', 'Reopen')}
      ${task.status === 'pending' ? (task.start ? button('stop', 'Stop') : button('start', 'Start')) : nothing}
      ${task.status === 'deleted' ? nothing : button('delete', 'Delete', 'quiet')}
    </div>`;
  }

  #body() {
    const { task } = this;
    return html`
      ${meta(task)}
      ${this.newer && !this.conflict ? this.#newerNote() : nothing}
      ${this.conflict ? this.#conflictNote() : nothing}
      ${problemNote(this.rejected, NAMES)}
      ${this.#form()}
      ${this.#annotations()}
      ${this.#facts()}`;
  }

  #newerNote() {
    return html`<div class="note" role="status"><p><b>This task was changed${by(this.newer.by)} while you were editing.</b>
      Save to compare both versions.</p>
      <button type="button" @click=${() => this.#takeTheirs()}>Discard my changes</button></div>`;
  }

  #conflictNote() {
    const { rows, by: who } = this.conflict;
    return html`<div class="note conflict" aria-labelledby="conflict-title" role="group">
      <h3 id="conflict-title" tabindex="-1">This task was changed${by(who)} while you were editing</h3>
      <p>Not saved yet. Choose which values to keep.</p>
      ${rows.map((row) => html`<fieldset><legend>${row.field.label}${row.isBoth ? ', changed by both' : ''}</legend>
        ${this.#choice(row, 'mine', row.mine === row.base ? 'Original' : 'Yours', row.mine)}
        ${this.#choice(row, 'theirs', row.theirs === row.base ? 'Original' : 'Theirs', row.theirs)}
      </fieldset>`)}
      <div class="actions"><button type="button" class="primary" @click=${() => this.#settle()}>Save selection</button>
        <button type="button" @click=${() => this.#takeTheirs()}>Discard my changes</button></div>
    </div>`;
  }

  #choice(row, side, name, text) {
    const shown = row.field.instant && text ? dateTime(fromInput(text)) : text;
    return html`<label class="choice"><input type="radio" name=${`take-${row.field.name}`} .checked=${row.take === side}
        @change=${() => { row.take = side; this.update(); }}>
      <span><span class="side">${name}</span> <bdi dir="auto">${shown || 'empty'}</bdi></span></label>`;
  }

  #input(name, event) {
    this.form[name] = event.target.value;
    this.update();
  }

  #form() {
    const { form } = this;
    const field = (name, type = 'text', more = nothing) => html`<label>${NAMES[name]}
      <input type=${type} name=${name} .value=${form[name]} dir=${type === 'text' ? 'auto' : nothing} list=${more}
        @input=${(e) => this.#input(name, e)}></label>`;
    const priorities = { '': 'None', H: 'High', M: 'Medium', L: 'Low' };
    if (!(form.priority in priorities)) priorities[form.priority] = form.priority;
    return html`<form id="edit-task" class="edit" autocomplete="off" @submit=${(e) => this.save(e)}>
      <label class="wide">Description
        <textarea name="description" rows="3" dir="auto" .value=${form.description}
          @input=${(e) => this.#input('description', e)}></textarea></label>
      <div class="fields">
        ${field('project', 'text', 'projects')}
        ${field('tags')}
        <label>Priority <select name="priority" @change=${(e) => this.#input('priority', e)}>
          ${Object.entries(priorities).map(([value, name]) =>
            html`<option value=${value} .selected=${value === form.priority}>${name}</option>`)}</select></label>
        ${field('due', 'datetime-local')}
      </div>
      <details ?open=${RARE.some((name) => form[name] !== '')}><summary>More fields</summary><div class="fields">
        ${field('wait', 'datetime-local')}
        ${field('scheduled', 'datetime-local')}
        ${field('until', 'datetime-local')}
        ${field('depends')}
      </div></details>
      ${this.#dependLinks()}
      ${this.isDirty && !this.conflict ? html`<div class="actions save">
        <button class="primary" ?disabled=${this.busy}>${this.busy ? 'Saving' : 'Save'}</button>
        <button type="button" @click=${() => { this.#show(this.task); this.update(); }}>Discard my changes</button>
      </div>` : nothing}
    </form>`;
  }

  #dependLinks() {
    const depends = this.task.depends ?? [];
    if (!depends.length) return nothing;
    return html`<p class="depends">Depends on ${depends.map((id) => {
      const ref = this.keys.get(id) ?? id;
      return html`<a href=${ref} class="key small" @click=${(e) => { e.preventDefault(); this.goTo(ref); }}>${keyParts(ref)}</a> `;
    })}</p>`;
  }

  #annotations() {
    const all = this.task.annotations ?? [];
    return html`<h3>Annotations</h3>
      ${all.length ? html`<ul class="annotations">${all.map((each) => html`<li>
        <span><bdi dir="auto">${each.description}</bdi>
          <time class="meta" datetime=${each.entry} title=${dateTime(each.entry)}>${fromNow(each.entry)}</time></span>
        <button type="button" class="quiet icon-only" aria-label="Remove annotation"
          @click=${() => this.#note('denotate', each)}>${icon('close')}</button></li>`)}</ul>` : nothing}
      <form class="line annotate" @submit=${(e) => this.#annotate(e)} autocomplete="off">
        <label class="unseen" for="annotation">New annotation</label>
        <input id="annotation" name="annotation" placeholder="Add an annotation" dir="auto"><button>Add</button></form>`;
  }

  #facts() {
    const { task } = this;
    const rows = [
      ['Created', task.createdAt && `${dateTime(task.createdAt)}${task.madeBy ? ` by ${task.madeBy}` : ''}`],
      ['Modified', task.modified && dateTime(task.modified)],
      ['Started', task.start && dateTime(task.start)],
      ['Ended', task.end && dateTime(task.end)],
      ['Recurs', task.recur],
      ...Object.entries(task.attributes ?? {}),
      ['UUID', task.uuid],
    ].filter(([, value]) => value);
    return html`<h3>Details</h3>
      <dl class="facts">${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd><bdi>${value}</bdi></dd></div>`)}</dl>`;
  }
}

function by(name) {
  return name ? html` by <bdi>${name}</bdi>` : nothing;
}

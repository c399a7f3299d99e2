// The list of tasks: filters, creation, and rows that follow the account's changes.

import { html, nothing } from './lit-html.js';
import { fromInput, fromNow, words } from './format.js';
import { icon, KeyedList, problemNote, problemText } from './ui.js';

const PAGE = 50;
const PAGE_MAX = 500;
const STATUSES = { pending: 'Pending', completed: 'Completed', deleted: 'Deleted', recurring: 'Recurring', any: 'Any' };
const STATES = ['ready', 'overdue', 'due', 'active', 'waiting', 'scheduled', 'blocked', 'blocking', 'tagged', 'annotated'];
const SORTS = {
  '-key': 'Newest number', key: 'Oldest number', '-urgency': 'Urgency', due: 'Due date', '-modified': 'Last modified',
  '-entry': 'Last entered',
};
const NO_NUMBER = html`<span class="key pending" aria-label="No number yet"><span class="dots"></span></span>`;
const NONE = { status: 'pending', is: '', project: '', tag: '', prefix: '', text: '', sort: '-key' };
const FIELD_NAMES = { description: 'Description', project: 'Project', tags: 'Tags', due: 'Due', priority: 'Priority' };

export class TasksView {
  // goTo(ref) opens a task, goList(filters) shows a filtered list, act(task, verb) runs an action and reports it.
  constructor({ api, outbox, update, goTo, goList, act }) {
    Object.assign(this, { api, outbox, update, goTo, goList, act });
    this.filters = { ...NONE };
    this.tasks = [];
    this.next = '';
    this.state = 'loading';
    this.problem = null;
    this.series = [];
    this.open = '';  // reference of the task that is shown beside the list
    this.given = null;  // receipt of the last task created on this page
    this.fresh = new Set();
    this.filtersShown = false;
    this.moreShown = false;
    const list = document.createElement('ul');
    list.className = 'list';
    list.setAttribute('aria-label', 'Tasks');
    list.addEventListener('keydown', (event) => this.#move(event));
    this.list = new KeyedList(list);
    const waiting = document.createElement('ul');
    waiting.className = 'list waiting';
    waiting.setAttribute('aria-label', 'Tasks being created');
    this.waiting = new KeyedList(waiting);
  }

  // ---- filters ----

  setFilters(search) {
    const said = new URLSearchParams(search);
    const filters = { ...NONE };
    for (const name of Object.keys(NONE)) if (said.has(name)) filters[name] = said.get(name);
    if (!(filters.status in STATUSES)) filters.status = NONE.status;
    const changed = JSON.stringify(filters) !== JSON.stringify(this.filters);
    this.filters = filters;
    if (this.isFiltered) this.filtersShown = true;
    return changed;
  }

  get isFiltered() {
    return Object.keys(NONE).some((name) => name !== 'sort' && this.filters[name] !== NONE[name]);
  }

  // Returns the filters as the query of an address. Default values are omitted.
  search(filters = this.filters) {
    const said = new URLSearchParams();
    for (const [name, value] of Object.entries(filters)) if (value !== NONE[name]) said.set(name, value);
    const text = said.toString();
    return text ? `?${text}` : '';
  }

  #query() {
    const { status, is, project, tag, prefix, text, sort } = this.filters;
    const query = new URLSearchParams();
    for (const each of status === 'any' ? ['pending', 'completed', 'deleted', 'recurring'] : [status]) {
      query.append('status', each);
    }
    if (is) query.set('is', is);
    if (project.trim()) query.set('project', project.trim());
    for (const each of words(tag)) {
      if (each.startsWith('-')) query.append('notTag', each.slice(1));
      else query.append('tag', each.replace(/^\+/, ''));
    }
    if (prefix) query.set('prefix', prefix);
    if (text.trim()) query.set('text', text.trim());
    query.set('sort', sort);
    return query;
  }

  // ---- loading ----

  // Reloads as many tasks as are shown, from the first page on, so that additions, removals and the order are current.
  async load({ quietly = false } = {}) {
    const turn = (this.turn = (this.turn ?? 0) + 1);
    clearTimeout(this.reloading);
    this.reloading = 0;
    if (!quietly) {
      this.state = 'loading';
      this.tasks = [];
      this.next = '';
      this.fresh.clear();
    }
    this.problem = null;
    this.update();
    const wanted = Math.max(PAGE, this.tasks.length);
    try {
      const found = [];
      let next = '';
      do {
        const page = await this.#page(Math.min(wanted - found.length, PAGE_MAX), next);
        if (turn !== this.turn) return;
        found.push(...page.tasks);
        next = page.nextPageToken ?? '';
      } while (next && found.length < wanted);
      if (quietly) this.#markFresh(found);
      this.tasks = found;
      this.next = next;
      this.state = 'loaded';
    } catch (error) {
      if (turn !== this.turn) return;
      this.problem = error;
      this.state = 'failed';
    }
    this.update();
  }

  async more() {
    const turn = this.turn;
    this.state = 'more';
    this.update();
    try {
      const page = await this.#page(PAGE, this.next);
      if (turn !== this.turn) return;
      const first = page.tasks[0];
      const known = new Set(this.tasks.map((task) => task.uuid));
      this.tasks = [...this.tasks, ...page.tasks.filter((task) => !known.has(task.uuid))];
      this.next = page.nextPageToken ?? '';
      this.state = 'loaded';
      this.update();
      if (first) requestAnimationFrame(() => this.rowOf(first)?.focus());
    } catch (error) {
      // The server no longer retains this order: reload from the first page.
      if (error.code === 'page-token-expired') return this.load({ quietly: true });
      this.problem = error;
      this.state = 'loaded';
      this.update();
    }
    return undefined;
  }

  async #page(size, token) {
    const query = this.#query();
    query.set('pageSize', String(size));
    if (token) query.set('pageToken', token);
    return (await this.api.get(`v1/tasks?${query}`)).data;
  }

  async loadSeries() {
    try {
      this.series = (await this.api.all('v1/series', 'series', 1000)).filter((each) => !each.archived);
      this.update();
    } catch {
      // The form then offers no series: the server chooses one by project.
    }
  }

  // ---- changes from the feed ----

  // Updates a shown task at once. A reload follows shortly, since filters and order depend on the server.
  heard(change) {
    const at = this.tasks.findIndex((task) => task.uuid === change.task.uuid);
    if (at >= 0 && change.seq > this.tasks[at].seq) {
      this.tasks = this.tasks.with(at, change.task);
      this.update();
    }
    if (this.reloading) return;
    const since = Date.now() - (this.reloadedAt ?? 0);
    this.reloading = setTimeout(() => {
      this.reloading = 0;
      this.reloadedAt = Date.now();
      this.load({ quietly: true });
    }, Math.max(250, 1_500 - since));
  }

  #markFresh(found) {
    const known = new Set(this.tasks.map((task) => task.uuid));
    if (!known.size) return;
    for (const task of found) if (!known.has(task.uuid)) this.fresh.add(task.uuid);
  }

  // ---- keyboard ----

  get rows() { return [...this.list.element.querySelectorAll('a.row')]; }

  rowOf(task) { return this.list.rows.get(task.uuid)?.querySelector('a.row'); }

  // Moves the focus by so many rows; to the first row, if none has the focus.
  step(by) {
    const rows = this.rows;
    const at = rows.indexOf(document.activeElement?.closest?.('li')?.querySelector('a.row'));
    const row = rows[at < 0 ? 0 : Math.min(Math.max(at + by, 0), rows.length - 1)];
    row?.focus();
    row?.scrollIntoView({ block: 'nearest' });
  }

  #move(event) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    this.step(by);
  }

  focusedTask() {
    const row = document.activeElement?.closest?.('li[data-uuid]');
    return row && this.tasks.find((task) => task.uuid === row.dataset.uuid);
  }

  // ---- creating ----

  #create(event) {
    event.preventDefault();
    const form = event.target;
    const field = (name) => form.elements[name]?.value.trim() ?? '';
    if (!field('description')) return form.elements.description.focus();
    const body = { description: field('description') };
    for (const name of ['project', 'priority', 'prefix']) if (field(name)) body[name] = field(name);
    if (field('tags')) body.tags = words(field('tags')).map((tag) => tag.replace(/^\+/, ''));
    if (field('due')) body.due = fromInput(field('due'));
    form.reset();
    form.elements.description.focus();
    this.given = null;
    this.outbox.add(body);
    return undefined;
  }

  created(receipt, body) {
    this.given = { ...receipt, description: body.description };
    this.fresh.add(receipt.uuid);
  }

  // Moves a rejected creation back into the form.
  #editAgain(creation) {
    const form = document.getElementById('new-task');
    form.elements.description.value = creation.body.description;
    for (const name of ['project', 'priority']) if (form.elements[name]) form.elements[name].value = creation.body[name] ?? '';
    if (form.elements.tags) form.elements.tags.value = (creation.body.tags ?? []).join(' ');
    this.outbox.drop(creation);
    form.elements.description.focus();
  }

  // ---- templates ----

  template() {
    const projects = [...new Set(this.tasks.map((task) => task.project).filter(Boolean))].sort();
    const tags = [...new Set(this.tasks.flatMap((task) => task.tags ?? []))].sort();
    this.waiting.update(this.outbox.waiting, (each) => each.key, (each) => this.#onItsWay(each));
    this.list.update(this.tasks, (task) => task.uuid, (task) => this.#row(task));
    for (const [uuid, row] of this.list.rows) row.dataset.uuid = uuid;
    return html`<section class="tasks" aria-labelledby="tasks-title">
      <h1 id="tasks-title" class="unseen">Tasks</h1>
      <datalist id="projects">${projects.map((name) => html`<option value=${name}></option>`)}</datalist>
      <datalist id="tags">${tags.map((name) => html`<option value=${name}></option>`)}</datalist>
      ${this.#composer()}
      ${this.#given()}
      ${this.#bar()}
      ${this.outbox.waiting.length ? this.waiting.element : nothing}
      ${this.problem && this.tasks.length ? problemNote(this.problem) : nothing}
      ${this.tasks.length ? this.list.element : this.#empty()}
      ${this.#foot()}
    </section>`;
  }

  #composer() {
    return html`<form id="new-task" class="composer" @submit=${(e) => this.#create(e)} autocomplete="off">
      <div class="line">
        <label class="unseen" for="new-description">New task</label>
        <input id="new-description" name="description" placeholder="Add a task" enterkeyhint="done" dir="auto">
        <button type="button" class="quiet" aria-expanded=${this.moreShown} aria-controls="new-more"
          @click=${() => { this.moreShown = !this.moreShown; this.update(); }}>${this.moreShown ? 'Less' : 'More'}</button>
        <button class="primary">${icon('plus')}<span>Create</span></button>
      </div>
      <div id="new-more" class="fields" ?hidden=${!this.moreShown}>
        <label>Project <input name="project" list="projects" dir="auto"></label>
        <label>Tags <input name="tags" placeholder="home garden" dir="auto"></label>
        <label>Due <input name="due" type="datetime-local"></label>
        <label>Priority <select name="priority">
          <option value="">None</option><option value="H">High</option><option value="M">Medium</option>
          <option value="L">Low</option></select></label>
        ${this.series.length > 1 ? html`<label>Series <select name="prefix">
          <option value="">By project</option>
          ${this.series.map((each) => html`<option value=${each.prefix}>${each.prefix}</option>`)}
        </select></label>` : nothing}
      </div>
    </form>`;
  }

  #given() {
    if (!this.given) return nothing;
    const { key, description } = this.given;
    return html`<p class="given"><a href=${key} class="key" @click=${(e) => this.#follow(e, key)}>${keyParts(key)}</a>
      <bdi>${description}</bdi></p>`;
  }

  #set(name, value) {
    this.goList({ ...this.filters, [name]: value });
  }

  #typed(name, event) {
    clearTimeout(this.typing);
    const { value } = event.target;
    this.typing = setTimeout(() => this.#set(name, value), 250);
  }

  #bar() {
    const f = this.filters;
    const count = Object.keys(NONE).filter((name) => !['sort', 'text', 'status'].includes(name) && f[name]).length;
    return html`<form class="bar" role="search" aria-label="Tasks" @submit=${(e) => e.preventDefault()}>
      <div class="line">
        <label class="field-search"><span class="unseen">Search descriptions and annotations</span>${icon('search')}
          <input id="search" type="search" placeholder="Search" .value=${f.text} @input=${(e) => this.#typed('text', e)}
            dir="auto"></label>
        <label><span class="unseen">Status</span>
          <select id="status" @change=${(e) => this.#set('status', e.target.value)}>
            ${Object.entries(STATUSES).map(([value, name]) =>
              html`<option value=${value} .selected=${value === f.status}>${name}</option>`)}
          </select></label>
        <button type="button" class="quiet" aria-expanded=${this.filtersShown} aria-controls="filters"
          @click=${() => { this.filtersShown = !this.filtersShown; this.update(); }}>
          ${icon('filter')}<span>Filters${count ? ` (${count})` : ''}</span></button>
      </div>
      <div id="filters" class="fields" ?hidden=${!this.filtersShown}>
        <label>State <select @change=${(e) => this.#set('is', e.target.value)}>
          <option value="" .selected=${!f.is}>Any</option>
          ${STATES.map((name) => html`<option .selected=${name === f.is}>${name}</option>`)}</select></label>
        <label>Project <input list="projects" .value=${f.project} @input=${(e) => this.#typed('project', e)} dir="auto"></label>
        <label>Tags <input list="tags" placeholder="home -later" .value=${f.tag} @input=${(e) => this.#typed('tag', e)}
          dir="auto"></label>
        ${this.series.length > 1 || f.prefix ? html`<label>Series <select @change=${(e) => this.#set('prefix', e.target.value)}>
          <option value="" .selected=${!f.prefix}>All</option>
          ${this.series.map((each) => html`<option .selected=${each.prefix === f.prefix}>${each.prefix}</option>`)}
        </select></label>` : nothing}
        <label>Sort by <select @change=${(e) => this.#set('sort', e.target.value)}>
          ${Object.entries(SORTS).map(([value, name]) =>
            html`<option value=${value} .selected=${value === f.sort}>${name}</option>`)}</select></label>
      </div>
    </form>`;
  }

  #onItsWay(creation) {
    const { body, state, problem } = creation;
    const says = state === 'sending' ? 'Creating'
      : state === 'waiting' ? `${problem ? problemText(problem) : 'No response yet.'} Retrying.` : '';
    return html`<div class="row">${NO_NUMBER}
      <span class="what"><bdi class="text" dir="auto">${body.description}</bdi>
        ${says ? html`<span class="meta">${says}</span>` : nothing}
        ${state === 'rejected' ? html`${problemNote(problem, FIELD_NAMES)}<span class="actions">
          ${problem.code === 'slot-failed' ? html`<button type="button"
            @click=${() => this.outbox.again(creation)}>Retry</button>` : nothing}
          <button type="button" @click=${() => this.#editAgain(creation)}>Edit</button>
          <button type="button" class="quiet" @click=${() => this.outbox.drop(creation)}>Discard</button>
        </span>` : nothing}</span></div>`;
  }

  #row(task) {
    const done = task.status === 'completed';
    const verb = task.status === 'pending' || task.status === 'recurring' ? 'complete' : 'reopen';
    const name = `${verb === 'complete' ? 'Complete' : 'Reopen'} ${nameOf(task)}`;
    const kinds = ['row', this.fresh.has(task.uuid) && 'fresh', task.status !== 'pending' && 'closed'];
    return html`<button type="button" class="tick ${done ? 'done' : ''}" aria-label=${name} title=${name}
        @click=${() => this.act(task, verb)}><span>${icon(task.status === 'deleted' ? 'undo' : 'check')}</span></button>
      <a class=${kinds.filter(Boolean).join(' ')} href=${refOf(task)}
        aria-current=${this.#isOpen(task) ? 'true' : nothing} @click=${(e) => this.#follow(e, refOf(task))}>
        ${task.key ? html`<span class="key">${keyParts(task.key)}</span>` : NO_NUMBER}
        <span class="what"><bdi class="text" dir="auto">${task.description}</bdi>${meta(task)}</span>
      </a>`;
  }

  #isOpen(task) {
    return this.open !== '' && (this.open.toUpperCase() === task.key || this.open.toLowerCase() === task.uuid);
  }

  #follow(event, ref) {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    this.goTo(ref);
  }

  #empty() {
    if (this.state === 'loading') {
      return html`<div class="skeleton" aria-hidden="true"><i></i><i></i><i></i></div><p class="unseen">Loading tasks.</p>`;
    }
    if (this.state === 'failed') return this.#failed();
    if (this.isFiltered) {
      return html`<div class="empty"><p><b>No matching tasks.</b></p>
        <p>Change the filters, or clear them to see all pending tasks.</p>
        <button type="button" @click=${() => this.goList({ ...NONE, sort: this.filters.sort })}>Clear filters</button></div>`;
    }
    return html`<div class="empty"><p><b>No pending tasks.</b></p>
      <p>Enter a description above and press Enter. The server assigns a key.</p></div>`;
  }

  #failed() {
    if (this.problem.code === 'account-opaque') {
      return html`<div class="empty"><p><b>The server cannot read this account’s tasks.</b></p>
        <p>They are encrypted on your devices. Use Taskwarrior to see them.</p></div>`;
    }
    return html`${problemNote(this.problem)}<div class="empty">
      <button type="button" @click=${() => this.load()}>Retry</button></div>`;
  }

  #foot() {
    if (!this.tasks.length) return nothing;
    const shown = `${this.tasks.length} ${this.tasks.length === 1 ? 'task' : 'tasks'}${this.next ? ', more available' : ''}`;
    return html`<p class="foot"><span>${shown}</span>
      ${this.next ? html`<button type="button" class="more" ?disabled=${this.state === 'more'}
        @click=${() => this.more()}>Show more</button>` : nothing}</p>`;
  }
}

// A task that was created while its series was held has no key until the series is resumed.
export const refOf = (task) => task.key ?? task.uuid;
export const nameOf = (task) => task.key ?? task.description ?? task.uuid;

// Splits a key into prefix and number: the number is emphasised, since prefixes repeat.
export function keyParts(key) {
  const at = (key ?? '').lastIndexOf('-') + 1;
  return html`<span class="prefix">${(key ?? '').slice(0, at)}</span><b>${(key ?? '').slice(at)}</b>`;
}

// Returns the line below a description: status, dates, project and tags.
export function meta(task) {
  const parts = [];
  const now = Date.now();
  const isOpen = task.status === 'pending';
  if (!isOpen) parts.push(html`<span class="tag state">${task.status}</span>`);
  if (isOpen && task.start) parts.push(html`<span class="tag active">active</span>`);
  if (task.priority) parts.push(html`<span class="tag priority" title="Priority">${task.priority}</span>`);
  if (isOpen && task.due) {
    const late = Date.parse(task.due) < now;
    parts.push(html`<span class=${late ? 'late' : ''}>${late ? 'overdue, due' : 'due'} ${fromNow(task.due, now)}</span>`);
  }
  if (isOpen && task.wait && Date.parse(task.wait) > now) parts.push(html`<span>waiting, ends ${fromNow(task.wait, now)}</span>`);
  if (!isOpen && task.end) parts.push(html`<span>${fromNow(task.end, now)}</span>`);
  if (task.project) parts.push(html`<bdi class="project">${task.project}</bdi>`);
  for (const tag of task.tags ?? []) parts.push(html`<bdi class="label">+${tag}</bdi>`);
  return parts.length ? html`<span class="meta">${parts}</span>` : nothing;
}

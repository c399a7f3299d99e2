// Entry point of the page: sign-in, addresses, keyboard shortcuts and the outer templates.

import { html, nothing, render } from './lit-html.js';
import { Api, Problem, ROOT } from './api.js';
import { asKey } from './format.js';
import { Feed } from './feed.js';
import { Outbox } from './outbox.js';
import { forgetAll, keepToken, onForgotten, savedToken } from './session.js';
import { keyParts, nameOf, TasksView } from './tasks.js';
import { TaskView } from './task.js';
import { alarm, announce, hush, icon, problemNote, problemText } from './ui.js';

// How long a message is shown, in ms; longer if its action can be undone.
const TOLD_FOR = 5_000;
const UNDO_FOR = 12_000;
// Maximum number of changes that are announced one by one.
const UNSAID_MAX = 3;
const DONE = {
  complete: { says: 'completed', undo: 'reopen' },
  reopen: { says: 'reopened' },
  start: { says: 'started', undo: 'stop' },
  stop: { says: 'stopped', undo: 'start' },
  delete: { says: 'deleted', undo: 'reopen' },
};
const FEED_STATES = { live: 'Live', paused: 'Paused', away: 'Not connected' };

// ---- state ----

const page = {
  kind: 'starting',  // or signed-out, user, operator
  api: null,
  account: null,
  problem: null,
  busy: false,
  tasks: null,
  task: null,
  operator: null,
  feed: null,
  feedState: 'away',
  outbox: null,
  done: null,  // the message that is shown, with its undo action
  finding: '',
};

let queued = false;
function update() {
  if (queued) return;
  queued = true;
  queueMicrotask(() => {
    queued = false;
    render(template(), document.getElementById('app'));
  });
}

// ---- signing in and out ----

async function enter(token) {
  const api = new Api(token, (problem) => { if (page.kind === 'user' || page.kind === 'operator') turnedAway(problem); });
  try {
    page.account = (await api.get('v1/account')).data;
    page.kind = 'user';
  } catch (error) {
    if (error.code !== 'insufficient-scope') throw error;
    // A token without an account may be an operator token.
    await api.get('v1/admin/reaper');
    const { OperatorView } = await import('./operator.js');
    page.kind = 'operator';
    page.operator = new OperatorView({ api, update, tell });
  }
  page.api = api;
  page.problem = null;
  if (page.kind === 'user') beginUser();
}

function beginUser() {
  const { api } = page;
  page.outbox = new Outbox(api, {
    changed: update,
    created: (receipt, body) => {
      announce(`${receipt.key} created: ${body.description}`);
      page.tasks.created(receipt, body);
      page.tasks.load({ quietly: true });
    },
  });
  page.tasks = new TasksView({ api, outbox: page.outbox, update, goTo, goList, act });
  page.feed = new Feed(api, {
    heard: (change) => {
      if (change.task.uuid !== page.tasks.given?.uuid || change.seq !== page.tasks.given?.seq) tellOf(change);
      page.tasks.heard(change);
      page.task?.heard(change);
      update();
    },
    begun: () => page.tasks.load({ quietly: page.tasks.state === 'loaded' }),
    said: (state) => {
      page.feedState = state;
      if (state === 'away' && page.tasks.state === 'loading') page.tasks.load();
      update();
    },
  });
  page.tasks.loadSeries();
  follow();
}

// Announces changes by other clients: a few one by one, many as a count.
const unsaid = [];
function tellOf({ task, by, changed, purged }) {
  const what = purged ? 'permanently deleted' : changed?.includes('entry') ? 'created'
    : changed?.includes('status') && task.status === 'completed' ? 'completed' : 'changed';
  unsaid.push(`${nameOf(task)} ${what}${by ? ` by ${by}` : ''}.`);
  if (unsaid.length > 1) return;
  setTimeout(() => {
    const all = unsaid.splice(0);
    if (all.length) announce(all.length > UNSAID_MAX ? `${all.length} changes by other clients.` : all.join(' '));
  }, 500);
}

async function signIn(event) {
  event.preventDefault();
  const form = event.target;
  const token = form.elements.token.value.trim();
  if (!token) return form.elements.token.focus();
  page.busy = true;
  page.problem = null;
  update();
  try {
    await enter(token);
    keepToken(token, form.elements.stay.checked);
    announce(page.kind === 'operator' ? 'Signed in as an operator.' : `Signed in to ${page.account.name}.`);
  } catch (error) {
    page.problem = known(error);
  }
  page.busy = false;
  update();
  if (page.problem) requestAnimationFrame(() => document.getElementById('token')?.select());
  return undefined;
}

function known(error) {
  if (error instanceof Problem) return error;
  console.error(error);
  return new Problem({ title: 'Page error', detail: 'Reload the page. If the error recurs, tell the operator.' });
}

function leave(problem = null) {
  page.feed?.stop();
  page.outbox?.stop();
  page.operator?.stop();
  clearTimeout(page.done?.timer);
  unsaid.length = 0;
  hush();
  forgetAll();
  Object.assign(page, {
    kind: 'signed-out', api: null, account: null, tasks: null, task: null, operator: null, feed: null, outbox: null,
    done: null, finding: '', problem,
  });
  update();
}

function signOut() {
  leave();
  history.replaceState(null, '', ROOT);
  announce('Signed out. The token was removed from this browser.');
}

// The token was revoked or has expired, or the account is not active.
function turnedAway(problem) {
  const why = problem.status === 401 ? 'The token is no longer valid.' : `${problemText(problem)}`;
  leave(new Problem({ title: 'You have been signed out', detail: why }));
}

// ---- addresses ----

function refInAddress() {
  const path = location.pathname.slice(ROOT.pathname.length);
  return asKey(decodeURIComponent(path)) || '';
}

function follow() {
  if (page.kind !== 'user') return;
  const ref = refInAddress();
  const changed = page.tasks.setFilters(location.search);
  if (changed) page.tasks.load();
  page.tasks.open = ref;
  if (ref !== (page.task?.ref ?? '')) {
    page.task = ref ? new TaskView({ api: page.api, ref, update, goTo, close: closeTask, act, tell }) : null;
  }
  document.title = ref ? `${ref} – Callsign` : 'Callsign';
  update();
}

function go(path) {
  history.pushState(null, '', new URL(path || '.', ROOT));
  follow();
}

function mayLeaveTask() {
  return !page.task?.isDirty || confirm(`Discard the unsaved changes to ${page.task.ref}?`);
}

function goTo(ref) {
  if (!mayLeaveTask()) return;
  const wasOpen = page.task !== null;
  go(ref + page.tasks.search());
  if (!wasOpen) window.scrollTo(0, 0);
  requestAnimationFrame(() => document.getElementById('task-title')?.focus());
}

function goList(filters) {
  const search = page.tasks.search(filters);
  history.replaceState(null, '', new URL((page.task ? page.task.ref : '.') + search, ROOT));
  follow();
}

function closeTask() {
  if (!mayLeaveTask()) return;
  const task = page.task?.task;
  go(`.${page.tasks.search()}`);
  requestAnimationFrame(() => (task && page.tasks.rowOf(task)) ?
    page.tasks.rowOf(task).focus() : document.getElementById('new-description')?.focus());
}

function find(event) {
  event.preventDefault();
  const input = event.target.elements.key;
  const typed = input.value.trim();
  // A number without a prefix belongs to the account's default series.
  const ref = asKey(/^\d+$/.test(typed) ? `${page.account.prefix}-${typed}` : typed);
  page.finding = ref || !typed ? '' : 'Enter a prefix and a number, such as SYN-42.';
  if (page.finding) alarm(page.finding);
  update();
  if (!ref) return input.focus();
  input.value = '';
  return goTo(ref);
}

// ---- actions ----

function tell(text, undo = null) {
  clearTimeout(page.done?.timer);
  page.done = { text, undo, timer: setTimeout(() => { page.done = null; update(); }, undo ? UNDO_FOR : TOLD_FOR) };
  announce(undo ? `${text} Press U to undo.` : text);
  update();
}

async function act(task, verb) {
  try {
    const { data } = verb === 'delete' ? await page.api.delete(`v1/tasks/${task.uuid}`)
      : await page.api.post(`v1/tasks/${task.uuid}:${verb}`);
    const change = { task: data, seq: data.seq, changed: ['status'] };
    page.tasks.heard(change);
    page.task?.heard(change);
    const { says, undo } = DONE[verb];
    tell(`${nameOf(data)} ${says}.`, undo ? () => act(data, undo) : null);
  } catch (error) {
    const problem = known(error);
    tell(`${nameOf(task)}: ${problemText(problem)}`);
  }
}

function undo() {
  const back = page.done?.undo;
  if (!back) return;
  clearTimeout(page.done.timer);
  page.done = null;
  back();
}

// ---- keyboard shortcuts ----

const KEYS = [
  ['/', 'Search'], ['g', 'Go to a task'], ['n', 'New task'], ['j or ↓', 'Next task'], ['k or ↑', 'Previous task'],
  ['Enter', 'Open the task'], ['c', 'Complete or reopen the task'], ['e', 'Edit the open task'], ['u', 'Undo'],
  ['Esc', 'Close the task'], ['?', 'Show keyboard shortcuts'],
];

function isTyping(target) {
  return target.closest?.('input, textarea, select, [contenteditable]') !== null;
}

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (document.querySelector('dialog[open]')) return;
  if (event.key === 'Escape') return onEscape(event);
  if (isTyping(event.target) || page.kind !== 'user') {
    if (event.key === '?' && !isTyping(event.target) && page.kind === 'operator') showHelp();
    return;
  }
  const does = {
    '/': () => focusOn('search'), g: () => focusOn('find'), n: () => focusOn('new-description'), '?': showHelp, u: undo,
    j: () => page.tasks.step(1), k: () => page.tasks.step(-1), ArrowDown: () => page.tasks.step(1),
    ArrowUp: () => page.tasks.step(-1), c: completeFocused, e: () => document.querySelector('#edit-task textarea')?.focus(),
  }[event.key];
  if (!does || (event.key.startsWith('Arrow') && event.target !== document.body)) return;
  event.preventDefault();
  does();
});

function focusOn(id) {
  const input = document.getElementById(id);
  if (!input?.offsetParent && page.task) closeTask();
  requestAnimationFrame(() => {
    document.getElementById(id)?.focus();
    document.getElementById(id)?.select?.();
  });
}

function onEscape(event) {
  if (isTyping(event.target)) return event.target.blur();
  if (page.task) closeTask();
  return undefined;
}

function completeFocused() {
  const task = page.tasks.focusedTask() ?? page.task?.task;
  if (task) act(task, task.status === 'pending' || task.status === 'recurring' ? 'complete' : 'reopen');
}

function showHelp() {
  document.getElementById('help').showModal();
}

// ---- templates ----

function template() {
  if (page.kind === 'starting') return nothing;
  return html`
    <a class="skip" href="#main" @click=${(e) => { e.preventDefault(); document.getElementById('main').focus(); }}>Skip to
      main content</a>
    ${page.kind === 'signed-out' ? signInTemplate() : html`
      ${headTemplate()}
      <main id="main" tabindex="-1" class=${page.kind === 'user' && page.task ? 'two' : ''}>
        ${page.kind === 'operator' ? page.operator.template() : html`${page.tasks.template()}
          ${page.task ? page.task.template() : nothing}`}
      </main>`}
    ${page.done ? html`<aside class="told" aria-label="Last action"><span>${page.done.text}</span>
      ${page.done.undo ? html`<button type="button" @click=${undo}>${icon('undo')}<span>Undo</span></button>` : nothing}
    </aside>` : nothing}
    ${helpTemplate()}`;
}

function signInTemplate() {
  const ref = refInAddress();
  return html`<main id="main" tabindex="-1" class="sign-in">
    <h1 class="wordmark">Callsign</h1>
    <p class="lead">${ref ? html`Sign in to see <span class="key">${keyParts(ref)}</span>.`
      : 'A short key for every task.'}</p>
    <form @submit=${signIn} autocomplete="off">
      <label for="token">Token</label>
      <input id="token" name="token" type="password" required autocomplete="off" spellcheck="false" autocapitalize="none"
        aria-describedby="token-help" ?aria-invalid=${page.problem?.code === 'invalid-token'}>
      <p id="token-help" class="hint">Starts with cs_. The server printed it when the account was created. The
        operator token is in the file admin.token in the data directory.</p>
      <label class="choice"><input type="checkbox" name="stay"><span>Stay signed in on this device</span></label>
      ${problemNote(page.problem)}
      <button class="primary" ?disabled=${page.busy}>${page.busy ? 'Signing in' : 'Sign in'}</button>
    </form>
  </main>`;
}

function headTemplate() {
  const isUser = page.kind === 'user';
  return html`<header>
    <a class="wordmark" href="." @click=${(e) => { e.preventDefault(); if (isUser) closeTask(); }}>Callsign</a>
    ${isUser ? html`<form class="find" role="search" aria-label="Task key" @submit=${find} autocomplete="off">
      <label class="unseen" for="find">Go to a task</label>
      <input id="find" name="key" placeholder=${`Go to ${page.account.prefix ?? 'SYN'}-42`} autocapitalize="characters"
        spellcheck="false" enterkeyhint="go" ?aria-invalid=${page.finding !== ''} aria-describedby="find-says">
      <span id="find-says" class="says">${page.finding}</span></form>` : html`<span class="role">Operator</span>`}
    <div class="who">
      ${isUser ? html`<span class="feed ${page.feedState}" title="Live updates">
          <i aria-hidden="true"></i><span>${FEED_STATES[page.feedState]}</span></span>
        <b class="account">${page.account.name}</b>` : nothing}
      <button type="button" class="quiet icon-only" aria-label="Keyboard shortcuts"
        title="Keyboard shortcuts (?)" @click=${showHelp}>${icon('help')}</button>
      <button type="button" class="quiet icon-only" aria-label="Sign out" title="Sign out" @click=${signOut}>${icon('leave')}</button>
    </div>
  </header>`;
}

function helpTemplate() {
  return html`<dialog id="help" aria-labelledby="help-title">
    <h2 id="help-title">Keyboard shortcuts</h2>
    <dl class="keys">${KEYS.map(([key, what]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`)}</dl>
    <form method="dialog"><button>Close</button></form>
  </dialog>`;
}

// ---- start ----

window.addEventListener('popstate', follow);
onForgotten((forgotten) => { if (page.api?.token === forgotten) leave(); });
window.addEventListener('beforeunload', (event) => { if (page.task?.isDirty) event.preventDefault(); });

const token = savedToken();
if (token) {
  try {
    await enter(token);
  } catch (error) {
    // Discards an invalid token, but keeps it while the server is unreachable: a reload signs in again.
    if (error.status === 401) forgetAll();
    page.kind = 'signed-out';
    page.problem = known(error);
  }
} else {
  page.kind = 'signed-out';
}
update();

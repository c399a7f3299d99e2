// Shared by all views: announcements, icons, problem messages, keyed lists, the clipboard.

import { html, nothing, render, svg } from './lit-html.js';

// ---- announcements for screen readers ----

const queue = [];
let speaking = 0;

// Announces a text. Texts are queued, since screen readers skip one that follows another too soon.
export function announce(text) {
  queue.push(text);
  if (!speaking) speak();
}

function speak() {
  const region = document.getElementById('polite');
  region.textContent = queue.splice(0).join(' ');
  speaking = setTimeout(() => {
    speaking = 0;
    if (queue.length) speak();
  }, 1200);
}

// Clears shown and queued announcements when a user signs out.
export function hush() {
  queue.length = 0;
  for (const id of ['polite', 'assertive']) document.getElementById(id).textContent = '';
}

export function alarm(text) {
  const region = document.getElementById('assertive');
  region.textContent = '';
  setTimeout(() => { region.textContent = text; }, 50);
}

// ---- icons ----

const paths = {
  check: svg`<path d="M5 12.5l4.5 4.5L19 7.5"/>`,
  plus: svg`<path d="M12 5v14M5 12h14"/>`,
  close: svg`<path d="M6 6l12 12M18 6L6 18"/>`,
  search: svg`<circle cx="11" cy="11" r="6.5"/><path d="M16 16l4.5 4.5"/>`,
  copy: svg`<rect x="9" y="9" width="11" height="11" rx="2"/><path d="M5 15V6a2 2 0 0 1 2-2h8"/>`,
  undo: svg`<path d="M8 5L4 9l4 4M4 9h10a5.5 5.5 0 0 1 0 11h-3"/>`,
  back: svg`<path d="M14.5 5.5L8 12l6.5 6.5"/>`,
  help: svg`<path d="M9 9a3 3 0 1 1 4.2 2.8c-.8.4-1.2 1-1.2 1.9v.3"/><path d="M12 17.5v.1"/>`,
  leave: svg`<path d="M14 5h4a1.5 1.5 0 0 1 1.5 1.5v11A1.5 1.5 0 0 1 18 19h-4M10.5 8.5L7 12l3.5 3.5M7.500 12H15"/>`,
  filter: svg`<path d="M4 7h16M7 12h10M10 17h4"/>`,
};

export function icon(name) {
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">${paths[name]}</svg>`;
}

// ---- problems ----

export function problemText(problem) {
  return problem.detail ? `${problem.title}. ${problem.detail}` : `${problem.title}.`;
}

// Shows a problem with all its validation errors. `names` maps fields to the form's labels.
export function problemNote(problem, names = {}) {
  if (!problem) return nothing;
  const errors = problem.errors?.length
    ? html`<ul>${problem.errors.map((e) => html`<li><b>${names[e.field] ?? e.field}</b>: ${e.detail}</li>`)}</ul>`
    : nothing;
  return html`<div class="note bad" role="alert">
    <p><b>${problem.title}.</b> ${problem.detail}</p>${errors}
  </div>`;
}

// ---- lists ----

// A list whose items keep their elements, by key: the focus and the target of a tap stay on the same item while other
// items are added and removed.
export class KeyedList {
  constructor(element) {
    this.element = element;
    this.rows = new Map();
  }

  update(items, keyOf, template, tag = 'li') {
    const keys = new Set(items.map(keyOf));
    for (const [key, row] of this.rows) {
      if (keys.has(key)) continue;
      row.remove();
      this.rows.delete(key);
    }
    let at = this.element.firstElementChild;
    for (const item of items) {
      const key = keyOf(item);
      let row = this.rows.get(key);
      if (!row) {
        row = document.createElement(tag);
        this.rows.set(key, row);
      }
      if (row === at) at = at.nextElementSibling;
      else this.element.insertBefore(row, at);
      render(template(item), row);
    }
  }
}

// ---- the clipboard ----

export async function copyText(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    announce(`${what} copied.`);
    return true;
  } catch {
    // The clipboard needs TLS and permission.
    announce(`The browser does not allow copying. Select the text and copy it.`);
    return false;
  }
}

// What all parts of the page use: announcements, icons, problems in words, lists that keep their elements.

import { html, nothing, render, svg } from './lit-html.js';

// ---- said to those who listen ----

const queue = [];
let speaking = 0;

// One after the other: what is said too soon after something else is not read out.
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

// What was said, or is to be, is of somebody who has left.
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

// With every fault of a body, by the names that the form has for its fields.
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

// Children of one element, each with a key and an element of its own for as long as it is in the list: so the focus, and
// what somebody is about to touch, stay with the task when others come and go.
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
    // Not served over TLS, or not allowed: the text can be selected.
    announce(`This browser does not let the page copy. Select the text instead.`);
    return false;
  }
}

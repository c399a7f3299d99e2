// Line charts over time, drawn by uPlot. The caption and a table show the same values as text.

import uPlot from './uPlot.js';
import { html, nothing } from './lit-html.js';
import { clock, rounded } from './format.js';

const HEIGHT = 168;
const ROWS = 12;
// Minimum length of the time axis.
const SECONDS_MIN = 120;
const dark = matchMedia('(prefers-color-scheme: dark)');

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

export class Timeline {
  // `lines`: [{ name, column, colour, unit }]; `column` names a column passed to show().
  constructor({ title, lines, update }) {
    Object.assign(this, { title, lines, update });
    this.at = null;  // the row under the pointer
    this.columns = null;
    this.plot = null;
    this.element = document.createElement('div');
    this.element.className = 'plot';
    this.element.setAttribute('aria-hidden', 'true');
    this.watching = new ResizeObserver(() => this.#fit());
    this.watching.observe(this.element);
    this.onScheme = () => this.#rebuild();
    dark.addEventListener('change', this.onScheme);
  }

  stop() {
    this.watching.disconnect();
    dark.removeEventListener('change', this.onScheme);
    this.plot?.destroy();
  }

  show(columns) {
    this.columns = columns;
    this.at = null;
    if (this.plot) this.plot.setData(this.#data());
    else this.#fit();
  }

  #data() { return [this.columns.at, ...this.lines.map((line) => this.columns[line.column])]; }

  // Returns the range of the time axis. For a single row uPlot would show a whole day.
  #span() {
    const { at } = this.columns;
    const last = at[at.length - 1];
    return [Math.min(at[0], last - SECONDS_MIN), last];
  }

  #fit() {
    const width = Math.floor(this.element.clientWidth);
    if (!width || !this.columns?.at.length) return;
    if (!this.plot) this.#build(width);
    else if (this.plot.width !== width) this.plot.setSize({ width, height: HEIGHT });
  }

  #rebuild() {
    if (!this.plot) return;
    this.plot.destroy();
    this.plot = null;
    this.#fit();
  }

  #build(width) {
    const axis = { stroke: colour('muted'), font: '12px system-ui, sans-serif', ticks: { show: false } };
    this.plot = new uPlot({
      width, height: HEIGHT, legend: { show: false }, padding: [8, 32, 0, 0],
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
      scales: {
        x: { range: () => this.#span() },
        y: { range: (_, min, max) => [0, Math.max(max ?? 0, this.lines[0].least ?? 1) * 1.1] } },
      axes: [
        { ...axis, size: 30, grid: { show: false }, space: 92,
          values: (_, all) => all.map((s) => new Date(s * 1000).toLocaleTimeString(undefined, {
            timeStyle: all[1] - all[0] < 60 ? 'medium' : 'short' })) },
        { ...axis, size: 44, space: 36, grid: { stroke: colour('line'), width: 1 }, values: (_, all) => all.map(rounded) },
      ],
      series: [{}, ...this.lines.map((line, i) => ({
        label: line.name, stroke: colour(line.colour), width: 2, points: { show: false }, spanGaps: true,
        fill: i === 0 ? `${colour(line.colour)}1f` : undefined,
      }))],
      hooks: { setCursor: [(plot) => {
        const at = plot.cursor.idx ?? null;
        if (at === this.at) return;
        this.at = at;
        this.update();
      }] },
    }, this.#data(), this.element);
  }

  #latest(column) {
    const values = this.columns?.[column] ?? [];
    return this.at === null ? values.findLast((value) => value !== null) : values[this.at];
  }

  template() {
    const rows = (this.columns?.at.length ?? 0);
    return html`<figure class="timeline">
      <figcaption><span class="title">${this.title}</span>
        <span class="values">${this.lines.map((line) => html`<span><i class=${line.colour} aria-hidden="true"></i>${line.name}
          <b>${rounded(this.#latest(line.column))}</b>${line.unit ? html` ${line.unit}` : nothing}</span>`)}</span></figcaption>
      ${this.element}
      <details><summary>Table</summary>${rows ? this.#table(rows) : html`<p>No data yet.</p>`}</details>
    </figure>`;
  }

  #table(rows) {
    const last = Array.from({ length: Math.min(ROWS, rows) }, (_, i) => rows - 1 - i);
    return html`<table><thead><tr><th scope="col">Time</th>
        ${this.lines.map((line) => html`<th scope="col">${line.name}${line.unit ? `, ${line.unit}` : ''}</th>`)}</tr></thead>
      <tbody>${last.map((row) => html`<tr><th scope="row">${clock(this.columns.at[row] * 1000)}</th>
        ${this.lines.map((line) => html`<td>${rounded(this.columns[line.column][row])}</td>`)}</tr>`)}</tbody></table>`;
  }
}

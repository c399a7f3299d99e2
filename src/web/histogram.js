// Histogram of retry times with the reaper's window as a line. Dragging the line shows what another window would have done.
// A visually hidden slider does the same for keyboards and screen readers; its focus is shown at the top of the line.

import { html, nothing, render, svg } from './lit-html.js';
import { count, milliseconds, rounded, span } from './format.js';
import { bars, model, outcome } from './windows.js';

const HEIGHT = 236;
const TOP = 46;
const BOTTOM = 26;
const TICKS = ['10ms', '100ms', '1s', '10s', '1m', '10m', '1h', '6h', '1d', '7d'].map((text) => milliseconds(text));

export class Histogram {
  constructor() {
    this.element = document.createElement('div');
    this.element.className = 'histogram';
    this.width = 640;
    this.model = null;
    this.chosen = null;  // index of a stop; null: the current window
    new ResizeObserver(([entry]) => {
      const width = Math.round(entry.contentRect.width);
      if (width > 0 && width !== this.width) {
        this.width = width;
        this.#draw();
      }
    }).observe(this.element);
  }

  show(status) {
    const chosen = this.chosen === null ? null : this.model.stops[this.chosen].ms;
    this.status = status;
    this.model = model(status);
    if (chosen !== null) this.chosen = this.#nearest(chosen);
    this.#draw();
  }

  get #index() {
    return this.chosen ?? this.model.stops.findIndex((stop) => stop.ms === this.model.inForce);
  }

  // Returns the shortest and the longest duration of the axis in ms, with a margin at both ends.
  get #range() {
    const { buckets, inForce, stops, wanted } = this.model;
    const first = buckets[0]?.at ?? 1000;
    const last = buckets[buckets.length - 1]?.at ?? 0;
    return [Math.min(first / 2, 1000), Math.max(stops[this.#index].ms, last, inForce, wanted, 3_600_000) * 1.6];
  }

  #x(ms) {
    const [low, high] = this.#range;
    const part = Math.log(ms / low) / Math.log(high / low);
    return Math.min(Math.max(part, 0), 1) * (this.width - 2) + 1;
  }

  #nearest(ms) {
    const far = this.model.stops.map((stop) => Math.abs(Math.log(stop.ms / ms)));
    return far.indexOf(Math.min(...far));
  }

  #choose(index) {
    this.chosen = this.model.stops[index].ms === this.model.inForce ? null : index;
    this.#draw();
  }

  #drag(event) {
    if (event.type === 'pointerdown') {
      event.preventDefault();
      this.element.querySelector('input').focus();
      event.currentTarget.setPointerCapture(event.pointerId);
      this.held = this.#range;
    } else if (!this.held) return;
    const box = event.currentTarget.getBoundingClientRect();
    const part = Math.min(Math.max((event.clientX - box.left - 1) / (this.width - 2), 0), 1);
    const [low, high] = this.held;
    this.#choose(this.#nearest(low * (high / low) ** part));
  }

  #draw() {
    if (this.model) render(this.#template(), this.element);
  }

  // Returns the effect of a window and of the current one, and the slider's text.
  #says(index) {
    const { stops, inForce } = this.model;
    const { failed, pending } = outcome(this.model, stops[index].ms);
    const now = outcome(this.model, inForce);
    const tells = `${span(stops[index].ms)}: ${count(failed, 'slot')} failed too early, ${rounded(pending)} pending on average`;
    return { failed, pending, now, tells };
  }

  #template() {
    const { stops, inForce } = this.model;
    const index = this.#index;
    const { failed, pending, now, tells } = this.#says(index);
    const isOther = stops[index].ms !== inForce;
    return html`
      <svg width=${this.width} height=${HEIGHT} viewBox="0 0 ${this.width} ${HEIGHT}" aria-hidden="true"
        @pointerdown=${(e) => this.#drag(e)} @pointermove=${(e) => this.#drag(e)}
        @pointerup=${() => { this.held = null; }} @pointercancel=${() => { this.held = null; }}>${this.#picture(index)}</svg>
      <input type="range" class="unseen" aria-label="Window" min="0" max=${stops.length - 1} step="1"
        .value=${String(index)} aria-valuetext=${tells} @input=${(e) => this.#choose(Number(e.target.value))}>
      <p class="window">Window: <b>${span(stops[index].ms)}</b>${isOther ? '' : ' (current)'}</p>
      <dl class="would">
        <div class=${failed > 0 ? 'some' : ''}><dt>slots failed too early</dt><dd>${rounded(failed)}
          ${isOther ? html`<span>current: ${rounded(now.failed)}</span>` : nothing}</dd></div>
        <div><dt>slots pending on average</dt><dd>${rounded(pending)}
          ${isOther ? html`<span>current: ${rounded(now.pending)}</span>` : nothing}</dd></div>
      </dl>
      ${isOther ? html`<p class="hint">To apply it, set <code>window = "${stops[index].text}"</code> under <code>[reaper]</code>
        and send SIGHUP to callsignd. <button type="button" class="quiet" @click=${() => { this.chosen = null; this.#draw(); }}>
        Reset to ${span(inForce)}</button></p>` : nothing}`;
  }

  #picture(index) {
    const { stops, inForce, p50, p99 } = this.model;
    const all = bars(this.model);
    const most = Math.max(1e-9, ...all.map((bar) => bar.retries));
    const floor = HEIGHT - BOTTOM;
    const window = stops[index].ms;
    const [low, high] = this.#range;
    const ticks = TICKS.filter((ms) => ms > low && ms < high);
    const every = Math.ceil(ticks.length / Math.max(3, Math.floor(this.width / 84)));
    const columns = all.map(({ from, to, retries }) => {
      const [left, right] = [this.#x(from) + 1, this.#x(to) - 1];
      const height = (retries / most) * (floor - TOP);
      return svg`<rect class=${to > window ? 'late' : ''} x=${left} y=${floor - height} width=${Math.max(1, right - left)}
        height=${height} rx="1.5"></rect>`;
    });
    const line = (ms, name, kind, y) => {
      const x = this.#x(ms);
      // Places the text away from the handle and inside the chart.
      const toHandle = this.#x(window) - x;
      const isRight = x > this.width - 110 || (toHandle > 0 && toHandle < 80);
      return svg`<g class=${kind}><line x1=${x} x2=${x} y1=${y + 4} y2=${floor}></line>
        <text x=${isRight ? x - 5 : x + 5} y=${y + 12} text-anchor=${isRight ? 'end' : 'start'}>${name}</text></g>`;
    };
    const x = this.#x(window);
    return svg`
      <line class="floor" x1="0" x2=${this.width} y1=${floor} y2=${floor}></line>
      ${ticks.filter((_, i) => i % every === 0).map((ms) => svg`<text class="tick-text" x=${this.#x(ms)} y=${HEIGHT - 7}
        text-anchor="middle">${span(ms)}</text>`)}
      ${columns}
      ${all.length ? nothing : svg`<text x=${this.width / 2} y=${HEIGHT / 2} text-anchor="middle">No retries yet</text>`}
      ${p50 === null ? nothing : line(p50, `p50 ${span(p50)}`, 'quantile', 30)}
      ${p99 === null ? nothing : line(p99, `p99 ${span(p99)}`, 'quantile', 15)}
      ${window === inForce ? nothing : line(inForce, `current ${span(inForce)}`, 'in-force', 0)}
      <g class="handle"><line x1=${x} x2=${x} y1="14" y2=${floor}></line>
        <rect x=${x - 9} y="0" width="18" height="22" rx="6"></rect>
        <path d="M${x - 2.5} 6v10M${x + 2.5} 6v10"></path></g>`;
  }
}

// A real server with tasks, a browser, and helpers for the actions of a user on the page. Each test file has its own
// server. After each test the browser must not have reported errors.
//
// CALLSIGN_PICTURES=FOLDER: screenshots are written to that folder.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, afterEach, before } from 'node:test';
import { join } from 'node:path';
import { openBrowser, Server, TASKS, WAIT } from './test_server.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
export const pictures = process.env.CALLSIGN_PICTURES;

export let server;
export let browser;
export let page;
export let shop;  // the account that most tests use
const complaints = [];

// Sets up a test file. `prepare` runs before its first test. (A second before hook would not wait for the first.)
export function visit(prepare = () => {}) {
  before(async () => {
    server = await Server.start(process.env.CALLSIGND, '[reaper]\ninterval = "1s"\n[backup]\ndirectory = "FOLDER/backups"\n' +
      '[remote]\npoll_interval = "100ms"\nretry_min = "100ms"\n');
    shop = await server.account('bikes', 'SYN');
    for (const each of TASKS) await server.create(shop.write, each);
    browser = await openBrowser();
    page = await openPage();
    await prepare();
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
  });
  afterEach(() => assert.deepEqual(complaints.splice(0), [], 'the browser reports no errors'));
}

export async function openPage(context = browser) {
  const opened = await context.newPage();
  await opened.setViewport({ width: 1280, height: 860 });
  opened.setDefaultTimeout(WAIT);
  opened.on('pageerror', (error) => complaints.push(String(error)));
  opened.on('console', (message) => {
    // Problem responses are expected; violations of the content security policy are not.
    const isProblem = /Failed to load resource: (the server responded with a status of [45]|net::ERR_)/.test(message.text());
    if (message.type() === 'error' && !isProblem) complaints.push(message.text());
  });
  opened.on('request', (request) => {
    if (!request.url().startsWith(server.url) && !request.url().startsWith('data:')) complaints.push(`request to another server: ${request.url()}`);
    if (request.url().includes('cs_')) complaints.push(`token in the URL ${request.url()}`);
  });
  return opened;
}

export const see = (selector, on = page) => on.waitForSelector(selector, { visible: true }).catch(failed);
export const gone = (selector, on = page) => on.waitForSelector(selector, { hidden: true });
export const textOf = (selector, on = page) => on.$eval(selector, (element) => element.innerText);
export const rows = (on = page) => on.$$eval('.list:not(.waiting) a.row', (all) => all.map((row) => ({
  key: row.querySelector('.key').textContent, text: row.querySelector('.text').textContent })));
export const until = (is, ...args) => page.waitForFunction(is, { polling: 'mutation' }, ...args).catch(failed);
export const failed = async (error) => {
  if (pictures) await page.screenshot({ path: join(pictures, `failed-${Date.now() % 1e6}.png`) });
  throw error;
};
export const said = (text, on = page) => on.waitForFunction((wanted) =>
  document.getElementById('polite').textContent.includes(wanted), { polling: 'mutation' }, text);
export const task = (ref) => server.ask('GET', `/v1/tasks/${ref}`, shop.write);
export const focused = () => page.evaluate(() => document.activeElement.id || document.activeElement.textContent.trim());

export async function press(...keys) {
  for (const key of keys) await page.keyboard.press(key);
}

export async function fill(selector, text, on = page) {
  await see(selector, on);
  await on.$eval(selector, (input) => input.select());
  await on.type(selector, text);
}

export async function signIn(token, { stay = false, on = page, path = '/' } = {}) {
  await on.goto(new URL(path, server.url));
  await fill('#token', token, on);
  if (stay) await on.click('[name=stay]');
  await on.keyboard.press('Enter');
}

export async function signOut(on = page) {
  await on.click('[aria-label="Sign out"]');
  await see('#token', on);
}

export async function clickText(selector, text, on = page) {
  const handle = await on.waitForFunction((kind, wanted) => [...document.querySelectorAll(kind)].find((element) =>
    element.innerText.trim().startsWith(wanted) && element.offsetParent), {}, selector, text);
  await handle.click();
}

export async function picture(name, { scheme = 'light', width = 1280, height = 860, of } = {}) {
  if (!pictures) return;
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme },
    { name: 'prefers-reduced-motion', value: 'reduce' }]);
  await page.setViewport({ width, height });
  await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); }));
  await (of ? await page.$(of) : page).screenshot({ path: join(pictures, `${name}.png`) });
  await page.emulateMediaFeatures([]);
  await page.setViewport({ width: 1280, height: 860 });
}

// Checks WCAG 2.2 A and AA with axe, in the light and the dark colour scheme.
export async function isAccessible(what, on = page) {
  for (const scheme of ['light', 'dark']) {
    await on.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme },
      { name: 'prefers-reduced-motion', value: 'reduce' }]);
    await on.evaluate(axe);
    const found = await on.evaluate(async () => {
      const run = await window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] });
      return run.violations.map((each) => `${each.id}: ${each.nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`);
    });
    assert.deepEqual(found, [], `${what}, ${scheme}`);
  }
  await on.emulateMediaFeatures([]);
}

// Checks that a phone needs no horizontal scrolling and that every control is large enough to tap.
export async function fitsPhone(what) {
  // isMobile and hasTouch would reload the page. Charts get their new width a frame later.
  await page.setViewport({ width: 360, height: 740 });
  await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); }));
  const wide = await page.evaluate(() => [...document.querySelectorAll('body, body *')]
    .filter((each) => each.getBoundingClientRect().right > 360.5 && !each.closest('.scroll, .unseen'))
    .map((each) => each.outerHTML.slice(0, 90)));
  assert.deepEqual(wide, [], what);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360, what);
  const small = await page.evaluate(() => [...document.querySelectorAll('button, input, select, textarea, summary, nav a, a.row')]
    .filter((each) => each.offsetParent && !each.closest('.unseen') && !each.matches('.unseen, .link'))
    .map((each) => {
      const target = each.matches('[type=checkbox], [type=radio]') ? each.closest('label') : each;
      const { width, height } = target.getBoundingClientRect();
      return { is: each.outerHTML.slice(0, 90), width: Math.round(width), height: Math.round(height) };
    }).filter(({ width, height }) => width < 44 || height < 44));
  assert.deepEqual(small, [], what);
  await page.setViewport({ width: 1280, height: 860 });
}

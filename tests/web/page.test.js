// Goal: a person can do on the page what it is for, with a pointer, with keys alone, on a phone; what others write is text
// and nothing else; the token stays where it belongs. Method: a real server, a real browser, and every answer looked at
// through the API too.
//
// CALLSIGN_PICTURES=FOLDER: screenshots are written there.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, afterEach, before, test } from 'node:test';
import { join } from 'node:path';
import { openBrowser, Server, TASKS, WAIT } from './house.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const pictures = process.env.CALLSIGN_PICTURES;

let server;
let browser;
let page;
let shop;  // the account most of it is about
let retries;
const complaints = [];

before(async () => {
  server = await Server.start(process.env.CALLSIGND, '[reaper]\ninterval = "1s"\n[backup]\ndirectory = "FOLDER/backups"\n' +
    '[remote]\npoll_interval = "100ms"\nretry_min = "100ms"\n');
  shop = await server.account('bikes', 'SYN');
  for (const task of TASKS) await server.create(shop.write, task);
  retries = comeBack(await server.account('lost', 'LOST'));
  await retries.begun;
  browser = await openBrowser();
  page = await openPage();
});

after(async () => {
  await browser?.close();
  await server?.stop();
});

afterEach(() => assert.deepEqual(complaints.splice(0), [], 'the browser complains'));

// ---- what tests say ----

async function openPage(context = browser) {
  const opened = await context.newPage();
  await opened.setViewport({ width: 1280, height: 860 });
  opened.setDefaultTimeout(WAIT);
  opened.on('pageerror', (error) => complaints.push(String(error)));
  opened.on('console', (message) => {
    // A problem is an answer; what a policy forbids is not.
    const isProblem = /Failed to load resource: (the server responded with a status of [45]|net::ERR_)/.test(message.text());
    if (message.type() === 'error' && !isProblem) complaints.push(message.text());
  });
  opened.on('request', (request) => {
    if (!request.url().startsWith(server.url) && !request.url().startsWith('data:')) complaints.push(`asked for ${request.url()}`);
    if (request.url().includes('cs_')) complaints.push(`a token in ${request.url()}`);
  });
  return opened;
}

const see = (selector, on = page) => on.waitForSelector(selector, { visible: true }).catch(failed);
const gone = (selector, on = page) => on.waitForSelector(selector, { hidden: true });
const textOf = (selector, on = page) => on.$eval(selector, (element) => element.innerText);
const rows = (on = page) => on.$$eval('.list:not(.waiting) a.row', (all) => all.map((row) => ({
  key: row.querySelector('.key').textContent, text: row.querySelector('.text').textContent })));
const until = (is, ...args) => page.waitForFunction(is, { polling: 'mutation' }, ...args).catch(failed);
const failed = async (error) => {
  if (pictures) await page.screenshot({ path: join(pictures, `failed-${Date.now() % 1e6}.png`) });
  throw error;
};
const said = (text, on = page) => on.waitForFunction((wanted) =>
  document.getElementById('polite').textContent.includes(wanted), { polling: 'mutation' }, text);
const task = (ref) => server.ask('GET', `/v1/tasks/${ref}`, shop.write);
const focused = () => page.evaluate(() => document.activeElement.id || document.activeElement.textContent.trim());

async function press(...keys) {
  for (const key of keys) await page.keyboard.press(key);
}

async function fill(selector, text, on = page) {
  await see(selector, on);
  await on.$eval(selector, (input) => input.select());
  await on.type(selector, text);
}

async function signIn(token, { stay = false, on = page, path = '/' } = {}) {
  await on.goto(new URL(path, server.url));
  await fill('#token', token, on);
  if (stay) await on.click('[name=stay]');
  await on.keyboard.press('Enter');
}

async function signOut(on = page) {
  await on.click('[aria-label="Sign out"]');
  await see('#token', on);
}

async function clickText(selector, text, on = page) {
  const handle = await on.waitForFunction((kind, wanted) => [...document.querySelectorAll(kind)].find((element) =>
    element.innerText.trim().startsWith(wanted) && element.offsetParent), {}, selector, text);
  await handle.click();
}

async function picture(name, { scheme = 'light', width = 1280, height = 860, of } = {}) {
  if (!pictures) return;
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme },
    { name: 'prefers-reduced-motion', value: 'reduce' }]);
  await page.setViewport({ width, height });
  await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); }));
  await (of ? await page.$(of) : page).screenshot({ path: join(pictures, `${name}.png`) });
  await page.emulateMediaFeatures([]);
  await page.setViewport({ width: 1280, height: 860 });
}

// WCAG 2.2 A and AA, as far as a program can judge, in light and dark.
async function isAccessible(what) {
  for (const scheme of ['light', 'dark']) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme },
      { name: 'prefers-reduced-motion', value: 'reduce' }]);
    await page.evaluate(axe);
    const found = await page.evaluate(async () => {
      const run = await window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] });
      return run.violations.map((each) => `${each.id}: ${each.nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`);
    });
    assert.deepEqual(found, [], `${what}, ${scheme}`);
  }
  await page.emulateMediaFeatures([]);
}

// Nothing to scroll sideways for, and nothing too small for a thumb.
async function fitsPhone(what) {
  // As it stands: with isMobile or hasTouch it would be loaded anew. Charts are told of their width a frame later.
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

// Clients that lose their answers and come back: what the reaper's window is chosen of. Of some even the first try is
// lost in a crash, between reservation and task.
function comeBack(lost) {
  const make = (key) => server.create(lost.write, { description: 'A part' }, key).catch(() => {});
  const later = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });
  const begun = (async () => {
    for (let round = 0; round < 40; round += 1) {
      const sent = Array.from({ length: 150 }, (_, i) => make(`crash-${round}-${i}`));
      // Others are between their two commits when one is answered.
      await Promise.race(sent);
      await server.restart('SIGKILL');
      await Promise.all(sent);
      const { slots = [] } = await server.ask('GET', '/v1/admin/slots?state=pending&pageSize=500', server.operator);
      if (slots.length >= 5) return slots.map((slot) => slot.idempotencyKey);
    }
    throw new Error('no crash has left a slot pending');
  })();
  const ended = begun.then((pending) => Promise.all([
    ...pending.map((key, i) => later(2_500 + 60 * i).then(() => make(key))),
    ...Array.from({ length: 130 }, async (_, i) => {
      const key = `answer-${i}`;
      await make(key);
      await later(60 * 1.035 ** i + (i % 7) * 40);
      await make(key);
    })]));
  return { begun, ended };
}

// An afternoon in a minute, for a picture.
async function busy(ms) {
  const end = Date.now() + ms;
  for (let i = 0; Date.now() < end; i += 1) {
    const many = Math.round(6 + 5 * Math.sin(i / 9));
    const keys = Array.from({ length: many }, (_, k) => `busy-${i}-${k}`);
    await Promise.all(keys.map((key) => server.create(shop.write, { description: 'A part' }, key)));
    const again = () => server.create(shop.write, { description: 'A part' }, keys[0]).catch(() => {});
    if (i % 2) setTimeout(again, 250 + ((i * 7919) % 50) ** 2);
    await new Promise((resolve) => { setTimeout(resolve, 250); });
  }
}

// ---- signing in ----

test('a wrong token opens nothing, and is kept nowhere', async () => {
  await signIn('cs_wrong');
  await see('.note.bad');
  assert.match(await textOf('.note.bad'), /The token is not valid/);
  assert.equal(await page.evaluate(() => sessionStorage.length + localStorage.length), 0);
  await isAccessible('signing in');
  await fitsPhone('signing in');
});

test('a right one opens the account, for this tab', async () => {
  await signIn(shop.write);
  await see('a.row');
  await said('Signed in to bikes.');
  const kept = await page.evaluate(() => ({ session: sessionStorage['callsign.token'], local: localStorage.length,
    cookie: document.cookie, address: location.href }));
  assert.deepEqual(kept, { session: shop.write, local: 0, cookie: '', address: `${server.url}/` });
  assert.equal((await rows()).length, TASKS.length);
  assert.equal((await rows())[0].key, `SYN-${TASKS.length}`, 'the newest number is first');
  await page.waitForSelector('.feed.live');
  await isAccessible('the list');
  await page.reload();
  await see('a.row');
});

// ---- tasks ----

test('a new task has its number as soon as there is one', async () => {
  await fill('#new-description', 'Measure the courier’s inside leg');
  await press('Enter');
  await see('.given');
  const key = `SYN-${TASKS.length + 1}`;
  assert.equal((await textOf('.given .key')).trim(), key);
  await said(`${key} created`);
  await until((wanted) => document.querySelector('a.row .key').textContent === wanted, key);
  assert.equal((await task(key)).description, 'Measure the courier’s inside leg');
  await picture('tasks');
  await picture('phone', { scheme: 'dark', width: 390, height: 800 });
});

test('a task opens beside the list, and closes', async () => {
  await page.evaluate(() => document.querySelectorAll('a.row')[3].click());
  await see('#edit-task');
  await picture('task', { scheme: 'dark' });
  await press('Escape');
  await gone('.task');
  assert.equal(new URL(page.url()).pathname, '/');
});

test('all fields of the form get there', async () => {
  await clickText('.composer button', 'More');
  await fill('#new-task [name=description]', 'Fit the dynamo');
  await fill('#new-task [name=project]', 'Workshop');
  await fill('#new-task [name=tags]', 'wheel +light');
  await page.select('#new-task [name=priority]', 'H');
  await page.$eval('#new-task [name=due]', (input) => { input.value = '2030-01-02T03:04'; });
  await clickText('.composer button', 'Create');
  await until(() => document.querySelector('a.row .text').textContent === 'Fit the dynamo');
  const made = await task((await rows())[0].key);
  assert.deepEqual([made.project, made.tags, made.priority], ['Workshop', ['light', 'wheel'], 'H']);
  assert.equal(new Date(made.due).getTime(), await page.evaluate(() => new Date('2030-01-02T03:04').getTime()));
  await clickText('.composer button', 'Less');
});

test('a creation whose answer is lost is sent again and makes one task', async () => {
  await page.setRequestInterception(true);
  let tries = 0;
  const lose = async (request) => {
    if (request.method() !== 'POST' || !request.url().endsWith('/v1/tasks')) return request.continue();
    tries += 1;
    if (tries > 2) return request.continue();
    // The first never gets there; of the second the answer is lost.
    if (tries === 2) {
      await server.ask('POST', '/v1/tasks', shop.write, JSON.parse(request.postData()),
        { 'Idempotency-Key': request.headers()['idempotency-key'] });
    }
    return request.abort('failed');
  };
  page.on('request', lose);
  await fill('#new-description', 'Only one of these');
  await press('Enter');
  await see('.list.waiting .key.pending');
  await until(() => document.querySelector('.given bdi')?.textContent === 'Only one of these');
  page.off('request', lose);
  await page.setRequestInterception(false);
  assert.equal(tries, 3);
  const { tasks } = await server.ask('GET', '/v1/tasks?text=Only%20one%20of%20these', shop.write);
  assert.equal(tasks.length, 1);
  await gone('.list.waiting');
});

test('what others write is text, and stays in its place', async () => {
  const evil = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>';
  const turned = '\u202Edesrever \u2066left open \u202A';
  await server.create(shop.write, { description: evil, project: '<b>bold</b>', tags: ['<i>'] });
  await server.create(shop.write, { description: turned });
  await until((text) => [...document.querySelectorAll('a.row .text')].some((row) => row.textContent === text), turned);
  const found = await rows();
  assert.ok(found.some((row) => row.text === evil));
  assert.deepEqual(await page.evaluate(() => ({ hit: window.hit, images: document.images.length,
    scripts: document.querySelectorAll('main script, main b b, main i i').length })), { images: 0, scripts: 0 });
  // What is beside it is where it is in other rows.
  const [key, before] = await page.evaluate((text) => {
    const row = [...document.querySelectorAll('a.row')].find((each) => each.querySelector('.text').textContent === text);
    const box = (element) => element.getBoundingClientRect();
    return [box(row.querySelector('.key')).left, box(row.querySelector('.what')).left];
  }, turned);
  assert.ok(key < before);
  await page.goto(new URL(found.find((row) => row.text === evil).key, server.url));
  await see('#edit-task textarea');
  assert.equal(await page.$eval('#edit-task textarea', (input) => input.value), evil);
  assert.equal(await page.evaluate(() => window.hit), undefined);
  await page.goto(server.url);
  await see('a.row');
  await page.waitForSelector('.feed.live');
});

test('what another client does is seen as it happens', async () => {
  const made = await server.create(shop.write, { description: 'From the workshop’s phone' });
  await until((key) => document.querySelector('a.row .key').textContent === key, made.key);
  await said(`${made.key} created`);
  await server.ask('PATCH', `/v1/tasks/${made.key}`, shop.write, { description: 'From the phone, twice' });
  await until(() => document.querySelector('a.row .text').textContent === 'From the phone, twice');
  await server.ask('POST', `/v1/tasks/${made.key}:complete`, shop.write);
  await until((key) => document.querySelector('a.row .key').textContent !== key, made.key);
});

test('what others do is shown through the filters', async () => {
  await page.goto(new URL('/?tag=live', server.url));
  await see('.empty');
  await page.waitForSelector('.feed.live');
  await server.create(shop.write, { description: 'Not of this list' });
  const made = await server.create(shop.write, { description: 'Of this list', tags: ['live'] });
  await until(() => document.querySelectorAll('a.row').length === 1);
  // What is not in it comes in, and goes again.
  await server.ask('PATCH', '/v1/tasks/SYN-3', shop.write, { tags: ['live', 'writing'] });
  await until(() => document.querySelectorAll('a.row').length === 2);
  assert.deepEqual((await rows()).map((row) => row.key), [made.key, 'SYN-3']);
  await server.ask('PATCH', '/v1/tasks/SYN-3', shop.write, { tags: ['writing'] });
  await until(() => document.querySelectorAll('a.row').length === 1);
  await server.ask('POST', `/v1/tasks/${made.key}:complete`, shop.write);
  await see('.empty');
});

test('the focus stays where it is while others change things', async () => {
  await page.goto(server.url);
  await see('a.row');
  await page.waitForSelector('.feed.live');
  await page.evaluate(() => document.activeElement.blur());
  await press('j', 'j');
  const held = (await focused()).split('\n')[0];
  const made = await server.create(shop.write, { description: 'It comes in above' });
  await until((key) => document.querySelector('a.row .key').textContent === key, made.key);
  assert.equal((await focused()).split('\n')[0], held);
  // A form that is being filled keeps its text and the place in it.
  await page.type('#new-description', 'Half a thou');
  await server.ask('DELETE', `/v1/tasks/${made.key}`, shop.write);
  await until((key) => document.querySelector('a.row .key').textContent !== key, made.key);
  assert.equal(await focused(), 'new-description');
  await page.keyboard.type('ght');
  assert.equal(await page.$eval('#new-description', (input) => input.value), 'Half a thought');
  await page.$eval('#new-description', (input) => { input.value = ''; });
});

test('an edit is saved, and no more than the edit', async () => {
  await page.goto(new URL('/SYN-2', server.url));
  await see('#edit-task');
  assert.match(await page.title(), /SYN-2/);
  await fill('#edit-task [name=tags]', 'wheel tandem');
  await see('#edit-task .save');
  await isAccessible('a task being edited');
  await clickText('#edit-task button', 'Save');
  await said('SYN-2 saved.');
  const now = await task('SYN-2');
  assert.deepEqual(now.tags, ['tandem', 'wheel']);
  assert.equal(now.description, TASKS[1].description);
  await fill('#edit-task [name=project]', ' ');
  await press('Enter');
  await page.waitForFunction(() => !document.querySelector('#edit-task .save'));
  assert.equal((await task('SYN-2')).project, undefined);
});

test('an edit of what others have changed is not saved over theirs', async () => {
  await fill('#edit-task textarea', 'Mine');
  await fill('#edit-task [name=project]', 'Wheels');
  await server.ask('PATCH', '/v1/tasks/SYN-2', shop.write, { description: 'Theirs', priority: 'L' });
  await see('.note[role=status]');
  await clickText('#edit-task button', 'Save');
  await see('.conflict');
  await page.waitForFunction(() => document.activeElement.id === 'conflict-title');
  assert.equal((await task('SYN-2')).description, 'Theirs', 'nothing is saved yet');
  const shown = await textOf('.conflict');
  for (const part of ['Mine', 'Theirs', 'Wheels', 'Priority', 'changed by both']) assert.match(shown, new RegExp(part));
  await isAccessible('a conflict');
  await page.evaluate(() => document.querySelector('.conflict input[name=take-description]:not(:checked)').click());
  await clickText('.conflict button', 'Save this');
  await until(() => !document.querySelector('.conflict, #edit-task .save'));
  const now = await task('SYN-2');
  assert.deepEqual([now.description, now.project, now.priority], ['Theirs', 'Wheels', 'L']);
});

test('annotations come and go', async () => {
  await fill('#annotation', 'Spokes are in the blue drawer');
  await press('Enter');
  await see('.annotations li');
  assert.equal((await task('SYN-2')).annotations[0].description, 'Spokes are in the blue drawer');
  await page.click('[aria-label="Remove the annotation"]');
  await gone('.annotations li');
  assert.equal((await task('SYN-2')).annotations, undefined);
});

test('what is done can be undone', async () => {
  await clickText('.task .actions button', 'Complete');
  await see('.told');
  assert.match(await textOf('.told'), /SYN-2 completed/);
  assert.equal((await task('SYN-2')).status, 'completed');
  await clickText('.told button', 'Undo');
  await until(() => document.querySelector('.task .actions button').innerText === 'Complete');
  assert.equal((await task('SYN-2')).status, 'pending');
  await clickText('.task .actions button', 'Start');
  await until(() => document.querySelector('.task .meta').textContent.includes('active'));
  await clickText('.task .actions button', 'Stop');
  await clickText('.task .actions button', 'Delete');
  await until(() => document.querySelector('.task .actions button').innerText === 'Reopen');
  assert.equal((await task('SYN-2')).status, 'deleted');
  await page.evaluate(() => document.activeElement.blur());
  await press('u');
  await until(() => document.querySelector('.task .actions button').innerText === 'Complete');
  assert.equal((await task('SYN-2')).status, 'pending');
});

// ---- finding ----

test('a key is found however it is typed', async () => {
  for (const typed of ['syn 3', 'SYN-3', 'syn3', '3']) {
    await fill('#find', typed);
    await press('Enter');
    await until(() => document.querySelector('#task-title').textContent === 'SYN-3');
    assert.equal(new URL(page.url()).pathname, '/SYN-3');
  }
  await fill('#find', 'what?');
  await press('Enter');
  await until(() => document.getElementById('find-says').textContent.includes('A key is a prefix and a number'));
  await fill('#find', 'SYN-99999');
  await press('Enter');
  await see('.task .note.bad');
  assert.match(await textOf('.task .note.bad'), /There is no such task/);
  await page.goBack();
  await until(() => document.querySelector('#task-title').textContent === 'SYN-3');
});

test('a link to a task opens it, after signing in too', async () => {
  const own = await browser.createBrowserContext();
  const other = await openPage(own);
  await signIn(shop.read, { on: other, path: '/syn-4', stay: true });
  await see('#edit-task', other);
  assert.equal(await textOf('#task-title', other), 'SYN-4');
  assert.equal(await other.evaluate(() => localStorage['callsign.token'].length > 10 && sessionStorage['callsign.token']), undefined);
  const again = await openPage(own);
  await again.goto(new URL('/SYN-5', server.url));
  await see('#edit-task', again);
  // This token reads and no more.
  await clickText('.task .actions button', 'Complete', again);
  await see('.told', again);
  assert.match(await textOf('.told', again), /The token does not allow this/);
  await signOut(again);
  assert.equal(await again.evaluate(() => localStorage.length + sessionStorage.length), 0);
  await own.close();
});

test('filters are what the address says', async () => {
  await page.goto(server.url);
  await see('a.row');
  await fill('#search', 'photograph');
  await until(() => document.querySelectorAll('a.row').length === 1);
  assert.equal(new URL(page.url()).search, '?text=photograph');
  await page.reload();
  await until(() => document.querySelectorAll('a.row').length === 1);
  assert.equal(await page.$eval('#search', (input) => input.value), 'photograph');
  await fill('#search', 'no such thing');
  await see('.empty');
  await clickText('.empty button', 'Clear the filters');
  await until(() => document.querySelectorAll('a.row').length > 10);
  await page.goto(new URL('/?project=Workshop&tag=buy', server.url));
  await until(() => document.querySelectorAll('a.row').length === 2);
  await page.goto(new URL('/?is=overdue&tag=-buy&sort=due', server.url));
  await until(() => document.querySelector('a.row')?.textContent.includes('SYN-2'));
  assert.equal((await rows()).length, 1);
  await page.select('#status', 'completed');
  assert.match(new URL(page.url()).search, /status=completed/);
  await page.goto(new URL('/?status=any', server.url));
  await until(() => document.querySelector('a.row.closed'));
});

test('a long list comes in pages', async () => {
  const many = await server.account('many', 'MANY');
  const items = Array.from({ length: 130 }, (_, i) => ({ idempotencyKey: `k-${i}`, task: { description: `Part ${i + 1}` } }));
  await server.ask('POST', '/v1/tasks:batchCreate', many.write, { items });
  await signOut();
  await signIn(many.write);
  await until(() => document.querySelectorAll('a.row').length === 50);
  await clickText('button', 'Show more');
  await until(() => document.querySelectorAll('a.row').length === 100);
  await page.waitForFunction(() => document.activeElement.textContent.includes('MANY-80'));
  // A change of one leaves the rest as long as it was.
  await server.ask('PATCH', '/v1/tasks/MANY-40', many.write, { description: 'Part 40, chromed' });
  await until(() => [...document.querySelectorAll('a.row .text')].some((each) => each.textContent === 'Part 40, chromed'));
  assert.equal((await rows()).length, 100);
  await signOut();
});

test('an empty list says what to do, and a refusal why', async () => {
  const empty = await server.account('empty', 'NEW');
  await signIn(empty.read);
  await see('.empty');
  assert.match(await textOf('.empty'), /press Enter/);
  await fill('#new-description', 'I may not');
  await press('Enter');
  await see('.list.waiting .note.bad');
  assert.match(await textOf('.list.waiting .note.bad'), /scope write/);
  await clickText('.list.waiting button', 'Edit');
  assert.equal(await page.$eval('#new-description', (input) => input.value), 'I may not');
  await signOut();
});

test('an account that the server cannot read is told so', async () => {
  const made = await server.ask('POST', '/v1/admin/accounts', server.operator, { name: 'sealed', prefix: 'SEA', mode: 'opaque' });
  await signIn(made.token);
  await see('.empty');
  assert.match(await textOf('.empty'), /The server cannot read this account/);
  await signOut();
});

test('many changes at once are shown, and told as many', async () => {
  const busyOne = await server.account('busy', 'BUSY');
  await signIn(busyOne.write);
  await page.waitForSelector('.feed.live');
  const items = Array.from({ length: 30 }, (_, i) => ({ idempotencyKey: `k-${i}`, task: { description: `Part ${i + 1}` } }));
  await server.ask('POST', '/v1/tasks:batchCreate', busyOne.write, { items });
  await said('30 changes by others.');
  await until(() => document.querySelectorAll('a.row').length === 30);
  await signOut();
});

// ---- keys alone ----

test('everything can be done with keys', async () => {
  await page.goto(server.url);
  await fill('#token', shop.write);
  await press('Enter');
  await see('a.row');
  await page.evaluate(() => document.activeElement.blur());
  await press('n');
  await page.waitForFunction(() => document.activeElement.id === 'new-description');
  await page.keyboard.type('Made with keys');
  await press('Enter');
  await until(() => document.querySelector('a.row .text').textContent === 'Made with keys');
  const [{ key }, second] = await rows();
  await press('Escape', 'j');
  assert.match(await focused(), new RegExp(`^${key}`));
  await press('j');
  assert.match(await focused(), new RegExp(`^${second.key}`));
  await press('k', 'Enter');
  await until((wanted) => document.querySelector('#task-title').textContent === wanted, key);
  await page.waitForFunction(() => document.activeElement.id === 'task-title');
  await see('#edit-task');
  await press('e');
  await page.keyboard.type(', and changed');
  await press('Escape', 'Tab', 'Tab');
  await page.$eval('#edit-task textarea', (input) => input.focus());
  await press('Escape');
  await page.$eval('#edit-task .save button', (button) => button.focus());
  await press('Enter');
  await said(`${key} saved.`);
  assert.match((await task(key)).description, /and changed/);
  await page.$eval('#task-title', (title) => title.focus());
  await press('c');
  await until(() => document.querySelector('.told')?.textContent.includes('completed'));
  await press('u');
  await until(() => document.querySelector('.task .actions button').innerText === 'Complete');
  await press('Escape');
  await gone('.task');
  await press('/');
  await page.waitForFunction(() => document.activeElement.id === 'search');
  await press('Escape', 'g');
  await page.waitForFunction(() => document.activeElement.id === 'find');
  await press('Escape', '?');
  await see('#help[open]');
  await isAccessible('help');
  await press('Escape');
  await gone('#help');
  // From the top: the first stop leads past what is the same on every view.
  await page.evaluate(() => { document.activeElement.blur(); window.scrollTo(0, 0); });
  await page.reload();
  await see('a.row');
  await press('Tab');
  assert.match(await focused(), /^Skip to/);
  await press('Enter');
  assert.equal(await focused(), 'main');
  // Whatever has the focus shows it.
  await press('Tab', 'Tab');
  assert.notEqual(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), 'none');
});

// ---- small screens ----

test('it fits a phone', async () => {
  await fitsPhone('the list');
  await page.goto(new URL('/?tag=buy', server.url));
  await see('#filters');
  await fitsPhone('the filters');
  await page.goto(server.url);
  await see('a.row');
  await page.goto(new URL('/SYN-4', server.url));
  await see('#edit-task');
  await fitsPhone('a task');
});

// ---- when the server is away ----

test('it comes back when the server does', async () => {
  await page.goto(server.url);
  await page.waitForSelector('.feed.live');
  await server.end('SIGTERM');
  await page.waitForSelector('.feed.away');
  await fill('#new-description', 'Written down in the dark');
  await press('Enter');
  await see('.list.waiting .meta');
  await server.run(new URL(server.url).host);
  await until(() => document.querySelector('.given bdi')?.textContent === 'Written down in the dark');
  await page.waitForSelector('.feed.live');
  const made = await server.create(shop.write, { description: 'After the break' });
  await until((key) => document.querySelector('a.row .key').textContent === key, made.key);
});

test('what was missed while the connection was cut is shown after it', async () => {
  await page.setRequestInterception(true);
  let cut = true;
  const hold = (request) => (cut && request.url().includes('/v1/changes') ? request.abort('failed') : request.continue());
  page.on('request', hold);
  await server.restart('SIGKILL');
  await page.waitForSelector('.feed.away');
  await server.ask('PATCH', '/v1/tasks/SYN-3', shop.write, { description: 'Changed while nobody could hear' });
  const made = await server.create(shop.write, { description: 'Made while nobody could hear' });
  cut = false;
  await page.waitForSelector('.feed.live');
  await until((key) => document.querySelector('a.row .key').textContent === key, made.key);
  await said(`${made.key} created`);
  await until(() => [...document.querySelectorAll('a.row .text')].some((each) => each.textContent === 'Changed while nobody could hear'));
  page.off('request', hold);
  await page.setRequestInterception(false);
});

test('nothing of an account is left for who signs in next', async () => {
  const next = await server.account('next', 'NEXT');
  await server.create(next.write, { description: 'Of the next one' });
  // A creation of the former that is still on its way, and a list that is answered late.
  await page.setRequestInterception(true);
  const late = [];
  let isHeld = true;
  const hold = (request) => {
    if (isHeld && request.method() === 'POST' && request.url().endsWith('/v1/tasks')) return request.abort('failed');
    if (isHeld && request.url().includes('/v1/tasks?')) return late.push(request);
    return request.continue();
  };
  page.on('request', hold);
  await fill('#new-description', 'Of the former alone');
  await press('Enter');
  await see('.list.waiting .meta');
  await page.select('#status', 'any');
  await page.waitForFunction(() => document.querySelector('.skeleton'));
  const told = await server.create(shop.write, { description: 'Told of just before' });
  await said(`${told.key} created`);
  await signOut();
  assert.doesNotMatch(await page.$eval('#polite', (region) => region.textContent), /SYN-/);
  assert.equal(await page.evaluate(() => sessionStorage.length + localStorage.length), 0);
  isHeld = false;
  await fill('#token', next.write);
  await press('Enter');
  await see('a.row');
  for (const request of late) request.continue().catch(() => {});
  await page.waitForSelector('.feed.live');
  await server.create(next.write, { description: 'Another of the next one' });
  await until(() => document.querySelectorAll('a.row').length === 2);
  page.off('request', hold);
  await page.setRequestInterception(false);
  assert.deepEqual((await rows()).map((row) => row.key), ['NEXT-2', 'NEXT-1']);
  assert.doesNotMatch(await page.evaluate(() => document.documentElement.outerHTML + location.href), /SYN-|bikes|former|status=/);
  for (const token of [shop.write, next.write]) {
    const { tasks } = await server.ask('GET', '/v1/tasks?text=former%20alone', token);
    assert.equal(tasks.length, 0);
  }
  await signOut();
  await signIn(shop.write);
  await see('a.row');
});

test('signing out in one tab signs the others out that stay signed in', async () => {
  const own = await browser.createBrowserContext();
  const one = await openPage(own);
  await signIn(shop.read, { on: one, stay: true });
  await see('a.row', one);
  const two = await openPage(own);
  await two.goto(server.url);
  await see('a.row', two);
  // One that is behind another draws nothing.
  await one.bringToFront();
  await signOut(one);
  await two.bringToFront();
  await see('#token', two);
  assert.doesNotMatch(await two.evaluate(() => document.documentElement.outerHTML), /SYN-/);
  await own.close();
});

test('a token that is revoked signs its reader out', async () => {
  const given = await server.ask('POST', '/v1/admin/accounts/bikes/tokens', server.operator, { name: 'short' });
  await signOut();
  await signIn(given.token);
  await see('a.row');
  await server.ask('DELETE', `/v1/admin/tokens/${given.tokenId}`, server.operator);
  await see('#token');
  assert.match(await textOf('.note.bad'), /You have been signed out/);
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);
});

// ---- operators ----

test('an operator sees how the server does', async () => {
  await retries.ended;
  await signIn(server.operator);
  await see('.operator .tiles');
  await see('.histogram .handle');
  if (pictures) await busy(45_000);
  await picture('operator', { height: 900 });
  for (let i = 0; i < 5; i += 1) await server.create(shop.write, { description: `Spare part ${i + 1}` });
  await page.waitForFunction(() => document.querySelectorAll('.timeline canvas').length === 3 &&
    [...document.querySelectorAll('.timeline b')].some((each) => /[1-9]/.test(each.textContent)), { polling: 500 });
  assert.match(await textOf('.slots'), /Committed\s+\d+/);
  assert.match(await textOf('.window-figure figcaption'), /p99\s+[\d.]+ (ms|s)/);
  // What is drawn is told, too.
  await clickText('.timeline summary', 'As a table');
  await see('.timeline details[open] tbody tr');
  await isAccessible('the operator’s page');
  await clickText('.timeline summary', 'As a table');
});

test('another window shows what it would have done', async () => {
  const inForce = await textOf('.histogram .window');
  const drag = async (part) => {
    const svg = await page.$('.histogram > svg');
    await svg.scrollIntoView();
    const handle = await (await page.$('.histogram .handle rect')).boundingBox();
    const box = await svg.boundingBox();
    await page.mouse.move(handle.x + 9, handle.y + 11);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * part, box.y + 40, { steps: 4 });
    await page.mouse.up();
  };
  await drag(0.25);
  const short = await textOf('.histogram');
  assert.doesNotMatch(short, new RegExp(inForce.replace(/[^\w ]/g, '.')));
  assert.match(short, /failed though the client came back/);
  assert.match(short, /as it is/);
  assert.match(short, /window = "\d+(ms|s|m|h|d)"/);
  assert.ok(await page.$eval('.histogram .would dd', (dd) => Number.parseFloat(dd.textContent) > 0),
    'so short a window fails those who come back');
  await picture('operator-window', { width: 1100, height: 900, of: '.window-figure' });
  // With keys: longer, until none is failed.
  await page.focus('.histogram input');
  const tells = () => page.$eval('.histogram input', (input) => input.getAttribute('aria-valuetext'));
  const before = await tells();
  await press('ArrowRight');
  assert.notEqual(await tells(), before);
  await press('End');
  assert.match(await tells(), /^7 d: 0 slots failed too early/);
  await clickText('.histogram button', 'Back to');
  assert.equal(await textOf('.histogram .window'), inForce);
});

test('a sweep is made, and those before it are listed', async () => {
  await clickText('#reaper button', 'Sweep now');
  await until(() => document.querySelector('.told')?.textContent.startsWith('Swept'));
  assert.ok((await page.$$('#reaper .scroll tbody tr')).length > 0);
});

test('accounts, tokens and devices are made and ended', async () => {
  await fill('#accounts > .make [name=name]', 'paint');
  await fill('#accounts > .make [name=prefix]', 'pnt');
  await press('Enter');
  await see('#secret[open]');
  const first = await page.$eval('#secret textarea', (area) => area.value);
  assert.match(first, /^cs_/);
  assert.equal((await server.ask('GET', '/v1/account', first)).name, 'paint');
  await isAccessible('a secret');
  await clickText('#secret button', 'I have it');
  await gone('#secret');
  assert.equal(await page.evaluate((secret) => document.documentElement.outerHTML.includes(secret), first), false);

  await clickText('#accounts button.link', 'paint');
  await see('.panel');
  await page.waitForFunction(() => document.querySelectorAll('.panel .make [name=name]').length === 2);
  await fill('.panel .make [name=name]', 'spray-booth');
  await page.select('.panel .make [name=scope]', 'read');
  await page.select('.panel .make [name=days]', '30');
  await clickText('.panel .make button', 'Create token');
  await see('#secret[open]');
  const token = await page.$eval('#secret textarea', (area) => area.value);
  await press('Escape');
  await gone('#secret');
  await until(() => document.querySelector('.panel table').textContent.includes('spray-booth'));
  assert.equal((await server.ask('GET', '/v1/account', token)).name, 'paint');
  page.once('dialog', (dialog) => dialog.dismiss());
  await page.click('[aria-label="Revoke spray-booth"]');
  assert.equal((await server.ask('GET', '/v1/account', token)).name, 'paint', 'nothing happens without a yes');
  page.once('dialog', (dialog) => dialog.accept());
  await page.click('[aria-label="Revoke spray-booth"]');
  await until(() => !document.querySelector('[aria-label="Revoke spray-booth"]'));
  await assert.rejects(server.ask('GET', '/v1/account', token), /401/);
  await clickText('.panel button', 'Show 1');
  await until(() => document.querySelector('.panel tr.over'));

  const devices = (await page.$$('.panel .make'))[1];
  await devices.$eval('[name=name]', (input) => { input.value = 'laptop'; });
  await clickText('.panel .make button', 'Create device');
  await see('#secret[open]');
  assert.match(await page.$eval('#secret textarea', (area) => area.value), /sync\.encryption_secret/);
  await clickText('#secret button', 'I have it');
  await until(() => document.querySelector('.panel').textContent.includes('laptop'));
  page.once('dialog', (dialog) => dialog.accept());
  await page.click('[aria-label="Revoke laptop"]');
  await until(() => !document.querySelector('[aria-label="Revoke laptop"]'));

  await fill('#accounts > .make [name=name]', 'paint');
  await fill('#accounts > .make [name=prefix]', 'pnt');
  await page.evaluate(() => [...document.querySelectorAll('#accounts > .make button')].at(-1).click());
  await see('#accounts .note.bad');
  assert.match(await textOf('#accounts .note.bad'), /The name is taken/);
  await fitsPhone('the operator’s page, with an account');
  await clickText('.panel .section-head button', 'Close');
});

const rowOfAccount = (name) => page.$$eval('.accounts tbody tr', (all, wanted) =>
  all.find((row) => row.querySelector('th').innerText === wanted)?.innerText ?? '', name);
const untilAccount = (name, state) => page.waitForFunction((wanted, is) => [...document.querySelectorAll('.accounts tbody tr')]
  .some((row) => row.querySelector('th').innerText === wanted && row.cells[3].innerText === is), {}, name, state).catch(failed);

test('an account is renamed, disabled, enabled, deleted and had back', async () => {
  const made = await server.account('varnish', 'VAR');
  const own = await browser.createBrowserContext();
  const theirs = await openPage(own);
  await signIn(made.write, { on: theirs });
  await see('.empty', theirs);
  await page.reload();
  await see('.accounts');
  await clickText('#accounts button.link', 'varnish');
  await see('.panel');
  await fill('.panel [name=newName]', 'lacquer');
  await press('Enter');
  await untilAccount('lacquer', 'active');
  assert.equal(await rowOfAccount('varnish'), '');
  await said('varnish is called lacquer now.');
  // The panel is the renamed one's, with its tokens.
  await until(() => document.querySelector('.panel table')?.textContent.includes('reader'));
  page.once('dialog', (dialog) => dialog.dismiss());
  await clickText('.panel button', 'Disable');
  assert.equal((await server.ask('GET', '/v1/account', made.write)).name, 'lacquer', 'nothing happens without a yes');
  page.once('dialog', (dialog) => dialog.accept());
  await clickText('.panel button', 'Disable');
  await untilAccount('lacquer', 'disabled');
  await see('#token', theirs);
  assert.match(await textOf('.note.bad', theirs), /The account is disabled/);
  await signIn(made.write, { on: theirs });
  await see('.note.bad', theirs);
  assert.match(await textOf('.note.bad', theirs), /The account is disabled/);
  await own.close();
  await isAccessible('a disabled account');
  await clickText('.panel button', 'Enable');
  await untilAccount('lacquer', 'active');
  assert.equal((await server.ask('GET', '/v1/account', made.write)).name, 'lacquer');

  await clickText('.panel summary', 'Delete this account');
  const button = '.deletion button';
  await fill('.deletion [name=typed]', 'varnish');
  assert.equal(await page.$eval(button, (each) => each.disabled), true, 'another name deletes nothing');
  await press('Enter');
  assert.equal((await server.ask('GET', '/v1/account', made.write)).name, 'lacquer');
  await fill('.deletion [name=typed]', 'lacquer');
  await page.waitForFunction((which) => !document.querySelector(which).disabled, {}, button);
  await page.click(button);
  await untilAccount('lacquer', 'deleted');
  assert.match(await textOf('.panel .note'), /It was deleted just now.*it can be had back until \w+ \d+, \d{4}/s);
  await assert.rejects(server.ask('GET', '/v1/account', made.write), /account-disabled/);
  assert.equal(await page.$('.panel [aria-label="The tokens of lacquer"]'), null);
  await isAccessible('a deleted account');
  await clickText('.panel button', 'Have it back');
  await untilAccount('lacquer', 'active');
  assert.equal((await server.ask('GET', '/v1/account', made.write)).name, 'lacquer');
  await clickText('.panel .section-head button', 'Close');
});

test('an account that lives elsewhere says how it is', async () => {
  const far = await Server.start(process.env.CALLSIGND);
  const there = await far.ask('POST', '/v1/admin/accounts', far.operator, { name: 'there', prefix: 'FAR', mode: 'opaque' });
  await server.ask('POST', '/v1/admin/accounts', server.operator, { name: 'abroad', prefix: 'ABR',
    remote: { url: far.url, clientId: there.clientId, encryptionSecret: 'a secret of theirs' } });
  await page.reload();
  await see('.accounts');
  await clickText('#accounts button.link', 'abroad');
  await see('.panel .facts');
  const says = (pattern) => page.waitForFunction((source) => new RegExp(source, 's').test(document.querySelector('.panel .facts').innerText),
    { polling: 200 }, pattern).catch(failed);
  await says('up to date');
  assert.ok((await textOf('.panel .facts')).includes(far.url));
  await far.end('SIGTERM');
  await says('trying again.*Last error');
  await isAccessible('an account elsewhere');
  await far.run(new URL(far.url).host);
  await says('up to date');
  await far.stop();
  await clickText('.panel .section-head button', 'Close');
});

// ---- what may be wrong with a server ----

// The page as it is when the server answers one path so; null: as ever.
async function answering(part, answer, what) {
  await page.setRequestInterception(true);
  const told = (request) => {
    const said = request.url().includes(part) && answer(request);
    return said ? request.respond(said) : request.continue();
  };
  page.on('request', told);
  await what();
  page.off('request', told);
  await page.setRequestInterception(false);
}

test('whether the server is ready is said', async () => {
  await see('.ready');
  assert.equal((await textOf('.ready')).trim(), 'Ready');
  const full = { status: 503, contentType: 'application/problem+json',
    body: JSON.stringify({ title: 'The server cannot write', detail: 'The disk is full.', status: 503, code: 'not-ready' }) };
  await answering('/readyz', () => full, async () => {
    await see('.ready.not');
    assert.match(await textOf('.ready'), /Not ready.*The disk is full/s);
    await said('Not ready. The server cannot write. The disk is full.');
    await isAccessible('a server that is not ready');
  });
  await gone('.ready.not');
  await said('The server is ready again.');
});

test('metrics on a port of their own are missed in words', async () => {
  const apart = await Server.start(process.env.CALLSIGND, '[metrics]\nlisten = "127.0.0.1:0"\n');
  const own = await browser.createBrowserContext();
  const other = await own.newPage();
  await other.setViewport({ width: 1280, height: 860 });
  const shown = page;
  await other.goto(apart.url);
  await fill('#token', apart.operator, other);
  await other.keyboard.press('Enter');
  await see('.operator .tiles', other);
  await other.waitForFunction(() => document.querySelector('#overview .note')?.innerText.includes('metrics.listen'));
  await see('.histogram .handle', other);
  assert.match(await textOf('.slots', other), /Pending\s+0/);
  assert.equal(await other.$('.note.bad'), null, 'nothing has failed');
  assert.equal(await other.$('.timeline'), null, 'no empty charts');
  page = other;
  await isAccessible('an operator’s page without metrics');
  page = shown;
  await own.close();
  await apart.stop();
});

test('the page is the same over TLS', async () => {
  const safe = await Server.start(process.env.CALLSIGND, '[tls]\ncertificate = "FOLDER/cert.pem"\nkey = "FOLDER/key.pem"\n');
  assert.match(safe.url, /^https:/);
  const own = await browser.createBrowserContext();
  const other = await own.newPage();
  await other.goto(safe.url);
  await fill('#token', safe.home, other);
  await other.keyboard.press('Enter');
  await other.waitForSelector('.feed.live');
  await fill('#new-description', 'Sealed on the way', other);
  await other.keyboard.press('Enter');
  await other.waitForFunction(() => document.querySelector('a.row .text')?.textContent === 'Sealed on the way');
  await signOut(other);
  await fill('#token', safe.operator, other);
  await other.keyboard.press('Enter');
  await see('.operator .tiles', other);
  await see('.ready', other);
  await own.close();
  await safe.stop();
});

// ---- backups ----

const backupRows = () => page.$$eval('#backups tbody tr', (all) => all.map((row) => row.innerText));

test('backups are listed, and made', async () => {
  await page.reload();
  await see('#backups tbody tr');
  const before = await backupRows();
  assert.equal(before.length, 1, 'the one of the start');
  assert.match(before[0], /(just now|minutes? ago)\s+[\d.]+ [kM]B/);
  assert.match(await textOf('#backups .hint'), /every day in .*backups, and 7 are kept.*master key/s);
  await clickText('#backups button', 'Back up now');
  await until(() => document.querySelector('.told')?.textContent.startsWith('Backed up:'));
  await until(() => document.querySelectorAll('#backups tbody tr').length === 2);
  const { kept } = await server.ask('GET', '/v1/admin/backups', server.operator);
  assert.equal(kept.length, 2);
  assert.ok((await backupRows())[0].includes(kept[0].directory), 'the newest is first');
  // Somewhere else; a second time there is something there.
  await clickText('#backups summary', 'To another directory');
  await fill('#backups [name=directory]', `${server.folder}/apart`);
  await press('Enter');
  await until(() => document.querySelectorAll('#backups tbody tr').length === 3);
  await fill('#backups [name=directory]', 'apart');
  await press('Enter');
  await see('#backups .note.bad');
  assert.match(await textOf('#backups .note.bad'), /Directory: The whole path/);
  await fill('#backups [name=directory]', `${server.folder}/apart`);
  await press('Enter');
  await until(() => /The last one failed/.test(document.querySelector('#backups .note.bad')?.textContent));
  await isAccessible('backups');
  await fitsPhone('backups');
});

test('how far a backup is, is shown', async () => {
  let copied = 0;
  const running = () => ({ status: 200, contentType: 'application/json',
    body: JSON.stringify({ running: true, copied: (copied += 10), total: 200, directory: '/b', every: '1d', keep: 7 }) });
  await answering('/v1/admin/backups', () => (copied < 200 ? running() : null), async () => {
    await page.reload();
    await see('#backups progress');
    await until(() => /Backing up, \d+ %/.test(document.querySelector('#backups .progress').innerText));
    assert.equal(await page.$eval('#backups button', (button) => button.disabled), true);
    const at = () => page.$eval('#backups progress', (bar) => bar.value);
    const before = await at();
    await page.waitForFunction((was) => document.querySelector('#backups progress')?.value > was, { polling: 100 }, before);
    copied = 200;
    await gone('#backups progress');
  });
  await see('#backups tbody tr');
});

// ---- after a restore ----

test('series that are held say what to do, and go on', async () => {
  await server.create(shop.write, { description: 'In the backup' });
  const backup = `${server.folder}/monday`;
  await server.ask('POST', '/v1/admin/backups', server.operator, { directory: backup });
  const lost = await server.create(shop.write, { description: 'Not in it' });
  const number = Number(lost.key.split('-')[1]);
  // Tokens are those of the backup.
  await server.restore(backup);
  await page.goto(server.url);
  await see('#held form');
  const form = '#held form[aria-label="SYN of bikes"]';
  await see(form);
  const { accounts } = await server.ask('GET', '/v1/admin/accounts?pageSize=1000', server.operator);
  const held = await Promise.all(accounts.map((each) => server.ask('GET', `/v1/admin/accounts/${each.name}/series`, server.operator)));
  const wanted = held.flatMap(({ series }) => series).filter((series) => series.held).length;
  await until((all) => document.querySelectorAll('#held form').length === all, wanted);
  const many = (await page.$$('#held form')).length;
  assert.match(await textOf('#held-title'), new RegExp(`^${many} series held`));
  assert.ok((await textOf(form)).includes(`the backup has SYN-${number - 1}`));
  await isAccessible('held series');
  await fitsPhone('held series');
  await picture('held', { of: '#held' });
  // Its own account asks for it in vain, and is told why.
  const own = await browser.createBrowserContext();
  const theirs = await openPage(own);
  await signIn(shop.write, { on: theirs });
  await fill('#new-description', 'A little early', theirs);
  await theirs.keyboard.press('Enter');
  await theirs.waitForFunction(() => /a backup.*It is sent again/s.test(document.querySelector('.list.waiting')?.innerText));
  await fill(`${form} [name=at]`, String(number + 1));
  let asked = '';
  page.once('dialog', (dialog) => { asked = dialog.message(); dialog.accept(); });
  await press('Enter');
  await gone(form);
  assert.match(asked, new RegExp(`goes on at SYN-${number + 1}.*${number} is left out`));
  await said(`SYN of bikes goes on at ${number + 1}.`);
  assert.equal((await page.$$('#held form')).length, many - 1);
  await see('.given', theirs);
  assert.equal((await textOf('.given .key', theirs)).trim(), `SYN-${number + 1}`);
  await own.close();
  assert.match(await textOf('#held-title'), new RegExp(`^${many - 1} series held`));
});

// Goal: users can manage tasks on the page with a pointer, with the keyboard alone and on a phone; content of other users
// is rendered as text only; the token is stored only where the user chose. Method: a real server and a real browser;
// results are verified through the API too.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TASKS } from './test_server.js';
import { browser, clickText, fill, fitsPhone, focused, gone, isAccessible, openPage, page, picture, press, rows,
  said, see, server, shop, signIn, signOut, task, textOf, until, visit } from './visitor.js';

visit();

// ---- signing in ----

test('an invalid token is rejected and not stored', async () => {
  await signIn('cs_wrong');
  await see('.note.bad');
  assert.match(await textOf('.note.bad'), /Invalid token/);
  assert.equal(await page.evaluate(() => sessionStorage.length + localStorage.length), 0);
  await isAccessible('signing in');
  await fitsPhone('signing in');
});

test('a valid token opens the account and is stored for this tab only', async () => {
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

test('a new task shows its key once the server has assigned it', async () => {
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

test('a task opens beside the list and closes', async () => {
  await page.evaluate(() => document.querySelectorAll('a.row')[3].click());
  await see('#edit-task');
  await picture('task', { scheme: 'dark' });
  await press('Escape');
  await gone('.task');
  assert.equal(new URL(page.url()).pathname, '/');
});

test('all fields of the form reach the server', async () => {
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

test('a creation whose response is lost is retried and creates one task', async () => {
  await page.setRequestInterception(true);
  let tries = 0;
  const lose = async (request) => {
    if (request.method() !== 'POST' || !request.url().endsWith('/v1/tasks')) return request.continue();
    tries += 1;
    if (tries > 2) return request.continue();
    // The first request does not reach the server; the response to the second is lost.
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

test('content of other users is rendered as text and does not move other elements', async () => {
  const evil = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>';
  const turned = '\u202Edesrever \u2066left open \u202A';
  await server.create(shop.write, { description: evil, project: '<b>bold</b>', tags: ['<i>'] });
  await server.create(shop.write, { description: turned });
  await until((text) => [...document.querySelectorAll('a.row .text')].some((row) => row.textContent === text), turned);
  const found = await rows();
  assert.ok(found.some((row) => row.text === evil));
  assert.deepEqual(await page.evaluate(() => ({ hit: window.hit, images: document.images.length,
    scripts: document.querySelectorAll('main script, main b b, main i i').length })), { images: 0, scripts: 0 });
  // The text direction of the description does not affect the key beside it.
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

test('changes by other clients appear at once', async () => {
  const made = await server.create(shop.write, { description: 'From the workshop’s phone' });
  await until((key) => document.querySelector('a.row .key').textContent === key, made.key);
  await said(`${made.key} created`);
  await server.ask('PATCH', `/v1/tasks/${made.key}`, shop.write, { description: 'From the phone, twice' });
  await until(() => document.querySelector('a.row .text').textContent === 'From the phone, twice');
  await server.ask('POST', `/v1/tasks/${made.key}:complete`, shop.write);
  await until((key) => document.querySelector('a.row .key').textContent !== key, made.key);
});

test('changes by other clients respect the filters', async () => {
  await page.goto(new URL('/?tag=live', server.url));
  await see('.empty');
  await page.waitForSelector('.feed.live');
  await server.create(shop.write, { description: 'Not of this list' });
  const made = await server.create(shop.write, { description: 'Of this list', tags: ['live'] });
  await until(() => document.querySelectorAll('a.row').length === 1);
  // A task enters the list when it matches, and leaves it when it no longer does.
  await server.ask('PATCH', '/v1/tasks/SYN-3', shop.write, { tags: ['live', 'writing'] });
  await until(() => document.querySelectorAll('a.row').length === 2);
  assert.deepEqual((await rows()).map((row) => row.key), [made.key, 'SYN-3']);
  await server.ask('PATCH', '/v1/tasks/SYN-3', shop.write, { tags: ['writing'] });
  await until(() => document.querySelectorAll('a.row').length === 1);
  await server.ask('POST', `/v1/tasks/${made.key}:complete`, shop.write);
  await see('.empty');
});

test('the focus stays where it is during changes by other clients', async () => {
  await page.goto(server.url);
  await see('a.row');
  await page.waitForSelector('.feed.live');
  await page.evaluate(() => document.activeElement.blur());
  await press('j', 'j');
  const held = (await focused()).split('\n')[0];
  const made = await server.create(shop.write, { description: 'It comes in above' });
  await until((key) => document.querySelector('a.row .key').textContent === key, made.key);
  assert.equal((await focused()).split('\n')[0], held);
  // A form that is being filled in keeps its text and cursor position.
  await page.type('#new-description', 'Half a thou');
  await server.ask('DELETE', `/v1/tasks/${made.key}`, shop.write);
  await until((key) => document.querySelector('a.row .key').textContent !== key, made.key);
  assert.equal(await focused(), 'new-description');
  await page.keyboard.type('ght');
  assert.equal(await page.$eval('#new-description', (input) => input.value), 'Half a thought');
  await page.$eval('#new-description', (input) => { input.value = ''; });
});

test('an edit changes only the edited fields', async () => {
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

test('an edit does not overwrite concurrent changes', async () => {
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
  await clickText('.conflict button', 'Save selection');
  await until(() => !document.querySelector('.conflict, #edit-task .save'));
  const now = await task('SYN-2');
  assert.deepEqual([now.description, now.project, now.priority], ['Theirs', 'Wheels', 'L']);
});

test('annotations are added and removed', async () => {
  await fill('#annotation', 'Spokes are in the blue drawer');
  await press('Enter');
  await see('.annotations li');
  assert.equal((await task('SYN-2')).annotations[0].description, 'Spokes are in the blue drawer');
  await page.click('[aria-label="Remove annotation"]');
  await gone('.annotations li');
  assert.equal((await task('SYN-2')).annotations, undefined);
});

test('completing and deleting can be undone', async () => {
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

test('a task is found by its key in any spelling', async () => {
  for (const typed of ['syn 3', 'SYN-3', 'syn3', '3']) {
    await fill('#find', typed);
    await press('Enter');
    await until(() => document.querySelector('#task-title').textContent === 'SYN-3');
    assert.equal(new URL(page.url()).pathname, '/SYN-3');
  }
  await fill('#find', 'what?');
  await press('Enter');
  await until(() => document.getElementById('find-says').textContent.includes('Enter a prefix and a number'));
  await fill('#find', 'SYN-99999');
  await press('Enter');
  await see('.task .note.bad');
  assert.match(await textOf('.task .note.bad'), /Task not found/);
  await page.goBack();
  await until(() => document.querySelector('#task-title').textContent === 'SYN-3');
});

test('a link to a task opens it, also after signing in', async () => {
  const own = await browser.createBrowserContext();
  const other = await openPage(own);
  await signIn(shop.read, { on: other, path: '/syn-4', stay: true });
  await see('#edit-task', other);
  assert.equal(await textOf('#task-title', other), 'SYN-4');
  assert.equal(await other.evaluate(() => localStorage['callsign.token'].length > 10 && sessionStorage['callsign.token']), undefined);
  const again = await openPage(own);
  await again.goto(new URL('/SYN-5', server.url));
  await see('#edit-task', again);
  // The token has scope read.
  await clickText('.task .actions button', 'Complete', again);
  await see('.told', again);
  assert.match(await textOf('.told', again), /Insufficient scope/);
  await signOut(again);
  assert.equal(await again.evaluate(() => localStorage.length + sessionStorage.length), 0);
  await own.close();
});

test('filters match the query of the address', async () => {
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
  await clickText('.empty button', 'Clear filters');
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
  // A change of one task does not shorten the list.
  await server.ask('PATCH', '/v1/tasks/MANY-40', many.write, { description: 'Part 40, chromed' });
  await until(() => [...document.querySelectorAll('a.row .text')].some((each) => each.textContent === 'Part 40, chromed'));
  assert.equal((await rows()).length, 100);
  await signOut();
});

test('an empty list shows what to do, and a rejected creation shows why', async () => {
  const empty = await server.account('empty', 'NEW');
  await signIn(empty.read);
  await see('.empty');
  assert.match(await textOf('.empty'), /press Enter/);
  await fill('#new-description', 'I may not');
  await press('Enter');
  await see('.list.waiting .note.bad');
  assert.match(await textOf('.list.waiting .note.bad'), /scope \W?write/);
  await clickText('.list.waiting button', 'Edit');
  assert.equal(await page.$eval('#new-description', (input) => input.value), 'I may not');
  await signOut();
});

test('an opaque account shows that the server cannot read it', async () => {
  const made = await server.ask('POST', '/v1/admin/accounts', server.operator, { name: 'sealed', prefix: 'SEA', mode: 'opaque' });
  await signIn(made.token);
  await see('.empty');
  assert.match(await textOf('.empty'), /The server cannot read this account/);
  await signOut();
});

test('many changes at once are shown and announced as a count', async () => {
  const busyOne = await server.account('busy', 'BUSY');
  await signIn(busyOne.write);
  await page.waitForSelector('.feed.live');
  const items = Array.from({ length: 30 }, (_, i) => ({ idempotencyKey: `k-${i}`, task: { description: `Part ${i + 1}` } }));
  await server.ask('POST', '/v1/tasks:batchCreate', busyOne.write, { items });
  await said('30 changes by other clients.');
  await until(() => document.querySelectorAll('a.row').length === 30);
  await signOut();
});

// ---- keyboard alone ----

test('everything can be done with the keyboard', async () => {
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
  // From the top, the first tab stop skips the header.
  await page.evaluate(() => { document.activeElement.blur(); window.scrollTo(0, 0); });
  await page.reload();
  await see('a.row');
  await press('Tab');
  assert.match(await focused(), /^Skip to/);
  await press('Enter');
  assert.equal(await focused(), 'main');
  // The focused element has a visible outline.
  await press('Tab', 'Tab');
  assert.notEqual(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), 'none');
});

// ---- small screens ----

test('the page fits a phone', async () => {
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

// Goal: the page recovers when the server restarts, shows missed changes, and leaves no data of an account for the next
// user.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browser, fill, openPage, page, press, rows, said, see, server, shop, signIn, signOut, textOf,
  until, visit } from './visitor.js';

visit(async () => {
  await signIn(shop.write);
  await see('a.row');
});

test('the page reconnects when the server restarts', async () => {
  await page.goto(server.url);
  await page.waitForSelector('.feed.live');
  await server.end('SIGTERM');
  await page.waitForSelector('.feed.away');
  await fill('#new-description', 'Created while offline');
  await press('Enter');
  await see('.list.waiting .meta');
  await server.run(new URL(server.url).host);
  await until(() => document.querySelector('.given bdi')?.textContent === 'Created while offline');
  await page.waitForSelector('.feed.live');
  const made = await server.create(shop.write, { description: 'After the break' });
  await until((key) => document.querySelector('a.row .key').textContent === key, made.key);
});

test('changes missed during a disconnection are shown after it', async () => {
  await page.setRequestInterception(true);
  let cut = true;
  const hold = (request) => (cut && request.url().includes('/v1/changes') ? request.abort('failed') : request.continue());
  page.on('request', hold);
  await server.restart('SIGKILL');
  await page.waitForSelector('.feed.away');
  await server.ask('PATCH', '/v1/tasks/SYN-3', shop.write, { description: 'Changed while disconnected' });
  const made = await server.create(shop.write, { description: 'Created while disconnected' });
  cut = false;
  await page.waitForSelector('.feed.live');
  await until((key) => document.querySelector('a.row .key').textContent === key, made.key);
  await said(`${made.key} created`);
  await until(() => [...document.querySelectorAll('a.row .text')].some((each) => each.textContent === 'Changed while disconnected'));
  page.off('request', hold);
  await page.setRequestInterception(false);
});

test('signing out leaves no data of the account for the next user', async () => {
  const next = await server.account('next', 'NEXT');
  await server.create(next.write, { description: 'Of the next one' });
  // The former user has a creation in flight and a list whose response is late.
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
  const told = await server.create(shop.write, { description: 'Announced just before' });
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

test('signing out in one tab signs out other tabs that stay signed in', async () => {
  const own = await browser.createBrowserContext();
  const one = await openPage(own);
  await signIn(shop.read, { on: one, stay: true });
  await see('a.row', one);
  const two = await openPage(own);
  await two.goto(server.url);
  await see('a.row', two);
  // A background tab does not render.
  await one.bringToFront();
  await signOut(one);
  await two.bringToFront();
  await see('#token', two);
  assert.doesNotMatch(await two.evaluate(() => document.documentElement.outerHTML), /SYN-/);
  await own.close();
});

test('revoking the token signs the user out', async () => {
  const given = await server.ask('POST', '/v1/admin/accounts/bikes/tokens', server.operator, { name: 'short' });
  await signOut();
  await signIn(given.token);
  await see('a.row');
  await server.ask('DELETE', `/v1/admin/tokens/${given.tokenId}`, server.operator);
  await see('#token');
  assert.match(await textOf('.note.bad'), /You have been signed out/);
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);
});

// Goal: the page goes on when its server comes back, shows what was missed, and leaves nothing of an account to who signs in
// next.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browser, fill, openPage, page, press, rows, said, see, server, shop, signIn, signOut, textOf,
  until, visit } from './visitor.js';

visit(async () => {
  await signIn(shop.write);
  await see('a.row');
});

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

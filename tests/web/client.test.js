// Goal: the client library works in a browser, on another origin than the server, and what was noted survives the page.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { openBrowser, Server, WAIT } from './test_server.js';

const source = readFileSync(new URL('../../clients/typescript/callsign.js', import.meta.url));
const files = { '/': ['text/html', '<!doctype html><title>Board</title>'], '/callsign.js': ['text/javascript', source] };
let app, server, browser, account;

before(async () => {
  app = http.createServer((request, response) => {
    const [type, body] = files[request.url] ?? ['text/plain', ''];
    response.setHeader('Content-Type', type).end(body);
  });
  await new Promise((resolve) => { app.listen(0, '127.0.0.1', resolve); });
  const origin = `http://127.0.0.1:${app.address().port}`;
  server = await Server.start(process.env.CALLSIGND, `[api]\ncors_origins = ["${origin}"]\n`);
  account = await server.account('board', 'SYN');
  browser = await openBrowser();
});
after(async () => {
  await browser?.close();
  await server?.stop();
  app?.close();
});

// A page that has opened the client; its tasks are in the browser.
async function openClient() {
  const page = await browser.newPage();
  page.setDefaultTimeout(WAIT);
  await page.goto(`http://127.0.0.1:${app.address().port}/`);
  await page.evaluate(async (url, token) => {
    const { BrowserStorage, Client } = await import('/callsign.js');
    window.client = await Client.open({ url, token, storage: new BrowserStorage('board'), attempts: 1 });
  }, server.url, account.write);
  return page;
}

test('what was noted offline is sent by a later page', async () => {
  const first = await openClient();
  await server.end('SIGKILL');
  const uuid = await first.evaluate(() => window.client.add({ description: 'Noted offline', tags: ['loud'] }));
  assert.match(await first.evaluate(() => window.client.sync().catch((error) => error.name)), /Unavailable/);
  await first.close();
  await server.run(new URL(server.url).host);
  const second = await openClient();
  assert.equal(await second.evaluate(() => window.client.outbox.length), 1);
  await second.evaluate(() => window.client.sync());
  const made = await server.ask('GET', `/v1/tasks/${uuid}`, account.write);
  assert.equal(made.description, 'Noted offline');
  await second.close();
  const third = await openClient();
  assert.deepEqual(await third.evaluate(() => [window.client.outbox.length, [...window.client.tasks.values()].map((each) => each.key)]),
    [0, [made.key]]);
  await third.close();
});

test('changes of others arrive while the page follows', async () => {
  const page = await openClient();
  await page.evaluate(() => {
    window.heard = new Promise((resolve) => { window.client.onchange = resolve; });
    window.stop = new AbortController();
    window.following = window.client.follow({ signal: window.stop.signal });
  });
  const made = await server.create(account.write, { description: 'From elsewhere' });
  await page.waitForFunction((key) => [...window.client.tasks.values()].some((each) => each.key === key), {}, made.key);
  const uuid = await page.evaluate(() => window.client.add({ description: 'While following' }));
  await page.waitForFunction(() => !window.client.outbox.length);
  assert.equal((await server.ask('GET', `/v1/tasks/${uuid}`, account.write)).description, 'While following');
  await page.evaluate(() => { window.stop.abort(); return window.following; });
  await page.close();
});

// Goal: an operator sees the server's status and problems, and manages the window, accounts, backups and held series.
// Method: as in page.test.js, with clients that lose responses.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Server } from './test_server.js';
import { browser, clickText, failed, fill, fitsPhone, gone, isAccessible, openPage, page, picture, pictures, press, said,
  see, server, shop, signIn, signOut, textOf, until, visit } from './visitor.js';

let retries;

visit(async () => {
  retries = comeBack(await server.account('lost', 'LOST'));
  await retries.begun;
});

// Clients that lose responses and retry: the reaper derives its window from them. Some lose even the first request in a
// crash between the reservation and the task.
function comeBack(lost) {
  const make = (key) => server.create(lost.write, { description: 'A part' }, key).catch(() => {});
  const later = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });
  const begun = (async () => {
    for (let round = 0; round < 40; round += 1) {
      const sent = Array.from({ length: 150 }, (_, i) => make(`crash-${round}-${i}`));
      // When one creation is answered, others are between their two commits.
      await Promise.race(sent);
      await server.restart('SIGKILL');
      await Promise.all(sent);
      const { slots = [] } = await server.ask('GET', '/v1/admin/slots?state=pending&pageSize=500', server.operator);
      if (slots.length >= 5) return slots.map((slot) => slot.idempotencyKey);
    }
    throw new Error('no crash left a slot pending');
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

// Load for a screenshot: an afternoon in a minute.
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

// ---- status ----

test('an operator sees the status of the server', async () => {
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
  // The values of a chart are also in a table.
  await clickText('.timeline summary', 'Table');
  await see('.timeline details[open] tbody tr');
  await isAccessible('the operator’s page');
  await clickText('.timeline summary', 'Table');
});

test('another window shows its effect', async () => {
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
  assert.match(short, /slots failed too early/);
  assert.match(short, /current: /);
  assert.match(short, /window = "\d+(ms|s|m|h|d)"/);
  assert.ok(await page.$eval('.histogram .would dd', (dd) => Number.parseFloat(dd.textContent) > 0),
    'so short a window fails slots that are still retried');
  await picture('operator-window', { width: 1100, height: 900, of: '.window-figure' });
  // With the keyboard: a longer window, until no slot fails.
  await page.focus('.histogram input');
  const tells = () => page.$eval('.histogram input', (input) => input.getAttribute('aria-valuetext'));
  const before = await tells();
  await press('ArrowRight');
  assert.notEqual(await tells(), before);
  await press('End');
  assert.match(await tells(), /^7 d: 0 slots failed too early/);
  await clickText('.histogram button', 'Reset to');
  assert.equal(await textOf('.histogram .window'), inForce);
});

test('a sweep runs on demand, and recent sweeps are listed', async () => {
  await clickText('#reaper button', 'Sweep now');
  await until(() => document.querySelector('.told')?.textContent.startsWith('Sweep finished'));
  assert.ok((await page.$$('#reaper .scroll tbody tr')).length > 0);
});

test('accounts, tokens and devices are created and revoked', async () => {
  await fill('#accounts > .make [name=name]', 'paint');
  await fill('#accounts > .make [name=prefix]', 'pnt');
  await press('Enter');
  await see('#secret[open]');
  const first = await page.$eval('#secret textarea', (area) => area.value);
  assert.match(first, /^cs_/);
  assert.equal((await server.ask('GET', '/v1/account', first)).name, 'paint');
  await isAccessible('a secret');
  await clickText('#secret button', 'Close');
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
  assert.equal((await server.ask('GET', '/v1/account', token)).name, 'paint', 'nothing happens without confirmation');
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
  await clickText('#secret button', 'Close');
  await until(() => document.querySelector('.panel').textContent.includes('laptop'));
  page.once('dialog', (dialog) => dialog.accept());
  await page.click('[aria-label="Revoke laptop"]');
  await until(() => !document.querySelector('[aria-label="Revoke laptop"]'));

  await fill('#accounts > .make [name=name]', 'paint');
  await fill('#accounts > .make [name=prefix]', 'pnt');
  await page.evaluate(() => [...document.querySelectorAll('#accounts > .make button')].at(-1).click());
  await see('#accounts .note.bad');
  assert.match(await textOf('#accounts .note.bad'), /Name taken/);
  await fitsPhone('the operator’s page, with an account');
  await clickText('.panel .section-head button', 'Close');
});

const rowOfAccount = (name) => page.$$eval('.accounts tbody tr', (all, wanted) =>
  all.find((row) => row.querySelector('th').innerText === wanted)?.innerText ?? '', name);
const untilAccount = (name, state) => page.waitForFunction((wanted, is) => [...document.querySelectorAll('.accounts tbody tr')]
  .some((row) => row.querySelector('th').innerText === wanted && row.cells[3].innerText === is), {}, name, state).catch(failed);

test('an account is renamed, disabled, enabled, deleted and restored', async () => {
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
  await said('varnish renamed to lacquer.');
  // The panel shows the renamed account with its tokens.
  await until(() => document.querySelector('.panel table')?.textContent.includes('reader'));
  page.once('dialog', (dialog) => dialog.dismiss());
  await clickText('.panel button', 'Disable');
  assert.equal((await server.ask('GET', '/v1/account', made.write)).name, 'lacquer', 'nothing happens without confirmation');
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

  await clickText('.panel summary', 'Delete account');
  const button = '.deletion button';
  await fill('.deletion [name=typed]', 'varnish');
  assert.equal(await page.$eval(button, (each) => each.disabled), true, 'another name deletes nothing');
  await press('Enter');
  assert.equal((await server.ask('GET', '/v1/account', made.write)).name, 'lacquer');
  await fill('.deletion [name=typed]', 'lacquer');
  await page.waitForFunction((which) => !document.querySelector(which).disabled, {}, button);
  await page.click(button);
  await untilAccount('lacquer', 'deleted');
  assert.match(await textOf('.panel .note'), /Deleted just now.*can be restored until \w+ \d+, \d{4}/s);
  await assert.rejects(server.ask('GET', '/v1/account', made.write), /account-disabled/);
  assert.equal(await page.$('.panel [aria-label="List of tokens of lacquer"]'), null);
  await isAccessible('a deleted account');
  await clickText('.panel button', 'Restore');
  await untilAccount('lacquer', 'active');
  assert.equal((await server.ask('GET', '/v1/account', made.write)).name, 'lacquer');
  await clickText('.panel .section-head button', 'Close');
});

test('a remote account shows its state', async () => {
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
  await says('retrying.*Last error');
  await isAccessible('a remote account');
  await far.run(new URL(far.url).host);
  await says('up to date');
  await far.stop();
  await clickText('.panel .section-head button', 'Close');
});

// ---- problems of the server ----

// Runs `what` while `answer` gives the responses to requests whose URL contains `part`; null: the server responds.
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

test('the page shows whether the server is ready', async () => {
  await see('.ready');
  assert.equal((await textOf('.ready')).trim(), 'Ready');
  const full = { status: 503, contentType: 'application/problem+json',
    body: JSON.stringify({ title: 'Server not ready', detail: 'The disk is full.', status: 503, code: 'not-ready' }) };
  await answering('/readyz', () => full, async () => {
    await see('.ready.not');
    assert.match(await textOf('.ready'), /Not ready.*The disk is full/s);
    await said('Not ready. The disk is full.');
    await isAccessible('a server that is not ready');
  });
  await gone('.ready.not');
  await said('The server is ready again.');
});

test('without metrics the page says so and shows the rest', async () => {
  const apart = await Server.start(process.env.CALLSIGND, '[metrics]\nlisten = "127.0.0.1:0"\n');
  const own = await browser.createBrowserContext();
  const other = await own.newPage();
  await other.setViewport({ width: 1280, height: 860 });
  await other.goto(apart.url);
  await fill('#token', apart.operator, other);
  await other.keyboard.press('Enter');
  await see('.operator .tiles', other);
  await other.waitForFunction(() => document.querySelector('#overview .note')?.innerText.includes('metrics.listen'));
  await see('.histogram .handle', other);
  assert.match(await textOf('.slots', other), /Pending\s+0/);
  assert.equal(await other.$('.note.bad'), null, 'no errors');
  assert.equal(await other.$('.timeline'), null, 'no empty charts');
  await isAccessible('an operator’s page without metrics', other);
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
  await fill('#new-description', 'Sent over TLS', other);
  await other.keyboard.press('Enter');
  await other.waitForFunction(() => document.querySelector('a.row .text')?.textContent === 'Sent over TLS');
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

test('backups are listed and created', async () => {
  await page.reload();
  await see('#backups tbody tr');
  const before = await backupRows();
  assert.equal(before.length, 1, 'the scheduled backup at the start');
  assert.match(before[0], /(just now|minutes? ago)\s+[\d.]+ [kM]B/);
  assert.match(await textOf('#backups .hint'), /every day in .*backups; the newest 7 are kept.*master key/s);
  await clickText('#backups button', 'Back up now');
  await until(() => document.querySelector('.told')?.textContent.startsWith('Backup created:'));
  await until(() => document.querySelectorAll('#backups tbody tr').length === 2);
  const { kept } = await server.ask('GET', '/v1/admin/backups', server.operator);
  assert.equal(kept.length, 2);
  assert.ok((await backupRows())[0].includes(kept[0].directory), 'the newest is first');
  // Another directory; the second time it is not empty.
  await clickText('#backups summary', 'Back up to another directory');
  await fill('#backups [name=directory]', `${server.folder}/apart`);
  await press('Enter');
  await until(() => document.querySelectorAll('#backups tbody tr').length === 3);
  await fill('#backups [name=directory]', 'apart');
  await press('Enter');
  await see('#backups .note.bad');
  assert.match(await textOf('#backups .note.bad'), /Directory: .*path/);
  await fill('#backups [name=directory]', `${server.folder}/apart`);
  await press('Enter');
  await until(() => /The last backup failed/.test(document.querySelector('#backups .note.bad')?.textContent));
  await isAccessible('backups');
  await fitsPhone('backups');
});

test('the progress of a backup is shown', async () => {
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

test('held series show what to do and can be resumed', async () => {
  await server.create(shop.write, { description: 'In the backup' });
  const backup = `${server.folder}/monday`;
  await server.ask('POST', '/v1/admin/backups', server.operator, { directory: backup });
  const lost = await server.create(shop.write, { description: 'Not in it' });
  const number = Number(lost.key.split('-')[1]);
  // The restored store has the tokens of the backup.
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
  assert.ok((await textOf(form)).includes(`last in the backup: SYN-${number - 1}`));
  await isAccessible('held series');
  await fitsPhone('held series');
  await picture('held', { of: '#held' });
  // A creation in the account is rejected and retried, and the page shows why.
  const own = await browser.createBrowserContext();
  const theirs = await openPage(own);
  await signIn(shop.write, { on: theirs });
  await fill('#new-description', 'A little early', theirs);
  await theirs.keyboard.press('Enter');
  await theirs.waitForFunction(() => /backup.*Retrying/s.test(document.querySelector('.list.waiting')?.innerText));
  await fill(`${form} [name=at]`, String(number + 1));
  let asked = '';
  page.once('dialog', (dialog) => { asked = dialog.message(); dialog.accept(); });
  await press('Enter');
  await gone(form);
  assert.match(asked, new RegExp(`at SYN-${number + 1}.*${number} is skipped`));
  await said(`SYN of bikes resumed at ${number + 1}.`);
  assert.equal((await page.$$('#held form')).length, many - 1);
  await see('.given', theirs);
  assert.equal((await textOf('.given .key', theirs)).trim(), `SYN-${number + 1}`);
  await own.close();
  assert.match(await textOf('#held-title'), new RegExp(`^${many - 1} series held`));
});

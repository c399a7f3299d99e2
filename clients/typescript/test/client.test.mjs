// The client against scripted answers: what it sends, stores and repeats.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {test} from 'node:test';

import {Client, FolderStorage, MemoryStorage, Problem, Unavailable} from 'callsign-client';

const U = '0192a000-0000-7000-8000-000000000001', V = '0192a000-0000-7000-8000-000000000002';
const json = (body, status = 200, headers = {}) => new Response(JSON.stringify(body), {status, headers});
const problem = (status, code, more = {}) =>
    json({status, code, title: code, ...more}, status, {'Content-Type': 'application/problem+json'});
const task = (seq, more = {}) => ({uuid: U, seq, etag: `"${seq}.0"`, key: 'SYN-1', status: 'pending', ...more});
const change = (seq, more) => ({seq, task: task(seq, more), cursor: `c${seq}`});
const page = (changes, cursor) => json({changes, cursor, last: 9});
const made = (count) => json({results: Array.from({length: count}, () => ({receipt: {}}))});

// A server whose answers are functions by "METHOD path", called in turn; the last one stays.
function scripted(answers) {
    const asked = [];
    const fetch = async (url, {method, body, headers, signal}) => {
        const target = url.slice('http://test'.length).replace(U, 'U').replace(V, 'V');
        const request = {method, target, body: body && JSON.parse(body), headers};
        const name = `${method} ${target.split('?')[0]}`;
        const waiting = answers[name];
        asked.push(request);
        if (!waiting) return problem(404, 'no-such-path');
        const next = waiting.length > 1 ? waiting.shift() : waiting[0];
        const answer = await (typeof next === 'function' ? next(request, signal) : next.clone());
        return answer;
    };
    const sent = (name) => asked.filter(({method, target}) => `${method} ${target.split('?')[0]}` === name);
    return {fetch, asked, sent};
}

const quiet = {'GET /v1/changes': [page([], 'c0')], 'GET /v1/tasks': [json({tasks: []})]};
const lost = () => { throw new TypeError('network'); };

async function clientOf(answers, storage = new MemoryStorage()) {
    const server = scripted({...quiet, ...answers});
    const open = () => Client.open({url: 'http://test/', token: 't', storage, fetch: server.fetch});
    return {client: await open(), open, storage, ...server};
}

test('a creation is sent again with its key and UUID until there is an answer', async () => {
    const html = new Response('<html>', {status: 502});
    const other = json({code: 404, message: 'from a cluster'}, 404);
    const none = new Response(null, {status: 204});
    const {client, sent} = await clientOf({'POST /v1/tasks:batchCreate': [lost, html, other, json({ok: true}), none, made(1)]});
    const uuid = await client.add({description: 'x'});
    await client.sync();
    const bodies = sent('POST /v1/tasks:batchCreate').map(({body}) => JSON.stringify(body));
    assert.equal(bodies.length, 6);
    assert.equal(new Set(bodies).size, 1);
    assert.equal(JSON.parse(bodies[0]).items[0].task.uuid, uuid);
    assert.deepEqual(client.outbox, []);
});

test('what was noted is sent by the next program, as it was', async () => {
    const {client, open, sent} = await clientOf({'POST /v1/tasks:batchCreate': [made(1)]});
    await client.add({description: 'x'});
    const [{key}] = client.outbox;
    const next = await open();
    await next.sync();
    assert.equal(sent('POST /v1/tasks:batchCreate')[0].body.items[0].idempotencyKey, key);
    assert.deepEqual((await open()).outbox, []);
});

test('a change that cannot be stored is not noted', async () => {
    const storage = new MemoryStorage();
    const {client} = await clientOf({}, storage);
    storage.write = async () => { throw new Error('disk full'); };
    await assert.rejects(client.add({description: 'x'}), /disk full/);
    assert.deepEqual(client.outbox, []);
});

test('an edit is made again on the task as it is, with the tags of others', async () => {
    const {client, sent} = await clientOf({
        'GET /v1/tasks': [json({tasks: [task(1, {tags: ['a']})]})],
        'GET /v1/tasks/U': [json(task(2, {tags: ['a', 'theirs']}))],
        'PATCH /v1/tasks/U': [problem(412, 'precondition-failed'), json(task(3, {tags: ['theirs', 'mine']}))],
    });
    await client.sync();
    await client.edit(U, {addTags: ['mine'], removeTags: ['a']});
    assert.deepEqual(client.view().get(U).tags, ['mine']);
    await client.sync();
    const [first, second] = sent('PATCH /v1/tasks/U');
    assert.equal(first.headers['If-Match'], '"1.0"');
    assert.equal(second.headers['If-Match'], '"2.0"');
    assert.deepEqual(second.body.tags, ['theirs', 'mine']);
    assert.equal(client.tasks.get(U).seq, 3);
});

test('an edit whose answer was lost is sent again with the same body', async () => {
    const {client, open, sent} = await clientOf({
        'GET /v1/tasks': [json({tasks: [task(1, {tags: ['a']})]})],
        'PATCH /v1/tasks/U': [lost, lost, lost, lost, lost, lost, json(task(2))],
    });
    await client.sync();
    await client.edit(U, {addTags: ['b']});
    await assert.rejects(client.sync(), Unavailable);
    const next = await open();
    next.tasks.get(U).tags = ['meanwhile'];
    await next.sync();
    const all = sent('PATCH /v1/tasks/U');
    assert.equal(all.length, 7);
    assert.equal(new Set(all.map(({body, headers}) => JSON.stringify([body, headers['Idempotency-Key']]))).size, 1);
});

test('actions and deletions are sent once each, in order, with a key', async () => {
    const {client, asked} = await clientOf({
        'POST /v1/tasks/U:complete': [json(task(2))], 'POST /v1/tasks/U:annotate': [json(task(3))],
        'DELETE /v1/tasks/U': [json(task(4))],
    });
    await client.complete(U);
    await client.annotate(U, 'said');
    await client.remove(U);
    await client.sync();
    const writes = asked.filter(({method}) => method !== 'GET');
    assert.deepEqual(writes.map(({target}) => target),
                     ['/v1/tasks/U:complete', '/v1/tasks/U:annotate', '/v1/tasks/U']);
    assert.deepEqual(writes[1].body, {description: 'said'});
    assert.equal(new Set(writes.map(({headers}) => headers['Idempotency-Key'])).size, 3);
});

test('what is rejected is set aside, and can be sent again or forgotten', async () => {
    const {client, open} = await clientOf({
        'POST /v1/tasks:batchCreate': [problem(400, 'validation-failed'), problem(400, 'validation-failed'), made(1), made(1)],
        'POST /v1/tasks/V:complete': [problem(404, 'task-not-found')],
    });
    await client.add({description: ''});
    await client.add({description: 'good'});
    await client.complete(V);
    await client.sync();
    assert.deepEqual(client.outbox, []);
    assert.deepEqual(client.rejected.map((entry) => entry.problem.code), ['validation-failed', 'task-not-found']);
    const next = await open();
    assert.equal(next.rejected.length, 2);
    const [{id, key}, other] = next.rejected;
    await next.retry(id, (entry) => { entry.task.description = 'now good'; });
    await next.discard(other.id);
    assert.notEqual(next.outbox[0].key, key);
    await next.sync();
    assert.deepEqual([next.outbox, next.rejected, (await open()).rejected], [[], [], []]);
});

test('a denied token rejects nothing', async () => {
    const {client} = await clientOf({'POST /v1/tasks:batchCreate': [problem(401, 'invalid-token')]});
    await client.add({description: 'x'});
    await assert.rejects(client.sync(), (error) => error instanceof Problem && error.code === 'invalid-token');
    assert.equal(client.outbox.length, 1);
    assert.deepEqual(client.rejected, []);
});

test('a change of a task waits while the token is denied', async () => {
    const {client} = await clientOf({'POST /v1/tasks/U:start': [problem(403, 'insufficient-scope')]});
    await client.start(U);
    await assert.rejects(client.sync(), Problem);
    assert.deepEqual([client.outbox.length, client.rejected.length], [1, 0]);
});

test('a creation leaves the outbox when its task is in the copy', async () => {
    const {client, open} = await clientOf({
        'POST /v1/tasks:batchCreate': [made(1)],
        'GET /v1/changes': [page([], 'c0'), page([], 'c0'), lost],
    });
    await client.sync();
    await client.add({description: 'x'});
    await assert.rejects(client.sync(), Unavailable);
    assert.equal(client.view().size, 1);
    assert.equal((await open()).view().size, 1);
});

test('an older change does not overwrite, and requests are repeated after a pause', async () => {
    const {client} = await clientOf({
        'GET /v1/tasks': [json({tasks: [task(5, {description: 'five'})]})],
        'GET /v1/changes': [page([], 'c0'), page([change(3, {description: 'three'})], 'c3'), lost, lost, lost, page([], 'c3')],
    });
    const begun = performance.now();
    await client.sync();
    assert.ok(performance.now() - begun >= 50 + 100 + 200, 'the least of three pauses');
    assert.equal(client.tasks.get(U).description, 'five');
});

test('only a failed slot gets another key', async () => {
    const item = (code) => json({results: [{problem: {status: 409, code}}]});
    const {client, sent} = await clientOf(
        {'POST /v1/tasks:batchCreate': [item('request-in-progress'), item('slot-failed'), made(1)]});
    await client.add({description: 'x'});
    await client.sync();
    const keys = sent('POST /v1/tasks:batchCreate').map(({body}) => body.items[0].idempotencyKey);
    assert.equal(keys[0], keys[1]);
    assert.notEqual(keys[1], keys[2]);
});

test('what a person must fix first is not repeated at once, and not given up', async () => {
    const held = {status: 503, code: 'series-held', retryable: false};
    const {client, sent} = await clientOf({
        'POST /v1/tasks/U:stop': [problem(503, 'series-held', {retryable: false})],
        'POST /v1/tasks:batchCreate': [json({results: [{problem: held}]})],
    });
    for (const [note, name] of [[() => client.add({description: 'x'}), 'POST /v1/tasks:batchCreate'],
                                [() => client.stop(U), 'POST /v1/tasks/U:stop']]) {
        await note();
        await assert.rejects(client.sync(), Unavailable);
        assert.equal(sent(name).length, 1);
        sent(name).length = 0;
        assert.equal(client.outbox.length, 1);
        client.outbox = [];
    }
    assert.deepEqual(client.rejected, []);
});

test('an expired cursor lists all tasks again', async () => {
    const {client, open} = await clientOf({
        'GET /v1/tasks': [json({tasks: [task(1), {...task(2), uuid: '0192a000-0000-7000-8000-000000000003'}]}), json({tasks: [task(5)], nextPageToken: 'p'}),
                          json({tasks: [{...task(6), uuid: V}]})],
        'GET /v1/changes': [page([], 'c0'), page([], 'c0'), problem(410, 'cursor-expired', {cursor: 'c6'}), page([], 'c6')],
    });
    await client.sync();
    await client.sync();
    for (const each of [client, await open()]) {
        assert.deepEqual([...each.tasks.keys()].sort(), [U, V]);
        assert.equal(each.tasks.get(U).seq, 5);
    }
});

test('changes are stored with their cursor; older ones do not overwrite', async () => {
    const {client, open, asked} = await clientOf({
        'GET /v1/tasks': [json({tasks: [task(5)]})],
        'GET /v1/changes': [page([], 'c0'), page([change(3), change(6, {description: 'six'})], 'c6'),
                            page([{...change(7), purged: true}], 'c7'), page([], 'c7')],
    });
    const heard = [];
    client.onchange = ({seq}) => heard.push([seq, client.tasks.get(U)?.seq]);
    await client.sync();
    assert.deepEqual(heard, [[5, 5], [3, 6], [6, 6], [7, undefined]]);
    assert.equal(client.tasks.size, 0);
    const next = await open();
    assert.equal(next.tasks.size, 0);
    await next.sync();
    assert.match(asked.at(-1).target, /after=c7&/);
});

test('follow() receives a stream, and sends what is noted meanwhile', async () => {
    const stop = new AbortController();
    let push;
    const stream = (_, signal) => new Response(new ReadableStream({
        start(controller) {
            push = (kind, data) => controller.enqueue(
                new TextEncoder().encode(`event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`));
            signal.addEventListener('abort', () => controller.error(new Error('aborted')));
            push('heartbeat', {cursor: 'c0', last: 0});
        },
    }));
    const {client, sent} = await clientOf({
        'GET /v1/changes/stream': [stream], 'POST /v1/tasks:batchCreate': [made(1)],
    });
    const heard = new Promise((resolve) => { client.onchange = resolve; });
    const following = client.follow({signal: stop.signal});
    while (!push) await new Promise(setImmediate);
    push('change', change(4));
    assert.equal((await heard).seq, 4);
    await client.add({description: 'x'});
    while (client.outbox.length) await new Promise(setImmediate);
    while (sent('GET /v1/changes/stream').length < 2) await new Promise(setImmediate);
    assert.equal(sent('GET /v1/changes/stream')[1].headers['Last-Event-ID'], 'c0', 'the feed was read meanwhile');
    stop.abort();
    await following;
});

test('follow() polls where no streams come through', async () => {
    const stop = new AbortController();
    const {client} = await clientOf({
        'GET /v1/changes/stream': [() => new Response(null)],
        'GET /v1/changes': [({target}) => target.includes('wait=50s') ? page([change(4)], 'c4') : page([], 'c0')],
    });
    const heard = new Promise((resolve) => { client.onchange = resolve; });
    const following = client.follow({signal: stop.signal});
    assert.equal((await heard).seq, 4);
    stop.abort();
    await following;
});

test('follow() sends what was noted during a sync', async () => {
    const stop = new AbortController();
    const stream = (_, signal) => new Response(new ReadableStream({
        start(controller) {
            if (signal.aborted) controller.error(new Error('aborted'));
            signal.addEventListener('abort', () => controller.error(new Error('aborted')));
            controller.enqueue(new TextEncoder().encode('event: heartbeat\ndata: {"cursor":"c0"}\n\n'));
        },
    }));
    let client, noted = false;
    ({client} = await clientOf({
        'GET /v1/changes/stream': [stream], 'POST /v1/tasks:batchCreate': [made(1)],
        'GET /v1/changes': [async () => {
            if (!noted) await client.add({description: 'meanwhile'});
            noted = true;
            return page([], 'c0');
        }],
    }));
    const following = client.follow({signal: stop.signal});
    while (!noted || client.outbox.length) await new Promise((resolve) => { setTimeout(resolve, 5); });
    stop.abort();
    await following;
});

test('follow() ends though it is stopped during a sync', async () => {
    const stop = new AbortController();
    const {client} = await clientOf({
        'GET /v1/changes': [(_, signal) => new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(new Error('aborted')));
            stop.abort();
        })],
    });
    await client.follow({signal: stop.signal});
});

test('a stream that ends at once is not opened again at once', async () => {
    const stop = new AbortController();
    const {client, sent} = await clientOf({
        'GET /v1/changes/stream': [() => new Response('event: heartbeat\ndata: {"cursor":"c0"}\n\n')],
    });
    const following = client.follow({signal: stop.signal});
    while (!sent('GET /v1/changes/stream').length) await new Promise(setImmediate);
    while (sent('GET /v1/changes').length < 3) await new Promise(setImmediate);
    assert.equal(sent('GET /v1/changes/stream').length, 1);
    stop.abort();
    await following;
});

test('a task is created before those that depend on it', async () => {
    const batches = (request) => {
        assert.ok(request.body.items.every(({task: each}) => !each.depends || request.body.items.length === 1));
        return made(request.body.items.length);
    };
    const {client, sent} = await clientOf({'POST /v1/tasks:batchCreate': [batches]});
    const parent = await client.add({description: 'parent'});
    await client.add({description: 'child', depends: [parent]});
    await client.add({description: 'another'});
    await client.sync();
    assert.deepEqual(sent('POST /v1/tasks:batchCreate').map(({body}) => body.items.map(({task: each}) => each.description)),
                     [['parent', 'another'], ['child']]);
});

test('a lasting trouble of one task stops its own changes only', async () => {
    const {client, asked} = await clientOf({
        'POST /v1/tasks/U:start': [problem(500, 'record-damaged', {retryable: false})],
        'POST /v1/tasks/V:start': [json({...task(4), uuid: V})],
    });
    await client.start(U);
    await client.complete(U);
    await client.start(V);
    await assert.rejects(client.sync(), (error) => error instanceof Unavailable && error.isLasting);
    assert.deepEqual(client.outbox.map(({op, uuid}) => [op, uuid]), [['start', U], ['complete', U]]);
    assert.match(asked.at(-1).target, /^\/v1\/changes/, 'the feed is read');
});

test('the task of a change is one that exists here, and the caller keeps its objects', async () => {
    const {client, sent} = await clientOf({
        'GET /v1/tasks': [json({tasks: [task(1)]})], 'PATCH /v1/tasks/U': [json(task(2)), json(task(3))],
    });
    await client.sync();
    await assert.rejects(client.complete('SYN-9'), /no task SYN-9/);
    await assert.rejects(client.remove(`${U}?purge=true`), /no task/);
    const edit = {set: {priority: 'H'}};
    await client.edit('syn-1', edit);
    edit.set.priority = 'L';
    await client.edit(U.toUpperCase(), edit);
    await client.sync();
    assert.deepEqual(sent('PATCH /v1/tasks/U').map(({body}) => body.priority), ['H', 'L']);
});

test('a failed write of a body leaves the key to it', async () => {
    const storage = new MemoryStorage();
    const {client, open, sent} = await clientOf({
        'GET /v1/tasks': [json({tasks: [task(1, {tags: ['a']})]})],
        'PATCH /v1/tasks/U': [json(task(2))],
    }, storage);
    await client.sync();
    await client.edit(U, {addTags: ['b']});
    const write = storage.write.bind(storage);
    storage.write = async () => { throw new Error('disk full'); };
    await assert.rejects(client.sync(), /disk full/);
    assert.equal(client.outbox[0].sent, undefined);
    assert.equal(sent('PATCH /v1/tasks/U').length, 0);
    storage.write = write;
    await (await open()).sync();
});

test('a rejected change is sent again once', async () => {
    const {client, open, storage} = await clientOf({'POST /v1/tasks/U:stop': [problem(404, 'task-not-found'), json(task(2))]});
    await client.stop(U);
    await client.sync();
    const [{id}] = client.rejected;
    await Promise.all([client.retry(id), client.retry(id)]);
    assert.equal(client.outbox.length, 1);
    // A program that ended between the two writes.
    await storage.write([[`rejected/${id}`, {...client.outbox[0], problem: {}}]]);
    const next = await open();
    assert.deepEqual([next.outbox.length, next.rejected.length], [1, 0]);
});

test('a new list tells what has changed, and an error of onchange() hides nothing', async () => {
    const {client} = await clientOf({
        'GET /v1/tasks': [json({tasks: [task(1), {...task(1), uuid: V}]}), json({tasks: [task(5, {etag: '"5.0"'})]})],
        'GET /v1/changes': [page([], 'c0'), page([], 'c0'), problem(410, 'cursor-unknown', {cursor: 'c6'}), page([], 'c6')],
    });
    const heard = [];
    client.onchange = ({task: {uuid}, purged}) => {
        heard.push([uuid, Boolean(purged)]);
        if (heard.length === 1) throw new Error('of the program');
    };
    await assert.rejects(client.sync(), /of the program/);
    assert.deepEqual(heard.splice(0), [[U, false], [V, false]]);
    heard.length = 1;
    await client.sync();
    await client.sync();
    assert.deepEqual(heard.slice(1), [[V, true], [U, false]]);
});

test('view() shows every noted change', async () => {
    const {client} = await clientOf({
        'GET /v1/tasks': [json({tasks: [task(1, {attributes: {size: 'S'}, start: '2026-01-01T00:00:00.000Z'})]})],
    });
    await client.sync();
    await client.edit(U, {set: {attributes: {estimate: '3h'}, due: null}});
    await client.annotate(U, 'said');
    await client.stop(U);
    const shown = client.view().get(U);
    assert.deepEqual(shown.attributes, {size: 'S', estimate: '3h'});
    assert.equal(shown.annotations[0].description, 'said');
    assert.equal(shown.start, undefined);
    await client.complete(U);
    assert.equal(client.view().get(U).status, 'completed');
});

test('a token or URL that none can be is not sent', async () => {
    for (const options of [{url: 'http://test', token: 'cs_a\nb'}, {url: 'test', token: 't'}, {url: 'http://test', token: ''}]) {
        await assert.rejects(Client.open(options), (error) => !error.message.includes('cs_a'));
    }
});

test('follow() goes on though the clock is set back', async () => {
    const stop = new AbortController(), now = Date.now;
    const {client} = await clientOf({
        'GET /v1/changes/stream': [() => {
            Date.now = () => now() - 3_600_000;
            return new Response(null);
        }],
        'GET /v1/changes': [({target}) => target.includes('wait=50s') ? page([change(4)], 'c4') : page([], 'c0')],
    });
    try {
        const heard = new Promise((resolve) => { client.onchange = resolve; });
        const following = client.follow({signal: stop.signal});
        assert.equal((await heard).seq, 4);
        stop.abort();
        await following;
    } finally {
        Date.now = now;
    }
});

test('a folder keeps everything, and survives interruption at each file', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'callsign-'));
    try {
        const storage = new FolderStorage(folder);
        await storage.write([['task/a', {n: 1}], ['cursor', 'c1'], ['outbox/2', {id: '2'}], ['outbox/1', {id: '1'}]]);
        await storage.write([['outbox/2', undefined], ['task/a', undefined], ['task/b', {n: 2}]]);
        fs.writeFileSync(path.join(folder, 'outbox', '3.json.tmp'), '{"id');  // killed while writing
        const next = new FolderStorage(folder);
        assert.deepEqual(await next.load('outbox/'), [['outbox/1', {id: '1'}]]);
        assert.deepEqual(await next.load('task/'), [['task/b', {n: 2}]]);
        assert.deepEqual(await next.load('cursor'), [['cursor', 'c1']]);
        assert.deepEqual(await next.load('rejected/'), []);
    } finally {
        fs.rmSync(folder, {recursive: true});
    }
});

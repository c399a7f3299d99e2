// The client against scripted answers: what it sends, stores and repeats.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {test} from 'node:test';

import {Client, FolderStorage, MemoryStorage, Problem, Unavailable} from 'callsign-client';

const json = (body, status = 200, headers = {}) => new Response(JSON.stringify(body), {status, headers});
const problem = (status, code, more = {}) => json({status, code, title: code, ...more}, status);
const task = (seq, more = {}) => ({uuid: 'u', seq, etag: `"${seq}.0"`, key: 'SYN-1', status: 'pending', ...more});
const change = (seq, more) => ({seq, task: task(seq, more), cursor: `c${seq}`});
const page = (changes, cursor) => json({changes, cursor, last: 9});
const made = (count) => json({results: Array.from({length: count}, () => ({receipt: {}}))});

// A server whose answers are functions by "METHOD path", called in turn; the last one stays.
function scripted(answers) {
    const asked = [];
    const fetch = async (url, {method, body, headers, signal}) => {
        const target = url.slice('http://test'.length);
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
    const {client, sent} = await clientOf({'POST /v1/tasks:batchCreate': [lost, html, json({}, 500), made(1)]});
    const uuid = await client.add({description: 'x'});
    await client.sync();
    const bodies = sent('POST /v1/tasks:batchCreate').map(({body}) => JSON.stringify(body));
    assert.equal(bodies.length, 4);
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
        'GET /v1/tasks/u': [json(task(2, {tags: ['a', 'theirs']}))],
        'PATCH /v1/tasks/u': [problem(412, 'precondition-failed'), json(task(3, {tags: ['theirs', 'mine']}))],
    });
    await client.sync();
    await client.edit('u', {addTags: ['mine'], removeTags: ['a']});
    assert.deepEqual(client.view().get('u').tags, ['mine']);
    await client.sync();
    const [first, second] = sent('PATCH /v1/tasks/u');
    assert.equal(first.headers['If-Match'], '"1.0"');
    assert.equal(second.headers['If-Match'], '"2.0"');
    assert.deepEqual(second.body.tags, ['theirs', 'mine']);
    assert.equal(client.tasks.get('u').seq, 3);
});

test('an edit whose answer was lost is sent again with the same body', async () => {
    const {client, open, sent} = await clientOf({
        'GET /v1/tasks': [json({tasks: [task(1, {tags: ['a']})]})],
        'PATCH /v1/tasks/u': [lost, lost, lost, lost, lost, lost, json(task(2))],
    });
    await client.sync();
    await client.edit('u', {addTags: ['b']});
    await assert.rejects(client.sync(), Unavailable);
    const next = await open();
    next.tasks.get('u').tags = ['meanwhile'];
    await next.sync();
    const all = sent('PATCH /v1/tasks/u');
    assert.equal(all.length, 7);
    assert.equal(new Set(all.map(({body, headers}) => JSON.stringify([body, headers['Idempotency-Key']]))).size, 1);
});

test('actions and deletions are sent once each, in order, with a key', async () => {
    const {client, asked} = await clientOf({
        'POST /v1/tasks/u:complete': [json(task(2))], 'POST /v1/tasks/u:annotate': [json(task(3))],
        'DELETE /v1/tasks/u': [json(task(4))],
    });
    await client.complete('u');
    await client.annotate('u', 'said');
    await client.remove('u');
    await client.sync();
    const writes = asked.filter(({method}) => method !== 'GET');
    assert.deepEqual(writes.map(({target}) => target),
                     ['/v1/tasks/u:complete', '/v1/tasks/u:annotate', '/v1/tasks/u']);
    assert.deepEqual(writes[1].body, {description: 'said'});
    assert.equal(new Set(writes.map(({headers}) => headers['Idempotency-Key'])).size, 3);
});

test('what is rejected is set aside, and can be sent again or forgotten', async () => {
    const {client, open} = await clientOf({
        'POST /v1/tasks:batchCreate': [problem(400, 'validation-failed'), problem(400, 'validation-failed'), made(1), made(1)],
        'POST /v1/tasks/gone:complete': [problem(404, 'task-not-found')],
    });
    await client.add({description: ''});
    await client.add({description: 'good'});
    await client.complete('gone');
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
        'POST /v1/tasks/u:stop': [problem(503, 'series-held', {retryable: false})],
        'POST /v1/tasks:batchCreate': [json({results: [{problem: held}]})],
    });
    for (const [note, name] of [[() => client.add({description: 'x'}), 'POST /v1/tasks:batchCreate'],
                                [() => client.stop('u'), 'POST /v1/tasks/u:stop']]) {
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
        'GET /v1/tasks': [json({tasks: [task(1), {...task(2), uuid: 'old'}]}), json({tasks: [task(5)], nextPageToken: 'p'}),
                          json({tasks: [{...task(6), uuid: 'new'}]})],
        'GET /v1/changes': [page([], 'c0'), page([], 'c0'), problem(410, 'cursor-expired', {cursor: 'c6'}), page([], 'c6')],
    });
    await client.sync();
    await client.sync();
    for (const each of [client, await open()]) {
        assert.deepEqual([...each.tasks.keys()].sort(), ['new', 'u']);
        assert.equal(each.tasks.get('u').seq, 5);
    }
});

test('changes are stored with their cursor; older ones do not overwrite', async () => {
    const {client, open, asked} = await clientOf({
        'GET /v1/tasks': [json({tasks: [task(5)]})],
        'GET /v1/changes': [page([], 'c0'), page([change(3), change(6, {description: 'six'})], 'c6'),
                            page([{...change(7), purged: true}], 'c7'), page([], 'c7')],
    });
    const heard = [];
    client.onchange = ({seq}) => heard.push(seq);
    await client.sync();
    assert.deepEqual(heard, [3, 6, 7]);
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
